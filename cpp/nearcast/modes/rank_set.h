/// Rank subscriptions behind one index: words, boxes and terms in, slots out; and the weights in
/// force.
///
/// Like MatchSet (modes/match_set.h): it has neither ids nor a clock, holds a use of each word of
/// its subscriptions and of the epoch in force, does not lock, and a call that throws has changed
/// nothing.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearcast/columns/columns.h"
#include "nearcast/columns/reading.h"
#include "nearcast/index/parameters.h"
#include "nearcast/model/condition_plan.h"
#include "nearcast/model/conditions.h"
#include "nearcast/modes/mode.h"
#include "nearcast/modes/scratch_pool.h"
#include "nearcast/modes/sizes.h"
#include "nearcast/rank/rank_index.h"
#include "nearcast/text/vocabulary.h"

namespace nearcast {

class RankSet {
 public:
  using Rows = RankSubscriptionColumns;
  static constexpr const char* kMark = "rank";  ///< of snapshots of a matcher of this mode

  /// The kind is one of the match kinds; what cannot rank is served by `auto` (rank/registry.h).
  RankSet(const std::string& index, GivenParameters parameters, Vocabulary& words,
          TermRegistry& terms);

  /// West > east: the area crosses the antimeridian. Words need not be distinct. A message for
  /// which `where` does not hold reaches no threshold; null: it always holds.
  SubscriptionId add(std::span<const std::string_view> words, const Rect& area,
                     const RankTerms& terms, const Expression* where);
  void add(const RankSubscriptionColumns& rows, ExternalIds& ids);  ///< and bind their ids
  void check_rows(const RankSubscriptionColumns& rows) const;       ///< which add() does too
  void remove(SubscriptionId id);
  void approach(std::span<const SubscriptionId>, std::size_t) const {}
  void replace_area(SubscriptionId id, const Rect& area);  ///< the slot stays the same

  /// From now on the weights are those of this epoch; everything is weighed anew at once. Null:
  /// every token counts 1, as at the start.
  void weigh(const Epoch* epoch);

  /// Which subscriptions does the message reach? Tokens ascend and are distinct. The sink is
  /// cleared first; its work adds up.
  void rank(const Message& message, RankSink& sink) const;
  MatchColumns answer(const MessageColumns& messages, const ExternalIds& ids, bool is_timed) const;
  MatchColumns answer_one(const Saying& saying, const Place& place, const ExternalIds& ids) const;
  /// Does `where` of the subscription hold?
  bool accepts(SubscriptionId id, const Message& message, FactReader& reader) const {
    return !conditions_.has(id) || conditions_.accepts(id, reader.read(message, words_, terms_));
  }
  const RankStore& store() const { return store_; }
  Definition definition(SubscriptionId id) const;

  std::size_t size() const { return store_.size(); }
  std::size_t slots() const { return store_.slots(); }
  bool has(SubscriptionId id) const { return raw(id) < store_.slots() && store_.is_live(id); }

  SetSizes sizes() const;
  const std::string& index_name() const { return index_name_; }
  const GivenParameters& parameters() const { return parameters_; }
  void count_uses(std::vector<std::uint32_t>& uses) const;
  void count_terms(TermRegistry& terms) const { conditions_.count_terms(terms); }
  void check_invariants() const;
  void save(ArchiveWriter& out) const {
    store_.save(out);
    conditions_.save(out);
  }
  void load(ArchiveReader& in, const Claims& known);

 private:
  struct Scratch {
    RankScratch rank;
    RankSink sink;
    ReadingScratch reading;
    FactReader facts;
  };

  void run(const Message& message, Scratch& scratch, RankSink& sink) const;

  std::string index_name_;
  GivenParameters parameters_;
  Vocabulary& words_;
  TermRegistry& terms_;
  RankStore store_;
  Conditions conditions_;
  std::unique_ptr<RankIndex> index_;
  mutable ScratchPool<Scratch> scratches_;
};

}  // namespace nearcast

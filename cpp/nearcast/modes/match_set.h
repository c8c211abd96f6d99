/// Match subscriptions behind one index: what they ask for and areas in, slots out.
///
/// The index files a subscription under clauses and its area; what these do not decide, a condition
/// does (model/condition_plan.h, model/conditions.h): it refuses some of what the index reports.
///
/// The set has neither ids nor a clock: a matcher and the match mode of a hub are built on it. It
/// holds a use of each word that its subscriptions have, and of the words of the sample that it has
/// learned.
///
/// Nothing here locks: its owner sees to it that changes run alone. Any number of const calls may
/// run at once. A call that throws has changed nothing.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nearcast/columns/columns.h"
#include "nearcast/columns/reading.h"
#include "nearcast/index/match_index.h"
#include "nearcast/index/moving_index.h"
#include "nearcast/index/parameters.h"
#include "nearcast/life/event.h"
#include "nearcast/model/condition_plan.h"
#include "nearcast/model/conditions.h"
#include "nearcast/model/facts.h"
#include "nearcast/model/message_backlog.h"
#include "nearcast/model/subscription_store.h"
#include "nearcast/modes/definition.h"
#include "nearcast/modes/scratch_pool.h"
#include "nearcast/modes/sizes.h"
#include "nearcast/text/vocabulary.h"

namespace nearcast {

/// What one matching thread needs.
struct BatchScratch {
  MatchScratch match;
  MatchSink sink;
  ReadingScratch reading;
  FactReader facts;                                               ///< of a single message
  std::array<FactReader, 2 * ReadingScratch::kGroup> near_facts;  ///< of a group, and of the next
  MatchSink unwanted;
  ShapeMemo excluded;  ///< of excluded areas
};

/// Rows of which columns do not say it all.
struct WishRows {
  const IdColumn& ids;
  std::size_t rows;
  std::function<Wish(std::size_t)> wish;  ///< it lives until the next call
  std::function<Area(std::size_t)> area;
  PlaceColumns areas;  ///< boxes, if all areas are: they tell which rows are neighbours
};

class MatchSet {
 public:
  using Rows = SubscriptionColumns;
  static constexpr const char* kMark = "";  ///< of snapshots of a matcher of this mode

  MatchSet(const std::string& index, GivenParameters parameters, Vocabulary& words,
           TermRegistry& terms);

  /// `excluded`: messages that touch it do not match; null: there is none.
  SubscriptionId add(const Wish& wish, const Area& area, const Area* excluded);
  SubscriptionId add_like(SubscriptionId id, const Area& area);  ///< the same with another area
  void add(const SubscriptionColumns& rows, ExternalIds& ids);   ///< and bind their ids
  void add(const WishRows& rows, ExternalIds& ids);
  void remove(SubscriptionId id);
  /// One of many removals, that of ids[i], comes next.
  void approach(std::span<const SubscriptionId> ids, std::size_t i) const {
    index_->approach(ids, i);
  }
  void replace_area(SubscriptionId id, const Area& area);
  void learn(const MessageColumns& messages);

  /// Which subscriptions match? The answer is in scratch.sink.
  void match(const Message& message, BatchScratch& scratch) const;
  MatchColumns answer(const MessageColumns& messages, const ExternalIds& ids, bool is_timed) const;
  MatchColumns answer_one(const Saying& saying, const Place& place, const ExternalIds& ids) const;
  /// What no index can beat, for benchmarks: find where the lists of each message begin, touch
  /// them, and copy the answer, which is known. `ends` tells where each message's answer ends.
  MatchColumns floor(const MessageColumns& messages, std::span<const std::int64_t> ends,
                     std::span<const std::int64_t> answers) const;

  Definition definition(SubscriptionId id) const;
  Verdict explain(SubscriptionId id, const Message& message) const;
  Area area(SubscriptionId id) const { return store_.area(id); }

  std::size_t size() const { return store_.size(); }
  std::size_t slots() const { return store_.slots(); }
  bool has(SubscriptionId id) const { return raw(id) < store_.slots() && store_.is_live(id); }

  // ---- match_live.cpp: messages that the index keeps -------------------------------------------
  /// From now on the index also keeps messages. It takes in those that are there by catch_up().
  void hold(const MessageStore& messages);
  bool is_holding() const { return moving_ != nullptr; }
  void catch_up(std::size_t count);                ///< with at most so many messages
  void keep(MessageId id, BatchScratch& scratch);  ///< match it, and keep it
  void drop(MessageId id);
  void find(SubscriptionId id, std::vector<MessageId>& out) const;
  void move(SubscriptionId id, const Area& area, MoveChanges& changes);

  SetSizes sizes() const;
  const std::string& index_name() const { return index_name_; }
  const GivenParameters& parameters() const { return parameters_; }
  void count_uses(std::vector<std::uint32_t>& uses) const;
  void count_terms(TermRegistry& terms) const;
  void check_invariants() const { index_->check_invariants(); }
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in, const Claims& known);

 private:
  /// Everything but the index.
  SubscriptionId store(const Wish& wish, const Area& area, const Area* excluded);
  void forget(SubscriptionId id);
  SubscriptionId add_plain(std::span<const std::string_view> words, const Area& area);
  SubscriptionId add_planned(const Wish& wish, const Area& area, const Area* excluded);
  bool is_unfiled(SubscriptionId id) const;
  /// Does matching need the words alone? Then there are no facts to look at.
  bool is_plain() const { return conditions_.empty() && terms_.empty(); }
  void derive(const MessageColumns& messages, std::size_t row, BatchScratch& scratch,
              Message& message) const;
  /// Takes back the answers whose conditions do not hold; facts_of(message of the group).
  template <typename FactsOf>
  void retain(BatchScratch& scratch, FactsOf&& facts_of) const {
    if (conditions_.empty()) return;
    scratch.sink.retain(
        [&](std::size_t i, SubscriptionId id) {
          return conditions_.accepts(id, facts_of(i), &scratch.excluded);
        },
        [&](SubscriptionId id, int step) { conditions_.prefetch(id, step); });
  }
  void retain(SubscriptionId id, std::vector<MessageId>& found, std::size_t first) const;
  SubscriptionId add_row(const SubscriptionColumns& rows, std::size_t row, TokenSpan tokens);
  void check_rows(const SubscriptionColumns& rows) const;
  template <typename Visit>
  void visit_groups(const MessageColumns& messages, bool is_timed, BatchScratch& scratch,
                    MatchColumns& out, Visit&& visit) const;

  std::string index_name_;
  GivenParameters parameters_;
  Vocabulary& words_;
  TermRegistry& terms_;
  SubscriptionStore store_;
  Conditions conditions_;
  std::size_t unfiled_ = 0;  ///< subscriptions that are filed under no word
  Array<Token> learned_;  ///< of the sample that was learned last, each once: their words are held
  MessageSample sample_;  ///< what the index has learned from last, if its kind does
  std::unique_ptr<MatchIndex> index_;
  bool files_ranges_;                       ///< does index_ file by ranges of numbers?
  MovingIndex* moving_ = nullptr;           ///< index_, once it holds messages
  const MessageStore* messages_ = nullptr;  ///< theirs
  MessageBacklog backlog_;                  ///< messages that moving_ has not taken in yet
  mutable ScratchPool<BatchScratch> scratches_;
};

}  // namespace nearcast

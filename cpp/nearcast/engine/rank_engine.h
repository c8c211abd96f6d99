/// Rank mode with all it needs: words, rank subscriptions, the users' ids, weights and one index.
///
/// Nothing here locks, as in Engine: any number of const calls may run at once, changes run alone.
/// A call that throws has changed nothing. The vocabulary may be another engine's, with the same
/// owner: then this one only reads it, and subscriptions, weights and messages come in tokens,
/// whose words the owner holds as long as they are needed here.
///
/// Calls with words are for users. Calls with tokens and slots are for a hub, which reads each
/// message once for all modes and keeps sets of its own.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nearcast/engine/columns.h"
#include "nearcast/engine/external_ids.h"
#include "nearcast/engine/reading.h"
#include "nearcast/engine/scratch_pool.h"
#include "nearcast/index/parameters.h"
#include "nearcast/rank/rank_index.h"
#include "nearcast/text/vocabulary.h"

namespace nearcast {

struct RankSubscriptionColumns {
  IdColumn ids;
  WordLists keywords;
  PlaceColumns areas;
  std::span<const double> alpha, threshold;
  std::size_t rows = 0;
};

class RankEngine {
 public:
  using GivenParameters = std::map<std::string, ParameterValue>;

  /// The kind is one of the match kinds; what cannot rank is served by `auto` (rank/registry.h).
  /// Without a vocabulary it has one of its own.
  RankEngine(std::string index, GivenParameters parameters,
             std::shared_ptr<Vocabulary> vocabulary = nullptr);

  /// West > east: the area crosses the antimeridian. Words need not be distinct.
  void subscribe(const ExternalId& id, std::span<const std::string_view> words, const Rect& area,
                 const RankTerms& terms);
  void subscribe(const RankSubscriptionColumns& rows);
  /// Tokens ascend and are distinct, one at least; the caller holds their words.
  void subscribe(const ExternalId& id, TokenSpan tokens, const Rect& area, const RankTerms& terms);
  void unsubscribe(const ExternalId& id);
  void unsubscribe(const IdColumn& ids);
  void replace_area(const ExternalId& id, const Rect& area);  ///< the slot stays the same
  bool has(const ExternalId& id) const;
  bool has_only_words() const { return ids_.size() == 0 || ids_.has_words(); }  ///< as ids
  bool is_live(SubscriptionId id) const { return raw(id) < store_.slots() && store_.is_live(id); }

  /// From now on the weights are those of this epoch; everything is weighed anew at once.
  void start_epoch(const EpochColumns& epoch);
  /// The caller holds the words of what weights().listed() names.
  void start_epoch(std::uint64_t documents, std::span<const TokenWeights::Count> counts);
  void end_epoch();  ///< every token counts 1, as at the start

  MatchColumns rank(const MessageColumns& messages, bool is_timed) const;
  MatchColumns rank_one(std::span<const std::string_view> words, const Place& place) const;
  /// Tokens ascend and are distinct. The sink is cleared first; its work adds up.
  void rank_one(const Message& message, RankSink& sink) const;

  /// Of one pair: the score, whether or not it reaches the threshold.
  double score(SubscriptionId slot, const Message& message) const;
  bool accepts(SubscriptionId slot, double score) const;
  double score_pair(const ExternalId& id, std::span<const std::string_view> words,
                    const Place& place) const;

  SubscriptionId slot_of(const ExternalId& id) const;  ///< throws an unknown-id error
  const ExternalIds& ids() const { return ids_; }
  const RankStore& store() const { return store_; }

  /// Tokens of a dictionary's words (kUnknownToken: not known), and the vocabulary's version.
  std::pair<std::vector<std::uint32_t>, std::uint64_t> tokens_of(const WordColumn& words) const;
  std::uint64_t vocabulary_version() const;

  EngineStats stats() const;
  const std::string& index_name() const { return index_name_; }
  const GivenParameters& parameters() const { return parameters_; }
  void check_invariants() const;

  /// Adds the uses of words by subscriptions and by the epoch in force, by token.
  void count_uses(std::vector<std::uint32_t>& uses) const;

  void save(ArchiveWriter& out) const;  ///< with the vocabulary, if it is its own
  void load(ArchiveReader& in);

 private:
  struct Scratch {
    RankScratch rank;
    RankSink sink;
    ReadingScratch reading;
  };

  void check_rows(const RankSubscriptionColumns& rows) const;
  void run(const Message& message, RankScratch& scratch, RankSink& sink) const;
  void remove(SubscriptionId id);
  void check_uses() const;

  std::string index_name_;
  GivenParameters parameters_;
  std::shared_ptr<Vocabulary> vocabulary_;
  bool owns_words_;
  RankStore store_;
  ExternalIds ids_;
  std::unique_ptr<RankIndex> index_;
  mutable ScratchPool<Scratch> scratches_;
};

}  // namespace nearcast

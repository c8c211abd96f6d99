/// Rank mode with all it needs: words, rank subscriptions, the users' ids, weights and one index.
///
/// Nothing here locks, as in Engine: any number of const calls may run at once, changes run alone.
/// A call that throws has changed nothing but the vocabulary, which no answer depends on. The
/// vocabulary may be another engine's, with the same owner.
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
  using WordCount = std::pair<std::string_view, std::uint64_t>;  ///< a word and its df

  /// The kind is one of the match kinds; what cannot rank is served by `auto` (rank/registry.h).
  RankEngine(std::string index, GivenParameters parameters,
             std::shared_ptr<Vocabulary> vocabulary = std::make_shared<Vocabulary>());

  /// West > east: the area crosses the antimeridian. Words need not be distinct.
  void subscribe(const ExternalId& id, std::span<const std::string_view> words, const Rect& area,
                 const RankTerms& terms);
  void subscribe(const RankSubscriptionColumns& rows);
  void unsubscribe(const ExternalId& id);
  void unsubscribe(const IdColumn& ids);
  void replace_area(const ExternalId& id, const Rect& area);  ///< the slot stays the same
  bool has(const ExternalId& id) const;

  /// From now on the weights are those of this epoch; everything is weighed anew at once.
  void start_epoch(std::uint64_t documents, std::span<const WordCount> counts);
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

  /// Tokens of a dictionary's words; those of unknown words are kUnknownToken, or become known.
  std::vector<std::uint32_t> tokens_of(const WordColumn& words) const;
  std::vector<std::uint32_t> intern(const WordColumn& words);

  EngineStats stats() const;
  const std::string& index_name() const { return index_name_; }
  const GivenParameters& parameters() const { return parameters_; }
  void check_invariants() const;

  void save(ArchiveWriter& out) const;  ///< the vocabulary too
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

  std::string index_name_;
  GivenParameters parameters_;
  std::shared_ptr<Vocabulary> vocabulary_;
  RankStore store_;
  ExternalIds ids_;
  std::unique_ptr<RankIndex> index_;
  mutable ScratchPool<Scratch> scratches_;
};

}  // namespace nearcast

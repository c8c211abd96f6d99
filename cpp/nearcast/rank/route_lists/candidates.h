/// Candidates of one message: collected while their records are prefetched, and then scored.
#pragma once

#include "nearcast/index/ours/sized_lists/entry.h"
#include "nearcast/rank/rank_index.h"
#include "nearcast/rank/route_lists/score_records.h"

namespace nearcast {

class RankCandidates {
 public:
  RankCandidates(const RankStore& store, const ScoreRecords& records, const Message& message,
                 RankScratch& scratch, RankSink& sink)
      : store_(store), records_(records), message_(message), scratch_(scratch), sink_(sink) {
    scratch_.queue.clear();
    scratch_.queue_inside.clear();
  }

  /// A subscription that is added several times is decided once. `is_inside`: the message is a
  /// point and certain to lie in the box.
  void add(SubscriptionId id, bool is_inside) {
    scratch_.visited.prefetch(raw(id));
    records_.prefetch(id);
    (is_inside ? scratch_.queue_inside : scratch_.queue).push_back(id);
  }

  void decide() {
    for (const SubscriptionId id : scratch_.queue_inside) {
      if (!scratch_.visited.first_visit(raw(id))) continue;
      const ScoreRecords::Record& record = records_[id];
      if (record.count == 0) {
        decide_by_store(id);
      } else {
        decide(id, records_.terms(record), 1, textual(record));
      }
    }
    for (const SubscriptionId id : scratch_.queue) {
      if (!scratch_.visited.first_visit(raw(id))) continue;
      const ScoreRecords::Record& record = records_[id];
      if (record.count == 0) {
        decide_by_store(id);
        continue;
      }
      const RankTerms& terms = records_.terms(record);
      const double text = textual(record);
      // The box is elsewhere in memory; most candidates are ruled out without it.
      if (!reaches(combine(terms.alpha, 1, text), terms.threshold)) continue;
      decide(id, terms, store_.spatial(id, message_.place), text);
    }
  }

 private:
  double textual(const ScoreRecords::Record& record) const {
    double common = 0;
    for (std::uint32_t i = 0; i < record.count; ++i) {
      const sized_lists::Signature hash = sized_lists::signature_of(record.tokens[i]);
      if (!(scratch_.bits[hash >> 6] >> (hash & 63) & 1)) continue;
      if (contains(message_.tokens, record.tokens[i])) common += store_.weights()[record.tokens[i]];
    }
    return common / record.weight;
  }

  void decide(SubscriptionId id, const RankTerms& terms, double spatial, double text) {
    const double score = combine(terms.alpha, spatial, text);
    if (reaches(score, terms.threshold)) sink_.accept(id, score);
  }

  void decide_by_store(SubscriptionId id) {
    const double score = store_.score(id, message_);
    if (store_.accepts(id, score)) sink_.accept(id, score);
  }

  const RankStore& store_;
  const ScoreRecords& records_;
  const Message& message_;
  RankScratch& scratch_;
  RankSink& sink_;
};

}  // namespace nearcast

/// Everything that a score needs of a subscription, in half a cache line: most candidates cost one
/// read.
///
///   record   32 bytes: up to five tokens, ascending; their weight; which terms
///   terms    alpha and threshold, once for all subscriptions that have the same (shared_terms.h)
///
/// What does not fit (more tokens, a box across the antimeridian, more different terms than can be
/// counted) is scored by the store. Either way the score is that of model/rank_score.h, to the last
/// bit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nearcast/base/array.h"
#include "nearcast/base/prefetch.h"
#include "nearcast/rank/rank_store.h"
#include "nearcast/rank/route_lists/shared_terms.h"

namespace nearcast {

class ScoreRecords {
 public:
  static constexpr std::uint32_t kMostTokens = 5;
  struct Record {
    Token tokens[kMostTokens];
    std::uint16_t terms;
    std::uint16_t count;  ///< of tokens; 0: the store scores
    double weight;
  };
  static_assert(sizeof(Record) == 32);

  explicit ScoreRecords(const RankStore& store) : store_(store) {}

  const Record& operator[](SubscriptionId id) const { return records_[raw(id)]; }
  const RankTerms& terms(const Record& record) const { return terms_[record.terms]; }
  const RankTerms& terms(std::uint16_t number) const { return terms_[number]; }
  void prefetch(SubscriptionId id) const { prefetch_line(&records_[raw(id)]); }

  void write(SubscriptionId id);
  void erase(SubscriptionId id);  ///< was written
  void clear();

  std::size_t memory_bytes() const { return records_.memory_bytes() + terms_.memory_bytes(); }
  void check(SubscriptionId id) const;  ///< throws unless the record says what the store says

 private:
  const RankStore& store_;
  Array<Record> records_;  ///< by subscription
  SharedTerms terms_;      ///< of those whose record has a count
};

}  // namespace nearcast

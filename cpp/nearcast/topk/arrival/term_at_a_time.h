/// Adds up what subscriptions have in common with a newcomer, token by token, then scores each of
/// them. It is an inverted file without bounds, for comparison with the kinds that have bounds.
#pragma once

#include <vector>

#include "nearcast/base/array.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/topk/arrival/arrival_index.h"
#include "nearcast/topk/arrival/newcomer.h"

namespace nearcast {

class TermAtATimeArrival final : public ArrivalIndex {
 public:
  using ArrivalIndex::ArrivalIndex;

  void insert(SubscriptionId id) override;
  void erase(SubscriptionId id) override;
  void clear() override;
  void threshold_changed(SubscriptionId, Units) override {}
  void find(MessageId message, std::vector<ArrivalHit>& out, WorkCounters& work) override;

  std::size_t memory_bytes() const override {
    return lists_.memory_bytes() + entries_.memory_bytes() + sums_.memory_bytes();
  }
  void check_invariants() const override;

 private:
  struct Entry {
    SubscriptionId id;
    float weight;
  };

  Array<ListHandle> lists_;  ///< by token
  ListArena<Entry> entries_;
  Array<float> sums_;  ///< by subscription; all 0 between searches
  Newcomer newcomer_;
  std::vector<SubscriptionId> met_, candidates_;
};

}  // namespace nearcast

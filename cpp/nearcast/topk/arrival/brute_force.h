/// Scores every subscription. It is the reference of every comparison and stays simple.
#pragma once

#include "nearcast/topk/arrival/arrival_index.h"

namespace nearcast {

class BruteForceArrival final : public ArrivalIndex {
 public:
  using ArrivalIndex::ArrivalIndex;

  void insert(SubscriptionId) override {}
  void erase(SubscriptionId) override {}
  void clear() override {}
  void threshold_changed(SubscriptionId, Units) override {}
  void find(MessageId message, std::vector<ArrivalHit>& out, WorkCounters& work) override {
    state_.subscriptions.for_each([&](SubscriptionId id) {
      ++work.candidates;
      const double product = state_.product(id, message);
      if (product == 0) return;
      ++work.verified;
      const Units units = units_of(state_.score(id, message, product));
      if (units >= state_.buffers.threshold(id)) out.push_back({id, units});
    });
  }

  std::size_t memory_bytes() const override { return 0; }
  void check_invariants() const override {}
};

}  // namespace nearcast

/// Scores every subscription. It is the reference of every comparison and stays simple.
#pragma once

#include "nearcast/index/parameters.h"
#include "nearcast/rank/rank_index.h"

namespace nearcast {

class BruteForceRank final : public RankIndex {
 public:
  BruteForceRank(const RankStore& store, const Parameters&) : RankIndex(store) {}

  void insert(SubscriptionId) override {}
  void erase(SubscriptionId) override {}
  void reweigh() override {}
  void rank(const Message& message, RankScratch&, RankSink& sink) const override {
    store_.for_each([&](SubscriptionId id) {
      ++sink.work.candidates;
      const double score = store_.score(id, message);
      if (store_.accepts(id, score)) sink.accept(id, score);
    });
  }

  std::size_t memory_bytes() const override { return 0; }
  void check_invariants() const override {}
};

}  // namespace nearcast

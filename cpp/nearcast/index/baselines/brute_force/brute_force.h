/// Looks at every subscription. It is the reference of every comparison and stays simple.
#pragma once

#include "nearcast/index/match_index.h"
#include "nearcast/index/parameters.h"

namespace nearcast {

class BruteForce final : public MatchIndex {
 public:
  BruteForce(const SubscriptionStore& store, const Parameters&) : MatchIndex(store) {}
  static std::vector<ParameterSpec> parameters() { return {}; }

  void insert(SubscriptionId) override {}  // the store holds everything that is needed
  void erase(SubscriptionId) override {}
  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;

  std::size_t memory_bytes() const override { return 0; }
  void check_invariants() const override {}
};

}  // namespace nearcast

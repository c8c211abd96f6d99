/// `cskyband`: the threshold of each subscription is the one that costs least [Skype §6.2 and
/// Algorithm 2].
///
/// What the model needs (expiry/skyband_costs.h) is measured while the engine runs:
///
///   search   the time of this subscription's evaluations so far, with more weight on recent ones;
///            for the first one, the mean of all subscriptions. The time to set the new threshold
///            in the arrival index is included
///   held     the time to insert one newcomer in 256, divided by the size of its buffer
///   growth   arrivals per departure among the last thousand or so
///
/// So thresholds depend on the machine and on the moment. Answers do not.
#pragma once

#include "nearcast/base/array.h"
#include "nearcast/topk/expiry/skyband_costs.h"
#include "nearcast/topk/expiry/skyband_policy.h"
#include "nearcast/topk/top_tuning.h"

namespace nearcast {

class CostSkyband final : public SkybandPolicy {
 public:
  CostSkyband(TopState& state, MessageSearch& search, ArrivalIndex& arrival, const TopTuning&)
      : SkybandPolicy(state, search, arrival) {}

  void arrive(SubscriptionId id, const Held& newcomer) override;
  void evaluate(SubscriptionId id) override;
  void window_moved(bool has_grown) override;
  std::size_t memory_bytes() const override { return search_ns_.memory_bytes(); }

 private:
  Cut choose_cut(SubscriptionId id) const override;
  SkybandCosts costs_of(SubscriptionId id) const;
  void learn_search(SubscriptionId id, double nanoseconds);

  Array<float> search_ns_;       ///< by subscription; 0: none yet
  double any_search_ns_ = 50e3;  ///< of all; estimates until something was measured
  double held_ns_ = 5;
  double arrival_share_ = 0.5;  ///< of recent arrivals and departures
  std::uint32_t newcomers_ = 0;
};

}  // namespace nearcast

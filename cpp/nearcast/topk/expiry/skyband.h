/// `skyband`: the threshold is a share of the k-th best score at the last evaluation
/// [Skype §6.1, §8.1.2].
///
/// The share is 0.95, which [Skype §8.1.2] found best; with 1 it is the original k-skyband. The
/// threshold of a negative score, which a small space makes possible, is lower by the same amount
/// as that of a positive one.
#pragma once

#include "nearcast/topk/expiry/skyband_policy.h"
#include "nearcast/topk/top_tuning.h"

namespace nearcast {

class Skyband final : public SkybandPolicy {
 public:
  Skyband(TopState& state, MessageSearch& search, ArrivalIndex& arrival, const TopTuning& tuning)
      : SkybandPolicy(state, search, arrival), share_(tuning.skyband_share) {}

  void evaluate(SubscriptionId id) override;

 private:
  Cut choose_cut(SubscriptionId id) const override;
  Units threshold_for(Units last) const;

  double share_;
};

}  // namespace nearcast

/// `skyband`: the threshold is a share of the k-th best score at the last evaluation
/// [Skype §6.1, §8.1.2].
///
/// The share is 0.95, where [Skype §8.1.2] found the best of this kind; 1 is the form of those who
/// invented it. Of a negative score, which a small space makes possible, as much is taken away as
/// of a positive one.
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

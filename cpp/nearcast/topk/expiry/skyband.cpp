#include "nearcast/topk/expiry/skyband.h"

#include <cmath>

namespace nearcast {

Units Skyband::threshold_for(Units last) const {
  return std::floor(last - (1 - share_) * std::fabs(last));
}

void Skyband::evaluate(SubscriptionId id) {
  const std::uint32_t k = state_.subscriptions[id].k;
  found_.clear();
  search_.best(id, k, kLowestUnits, found_, work_.evaluation);
  if (found_.size() < k) {
    hold_skyband(id, kLowestUnits);
    return;
  }
  const Units threshold = threshold_for(found_.back().units);
  found_.clear();
  search_.best(id, state_.messages.size(), threshold, found_, work_.evaluation);
  hold_skyband(id, threshold);
}

SkybandPolicy::Cut Skyband::choose_cut(SubscriptionId id) const {
  const Units last = state_.buffers.held(id, state_.subscriptions[id].k - 1).units;
  const Units threshold = threshold_for(last);
  // Units are whole numbers, so a fraction of a unit can be cut off.
  return {state_.buffers.place_for(id, threshold - 1), threshold};
}

}  // namespace nearcast

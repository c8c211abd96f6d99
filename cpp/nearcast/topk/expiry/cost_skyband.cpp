#include "nearcast/topk/expiry/cost_skyband.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace nearcast {
namespace {

constexpr std::uint32_t kTimedOneIn = 256;
constexpr double kNewSearch = 0.25, kNewOfAny = 1.0 / 256, kNewMove = 1.0 / 1024;

/// Clamps outliers to 16 times the running mean: they are interruptions by the system.
double within_reason(double nanoseconds, double usual) { return std::min(nanoseconds, 16 * usual); }

class Stopwatch {
 public:
  double nanoseconds() const {
    return std::chrono::duration<double, std::nano>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

void CostSkyband::arrive(SubscriptionId id, const Held& newcomer) {
  if (++newcomers_ % kTimedOneIn != 0) {
    SkybandPolicy::arrive(id, newcomer);
    return;
  }
  const double size = state_.buffers.size(id) + 1;
  const Stopwatch watch;
  SkybandPolicy::arrive(id, newcomer);
  held_ns_ += kNewOfAny * (within_reason(watch.nanoseconds() / size, held_ns_) - held_ns_);
}

void CostSkyband::evaluate(SubscriptionId id) {
  const Stopwatch watch;
  const std::uint32_t size = best_skyband_input(state_.subscriptions[id].k, costs_of(id));
  found_.clear();
  search_.best(id, size, kLowestUnits, found_, work_.evaluation);
  hold_skyband(id, found_.size() < size ? kLowestUnits : found_.back().units);
  learn_search(id, watch.nanoseconds());
}

void CostSkyband::window_moved(bool has_grown) {
  arrival_share_ += kNewMove * ((has_grown ? 1.0 : 0.0) - arrival_share_);
}

SkybandPolicy::Cut CostSkyband::choose_cut(SubscriptionId id) const {
  const std::uint32_t k = state_.subscriptions[id].k;
  const double wanted = skyband_size(best_skyband_input(k, costs_of(id)), k);
  const auto size =
      std::min(state_.buffers.size(id), static_cast<std::uint32_t>(std::ceil(wanted)));
  return {size, state_.buffers.held(id, size - 1).units};
}

SkybandCosts CostSkyband::costs_of(SubscriptionId id) const {
  const bool is_known = raw(id) < search_ns_.size() && search_ns_[raw(id)] > 0;
  // While the window fills, zero drift is assumed; otherwise the model would keep only k messages.
  const double growth = std::clamp(arrival_share_ / (1 - arrival_share_), 0.5, 1.0);
  return {is_known ? static_cast<double>(search_ns_[raw(id)]) : any_search_ns_, held_ns_, growth};
}

void CostSkyband::learn_search(SubscriptionId id, double nanoseconds) {
  nanoseconds = within_reason(nanoseconds, any_search_ns_);
  any_search_ns_ += kNewOfAny * (nanoseconds - any_search_ns_);
  if (raw(id) >= search_ns_.size()) search_ns_.resize(raw(id) + 1);
  float& own = search_ns_[raw(id)];
  own = static_cast<float>(own > 0 ? own + kNewSearch * (nanoseconds - own) : nanoseconds);
}

}  // namespace nearcast

#include "nearcast/topk/expiry/expiry_policy.h"

#include <algorithm>

namespace nearcast {

void ExpiryPolicy::request(SubscriptionId id, Refill refill) {
  if (state_.buffers.refill(id) == Refill::kNo) requested_.push_back(id);
  state_.buffers.set_refill(id, std::max(state_.buffers.refill(id), refill));
}

/// Sorts very many searches by words and then from west to east: searches that read the same lists
/// and messages then follow each other and find them in the cache.
void ExpiryPolicy::group_requests() {
  std::vector<std::pair<std::uint64_t, SubscriptionId>> keyed;
  keyed.reserve(requested_.size());
  for (const SubscriptionId id : requested_) {
    if (!state_.subscriptions.has(id)) continue;  // unsubscribed since
    const auto column = static_cast<std::uint32_t>((state_.subscriptions[id].at.lon + 180) * 1e6);
    keyed.emplace_back(std::uint64_t{raw(state_.subscriptions.tokens(id).front())} << 32 | column,
                       id);
  }
  std::sort(keyed.begin(), keyed.end());
  requested_.clear();
  for (const auto& [key, id] : keyed) requested_.push_back(id);
}

void ExpiryPolicy::evaluate_requested() {
  constexpr std::size_t kMany = 256;
  if (requested_.size() >= kMany) group_requests();
  for (const SubscriptionId id : requested_) {
    if (!state_.subscriptions.has(id)) continue;  // unsubscribed since
    const Refill refill = state_.buffers.refill(id);
    state_.buffers.set_refill(id, Refill::kNo);
    if (refill == Refill::kNo || (refill == Refill::kIfShort && !is_short(id))) continue;
    ++work_.evaluations;
    remember(id, 0);
    evaluate(id);
  }
  requested_.clear();
}

std::uint32_t ExpiryPolicy::insert(SubscriptionId id, const Held& newcomer) {
  ++work_.inserts;
  const std::uint32_t place = state_.buffers.place_for(id, newcomer.units);
  remember(id, place);
  state_.buffers.insert(id, place, newcomer);
  state_.holders.add(newcomer.message, id);
  return place;
}

std::uint32_t ExpiryPolicy::remove(SubscriptionId id, MessageId message) {
  const std::uint32_t place = state_.buffers.place_of(id, message);
  if (place == ResultBuffers::kNowhere) return place;
  ++work_.departures;
  remember(id, place);
  state_.buffers.remove(id, place);
  return place;
}

void ExpiryPolicy::hold(SubscriptionId id, std::span<const Held> all) {
  for (const int step : {0, 1}) {
    for (const Held& held : all) state_.holders.prefetch(held.message, step);
  }
  // The subscription is already listed for messages that it held before.
  for (const Held& held : all) {
    if (state_.buffers.place_of(id, held.message) == ResultBuffers::kNowhere)
      state_.holders.add(held.message, id);
  }
  state_.buffers.assign(id, all);
}

void ExpiryPolicy::restore(SubscriptionId id, std::span<const Held> all, Units threshold) {
  hold(id, all);
  set_threshold(id, threshold);
}

void ExpiryPolicy::set_threshold(SubscriptionId id, Units units) {
  const Units old = state_.buffers.threshold(id);
  if (units == old) return;
  state_.buffers.set_threshold(id, units);
  arrival_.threshold_changed(id, old);
}

}  // namespace nearcast

#include "nearcast/topk/expiry/skyband_policy.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {
namespace {

constexpr std::uint32_t kGrown = 4;  ///< times k

}  // namespace

void SkybandPolicy::arrive(SubscriptionId id, const Held& newcomer) {
  const std::uint32_t k = state_.subscriptions[id].k;
  const std::uint32_t place = insert(id, newcomer);
  // Everything behind it is older and has no higher score.
  state_.buffers.dominate(id, place + 1, k);
  if (state_.buffers.size(id) / kGrown >= k) cut_back(id);
}

void SkybandPolicy::cut_back(SubscriptionId id) {
  const Cut cut = choose_cut(id);
  // Changing a threshold costs time in the arrival index.
  if (cut.size > state_.buffers.size(id) / 4 * 3) return;
  state_.buffers.truncate(id, cut.size);
  set_threshold(id, cut.threshold);
}

void SkybandPolicy::leave(SubscriptionId id, MessageId message, bool is_oldest) {
  const bool may_have_evicted = state_.buffers.size(id) >= state_.subscriptions[id].k;
  const std::uint32_t place = remove(id, message);
  if (place == ResultBuffers::kNowhere) return;
  if (!is_oldest && may_have_evicted) {
    request(id, Refill::kSurely);
    return;
  }
  if (!is_oldest) {
    const std::uint64_t number = state_.messages.number(message);
    for (std::uint32_t behind = place; behind < state_.buffers.size(id); ++behind) {
      if (state_.messages.number(state_.buffers.held(id, behind).message) < number)
        --state_.buffers.dominators(id, behind);
    }
  }
  if (is_short(id)) request(id, Refill::kIfShort);
}

void SkybandPolicy::hold_skyband(SubscriptionId id, Units threshold) {
  const std::uint32_t k = state_.subscriptions[id].k;
  newest_.clear();
  dominators_.clear();
  for (const Held& held : found_) {
    const std::uint64_t number = state_.messages.number(held.message);
    const auto newer = std::upper_bound(newest_.begin(), newest_.end(), number);
    const auto count = static_cast<std::uint32_t>(newest_.end() - newer);
    if (count >= k) continue;
    // Never more kept than visited.
    found_[dominators_.size()] = held;
    dominators_.push_back(count);
    newest_.insert(newer, number);
    if (newest_.size() > k) newest_.erase(newest_.begin());
  }
  found_.resize(dominators_.size());
  hold(id, found_);
  for (std::uint32_t place = 0; place < dominators_.size(); ++place)
    state_.buffers.dominators(id, place) = dominators_[place];
  set_threshold(id, threshold);
}

/// The contents are a skyband already, so all of them stay and only dominators are counted.
void SkybandPolicy::restore(SubscriptionId id, std::span<const Held> all, Units threshold) {
  found_.assign(all.begin(), all.end());
  hold_skyband(id, threshold);
}

void SkybandPolicy::check_buffer(SubscriptionId id) const {
  const ResultBuffers& buffers = state_.buffers;
  for (std::uint32_t place = 0; place < buffers.size(id); ++place) {
    const std::uint64_t number = state_.messages.number(buffers.held(id, place).message);
    std::uint32_t count = 0;
    for (std::uint32_t before = 0; before < place; ++before)
      count += state_.messages.number(buffers.held(id, before).message) > number ? 1 : 0;
    ensure(buffers.dominators(id, place) == count, "skyband: a count of dominators is wrong");
    ensure(count < state_.subscriptions[id].k, "skyband: a dominated message is held");
  }
}

}  // namespace nearcast

#include "nearcast/topk/expiry/slack_buffers.h"

namespace nearcast {

void SlackBuffers::arrive(SubscriptionId id, const Held& newcomer) {
  insert(id, newcomer);
  const std::uint32_t k = state_.subscriptions[id].k;
  if (state_.buffers.size(id) <= slack_.limit(k)) return;
  const std::uint32_t kept = slack_.kept(k);
  state_.buffers.truncate(id, kept);
  // A later message of the same score as the last one is newer and belongs before it.
  set_threshold(id, state_.buffers.held(id, kept - 1).units);
}

void SlackBuffers::leave(SubscriptionId id, MessageId message, bool) {
  if (remove(id, message) == ResultBuffers::kNowhere) return;
  if (is_short(id)) request(id, Refill::kIfShort);
}

void SlackBuffers::evaluate(SubscriptionId id) {
  const std::uint32_t kept = slack_.kept(state_.subscriptions[id].k);
  found_.clear();
  search_.best(id, kept, kLowestUnits, found_, work_.evaluation);
  hold(id, found_);
  set_threshold(id, found_.size() < kept ? kLowestUnits : found_.back().units);
}

}  // namespace nearcast

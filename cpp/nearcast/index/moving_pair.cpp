#include "nearcast/index/moving_pair.h"

#include <algorithm>

#include "nearcast/model/semantics.h"

namespace nearcast {
void propose_all(const SubscriptionStore& store, SubscriptionId id, const MessageIndex& messages,
                 std::span<const Rect> windows, std::vector<MessageId>& out) {
  const std::size_t first = out.size();
  store.for_each_entry(id,
                       [&](EntryId entry) { messages.propose(store.clause(entry), windows, out); });
  const auto begin = out.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, out.end());
  out.erase(std::unique(begin, out.end()), out.end());
}

void MovingPair::find(SubscriptionId id, std::vector<MessageId>& out) const {
  const std::size_t first = out.size();
  propose_all(store_, id, *kept_, {&store_.bounds(id), 1}, out);
  const auto begin = out.begin() + static_cast<std::ptrdiff_t>(first);
  out.erase(std::remove_if(begin, out.end(),
                           [&](MessageId message) {
                             return !matches(store_, id, messages_->message(message));
                           }),
            out.end());
}

void MovingPair::move(SubscriptionId id, const Area& to, SubscriptionStore& store,
                      MoveChanges& changes) {
  const Rect windows[2] = {store_.bounds(id), bounds_of(to)};
  proposed_.clear();
  propose_all(store_, id, *kept_, windows, proposed_);
  std::erase_if(proposed_,
                [&](MessageId message) { return !holds(store_, id, messages_->tokens(message)); });
  was_.clear();
  for (const MessageId message : proposed_) {
    was_.push_back(area_touches(store_, id, messages_->place(message)));
  }
  subscriptions_->erase(id);
  store.replace_area(id, to);
  subscriptions_->insert(id);
  for (std::size_t i = 0; i < proposed_.size(); ++i) {
    const bool is = area_touches(store_, id, messages_->place(proposed_[i]));
    if (is && !was_[i]) changes.gained.push_back(proposed_[i]);
    if (!is && was_[i]) changes.lost.push_back(proposed_[i]);
  }
}

}  // namespace nearcast

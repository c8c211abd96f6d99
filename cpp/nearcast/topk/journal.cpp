#include "nearcast/topk/journal.h"

#include <algorithm>

namespace nearcast {

void Journal::open_page(SubscriptionId id, Cause cause, Point at) {
  subscriptions_.set_page(id, static_cast<std::uint32_t>(pages_.size()));
  pages_.push_back({id, cause, static_cast<std::uint32_t>(held_.size()), 0, 0, at});
}

void Journal::write_page(SubscriptionId id, Cause cause, Point at, std::uint32_t k,
                         const ResultBuffers& buffers) {
  open_page(id, cause, at);
  Page& page = pages_.back();
  page.count = page.same = std::min(k, buffers.size(id));
  const std::span<const MessageId> best = buffers.messages(id).first(page.count);
  held_.insert(held_.end(), best.begin(), best.end());
}

void Journal::remember_new(SubscriptionId id, bool is_silent) {
  open_page(id, is_silent ? Cause::kSilent : Cause::kSubscribed, {});
}

void Journal::remember_moved(SubscriptionId id, Point at, std::uint32_t k,
                             const ResultBuffers& buffers) {
  if (!has_page(id)) {
    write_page(id, Cause::kMoved, at, k, buffers);
    return;
  }
  Page& page = page_of(id);
  if (page.cause != Cause::kMessages) return;  // new, or not where it was before the event
  page.cause = Cause::kMoved;
  page.at = at;
}

void Journal::forget(SubscriptionId id) {
  if (has_page(id)) page_of(id).cause = Cause::kForgotten;
}

}  // namespace nearcast

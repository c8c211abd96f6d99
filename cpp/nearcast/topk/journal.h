/// The lists as they were before this event, for those subscriptions whose list the event touches.
///
/// A list is copied before its k best change for the first time. At the end of the event the copy
/// is compared with the list: a message that entered and left in between is no change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/base/ids.h"
#include "nearcast/geo/rect.h"
#include "nearcast/topk/result_buffers.h"

namespace nearcast {

class Journal {
 public:
  explicit Journal(TopSubscriptions& subscriptions) : subscriptions_(subscriptions) {}

  enum class Cause : std::uint8_t { kForgotten, kSilent, kMessages, kSubscribed, kMoved };
  struct Page {
    SubscriptionId id;
    Cause cause;
    std::uint32_t first, count;  ///< of what it held
    std::uint32_t same;          ///< how many of the best are still the same
    Point at;                    ///< where it was, if it moved
  };

  void start() {
    pages_.clear();
    held_.clear();
  }
  /// Called before something changes from `place` on: copy the first `k` messages that the
  /// subscription holds, unless that was done before.
  void remember(SubscriptionId id, std::uint32_t k, std::uint32_t place,
                const ResultBuffers& buffers) {
    if (!has_page(id)) write_page(id, Cause::kMessages, {}, k, buffers);
    Page& page = page_of(id);
    page.same = std::min(page.same, place);
  }
  /// A subscription that held nothing, because it did not exist; a silent one is not compared.
  void remember_new(SubscriptionId id, bool is_silent);
  /// Before the subscription moves away from `at`.
  void remember_moved(SubscriptionId id, Point at, std::uint32_t k, const ResultBuffers& buffers);
  void forget(SubscriptionId id);  ///< unsubscribed: nothing is delivered

  std::span<const Page> pages() const { return pages_; }  ///< skip the forgotten and the silent
  const Page* find(SubscriptionId id) const {  ///< null: this event has not touched its list
    return has_page(id) ? &pages_[subscriptions_[id].page] : nullptr;
  }
  std::span<const MessageId> held(const Page& page) const {
    return std::span(held_).subspan(page.first, page.count);
  }

 private:
  /// The subscription's record has the number of a page, of this event or of an earlier one; the
  /// page names its subscription.
  bool has_page(SubscriptionId id) const {
    const std::uint32_t page = subscriptions_[id].page;
    return page < pages_.size() && pages_[page].id == id && pages_[page].cause != Cause::kForgotten;
  }
  Page& page_of(SubscriptionId id) { return pages_[subscriptions_[id].page]; }
  void open_page(SubscriptionId id, Cause cause, Point at);
  void write_page(SubscriptionId id, Cause cause, Point at, std::uint32_t k,
                  const ResultBuffers& buffers);

  TopSubscriptions& subscriptions_;
  std::vector<Page> pages_;
  std::vector<MessageId> held_;
};

}  // namespace nearcast

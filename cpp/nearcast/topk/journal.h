/// How the lists were before this event, of those subscriptions whose list it touches.
///
/// A list is remembered before its k best change for the first time. At the end of the event what
/// was remembered is compared with what is there: whatever came and went in between is no change.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"
#include "nearcast/geo/rect.h"
#include "nearcast/topk/result_buffers.h"

namespace nearcast {

class Journal {
 public:
  enum class Cause : std::uint8_t { kForgotten, kMessages, kSubscribed, kMoved };
  struct Page {
    SubscriptionId id;
    Cause cause;
    std::uint32_t first, count;  ///< of what it held
    Point at;                    ///< where it was, if it moved
  };

  void start();
  /// Remember the first `k` of what the subscription holds, unless that was done before.
  void remember(SubscriptionId id, std::uint32_t k, const ResultBuffers& buffers) {
    if (!has_page(id)) write_page(id, Cause::kMessages, {}, k, buffers);
  }
  /// A subscription that held nothing, because it did not exist.
  void remember_new(SubscriptionId id);
  /// Before the subscription moves away from `at`.
  void remember_moved(SubscriptionId id, Point at, std::uint32_t k, const ResultBuffers& buffers);
  void forget(SubscriptionId id);  ///< unsubscribed: nothing is delivered

  void prefetch(SubscriptionId id) const {
    if (raw(id) < seen_.size()) __builtin_prefetch(&seen_[raw(id)]);
  }
  std::span<const Page> pages() const { return pages_; }  ///< skip those that are forgotten
  std::span<const Held> held(const Page& page) const {
    return std::span(held_).subspan(page.first, page.count);
  }
  std::size_t memory_bytes() const { return seen_.memory_bytes(); }

 private:
  struct Seen {
    std::uint32_t event, page;
  };

  bool has_page(SubscriptionId id) const {
    return raw(id) < seen_.size() && seen_[raw(id)].event == event_;
  }
  void open_page(SubscriptionId id, Cause cause, Point at);
  void write_page(SubscriptionId id, Cause cause, Point at, std::uint32_t k,
                  const ResultBuffers& buffers);

  std::uint32_t event_ = 1;
  Array<Seen> seen_;  ///< by subscription: its page, if the event is this one
  std::vector<Page> pages_;
  std::vector<Held> held_;
};

}  // namespace nearcast

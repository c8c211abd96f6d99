/// Messages that an index has still to take in: all that were published from some moment on.
///
/// An index that is made over a full window, or that comes back from a snapshot, is told of the
/// messages in the order of publication, a few after each event. Until it has them all, a question
/// also scans the others, newly published ones included: it reads their outlines
/// (model/message_outline.h), and the caller verifies what the outlines do not rule out. So no
/// event pays for all messages at once, and every answer is exact.
///
/// Which messages wait needs no memory: they are the newest ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "nearcast/model/message_store.h"

namespace nearcast {

class MessageBacklog {
 public:
  /// All live messages wait. The store outlives this.
  void start(const MessageStore& messages) {
    messages_ = &messages;
    wait_for(messages.oldest());
  }
  bool empty() const { return from_ == kNone; }
  bool has(MessageId id) const { return !empty() && messages_->number(id) >= from_; }

  /// Calls take_in(id) for the oldest that wait, at most `count` of them: they wait no longer.
  template <typename TakeIn>
  void take(std::size_t count, TakeIn&& take_in) {
    for (; count > 0 && next_; --count) {
      const MessageId id = *next_;
      wait_for(messages_->after(id));
      take_in(id);
    }
  }
  /// A waiting message leaves; it is not hidden yet.
  void leave(MessageId id) {
    if (next_ == id) wait_for(messages_->after(id));
  }

  /// Calls visit(id) for each message that waits and whose outline has all bits of one of `wanted`,
  /// each of which has kLiveOutline.
  template <typename Visit>
  void for_each(std::span<const Outline> wanted, Visit&& visit) const {
    if (empty()) return;
    const std::span<const Outline> outlines = messages_->outlines();
    for (std::uint32_t slot = 0; slot < outlines.size(); ++slot) {
      bool fits = false;
      for (const Outline each : wanted) fits |= may_have(outlines[slot], each);
      if (fits && has(MessageId{slot})) visit(MessageId{slot});
    }
  }
  /// May the message touch the box? A point is compared, a box always may.
  bool may_touch(MessageId id, const Rect& box) const {
    if ((messages_->outlines()[raw(id)] & kBoxOutline) != 0) return true;
    const Point at = messages_->centre(id);
    return (box.west <= at.lon) & (at.lon <= box.east) & (box.south <= at.lat) &
           (at.lat <= box.north);
  }

 private:
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  void wait_for(std::optional<MessageId> next) {
    next_ = next;
    from_ = next ? messages_->number(*next) : kNone;
  }

  const MessageStore* messages_ = nullptr;
  std::optional<MessageId> next_;  ///< the oldest that waits
  std::uint64_t from_ = kNone;     ///< its number
};

}  // namespace nearcast

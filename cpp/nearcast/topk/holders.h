/// Which subscriptions hold a message? One list per live message, so that a departure needs no
/// search.
///
/// A subscription is listed when the message enters its buffer and stays listed when the buffer
/// drops it: a reader of the list must look into the buffer. A subscription may be listed twice.
#pragma once

#include <cstddef>
#include <span>

#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/prefetch.h"

namespace nearcast {

class Holders {
 public:
  std::span<const SubscriptionId> of(MessageId message) const {
    if (raw(message) >= lists_.size()) return {};
    return arena_.view(lists_[raw(message)]);
  }
  void add(MessageId message, SubscriptionId id) {
    if (raw(message) >= lists_.size()) lists_.resize(raw(message) + 1);
    arena_.push_back(lists_[raw(message)], id);
  }
  /// Prefetch what add() writes: first step 0, a while later step 1.
  void prefetch(MessageId message, int step) const {
    if (raw(message) >= lists_.size()) return;
    const ListHandle& list = lists_[raw(message)];
    prefetch_line(step == 0 ? static_cast<const void*>(&list)
                            : static_cast<const void*>(arena_.at(list.start + list.size)));
  }
  void forget(MessageId message) {
    if (raw(message) < lists_.size()) arena_.release(lists_[raw(message)]);
  }

  std::size_t memory_bytes() const { return lists_.memory_bytes() + arena_.memory_bytes(); }

 private:
  Array<ListHandle> lists_;  ///< by message
  ListArena<SubscriptionId> arena_;
};

}  // namespace nearcast

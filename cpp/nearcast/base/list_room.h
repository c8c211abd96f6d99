/// Is there room for one more change? Structures number their elements by 32 bits; a change that
/// runs out of numbers half-way would leave them broken, so the one before it must tell.
///
/// Whatever numbers elements says how many it has when it grows (note_list_growth). If the rest
/// would not do for any single change, the thread's mark is set. The owner of the structures
/// watches each of its changes (ListRoom::Change) and refuses the next one that adds something,
/// with a capacity error and before anything has changed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "nearcast/base/errors.h"

namespace nearcast {

/// Elements of one structure: a place + 1 has 32 bits. Only tests lower it.
inline std::size_t list_limit = 0xFFFFFFFE;
inline thread_local bool is_near_list_limit = false;

/// `size` elements are there, and the longest list may need `next` more to grow once.
inline void note_list_growth(std::size_t size, std::size_t next) {
  constexpr std::size_t kSpare = std::size_t{1} << 24;  // for everything else that a change adds
  if (size + next + std::min(kSpare, list_limit / 4) > list_limit) [[unlikely]]
    is_near_list_limit = true;
}

class ListRoom {
 public:
  /// Before a change that adds something; within one there is room.
  void check() const {
    if (is_short_ && open_changes_ == 0)
      too_large("the lists of an index", "nearly as many elements as 32 bits can number",
                "room for one more change");
  }
  /// Something was erased: what takes its place needs no room.
  void has_released() { is_short_ = false; }

  /// Lives as long as one change. Changes may be nested.
  class Change {
   public:
    explicit Change(ListRoom& room)
        : room_(room), was_near_(std::exchange(is_near_list_limit, false)) {
      ++room_.open_changes_;
    }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;
    ~Change() {
      --room_.open_changes_;
      room_.is_short_ |= is_near_list_limit;
      is_near_list_limit |= was_near_;
    }

   private:
    ListRoom& room_;
    bool was_near_;
  };

 private:
  bool is_short_ = false;
  int open_changes_ = 0;
};

}  // namespace nearcast

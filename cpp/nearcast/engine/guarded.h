/// A matcher, or a hub, with the one lock that guards all of it.
///
/// What is inside has no locks of its own and is reached through a question or a change only. What
/// these return must be a value: a view into what is guarded would outlive the lock. They must not
/// call Python, for a thread that has the lock waits for nothing else.
#pragma once

#include <concepts>
#include <mutex>
#include <utility>

#include "nearcast/base/fair_lock.h"

namespace nearcast {

template <typename Inside>
class Guarded {
 public:
  template <typename... Arguments>
    requires std::constructible_from<Inside, Arguments...>
  explicit Guarded(Arguments&&... arguments) : inside_(std::forward<Arguments>(arguments)...) {}

  /// Ask something. Any number of threads do so at once.
  template <typename Question>
  auto ask(Question&& question) const {
    const ReadTurn turn(lock_);
    return question(inside_);
  }

  /// The same if it need not wait; otherwise false, and nothing was asked.
  template <typename Question>
  bool try_ask(Question&& question) const {
    if (!lock_.try_lock_shared()) return false;
    const ReadTurn turn(lock_, std::adopt_lock);
    question(inside_);
    return true;
  }

  /// Ask something that takes long. Changes wait for it; other questions do not wait for them.
  template <typename Question>
  auto ask_at_length(Question&& question) const {
    const NextTurn next(lock_);
    const ReadTurn turn(lock_);
    return question(inside_);
  }

  /// Change something, alone.
  template <typename Change>
  auto change(Change&& change) {
    const NextTurn next(lock_);
    const std::lock_guard turn(lock_);
    return change(inside_);
  }

  /// The same if it need not wait; otherwise false, and nothing has changed.
  template <typename Change>
  bool try_change(Change&& change) {
    if (!lock_.try_lock_next()) return false;
    const NextTurn next(lock_, std::adopt_lock);
    if (!lock_.try_lock()) return false;
    const std::lock_guard turn(lock_, std::adopt_lock);
    change(inside_);
    return true;
  }

 protected:
  mutable FairLock lock_;
  Inside inside_;
};

}  // namespace nearcast

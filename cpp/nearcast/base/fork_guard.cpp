#include "nearcast/base/fork_guard.h"

#include <pthread.h>

namespace nearcast {

/// All locks, in two lists. The mutex of the lists is held from before a fork until after it, so
/// that no lock is made or destroyed in between.
class ForkGuards {
 public:
  /// Never destroyed: static locks are let go when the process ends, in an order of their own.
  static ForkGuards& all() {
    static ForkGuards* const guards = new ForkGuards;
    return *guards;
  }

  void add(ForkGuard& guard) {
    const std::lock_guard lock(mutex_);
    ForkGuard*& first = first_[static_cast<int>(guard.order_)];
    guard.next_ = first;
    if (first != nullptr) first->previous_ = &guard;
    first = &guard;
  }

  void remove(ForkGuard& guard) {
    const std::lock_guard lock(mutex_);
    if (guard.next_ != nullptr) guard.next_->previous_ = guard.previous_;
    (guard.previous_ != nullptr ? guard.previous_->next_ : first_[static_cast<int>(guard.order_)]) =
        guard.next_;
  }

 private:
  ForkGuards() { ::pthread_atfork(&before, &after_in_parent, &after_in_child); }

  template <typename Visit>
  void for_each(Visit&& visit) {
    for (ForkGuard* first : first_)
      for (ForkGuard* guard = first; guard != nullptr; guard = guard->next_) visit(*guard);
  }

  static void before() {
    all().mutex_.lock();
    all().for_each([](ForkGuard& guard) { guard.before_fork(); });
  }
  static void after_in_parent() {
    all().for_each([](ForkGuard& guard) { guard.after_fork_in_parent(); });
    all().mutex_.unlock();
  }
  static void after_in_child() {
    all().for_each([](ForkGuard& guard) { guard.after_fork_in_child(); });
    all().mutex_.unlock();
  }

  std::mutex mutex_;
  ForkGuard* first_[2] = {nullptr, nullptr};  ///< by order
};

ForkGuard::ForkGuard(Order order) : order_(order) { ForkGuards::all().add(*this); }
ForkGuard::~ForkGuard() { ForkGuards::all().remove(*this); }

}  // namespace nearcast

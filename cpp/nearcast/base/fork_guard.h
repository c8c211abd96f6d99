/// What fork() must find at rest, so that the child can use it.
///
/// A child has the memory of all threads of its parent, but only the thread that forked. Whatever
/// another thread was changing stays half changed, and what it had locked stays locked for ever.
/// Therefore each lock of the project registers itself here. Before a fork all locks are taken;
/// after it the parent releases them and the child makes them new.
///
/// Outer locks guard the state of a hub or a matcher and are taken first. Inner ones guard a few
/// instructions, and a thread that has one waits for no other.
#pragma once

#include <mutex>

namespace nearcast {

class ForkGuard {
 public:
  enum class Order { kOuter, kInner };

  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

 protected:
  explicit ForkGuard(Order order);
  ~ForkGuard();

 private:
  friend class ForkGuards;

  virtual void before_fork() = 0;
  virtual void after_fork_in_parent() = 0;
  virtual void after_fork_in_child() = 0;

  Order order_;
  ForkGuard *previous_ = nullptr, *next_ = nullptr;  ///< among those of the same order
};

/// A mutex that guards a few instructions. Usable with std::lock_guard.
class InnerMutex final : public ForkGuard {
 public:
  InnerMutex() : ForkGuard(Order::kInner) {}

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  void before_fork() override { lock(); }
  void after_fork_in_parent() override { unlock(); }
  void after_fork_in_child() override { unlock(); }

  std::mutex mutex_;
};

}  // namespace nearcast

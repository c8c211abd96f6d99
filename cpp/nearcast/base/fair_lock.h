/// A lock for many questions (readers) and few changes (writers), in which neither side can starve
/// the other.
///
/// Phase-fair: a change that waits stops questions that come after it, and the questions that were
/// waiting when a change ends go before the next change. So a question waits for one change at
/// most, a change for the questions that are under way. Changes go in the order in which they came.
///
/// There are three ways to have it:
///   asking    lock_shared: any number at once, while nothing changes
///   next      lock_next: the right to be the next that changes, which one thread has. Questions
///             are still answered. It suits what must not see changes and takes long (saving), and
///             keeps the events of one batch together.
///   changing  lock: by the thread that is next, alone
///
/// Readers are counted when they come and when they go, in two words. The lowest bits of the first
/// say that something changes or is about to, and alternate, so that readers that wait for the end
/// of one change do not take the beginning of the next for the same. Counts may wrap around.
/// (B. Brandenburg, J. Anderson: Spin-based reader-writer synchronization for multiprocessor
/// real-time systems, 2010, §3, there with spinning instead of waiting.)
///
/// lock_shared synchronises with changes only, not with other questions. ThreadSanitizer therefore
/// sees two questions as unordered and reports what both of them write.
///
/// A forked child finds it free: fork() waits for its turn like a question, so what it copies is
/// whole, and the threads that asked or waited are not there.
#pragma once

#include <atomic>
#include <cstdint>

#include "nearcast/base/fork_guard.h"

namespace nearcast {

class FairLock final : public ForkGuard {
 public:
  FairLock() : ForkGuard(Order::kOuter) {}

  void lock_shared() {
    const std::uint32_t change = came_.fetch_add(kOne, std::memory_order_acquire) & kChange;
    if (change != 0) wait_for_end_of(change);
  }
  bool try_lock_shared() {
    std::uint32_t came = came_.load(std::memory_order_relaxed);
    while ((came & kChange) == 0) {
      if (came_.compare_exchange_weak(came, came + kOne, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  void unlock_shared() {
    went_.fetch_add(kOne);
    if ((came_.load() & kChange) != 0) went_.notify_all();
  }

  void lock_next();
  bool try_lock_next() {
    std::uint32_t now = served_.load();
    return tickets_.compare_exchange_strong(now, now + 1);
  }
  void unlock_next() {
    served_.fetch_add(1);
    served_.notify_all();
  }

  // Only by the thread that is next.
  void lock();
  bool try_lock();
  void unlock();
  /// While changing: does a question wait for the change to end?
  bool is_awaited() const { return (came_.load() & ~kChange) != went_.load(); }

 private:
  static constexpr std::uint32_t kOne = 4, kChange = 3;

  std::uint32_t next_phase() { return phase_ = phase_ == 2 ? 3 : 2; }
  void wait_for_end_of(std::uint32_t change);

  void before_fork() override { lock_shared(); }
  void after_fork_in_parent() override { unlock_shared(); }
  void after_fork_in_child() override;

  std::atomic<std::uint32_t> came_{0};  ///< readers, times kOne; and the phase of a change
  std::atomic<std::uint32_t> went_{0};  ///< readers, times kOne
  std::atomic<std::uint32_t> tickets_{0}, served_{0};  ///< of those that want to be next
  std::uint32_t phase_ = 2;                            ///< of the last change
};

/// A question's hold of the lock.
class ReadTurn {
 public:
  explicit ReadTurn(FairLock& lock) : lock_(lock) { lock_.lock_shared(); }
  ReadTurn(FairLock& lock, std::adopt_lock_t) : lock_(lock) {}
  ~ReadTurn() { lock_.unlock_shared(); }
  ReadTurn(const ReadTurn&) = delete;
  ReadTurn& operator=(const ReadTurn&) = delete;

 private:
  FairLock& lock_;
};

/// The right to be the next that changes.
class NextTurn {
 public:
  explicit NextTurn(FairLock& lock) : lock_(lock) { lock_.lock_next(); }
  NextTurn(FairLock& lock, std::adopt_lock_t) : lock_(lock) {}
  ~NextTurn() { lock_.unlock_next(); }
  NextTurn(const NextTurn&) = delete;
  NextTurn& operator=(const NextTurn&) = delete;

 private:
  FairLock& lock_;
};

}  // namespace nearcast

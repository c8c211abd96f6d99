#include "nearcast/base/fair_lock.h"

namespace nearcast {

void FairLock::wait_for_end_of(std::uint32_t change) {
  for (std::uint32_t came = came_.load(); (came & kChange) == change; came = came_.load()) {
    came_.wait(came);
  }
}

void FairLock::lock_next() {
  const std::uint32_t ticket = tickets_.fetch_add(1);
  for (std::uint32_t now = served_.load(); now != ticket; now = served_.load()) served_.wait(now);
}

void FairLock::lock() {
  const std::uint32_t readers = came_.fetch_add(next_phase());
  for (std::uint32_t went = went_.load(); went != readers; went = went_.load()) went_.wait(went);
}

bool FairLock::try_lock() {
  std::uint32_t readers = went_.load();
  if (!came_.compare_exchange_strong(readers, readers + (phase_ == 2 ? 3 : 2))) return false;
  next_phase();
  return true;
}

void FairLock::unlock() {
  came_.fetch_and(~kChange);
  came_.notify_all();
}

void FairLock::after_fork_in_child() {
  came_.store(0);
  went_.store(0);
  tickets_.store(0);
  served_.store(0);
}

}  // namespace nearcast

// FairLock: the order in which questions and changes go, without a clock: a thread that waits is seen by what
// it has not done yet, and by the lock itself.
#include "nearcast/base/fair_lock.h"

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/unit/check.h"

namespace nearcast::unit {
namespace {

const Test kShared("any number may ask at once, and nothing changes meanwhile", [] {
  FairLock lock;
  lock.lock_shared();
  check(lock.try_lock_shared());
  check(lock.try_lock_next());    // next to change, but not changing yet
  check(!lock.try_lock());        // two still ask
  check(lock.try_lock_shared());  // and questions still begin
  for (int i = 0; i < 3; ++i) lock.unlock_shared();
  check(lock.try_lock());
  check(!lock.try_lock_shared() && !lock.is_awaited());
  lock.unlock();
  lock.unlock_next();
  check(lock.try_lock_shared());
  lock.unlock_shared();
});

const Test kOneNext("one thread is next, and the right passes on", [] {
  FairLock lock;
  check(lock.try_lock_next() && !lock.try_lock_next());
  lock.unlock_next();
  for (int i = 0; i < 5; ++i) {
    const NextTurn turn(lock);
    check(!lock.try_lock_next());
  }
  check(lock.try_lock_next());
  lock.unlock_next();
});

const Test kPhases("a question that waits for a change goes before the next change", [] {
  FairLock lock;
  for (int round = 0; round < 50; ++round) {
    std::atomic<bool> has_asked{false};
    lock.lock_next();
    lock.lock();
    std::thread reader([&] {
      const ReadTurn turn(lock);
      has_asked = true;
    });
    while (!lock.is_awaited()) std::this_thread::yield();
    check(!has_asked);
    lock.unlock();
    lock.lock();  // the next change: it must find that the question was answered
    const bool was_first = has_asked;
    lock.unlock();
    lock.unlock_next();
    reader.join();
    check(was_first);
  }
});

const Test kWaitingChange("a change that waits stops questions that come after it", [] {
  FairLock lock;
  lock.lock_shared();
  std::thread writer([&] {
    const NextTurn turn(lock);
    lock.lock();
    lock.unlock();
  });
  while (lock.try_lock_shared()) {  // ends as soon as the change waits
    lock.unlock_shared();
    std::this_thread::yield();
  }
  lock.unlock_shared();
  writer.join();
  check(lock.try_lock_shared());
  lock.unlock_shared();
});

const Test kCounts("changes of many threads are alone, and questions see none half done", [] {
  FairLock lock;
  std::uint64_t first = 0, second = 0;
  std::atomic<bool> is_torn{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int step = 0; step < 500; ++step) {
        const NextTurn turn(lock);
        lock.lock();
        ++first;
        ++second;
        lock.unlock();
      }
    });
    threads.emplace_back([&] {
      for (int step = 0; step < 500; ++step) {
        const ReadTurn turn(lock);
        if (first != second) is_torn = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  check(!is_torn && first == 1'500);
});

}  // namespace
}  // namespace nearcast::unit

/// Times the messages of a batch one by one, by the cheapest clock there is: on x86 the counter of
/// the processor, scaled by the steady clock over the whole batch.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace nearcast {

class Stopwatch {
 public:
  /// `count` messages were matched together: each took its share of the time.
  void lap(std::vector<std::int64_t>& laps, std::size_t count) {
    const std::uint64_t now = ticks();
    laps.insert(laps.end(), count, static_cast<std::int64_t>((now - last_) / count));
    last_ = now;
  }
  /// Turns laps into nanoseconds.
  void finish(std::vector<std::int64_t>& laps) const {
    const auto elapsed =
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - started_).count();
    const auto counted = static_cast<double>(ticks() - first_);
    const double scale = counted > 0 ? static_cast<double>(elapsed) / counted : 1;
    for (std::int64_t& lap : laps)
      lap = static_cast<std::int64_t>(static_cast<double>(lap) * scale);
  }
  double cpu_seconds() const { return thread_cpu_seconds() - cpu_started_; }  ///< of this thread

 private:
  static std::uint64_t ticks() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
  }
  static double thread_cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }

  double cpu_started_ = thread_cpu_seconds();
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::uint64_t first_ = ticks(), last_ = first_;
};

}  // namespace nearcast

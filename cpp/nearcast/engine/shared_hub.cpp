#include "nearcast/engine/shared_hub.h"

#include <chrono>
#include <optional>

#include "nearcast/columns/stopwatch.h"

namespace nearcast {
namespace {

using Clock = std::chrono::steady_clock;

/// How long events are applied while a question waits. Giving it a turn costs tens of microseconds
/// of waking threads, which this is worth.
constexpr auto kTurn = std::chrono::microseconds(200);

}  // namespace

/// read(row): the event, or null if there is none.
template <typename Read>
ChangeColumns SharedHub::apply_rows(std::size_t rows, Read&& read, bool stops_at_error,
                                    bool is_timed) {
  const NextTurn next(lock_);
  std::unique_lock turn(lock_);
  Clock::time_point started = Clock::now();
  ChangeColumns out;
  std::optional<Stopwatch> watch;  // reading the clock of the thread costs as much as an event
  if (is_timed) watch.emplace();
  for (std::size_t row = 0; row < rows; ++row) {
    const Event* event = read(row);
    if (event == nullptr) continue;
    if (!inside_.apply(*event, static_cast<std::int64_t>(row), out) && stops_at_error) break;
    if (watch) watch->lap(out.nanoseconds, 1);
    if (lock_.is_awaited() && row + 1 < rows && Clock::now() - started >= kTurn) {
      turn.unlock();
      turn.lock();
      started = Clock::now();
    }
  }
  inside_.trim();
  if (watch) {
    out.cpu_seconds = watch->cpu_seconds();
    watch->finish(out.nanoseconds);
  }
  return out;
}

ChangeColumns SharedHub::apply(std::span<const Event> events, bool stops_at_error, bool is_timed) {
  return apply_rows(
      events.size(), [&](std::size_t row) { return &events[row]; }, stops_at_error, is_timed);
}

ChangeColumns SharedHub::apply(const EventTable& events, bool stops_at_error) {
  EventTable::Scratch scratch;
  const auto read = [&](std::size_t row) {
    return events[row].is_out ? nullptr : &events.read(row, scratch);
  };
  return apply_rows(events.size(), read, stops_at_error, false);
}

}  // namespace nearcast

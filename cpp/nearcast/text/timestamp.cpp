#include "nearcast/text/timestamp.h"

#include <chrono>
#include <cstdint>

namespace nearcast {
namespace {

/// Reads a text from its beginning on.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  /// So many digits as a number; -1: they are not there.
  int digits(std::size_t count) {
    if (rest_.size() < count) return -1;
    int number = 0;
    for (const char digit : rest_.substr(0, count)) {
      if (digit < '0' || digit > '9') return -1;
      number = 10 * number + (digit - '0');
    }
    rest_.remove_prefix(count);
    return number;
  }
  /// Whether the next character is one of these; if so, it is left behind.
  bool skip(std::string_view any) {
    if (rest_.empty() || any.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::size_t leading_digits() const {
    const std::size_t end = rest_.find_first_not_of("0123456789");
    return end == std::string_view::npos ? rest_.size() : end;
  }
  bool is_done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

/// Seconds of the offset from UTC, or nothing.
std::optional<std::int64_t> read_offset(Cursor& at) {
  if (at.skip("Zz")) return 0;
  const bool is_behind = at.skip("-");
  if (!is_behind && !at.skip("+")) return std::nullopt;
  const int hours = at.digits(2);
  if (hours < 0 || hours > 23 || !at.skip(":")) return std::nullopt;
  const int minutes = at.digits(2);
  if (minutes < 0 || minutes > 59) return std::nullopt;
  return (is_behind ? -60 : 60) * (60 * std::int64_t{hours} + minutes);
}

}  // namespace

std::optional<double> read_plain_timestamp(std::string_view text) {
  constexpr std::size_t kMostDigits = 6;
  constexpr std::int64_t kMillion = 1'000'000;
  Cursor at(text);
  const int year = at.digits(4);
  if (year < 1970 || !at.skip("-")) return std::nullopt;
  const int month = at.digits(2);
  if (month < 0 || !at.skip("-")) return std::nullopt;
  const int day = at.digits(2);
  if (day < 0 || !at.skip("Tt ")) return std::nullopt;
  const int hour = at.digits(2);
  if (hour < 0 || hour > 23 || !at.skip(":")) return std::nullopt;
  const int minute = at.digits(2);
  if (minute < 0 || minute > 59 || !at.skip(":")) return std::nullopt;
  const int second = at.digits(2);
  if (second < 0 || second > 59) return std::nullopt;
  std::int64_t millionths = 0;
  if (at.skip(".")) {
    const std::size_t count = at.leading_digits();
    if (count == 0 || count > kMostDigits) return std::nullopt;
    millionths = at.digits(count);
    for (std::size_t i = count; i < kMostDigits; ++i) millionths *= 10;
  }
  const auto offset = read_offset(at);
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!offset || !at.is_done() || !date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t seconds = 86'400 * days + 3'600 * hour + 60 * minute + second - *offset;
  // As whole millionths a time is exact, and dividing rounds once; so is a whole number of seconds.
  constexpr std::int64_t kMostExact = (std::int64_t{1} << 53) / kMillion - 1;
  if (seconds < 0 || seconds > kMostExact) return std::nullopt;
  if (millionths == 0) return static_cast<double>(seconds);
  return static_cast<double>(seconds * kMillion + millionths) / static_cast<double>(kMillion);
}

}  // namespace nearcast

#include "nearcast/base/number_text.h"

#include <charconv>
#include <system_error>

namespace nearcast {

std::string number_text(double number) {
  char letters[32];  // 24 are the most that a double can take
  const auto end = std::to_chars(letters, letters + sizeof(letters), number).ptr;
  return {letters, end};
}

std::optional<double> number_from(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto found = std::from_chars(text.data(), end, number);
  if (found.ec != std::errc() || found.ptr != end) return std::nullopt;
  return number;
}

}  // namespace nearcast

/// Python arguments as plain values. The extension can be imported by anyone, so each value is
/// checked before it is used: its type, its range, the length of a tuple. What is wrong becomes an
/// InvalidParameterError that says which argument, what it got and what it wants.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "nearcast/geo/rect.h"

namespace nb = nanobind;

namespace nearcast {

[[noreturn]] void refuse_argument(const char* name, nb::handle got, const std::string& wanted);

/// A tuple of `least` to `most` items.
nb::tuple tuple_from(nb::handle value, const char* name, std::size_t least, std::size_t most);
inline nb::tuple tuple_from(nb::handle value, const char* name, std::size_t size) {
  return tuple_from(value, name, size, size);
}
nb::list list_from(nb::handle value, const char* name);
/// A string that has UTF-8; it lives as long as the Python string.
std::string_view word_from(nb::handle value, const char* name);
/// A finite number from low to high.
double number_from(nb::handle value, const char* name,
                   double low = std::numeric_limits<double>::lowest(),
                   double high = std::numeric_limits<double>::max());
std::uint64_t whole_from(nb::handle value, const char* name, std::uint64_t low, std::uint64_t high);
bool truth_from(nb::handle value, const char* name);
/// (lon, lat) in range.
Point point_from(nb::handle value, const char* name);
/// (west, south, east, north) in range, south ≤ north.
Rect box_from(nb::handle value, const char* name);
/// A box with west ≤ east and some extent.
Rect space_from(nb::handle value);

}  // namespace nearcast

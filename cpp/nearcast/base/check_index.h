/// Is this position inside the array? The arrays of this room check it whenever libstdc++ checks
/// its own containers: in builds with _GLIBCXX_ASSERTIONS (CMake option NEARCAST_ASSERTIONS).
#pragma once

#include <cstddef>
#include <string>

#include "nearcast/base/errors.h"

namespace nearcast {

#ifdef _GLIBCXX_ASSERTIONS
constexpr bool kChecksIndexes = true;
#else
constexpr bool kChecksIndexes = false;
#endif

[[noreturn, gnu::cold, gnu::noinline]] inline void out_of_range(std::size_t i, std::size_t size) {
  broken("position " + std::to_string(i) + " of an array of " + std::to_string(size));
}

inline void check_index(std::size_t i, std::size_t size) {
  if constexpr (kChecksIndexes) {
    if (i >= size) [[unlikely]]
      out_of_range(i, size);
  }
}

/// The same for a range: its end may be the array's.
inline void check_end(std::size_t end, std::size_t size) {
  if constexpr (kChecksIndexes) {
    if (end > size) [[unlikely]]
      out_of_range(end, size);
  }
}

}  // namespace nearcast

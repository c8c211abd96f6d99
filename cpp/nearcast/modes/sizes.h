/// How large things are.
#pragma once

#include <cstddef>

namespace nearcast {

/// Of the subscriptions of one mode.
struct SetSizes {
  std::size_t subscriptions = 0;
  std::size_t store_bytes = 0;          ///< what they say
  std::size_t index_bytes = 0;          ///< what finds them
  std::size_t message_index_bytes = 0;  ///< what finds live messages for them
};

/// Of a matcher. Bytes of ids and words belong to no mode.
struct MatcherSizes : SetSizes {
  std::size_t words = 0, word_bytes = 0, id_bytes = 0;
};

}  // namespace nearcast

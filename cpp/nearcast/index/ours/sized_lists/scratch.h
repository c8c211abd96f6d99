/// Memory of a search (search.inc.h) that is kept between messages.
#pragma once

#include <cstdint>
#include <vector>

#include "nearcast/base/ids.h"
#include "nearcast/base/stack.h"

namespace nearcast::sized_lists {

/// Entries of one record whose boxes overlap the query, as bits of a mask.
struct Hit {
  const std::uint8_t* record;
  std::uint32_t capacity, first, mask, ties;
};

struct Scratch {
  std::vector<std::uint64_t> bits;     ///< signatures of a long message; all 0 between messages
  std::vector<std::uint64_t> queue;    ///< nodes and blocks of long lists
  std::vector<std::uint64_t> pending;  ///< entries that the store decides
  Stack<Hit> hits;
  Stack<SubscriptionId> found;  ///< matches, which are reported when their message's turn comes
  Stack<std::uint64_t> doubts;  ///< entries that the upper halves of the cells do not decide
};

}  // namespace nearcast::sized_lists

/// Ordered cuts of the keywords of a k-node. [AP §3.3.2]
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/text/token_order.h"

namespace nearcast::ap {

/// A keyword that entries of a node have at the node's offset.
struct KeywordUse {
  Position keyword;
  std::uint32_t weight;  ///< w: entries that have it there
  double probability;    ///< p: of a message that reaches the node, to have it
  double gap;            ///< the same for the tokens between the keyword before and this one
};

/// Cut i is hit by tokens in [lowers[i], uppers[i]].
struct KeywordPlan {
  std::vector<Position> lowers, uppers;
  double cost = 0;  ///< expected entries to verify per message [AP eq. 1]
};

/// At most `max_cuts` cuts of `uses`, which ascend and are not empty.
KeywordPlan partition_keywords(std::span<const KeywordUse> uses, std::size_t max_cuts,
                               bool is_optimal);

}  // namespace nearcast::ap

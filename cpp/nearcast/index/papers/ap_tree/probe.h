/// The state of a search of an AP-Tree for one message.
#pragma once

#include "nearcast/index/papers/ap_tree/ap_tree.h"

namespace nearcast {

struct ApTree::Probe {
  const Message& message;
  std::span<const Position> positions;
  ap::CoarseBox box[2];
  std::uint32_t absent;  ///< bits that no token of the message has
  MatchScratch& scratch;
  MatchSink& sink;
};

}  // namespace nearcast

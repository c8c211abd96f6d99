#include "nearcast/topk/top_state.h"

namespace nearcast {
namespace {

double diagonal(const Rect& box) {
  return distance_between({box.west, box.south}, {box.east, box.north});
}

}  // namespace

TopState::TopState(const MessageStore& store, const TokenWeights& given_weights,
                   const Rect& given_space, bool counts_dominators)
    : messages(store),
      weights(&given_weights),
      space(given_space),
      max_distance(diagonal(space)),
      buffers(subscriptions, 1 - diagonal(kWorld) / max_distance, counts_dominators),
      journal(subscriptions) {}

}  // namespace nearcast

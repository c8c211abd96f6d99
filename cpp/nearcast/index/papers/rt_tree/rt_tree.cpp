#include "nearcast/index/papers/rt_tree/rt_tree.h"

#include "nearcast/index/papers/rt_tree/filter_and_verify.h"

namespace nearcast {

void RtTree::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  filter_and_verify(store_, tree_, message, scratch, sink);
}

}  // namespace nearcast

/// One message through a tree of token sets, for Rt and Rt+. [Rt §3.2, Fig. 3]
#pragma once

#include "nearcast/index/match_index.h"
#include "nearcast/index/r_tree/r_tree.h"
#include "nearcast/index/rt_tree/token_filter.h"
#include "nearcast/model/semantics.h"

namespace nearcast {

template <typename Summary>
void filter_and_verify(const SubscriptionStore& store, const RTree<Summary>& tree,
                       const Message& message, MatchScratch& scratch, MatchSink& sink) {
  if (tree.size() == 0) return;
  TokenFilter filter(tree.nodes(), tree.summary().tables(), message.tokens, scratch.ranks);
  if (!filter.passes(tree.nodes().root())) return;
  tree.search(
      message.place, sink.work, [&](RNodeId node) { return filter.passes(node); },
      [&](EntryId entry) {
        if (matches(store, entry, message) && scratch.first_report(store, entry)) {
          sink.accept(store.owner(entry));
        }
      });
}

}  // namespace nearcast

/// Rt-tree, for rank mode: an R-tree whose nodes know the tokens below them and bounds of the
/// scores there; a message goes down where the bound reaches the goal. [Rt §6.1]
///
///   paper      here                      meaning
///   n.T        TokenCounts               tokens below a node (index/papers/rt_tree/token_counts.h)
///   ψ(n, m)    NodeBounds                bound of the score below a node (rank/node_bounds.h)
///   ω(t)       TokenWeights              the global weight table
///
/// Departs from the paper as rank/node_bounds.h says; in a leaf, the node's bound is computed again
/// for each entry, with ψ_s = 0 for those that the message does not touch.
#pragma once

#include "nearcast/index/papers/rt_tree/rt_tree.h"
#include "nearcast/rank/node_bounds.h"
#include "nearcast/rank/rank_tree.h"
#include "nearcast/rank/summary_pair.h"

namespace nearcast {

class RtTreeRank final : public RankTree<SummaryPair<TokenCounts<AllTokens>, NodeBounds>> {
 public:
  RtTreeRank(const RankStore& store, const Parameters& parameters)
      : RankTree(store, parameters, TokenCounts<AllTokens>(store.subscriptions()),
                 NodeBounds(store)) {}

  void reweigh() override { tree_.summary().second.compute_all(tree_.nodes()); }
  void rank(const Message& message, RankScratch& scratch, RankSink& sink) const override;
};

}  // namespace nearcast

/// IR-tree, for rank mode: an R-tree with an inverted file per node, which gives for each child the
/// weight that it shares with the message; goes down where the bound reaches the goal. [Rt §2.3
/// IRTree baseline, §7.6 comparison]
///
/// Bounds are those of the Rt-tree (rank/node_bounds.h); tokens are looked up once per node instead
/// of once per child. In a leaf the lists give each entry's own shared weight, so that entries are
/// bounded one by one. The paper compares with an IR-tree and does not say how it computes scores:
/// this is a reconstruction.
#pragma once

#include "nearcast/index/baselines/ir_tree/child_tokens.h"
#include "nearcast/rank/node_bounds.h"
#include "nearcast/rank/rank_tree.h"
#include "nearcast/rank/summary_pair.h"

namespace nearcast {

class IrTreeRank final : public RankTree<SummaryPair<ChildTokens, NodeBounds>> {
 public:
  IrTreeRank(const RankStore& store, const Parameters& parameters)
      : RankTree(store, parameters, ChildTokens(store.subscriptions()), NodeBounds(store)) {}

  void reweigh() override { tree_.summary().second.compute_all(tree_.nodes()); }
  void rank(const Message& message, RankScratch& scratch, RankSink& sink) const override;
};

}  // namespace nearcast

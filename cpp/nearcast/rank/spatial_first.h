/// Spatial-first, for rank mode: an R-tree of subscriptions; a message goes down where a score
/// would reach the threshold if the text fitted perfectly, and scores what it finds. [Rt §2.3
/// spatial-first baseline, §6.1 bounds]
///
/// Space prunes little: where 1 − α ≥ θ, text alone may reach the threshold, and every such
/// subscription is scored, however far away it is.
#pragma once

#include "nearcast/rank/node_bounds.h"
#include "nearcast/rank/rank_tree.h"

namespace nearcast {

class SpatialFirstRank final : public RankTree<NodeBounds> {
 public:
  SpatialFirstRank(const RankStore& store, const Parameters& parameters)
      : RankTree(store, parameters, store) {}

  void reweigh() override { tree_.summary().compute_all(tree_.nodes()); }
  void rank(const Message& message, RankScratch& scratch, RankSink& sink) const override;
};

}  // namespace nearcast

/// Rt++-tree, for rank mode: the i-th token of a subscription is in a list of its i-th ancestor,
/// and with it goes a bound of what the later ones can add. Going down the tree adds up the weight
/// found and drops a subscription as soon as it cannot reach its threshold any more. [Rt §6.3]
///
///   paper      here            meaning
///   I_n[t]     TokenLevels     which have token t at node n (index/papers/rt_tree/token_levels.h)
///   B(s, n)    LevelBounds     weight of the tokens after it (rank/level_bounds.h)
///   C(s)       tallies         weight found so far
///
/// Departs from the paper:
///   - The numerator of equation 7 is kept and divided once; the paper divides again in the bound.
///   - A message that lacks a subscription's first tokens may still reach its threshold. So a node
///     is visited if a subscription may be found for the first time there or deeper, which depends
///     on whether the message touches the node, or if it is on the path to the leaf of a
///     subscription that can still reach its threshold.
///   - If θ ≤ α a subscription may be an answer without a common token: it is found in its leaf, by
///     its box, not in the lists of the root.
///   - What is left is scored by model/rank_score.h: scores must not depend on the order of a sum.
#pragma once

#include "nearcast/rank/level_bounds.h"
#include "nearcast/rank/rank_tree.h"

namespace nearcast {

class RtPlusPlusTreeRank final : public RankTree<LevelSummary> {
 public:
  RtPlusPlusTreeRank(const RankStore& store, const Parameters& parameters)
      : RankTree(store, parameters, store) {}

  void reweigh() override { tree_.summary().reweigh(tree_.nodes()); }
  void rank(const Message& message, RankScratch& scratch, RankSink& sink) const override;
};

}  // namespace nearcast

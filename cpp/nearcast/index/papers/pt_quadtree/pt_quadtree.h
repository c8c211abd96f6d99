/// PT-Quadtree: a quadtree that knows which tokens stand for the entries in each cell; a message
/// goes down where it touches a cell and has one of its tokens. [LFilter §4]
///
/// Every entry of a list whose pivot the message has is a candidate and is decided by
/// model/semantics. An entry may stand in several cells: a point is in one of them only, a range
/// may meet it several times, and then each subscription is reported once.
///
///   pivot_tree.h     the tree and the filter step
///   pivot_cells.h    what a cell holds, and its updates
///   pivots.h         which token stands for an entry
#pragma once

#include "nearcast/index/match_index.h"
#include "nearcast/index/papers/pt_quadtree/pivot_tree.h"
#include "nearcast/index/parameters.h"

namespace nearcast {

class PtQuadtree final : public MatchIndex {
 public:
  PtQuadtree(const SubscriptionStore& store, const Parameters& parameters)
      : MatchIndex(store), tree_(store, labels_, pivot_tree_options(parameters)) {}
  static std::vector<ParameterSpec> parameters() { return pivot_tree_parameters(); }

  void insert(SubscriptionId id) override;
  void erase(SubscriptionId id) override;
  void build(std::span<const SubscriptionId> ids) override;
  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;

  std::size_t memory_bytes() const override { return tree_.memory_bytes(); }
  void check_invariants() const override { tree_.check_invariants(); }

 private:
  Labels labels_;
  PivotTree tree_;
};

}  // namespace nearcast

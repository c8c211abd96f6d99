/// What scores are possible below a node of an R-tree? The summary that the trees of rank mode use.
/// [Rt §6.1 n.min_ω, n.min_s, equation 4]
///
///   paper      here        meaning
///   n.min_ω    weight      the least weight of a subscription's tokens below the node
///   n.min_s    size        the least size of an area below the node, in square degrees
///   θ          goal        the least score that is wanted below the node (rank/text_needs.h)
///   α          alpha_low, alpha_high
///
/// For every subscription below, ψ_t is at most the weight that node and message share, divided by
/// the least weight, and ψ_s at most the size that node and message share, divided by the least
/// size; both are at most 1. Departs from the paper: α and θ are each subscription's own, so what
/// is kept is their range (the score is linear in α: one of its ends has the largest); a node is
/// pruned if its bound is *below* the goal (the paper says ≤, but answers have ≥); a point message,
/// or areas without size, give ψ_s ≤ 1 where they touch.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "nearcast/base/array.h"
#include "nearcast/index/parts/r_tree/node_summary.h"
#include "nearcast/rank/rank_store.h"

namespace nearcast {

struct RankBounds {
  double weight = std::numeric_limits<double>::infinity();
  double size = std::numeric_limits<double>::infinity();
  double goal = std::numeric_limits<double>::infinity();
  double alpha_low = 1, alpha_high = 0;

  void join(const RankBounds& other);
  /// Is every score certainly too low, if these bound ψ_s and ψ_t? Both may exceed 1.
  bool excludes(double spatial, double textual) const;
  /// A bound of ψ_s for everything below a node with this box.
  double spatial(const Rect& box, const Place& place) const;
  double textual(double common_weight) const { return common_weight / weight; }

  friend bool operator==(const RankBounds&, const RankBounds&) = default;
};

class NodeBounds {
 public:
  explicit NodeBounds(const RankStore& store) : store_(store) {}

  const RankBounds& operator[](RNodeId node) const { return bounds_[raw(node)]; }
  void compute_all(const RTreeNodes& nodes);  ///< the weights have changed

  void admit(std::span<const EntryId>) {}
  void forget(EntryId) {}
  void node_created(const RTreeNodes&, RNodeId node);
  void node_freed(const RTreeNodes&, RNodeId) {}
  void entry_added(const RTreeNodes&, RNodeId node, EntryId entry);
  void entry_removed(const RTreeNodes& nodes, RNodeId node, EntryId entry);
  void subtree_added(const RTreeNodes&, RNodeId node, RNodeId child);
  void subtree_removed(const RTreeNodes& nodes, RNodeId node, RNodeId child);
  void child_split(const RTreeNodes&, RNodeId, RNodeId, RNodeId) {}
  void height_changed(const RTreeNodes&) {}

  std::size_t memory_bytes() const { return bounds_.memory_bytes(); }
  void check_invariants(const RTreeNodes& nodes) const;

 private:
  RankBounds of_entry(EntryId entry) const;
  RankBounds of_children(const RTreeNodes& nodes, RNodeId node) const;
  void compute_below(const RTreeNodes& nodes, RNodeId node);
  void check_below(const RTreeNodes& nodes, RNodeId node) const;

  const RankStore& store_;
  Array<RankBounds> bounds_;  ///< by node
};

}  // namespace nearcast

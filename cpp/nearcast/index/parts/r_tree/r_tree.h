/// An R-tree of entries by bounding box. All R-tree indexes use it: spatial-first without a
/// summary, the Rt family and the IR-tree with token summaries attached to its nodes
/// (index/parts/r_tree/node_summary.h). [Rt §3.1 R-tree with b and B]
///
/// All leaves lie at one depth, every node but the root has min_children to max_children children,
/// and every box is the smallest around what is below it, after each change. Bulk loads
/// (index/parts/r_tree/packing.h) and inserts (index/parts/r_tree/placement.h) follow one cost. An
/// erased entry is found through its leaf, not by a search; a node that falls below min_children is
/// dissolved and its children are inserted anew.
///
/// The tree holds each entry once. What it returns are entries whose box touches the place: whether
/// they match is for model/semantics to decide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "nearcast/base/errors.h"
#include "nearcast/base/work_counters.h"
#include "nearcast/geo/place.h"
#include "nearcast/index/parts/r_tree/node_summary.h"
#include "nearcast/index/parts/r_tree/nodes.h"
#include "nearcast/index/parts/r_tree/packing.h"
#include "nearcast/index/parts/r_tree/placement.h"
#include "nearcast/model/entry_map.h"

namespace nearcast {

template <typename Summary = NoSummary>
class RTree {
 public:
  template <typename... SummaryArguments>
  explicit RTree(RTreeLimits limits, SummaryArguments&&... arguments)
      : nodes_(limits), summary_(std::forward<SummaryArguments>(arguments)...) {}

  std::size_t size() const { return size_; }
  const RTreeNodes& nodes() const { return nodes_; }
  const Summary& summary() const { return summary_; }
  Summary& summary() { return summary_; }
  RNodeId leaf_of(EntryId entry) const { return leaf_of_[entry]; }  ///< of an entry that is here

  void insert(EntryId entry, const Rect& box);  ///< is not here yet
  void erase(EntryId entry);                    ///< is here
  /// Bulk load into an empty tree; boxes[i] belongs to entries[i].
  void build(std::span<const EntryId> entries, std::span<const Rect> boxes);

  /// Calls visit(entry) once for each entry whose box touches the place and whose leaf and all its
  /// ancestors below the root pass may_match(node).
  template <typename MayMatch, typename Visit>
  void search(const Place& place, WorkCounters& work, MayMatch&& may_match, Visit&& visit) const {
    if (size_ != 0) search_below(nodes_.root(), place, work, may_match, visit);
  }

  std::size_t memory_bytes() const { return nodes_.memory_bytes() + leaf_of_.memory_bytes(); }
  void check_invariants() const;  ///< of the tree, without the summary

 private:
  using Item = std::uint32_t;  ///< an entry id in a leaf, a node id above
  struct Orphan {
    std::uint32_t level;  ///< of the node that held it
    Item item;
    Rect box;
  };
  static constexpr bool kHasSummary = !std::is_same_v<Summary, NoSummary>;

  template <typename MayMatch, typename Visit>
  void search_below(RNodeId node, const Place& place, WorkCounters& work, MayMatch& may_match,
                    Visit& visit) const;

  void place(const Orphan& newcomer);
  RNodeId choose_node(const Rect& box, std::uint32_t level) const;
  void adopt(RNodeId node, const Rect& box, Item item);
  void widen_ancestors(RNodeId node, const Rect& box);
  void split_overfull(RNodeId node);
  RNodeId divide(RNodeId node);
  void grow_root(RNodeId sibling);

  void condense(RNodeId node);
  void dissolve(RNodeId node, std::vector<Orphan>& orphans);
  void shrink_root();

  void tell_added(RNodeId node, Item item);
  void tell_removed(RNodeId node, Item item);
  void tell_added_up(RNodeId node, Item item);
  void tell_built(RNodeId node);

  RTreeNodes nodes_;
  EntryMap<RNodeId> leaf_of_;
  std::size_t size_ = 0;
  [[no_unique_address]] Summary summary_;
};

template <typename Summary>
template <typename MayMatch, typename Visit>
void RTree<Summary>::search_below(RNodeId node, const Place& place, WorkCounters& work,
                                  MayMatch& may_match, Visit& visit) const {
  ++work.nodes_visited;
  const std::span<const Rect> boxes = nodes_.boxes(node);
  if (nodes_.is_leaf(node)) {
    work.candidates += boxes.size();
    for (std::uint32_t slot = 0; slot < boxes.size(); ++slot) {
      if (touches(boxes[slot], place)) visit(nodes_.entry(node, slot));
    }
    return;
  }
  for (std::uint32_t slot = 0; slot < boxes.size(); ++slot) {
    if (!touches(boxes[slot], place)) continue;
    const RNodeId child = nodes_.child(node, slot);
    if (may_match(child)) search_below(child, place, work, may_match, visit);
  }
}

}  // namespace nearcast

#include "nearcast/index/parts/r_tree/r_tree_change.h"

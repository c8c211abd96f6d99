/// The nodes of an R-tree in flat memory: three arrays and a free list, so that a snapshot is the
/// arrays as they are.
///
///   nodes_    per node 8 bytes: parent, number of children, level
///   boxes_    per node a row of boxes, its children's or its entries', side by side
///   items_    per node a row of what the boxes belong to: node ids, in a leaf entry ids
///
/// A row has one place more than a node may have children: a node that waits for its split is
/// overfull for a moment. A search reads boxes straight through and touches items_ only for hits.
/// Levels count from the leaves (0) upward, so that growing at the root renumbers nothing.
///
/// Only RTree changes the nodes; summaries read them (index/parts/r_tree/node_summary.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"
#include "nearcast/geo/rect.h"
#include "nearcast/index/parts/r_tree/limits.h"

namespace nearcast {

enum class RNodeId : std::uint32_t {};  ///< row of a node; re-used after the node is freed
constexpr RNodeId kNoRNode = RNodeId{0xFFFFFFFFu};

class RTreeNodes {
 public:
  explicit RTreeNodes(RTreeLimits limits) : limits_(limits) {}

  const RTreeLimits& limits() const { return limits_; }
  std::size_t slots() const { return nodes_.size(); }  ///< node ids are below this
  RNodeId root() const { return root_; }               ///< kNoRNode: the tree is empty
  std::uint32_t height() const { return root_ == kNoRNode ? 0 : level(root_) + 1; }

  std::uint32_t level(RNodeId node) const { return nodes_[raw(node)].level; }
  bool is_leaf(RNodeId node) const { return level(node) == 0; }
  std::uint32_t depth(RNodeId node) const { return height() - 1 - level(node); }  ///< root: 0
  RNodeId parent(RNodeId node) const { return nodes_[raw(node)].parent; }  ///< of the root: none
  std::uint32_t count(RNodeId node) const { return nodes_[raw(node)].count; }
  std::span<const Rect> boxes(RNodeId node) const { return {&boxes_[row(node)], count(node)}; }
  RNodeId child(RNodeId node, std::uint32_t slot) const { return RNodeId{item(node, slot)}; }
  EntryId entry(RNodeId leaf, std::uint32_t slot) const { return EntryId{item(leaf, slot)}; }
  Rect bounds(RNodeId node) const;  ///< the smallest box around all children
  /// Calls visit(entry, box) for each entry below the node.
  template <typename Visit>
  void for_each_entry_below(RNodeId node, Visit&& visit) const;

  std::size_t memory_bytes() const;
  /// Throws an internal error unless this is an R-tree. Returns the number of entries.
  std::size_t check_invariants() const;

  // For RTree.
  std::uint32_t item(RNodeId node, std::uint32_t slot) const { return items_[row(node) + slot]; }
  std::uint32_t slot_of(RNodeId node, std::uint32_t item) const;
  RNodeId create(std::uint32_t level);  ///< without children and without a parent
  void free(RNodeId node);
  void set_root(RNodeId node);
  void set_parent(RNodeId node, RNodeId parent) { nodes_[raw(node)].parent = parent; }
  void set_box(RNodeId node, std::uint32_t slot, const Rect& box) {
    boxes_[row(node) + slot] = box;
  }
  void append(RNodeId node, const Rect& box, std::uint32_t item);
  void swap_remove(RNodeId node, std::uint32_t slot);
  void truncate(RNodeId node) { nodes_[raw(node)].count = 0; }

 private:
  struct Node {
    RNodeId parent;
    std::uint16_t count;
    std::uint16_t level;
  };
  struct Header {
    RTreeLimits limits;
    RNodeId root;
  };
  static constexpr std::uint16_t kFreeLevel = 0xFFFF;

  std::size_t row_length() const { return limits_.max_children + 1; }
  std::size_t row(RNodeId node) const { return raw(node) * row_length(); }
  std::size_t check_node(RNodeId node, std::size_t& nodes_seen) const;

  RTreeLimits limits_;
  RNodeId root_ = kNoRNode;
  Array<Node> nodes_;
  Array<Rect> boxes_;
  Array<std::uint32_t> items_;
  Array<RNodeId> free_nodes_;
};

template <typename Visit>
void RTreeNodes::for_each_entry_below(RNodeId node, Visit&& visit) const {
  for (std::uint32_t slot = 0; slot < count(node); ++slot) {
    if (is_leaf(node)) {
      visit(entry(node, slot), boxes(node)[slot]);
    } else {
      for_each_entry_below(child(node, slot), visit);
    }
  }
}

}  // namespace nearcast

/// The nodes of many quadtrees in one array and a free list, so that a snapshot is the arrays as
/// they are. A node is a cell that something is attached to, there or below.
///
/// The geometry of cells is not stored: a walk starts with the frame and halves it at each level.
/// Only QuadForest changes the nodes; its content reads them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"
#include "nearcast/index/parts/quad_tree/quad_cell.h"

namespace nearcast {

enum class QuadNodeId : std::uint32_t {};  ///< re-used after the node is freed
constexpr QuadNodeId kNoQuadNode = QuadNodeId{0};

class QuadNodes {
 public:
  struct Node {
    QuadNodeId parent;       ///< of a root: none
    QuadNodeId children[4];  ///< none: nothing is attached there
    std::uint32_t own;       ///< attached to this cell
    std::uint32_t below;     ///< attached to all cells below; what is in two cells counts twice
    std::uint16_t depth;     ///< of a root: 0
    bool is_divided;         ///< only then there may be children
    bool is_used;
  };

  std::size_t slots() const { return nodes_.size(); }  ///< node ids are below this
  const Node& operator[](QuadNodeId node) const { return nodes_[raw(node)]; }
  Node& operator[](QuadNodeId node) { return nodes_[raw(node)]; }
  std::uint32_t total(QuadNodeId node) const {
    return nodes_[raw(node)].own + nodes_[raw(node)].below;
  }

  QuadNodeId create(QuadNodeId parent);  ///< undivided, and not yet a child of its parent
  void free(QuadNodeId node);

  std::size_t memory_bytes() const { return nodes_.memory_bytes() + free_.memory_bytes(); }
  /// Throws an internal error unless this is a quadtree. Returns the number of its nodes.
  std::size_t check(QuadNodeId root) const;
  std::size_t used() const { return nodes_.empty() ? 0 : nodes_.size() - 1 - free_.size(); }

 private:
  Array<Node> nodes_;  ///< 0 stands for none
  Array<QuadNodeId> free_;
};

}  // namespace nearcast

/// Interface for code that must know which cells a quadtree has, such as an index that keeps
/// messages by cell.
#pragma once

#include "nearcast/index/parts/quad_tree/quad_nodes.h"

namespace nearcast {

class CellWatcher {
 public:
  virtual ~CellWatcher() = default;

  /// A new cell. It is its parent's child already; a root has no parent.
  virtual void created(QuadNodeId node, QuadNodeId parent, const QuadCell& cell) = 0;
  virtual void freed(QuadNodeId node) = 0;
  virtual void cleared() = 0;  ///< all cells are gone
};

/// Does a place that touches the parent touch this child of it?
inline bool reaches_child(const QuadNodes& nodes, QuadNodeId parent, QuadNodeId child,
                          const QuadCell& cell, const Place& place) {
  Quadrant quadrant = 0;
  while (nodes[parent].children[quadrant] != child) ++quadrant;
  const QuadCell whole{quadrant & 1 ? cell.lon - cell.half_width : cell.lon + cell.half_width,
                       quadrant & 2 ? cell.lat - cell.half_height : cell.lat + cell.half_height,
                       2 * cell.half_width, 2 * cell.half_height};
  return QuadPlace(place).in_child(whole, quadrant).parts != 0;
}

}  // namespace nearcast

/// Where messages are: the share of all messages that visits a cell, for any cell of a quadtree.
/// Counted in a quadtree of its own with a bounded number of cells; below its leaves messages are
/// taken to be even. Without messages, even everywhere.
#pragma once

#include <span>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/index/quad_tree/quad_cell.h"

namespace nearcast {

class MessageDensity {
 public:
  void learn(std::span<const Place> places);

  /// The chance that a message visits the cell, which is one of the quadtree of the world.
  double share(const QuadCell& cell) const;

  std::size_t memory_bytes() const { return cells_.memory_bytes(); }
  void save(ArchiveWriter& out) const { cells_.save(out); }
  void load(ArchiveReader& in) { cells_.load(in); }

 private:
  struct Cell {
    std::uint32_t first_child;  ///< the four lie side by side; 0: none
    float share;
  };

  Array<Cell> cells_;  ///< the root first; empty: nothing is known
};

}  // namespace nearcast

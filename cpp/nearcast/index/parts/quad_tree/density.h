/// Where messages are: the share of all messages that visits a cell, for any cell of a quadtree.
/// Counted in a quadtree of its own with a bounded number of cells; below its leaves messages are
/// taken to be even. Without messages, even everywhere.
///
/// A range visits more cells the smaller they are. So a cell of half the width has more than half
/// of the visits; the average width of messages says how much more.
#pragma once

#include <span>

#include "nearcast/base/array.h"
#include "nearcast/index/parts/quad_tree/quad_cell.h"

namespace nearcast {

class MessageDensity {
 public:
  void learn(std::span<const Place> places);

  /// The chance that a message visits the cell, which is one of the quadtree of the world.
  double share(const QuadCell& cell) const;

  /// Of the messages that visit the cell: the part that visits one of side × side cells in it.
  double part(const QuadCell& cell, double side) const {
    const double columns = 2 * cell.half_width, rows = 2 * cell.half_height;
    return (columns / side + width_) / (columns + width_) * (rows / side + height_) /
           (rows + height_);
  }

  std::size_t memory_bytes() const { return cells_.memory_bytes(); }

 private:
  struct Cell {
    std::uint32_t first_child;  ///< the four lie side by side; 0: none
    float share;
  };

  double width_ = 0, height_ = 0;  ///< of a message, on average
  Array<Cell> cells_;              ///< the root first; empty: nothing is known
};

}  // namespace nearcast

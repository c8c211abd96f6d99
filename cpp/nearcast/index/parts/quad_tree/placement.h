/// Does an entry stay in a cell, or does it cost less in the children? The cost rule of the
/// quadtree indexes. [AP §3.1 a cost model balances matching and update cost; §5.1.1 and its
/// footnote 11: by the number of verifications, from subscriptions and messages]
///
/// The rule itself stands in a paper that [AP] only cites. Rebuilt from the description: a copy of
/// an entry costs
///
///   visits(cell)  verifications per message: the chance that one visits the cell and has the key
///   copy_cost     for making, keeping and removing the copy, in verifications per message
///
/// Staying is one copy with the visits of the whole cell. Going down is compared at every depth: as
/// many copies as the entry touches cells there, each with its part of the visits, as if messages
/// were even within the cell. (A range meets several copies, so it pays for each.) The least of
/// these against staying decides, here and anew in each child. So an area that covers the cell
/// stays, a small one on a dividing line goes down (which no look at the next level alone would
/// show), and rarely visited cells are not worth copies.
///
/// A cell smaller than a quarter of the area in some direction keeps it whatever the cost: so the
/// copies of one entry are bounded, however long its border.
#pragma once

#include <algorithm>

#include "nearcast/index/parts/quad_tree/density.h"
#include "nearcast/index/parts/quad_tree/quad_cell.h"

namespace nearcast {

/// The cells in a row of `count` that an interval touches, given as parts of the row's length.
inline double cells_touched(double from, double to, double count) {
  const auto cell_at = [&](double part) {
    return std::min(static_cast<double>(static_cast<int>(std::clamp(part, 0.0, 1.0) * count)),
                    count - 1);
  };
  return cell_at(to) - cell_at(from) + 1;
}

inline bool is_better_whole(const Rect& box, const QuadCell& cell, const MessageDensity& density,
                            double visits, double copy_cost) {
  constexpr int kLookAhead = 16;  // deeper, a cell has too few visits to make a difference
  constexpr double kMostCells = 4;
  const Rect outer = cell.bounds();
  const double west = (box.west - outer.west) / width(outer);
  const double east = (box.east - outer.west) / width(outer);
  const double south = (box.south - outer.south) / height(outer);
  const double north = (box.north - outer.south) / height(outer);
  if (std::max(width(box) / width(outer), height(box) / height(outer)) > kMostCells) return true;
  const double whole = visits + copy_cost;
  double side = 1;
  for (int depth = 1; depth <= kLookAhead; ++depth) {
    side *= 2;
    const double copies = cells_touched(west, east, side) * cells_touched(south, north, side);
    if (copies * copy_cost >= whole) return true;  // and deeper there are only more
    if (copies * (visits * density.part(cell, side) + copy_cost) < whole) return false;
  }
  return true;
}

}  // namespace nearcast

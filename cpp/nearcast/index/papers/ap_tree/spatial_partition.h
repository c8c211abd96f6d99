/// The grid of an s-node: lines chosen for each dimension on its own. [AP §3.3.3]
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/geo/rect.h"

namespace nearcast::ap {

/// The only rule of borders: a coordinate lies behind all lines that are ≤ it. It is used for
/// entries, points and boxes, and it is monotone, so two boxes that share a point share a cell.
inline std::uint32_t locate(std::span<const double> lines, double coordinate) {
  return static_cast<std::uint32_t>(std::upper_bound(lines.begin(), lines.end(), coordinate) -
                                    lines.begin());
}

struct CellRange {
  std::uint32_t west, south, east, north;  ///< columns and rows, inclusive

  friend bool operator==(const CellRange&, const CellRange&) = default;
  bool contains(std::uint32_t column, std::uint32_t row) const {
    return west <= column && column <= east && south <= row && row <= north;
  }
};

/// Cells are numbered row by row; those at the rim reach to infinity.
struct GridView {
  Rect region;  ///< N_r: entries that cover it are in no cell but in the dummy
  std::span<const double> x, y;

  std::uint32_t columns() const { return static_cast<std::uint32_t>(x.size() + 1); }
  std::uint32_t rows() const { return static_cast<std::uint32_t>(y.size() + 1); }
  std::uint32_t cells() const { return columns() * rows(); }
  CellRange range_of(const Rect& box) const {
    return {locate(x, box.west), locate(y, box.south), locate(x, box.east), locate(y, box.north)};
  }
};

struct GridPlan {
  Rect region;
  std::vector<double> x, y;
  double cost = 0;    ///< expected entries to verify per message, the dummy cell's included
  double copies = 1;  ///< cells per entry, on average

  GridView view() const { return {region, x, y}; }
};

/// A grid for entries with these boxes in `space`, which messages hit as the past ones did and
/// otherwise evenly. At most `max_cells` cells, and fewer if entries would have more than about
/// `max_copies` copies on average. One cell: there is no such grid.
GridPlan partition_space(std::span<const Rect> boxes, std::span<const Rect> messages,
                         const Rect& space, std::size_t max_cells, double max_copies);

}  // namespace nearcast::ap

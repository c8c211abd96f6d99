/// Coordinates in 16 bits, with finer cells where there are more values.
///
/// Each axis is cut into equal segments; a segment gets a share of the cells that grows with how
/// much lies in it, and is linear inside. The map is monotone, so comparing cells never loses an
/// overlap: only when two cells are *equal* does the exact coordinate decide.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "nearcast/base/archive.h"
#include "nearcast/geo/rect.h"

namespace nearcast::sized_lists {

using Cell = std::uint16_t;

constexpr Cell kLastCell =
    0xFEFF;  ///< above it, also in the upper 8 bits, no coordinate has a cell
constexpr Cell kEmptyLow =
    0xFFFF;  ///< west and south of a place that holds nothing: matches nothing
constexpr Cell kEmptyHigh = 0;

/// A box in cells, also a query: closed, like every box.
struct CellBox {
  Cell west, east, south, north;
};

class Axis {
 public:
  Axis(double low, double high);

  /// Give every segment cells by its share of `values` (half of them evenly).
  void fit(std::span<const double> values);
  /// Throws a snapshot error unless this could be `fresh`, fitted to some values.
  void check_loaded(const Axis& fresh) const;

  Cell cell(double value) const {
    const double position = (value - low_) * segments_per_unit_;
    const auto segment = position <= 0               ? 0
                         : position >= kSegments - 1 ? kSegments - 1
                                                     : static_cast<std::uint32_t>(position);
    const double width = first_[segment + 1] - first_[segment];
    const double inside = (position - segment) * width;
    return static_cast<Cell>(first_[segment] + (inside <= 0 ? 0
                                                : inside >= width - 1
                                                    ? width - 1
                                                    : static_cast<std::uint32_t>(inside)));
  }

 private:
  static constexpr std::uint32_t kSegments = 1024;

  double low_, segments_per_unit_;
  std::array<Cell, kSegments + 1> first_;  ///< first cell of each segment
};

class Frame {
 public:
  CellBox cells(const Rect& box) const {
    const Cell west = lon_.cell(box.west), south = lat_.cell(box.south);
    if (box.west == box.east && box.south == box.north) return {west, west, south, south};
    return {west, lon_.cell(box.east), south, lat_.cell(box.north)};
  }
  void fit(std::span<const double> lons, std::span<const double> lats) {
    lon_.fit(lons);
    lat_.fit(lats);
  }
  void check_loaded() const;  ///< throws a snapshot error

 private:
  Axis lon_{-180, 180}, lat_{-90, 90};
};

}  // namespace nearcast::sized_lists

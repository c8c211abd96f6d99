/// Points of the plane in 16-bit cells of equal size, for bounds of distances.
///
/// A point outside the frame is moved to its border. Moving two points into one box never makes
/// them farther apart, so a distance in cells, less the size of a cell, is never too large.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "nearcast/geo/rect.h"

namespace nearcast {

/// Two cells in one word: x below, y above.
using PackedCell = std::uint32_t;

/// A point in units of cells.
struct CellPoint {
  float x, y;
};

class PlanarFrame {
 public:
  static constexpr double kCells = 65536;

  explicit PlanarFrame(const Rect& space)
      : space_(space), cell_width_(width(space) / kCells), cell_height_(height(space) / kCells) {}

  double cell_width() const { return cell_width_; }
  double cell_height() const { return cell_height_; }
  /// How much farther apart the middles of two points' cells can be than the points, in degrees:
  /// each middle is at most half a diagonal from its point. For a single point it is half of this.
  double cell_diagonal() const { return std::hypot(cell_width_, cell_height_); }

  /// Is a point of this cell certainly inside the frame, so that distances to it are not cut?
  static bool is_inside(PackedCell cell) {
    const std::uint32_t x = cell & 0xFFFF, y = cell >> 16;
    return x != 0 && x != 0xFFFF && y != 0 && y != 0xFFFF;
  }
  bool is_inside(Point at) const { return contains(space_, at); }

  PackedCell pack(Point at) const {
    return static_cast<PackedCell>(cell(at.lat, space_.south, cell_height_)) << 16 |
           cell(at.lon, space_.west, cell_width_);
  }
  /// Relative to the middles of cells: the point of a cell's middle has whole coordinates.
  CellPoint point(Point at) const {
    return {position(at.lon, space_.west, cell_width_) - 0.5f,
            position(at.lat, space_.south, cell_height_) - 0.5f};
  }

 private:
  static std::uint16_t cell(double value, double low, double size) {
    if (!(size > 0)) return 0;
    const double place = (value - low) / size;
    return static_cast<std::uint16_t>(std::clamp(place, 0.0, kCells - 1));
  }
  static float position(double value, double low, double size) {
    if (!(size > 0)) return 0.5f;
    return static_cast<float>(std::clamp((value - low) / size, 0.0, kCells));
  }

  Rect space_;
  double cell_width_, cell_height_;
};

}  // namespace nearcast

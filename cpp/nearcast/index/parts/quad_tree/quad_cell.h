/// The cells of a quadtree, and the only rule of which cell a coordinate belongs to.
///
/// A cell is divided at its centre; what lies on the dividing line belongs to the east or north. So
/// cells are half-open, and points, ranges and boxes of subscriptions are located by the same two
/// comparisons. Since they grow with the coordinate, a box touches every cell that one of its
/// points is in: borders cannot lose a match. The outermost cells have no outer border: whatever
/// lies outside the frame belongs to them.
#pragma once

#include "nearcast/geo/place.h"
#include "nearcast/geo/rect.h"

namespace nearcast {

/// Child 0 is south-west, 1 south-east, 2 north-west, 3 north-east; a set of children is four bits.
using Quadrant = unsigned;
using QuadrantSet = unsigned;

struct QuadCell {
  double lon = 0, lat = 0;  ///< centre
  double half_width = 0, half_height = 0;

  QuadCell child(Quadrant quadrant) const {
    const double width = half_width / 2, height = half_height / 2;
    return {quadrant & 1 ? lon + width : lon - width, quadrant & 2 ? lat + height : lat - height,
            width, height};
  }
  /// Its extent, borders included; of an outermost cell only the part inside the frame.
  Rect bounds() const {
    return {lon - half_width, lat - half_height, lon + half_width, lat + half_height};
  }
};

constexpr QuadCell kWorldCell{0, 0, 180, 90};

/// The child that the point is in, for a point in the cell.
inline Quadrant quadrant_of(const QuadCell& cell, Point p) {
  return (p.lon >= cell.lon ? 1u : 0u) | (p.lat >= cell.lat ? 2u : 0u);
}

/// The children that the box touches, for a box that touches the cell.
inline QuadrantSet quadrants_of(const QuadCell& cell, const Rect& box) {
  const unsigned columns = (box.west < cell.lon ? 1u : 0u) | (box.east >= cell.lon ? 2u : 0u);
  const unsigned rows = (box.south < cell.lat ? 1u : 0u) | (box.north >= cell.lat ? 4u : 0u);
  return columns * rows;  // rows 1, 4 or 5: the columns in the lower pair of bits, the upper, both
}

inline bool has(QuadrantSet set, Quadrant quadrant) { return (set >> quadrant & 1) != 0; }

/// A place during a descent: which of its parts touch the current cell.
struct QuadPlace {
  const Place* place;
  unsigned parts;  ///< bit i: part i touches the cell

  explicit QuadPlace(const Place& whole) : place(&whole), parts(whole.parts == 2 ? 3u : 1u) {}
  QuadPlace(const Place& whole, unsigned touching) : place(&whole), parts(touching) {}

  /// What touches the child; no parts: nothing does.
  QuadPlace in_child(const QuadCell& cell, Quadrant quadrant) const {
    unsigned touching = 0;
    for (unsigned part = 0; part < 2; ++part) {
      if ((parts >> part & 1) && has(quadrants_of(cell, place->part[part]), quadrant)) {
        touching |= 1u << part;
      }
    }
    return {*place, touching};
  }
};

}  // namespace nearcast

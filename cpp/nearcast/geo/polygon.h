/// Polygons with holes, edges straight in lon/lat, decided exactly: no rounding moves a point
/// across an edge. A hole's inside is outside; its border, like every border, is inside.
#pragma once

#include <cstdint>
#include <span>

#include "nearcast/geo/rect.h"

namespace nearcast {

/// One or more polygons in flat form. `ring_ends` are positions after each ring's last point;
/// `polygon_ends` are positions after each polygon's last ring, whose first ring is its outline.
struct PolygonView {
  std::span<const Point> points;
  std::span<const std::uint32_t> ring_ends;
  std::span<const std::uint32_t> polygon_ends;
  std::span<const std::uint32_t> tree = {};  ///< geo/corner_tree.h; empty: all edges are walked
};

bool contains(const PolygonView& area, Point p);
bool touches(const PolygonView& area, const Rect& box);  ///< a point is a box of zero size
Rect bounds(const PolygonView& area);

}  // namespace nearcast

/// Edges of polygons against points and boxes, decided exactly. What polygon.cpp asks of every edge
/// of a ring, corner_tree.cpp asks of a few.
#pragma once

#include <algorithm>

#include "nearcast/geo/rect.h"

namespace nearcast {

/// Sign of the turn a → b → c: +1 left, −1 right, 0 exactly on a line.
int orientation(Point a, Point b, Point c);

enum class Side { kOutside, kBorder, kInside };

inline Rect box_of(Point a, Point b) {
  return {std::min(a.lon, b.lon), std::min(a.lat, b.lat), std::max(a.lon, b.lon),
          std::max(a.lat, b.lat)};
}

inline bool is_on_edge(Point a, Point b, Point p) {
  return contains(box_of(a, b), p) && orientation(a, b, p) == 0;
}

/// Half-open: an end at this very height counts as below it, so a vertex counts for one of its two
/// edges.
inline bool crosses_parallel(Point a, Point b, double lat) {
  return (a.lat > lat) != (b.lat > lat);
}
inline bool crosses_meridian(Point a, Point b, double lon) {
  return (a.lon > lon) != (b.lon > lon);
}

/// Of an edge that crosses the parallel of p: does it do so east of p? Not if p is on it.
inline bool is_east_of(Point a, Point b, Point p) {
  const int turn = orientation(a, b, p);
  return b.lat > a.lat ? turn > 0 : turn < 0;
}

/// Of an edge that crosses the meridian of p: does it do so north of p? If p is on it, as seen from
/// a little farther east: if the edge rises towards the east.
inline bool is_north_of(Point a, Point b, Point p) {
  const int turn = orientation(a, b, p);
  if (turn == 0) return b.lon > a.lon ? b.lat > a.lat : a.lat > b.lat;
  return b.lon > a.lon ? turn < 0 : turn > 0;
}

/// A segment and a closed box share a point unless the box's sides or the segment's line separate
/// them.
inline bool edge_touches(Point a, Point b, const Rect& box) {
  if (!overlaps(box_of(a, b), box)) return false;
  const int first = orientation(a, b, {box.west, box.south});
  if (first == 0) return true;
  return orientation(a, b, {box.west, box.north}) != first ||
         orientation(a, b, {box.east, box.south}) != first ||
         orientation(a, b, {box.east, box.north}) != first;
}

}  // namespace nearcast

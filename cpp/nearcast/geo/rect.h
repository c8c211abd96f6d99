/// Closed boxes in lon/lat degrees. The border rule of the whole project lives here: touching
/// counts.
#pragma once

#include <algorithm>

namespace nearcast {

struct Point {
  double lon = 0, lat = 0;
};

struct Rect {
  double west = 0, south = 0, east = 0, north = 0;

  friend bool operator==(const Rect&, const Rect&) = default;
};

constexpr Rect kWorld{-180, -90, 180, 90};
constexpr Rect kNowhere{1, 1, -1, -1};  ///< overlaps nothing, and joins as the neutral element

/// Bitwise, not short-circuit: a filter that passes one in a thousand should not be mispredicted.
inline bool overlaps(const Rect& a, const Rect& b) {
  return (a.west <= b.east) & (b.west <= a.east) & (a.south <= b.north) & (b.south <= a.north);
}
inline bool covers(const Rect& outer, const Rect& inner) {
  return (outer.west <= inner.west) & (inner.east <= outer.east) & (outer.south <= inner.south) &
         (inner.north <= outer.north);
}
inline bool contains(const Rect& box, Point p) {
  return (box.west <= p.lon) & (p.lon <= box.east) & (box.south <= p.lat) & (p.lat <= box.north);
}
inline bool is_empty(const Rect& box) { return box.west > box.east || box.south > box.north; }

inline Rect join(const Rect& a, const Rect& b) {
  if (is_empty(a)) return b;
  if (is_empty(b)) return a;
  return {std::min(a.west, b.west), std::min(a.south, b.south), std::max(a.east, b.east),
          std::max(a.north, b.north)};
}
inline double width(const Rect& box) { return box.east - box.west; }
inline double height(const Rect& box) { return box.north - box.south; }
inline double area_of(const Rect& box) { return width(box) * height(box); }

}  // namespace nearcast

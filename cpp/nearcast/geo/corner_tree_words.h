/// The words of a corner tree, for the two files that write and read them (corner_tree.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "nearcast/geo/edges.h"

namespace nearcast::corner_tree {

using Word = std::uint32_t;

constexpr Word kDeepest = 40;  ///< splits above a leaf

constexpr Word kBoundsWords = 8;
constexpr Word kScaleWords = 4;  ///< cells of the raster in a degree, of longitude and latitude
constexpr Word kSideAt = kBoundsWords + kScaleWords;
constexpr Word kRasterAt = kSideAt + 1;
/// Two bits a cell: no edge is near, and all of it has one answer; or it is not known.
constexpr Word kAskTree = 0, kOutsideCell = 1, kInsideCell = 2;
constexpr Word kCellsInWord = 16;
constexpr Word kMostSide = 64;
constexpr Word kSplitWords = 3;
constexpr Word kPointWords = 4;
constexpr Word kChainWords = 2;  ///< before the edges of chains
constexpr Word kKind = 3;        ///< these bits of a node are its kind
constexpr Word kLeaf = 0, kByLon = 1, kByLat = 2, kMixed = 3;
constexpr Word kHasChains = 4;                       ///< of a split or a leaf
constexpr Word kIsLeafInside = 1 << 6;               ///< of a leaf
constexpr Word kIsRunOutline = 2, kIsRunInside = 1;  ///< of a run

inline Word root_at(Word side) { return kRasterAt + side * side / kCellsInWord; }

/// How often, modulo 2, does the way from p to c cross the edge: first along the parallel of p,
/// then along the meridian of c?
inline bool way_crosses(Point a, Point b, Point p, Point c) {
  const Point turn{c.lon, p.lat};
  bool is_odd = false;
  if (crosses_parallel(a, b, p.lat) && std::max(a.lon, b.lon) >= std::min(p.lon, c.lon) &&
      std::min(a.lon, b.lon) <= std::max(p.lon, c.lon)) {
    is_odd = is_east_of(a, b, p) != is_east_of(a, b, turn);
  }
  if (crosses_meridian(a, b, c.lon) && std::max(a.lat, b.lat) >= std::min(p.lat, c.lat) &&
      std::min(a.lat, b.lat) <= std::max(p.lat, c.lat)) {
    is_odd ^= is_north_of(a, b, turn) != is_north_of(a, b, c);
  }
  return is_odd;
}

}  // namespace nearcast::corner_tree

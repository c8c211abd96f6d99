/// Where in a polygon of many corners is a point? Found by descending a tree instead of walking all
/// edges.
///
/// A k-d tree over the box of the polygons. A leaf lists the edges that touch its closed box, and
/// says of each ring on which side of it one reference point of the leaf is. A point of the leaf is
/// on the other side if the way to the reference point, first along its parallel and then along a
/// meridian, crosses the ring an odd number of times; and every edge that the way can cross is in
/// the leaf, since the way stays in its box.
///
/// Long edges would fill many leaves. So where a box has edges of one ring only, those that reach
/// beyond it on two opposite sides, one beside the other, stay above as a *chain*: sorted, so that
/// the number of those beyond a point is found by halving, and not handed on to smaller boxes. What
/// crosses another edge of its ring is in no chain.
///
/// The answers are those of the walk along all edges, to the last bit: each crossing, and the order
/// of a chain, is decided by the same exact orientation, and points on an edge's line by one rule.
/// A point p stands for p + (ε₁, ε₂) with ε₁ far above ε₂ above 0: so the side of a ring is a
/// matter of parity for every way. Points on an edge are found first, and are on the border.
///
/// Memory: at most kTreeWords words a corner; of outlines from maps about 4. What a node may take is
/// divided among its children by their edges; a node that would take more stays a leaf.
///
/// Before the tree is a *raster*: for most points one look says the answer, since no edge is near.
///
///   tree      the bounds (four doubles), scale of the raster (two doubles), cells on its side,
///             raster, root
///   split     second child << 3 | has chains << 2 | axis; where to split (a double); chains; the
///             first child follows
///   leaf      edges << 7 | is the reference point inside << 6 | answers << 3 | has chains << 2 | 0;
///             chains; if it has edges, the reference point (two doubles), edges. The answers are
///             three bits: for points outside the ring, on its border and inside
///   mixed     words of its runs << 2 | 3; reference point, runs: a leaf with edges of several rings
///   run       edges << 2 | is_outline << 1 | is the reference point inside; edges
///   chains    how many edges rise (from south to north of the box) and lie (from west to east);
///             rising ones from west to east, lying ones from south to north
///
/// An edge is the position of its first point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/geo/polygon.h"

namespace nearcast {

/// Polygons with fewer corners, all rings together, are walked: a tree would not be faster.
constexpr std::size_t kLeastTreeCorners = 64;
constexpr std::size_t kTreeWords = 16;  ///< most of a tree, for each corner

/// Empty if the polygons have few corners. `area.tree` is not read.
std::vector<std::uint32_t> build_corner_tree(const PolygonView& area);

/// `area.tree` is what build_corner_tree() made of it.
bool tree_contains(const PolygonView& area, Point p);
bool tree_finds_edge(const PolygonView& area, const Rect& box);  ///< does any edge touch the box?

/// Does nothing in a tree from a file lead outside of it or of the points? The answers may still be
/// wrong.
bool is_sound_tree(std::span<const std::uint32_t> tree, std::size_t points);

}  // namespace nearcast

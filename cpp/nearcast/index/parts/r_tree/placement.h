/// Where a box goes in an R-tree, and how an overfull node is cut: both by the same cost.
///
/// A message meets a box with a probability that grows with the box's *reach*: its area after both
/// sides are lengthened by the extent of a message. A node that is met costs one test per child.
///
/// A split takes the cut with the least sum of reach × number of children (the surface-area
/// heuristic of ray tracing). A new box goes where reach grows least; a box that grows is met more
/// often by all that is and will be below it, so growth weighs far more than what the box reaches
/// already. That second term still counts: a leaf that holds one world-wide subscription needs no
/// growth for anything, and by least enlargement alone it would attract every new entry, and each
/// message would then test them all. And boxes of no area (points, lines) still differ in reach.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/geo/rect.h"

namespace nearcast {

using RectSide = double Rect::*;
constexpr RectSide kRectSides[] = {&Rect::west, &Rect::east, &Rect::south, &Rect::north};

inline double reach(const Rect& box) {
  constexpr double kMessageExtent = 0.01;  // degrees, about a kilometre
  return (width(box) + kMessageExtent) * (height(box) + kMessageExtent);
}

/// Slot of the child, among those with these boxes, below which `box` costs least.
std::uint32_t cheapest_slot(std::span<const Rect> boxes, const Rect& box);

/// Two parts of a node's children: order[0, cut) and order[cut, end).
struct SplitPlan {
  std::vector<std::uint32_t> order;
  std::uint32_t cut = 0;
};

/// The cheapest cut along one axis, by lower or upper sides, with at least min_children per part.
SplitPlan plan_split(std::span<const Rect> boxes, std::uint32_t min_children);

}  // namespace nearcast

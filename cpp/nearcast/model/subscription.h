/// A subscription on its way into the store: clauses and an area, which the caller has checked.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "nearcast/geo/polygon.h"
#include "nearcast/geo/rect.h"
#include "nearcast/geo/sphere.h"
#include "nearcast/text/token_set.h"

namespace nearcast {

struct Anywhere {};

struct PolygonArea {
  std::vector<Point> points;
  std::vector<std::uint32_t> ring_ends, polygon_ends;
  std::vector<std::uint32_t> tree = {};  ///< geo/corner_tree.h; empty: not built

  PolygonView view() const { return {points, ring_ends, polygon_ends, tree}; }
};

/// Rect with west > east crosses the antimeridian.
using AreaPart = std::variant<Rect, Circle, PolygonArea>;

/// The union of at least two areas.
struct Areas {
  static constexpr std::size_t kMaxParts = 1000;  ///< a place is compared with the box of each

  std::vector<AreaPart> parts;
};
constexpr std::size_t kMaxCorners = 1'000'000;  ///< of one area, all its polygons together

using Area = std::variant<Anywhere, Rect, Circle, PolygonArea, Areas>;

/// Satisfied by a message that has all of `positive` and none of `negative`.
struct Clause {
  TokenSpan positive, negative;  ///< each ascending and distinct
};

struct Subscription {
  std::span<const Clause>
      clauses;  ///< none: never matches; one empty clause: the area alone decides
  const Area* area = nullptr;
};

}  // namespace nearcast

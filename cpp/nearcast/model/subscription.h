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

  PolygonView view() const { return {points, ring_ends, polygon_ends}; }
};

/// Rect with west > east crosses the antimeridian.
using Area = std::variant<Anywhere, Rect, Circle, PolygonArea>;

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

#include "nearcast/geo/polygon.h"

#include <array>
#include <cmath>

#include "nearcast/geo/corner_tree.h"
#include "nearcast/geo/edges.h"

namespace nearcast {
namespace {

/// a·b as an unevaluated sum of two doubles, without error.
std::array<double, 2> exact_product(double a, double b) {
  const double high = a * b;
  return {high, std::fma(a, b, -high)};
}

/// Sign of a sum of doubles, without error: grows an expansion whose parts do not overlap, so the
/// last part that is not zero has the sign of the whole.
template <std::size_t N>
int exact_sign(const std::array<double, N>& terms) {
  std::array<double, N> parts{};
  for (std::size_t n = 0; n < N; ++n) {
    double carry = terms[n];
    for (std::size_t i = 0; i < n; ++i) {
      const double sum = parts[i] + carry;
      const double virtual_carry = sum - parts[i];
      parts[i] = (parts[i] - (sum - virtual_carry)) + (carry - virtual_carry);
      carry = sum;
    }
    parts[n] = carry;
  }
  for (std::size_t i = N; i-- > 0;) {
    if (parts[i] != 0) return parts[i] > 0 ? 1 : -1;
  }
  return 0;
}

int exact_orientation(Point a, Point b, Point c) {
  // (a − c) × (b − c) multiplied out; c.lon·c.lat cancels.
  const std::array<std::array<double, 2>, 6> products = {
      exact_product(a.lon, b.lat),  exact_product(-a.lon, c.lat), exact_product(-c.lon, b.lat),
      exact_product(-a.lat, b.lon), exact_product(a.lat, c.lon),  exact_product(c.lat, b.lon)};
  std::array<double, 12> terms{};
  for (std::size_t i = 0; i < products.size(); ++i) {
    terms[2 * i] = products[i][1];
    terms[2 * i + 1] = products[i][0];
  }
  return exact_sign(terms);
}

/// Even-odd rule.
Side side_of_ring(std::span<const Point> ring, Point p) {
  bool inside = false;
  for (std::size_t i = 0; i + 1 < ring.size(); ++i) {
    const Point a = ring[i], b = ring[i + 1];
    if ((a.lat < p.lat && b.lat < p.lat) || (a.lat > p.lat && b.lat > p.lat)) continue;
    if (is_on_edge(a, b, p)) return Side::kBorder;
    if (crosses_parallel(a, b, p.lat) && is_east_of(a, b, p)) inside = !inside;
  }
  return inside ? Side::kInside : Side::kOutside;
}

/// Calls visit(outline_or_hole_points, is_outline) for each ring of each polygon until it says
/// false.
template <typename Visit>
void for_each_polygon(const PolygonView& area, Visit&& visit) {
  std::uint32_t ring = 0, point = 0;
  for (const std::uint32_t last_ring : area.polygon_ends) {
    const std::uint32_t first_ring = ring, first_point = point;
    if (last_ring > first_ring) point = area.ring_ends[last_ring - 1];
    ring = last_ring;
    if (!visit(first_ring, last_ring, first_point)) return;
  }
}

bool polygon_contains(const PolygonView& area, std::uint32_t first_ring, std::uint32_t last_ring,
                      std::uint32_t first_point, Point p) {
  std::uint32_t start = first_point;
  for (std::uint32_t ring = first_ring; ring < last_ring; ++ring) {
    const Side side = side_of_ring(area.points.subspan(start, area.ring_ends[ring] - start), p);
    if (ring == first_ring && side == Side::kOutside) return false;
    if (ring != first_ring && side == Side::kInside) return false;
    start = area.ring_ends[ring];
  }
  return true;
}

bool any_edge_touches(const PolygonView& area, const Rect& box) {
  if (!area.tree.empty()) return tree_finds_edge(area, box);
  std::uint32_t start = 0;
  for (const std::uint32_t end : area.ring_ends) {
    for (std::uint32_t i = start; i + 1 < end; ++i) {
      if (edge_touches(area.points[i], area.points[i + 1], box)) return true;
    }
    start = end;
  }
  return false;
}

}  // namespace

int orientation(Point a, Point b, Point c) {
  const double left = (a.lon - c.lon) * (b.lat - c.lat);
  const double right = (a.lat - c.lat) * (b.lon - c.lon);
  const double turn = left - right;
  // Shewchuk's bound for this expression, (3 + 16ε)ε with ε = 2⁻⁵³, times the size of the operands.
  // The smallest products could lose bits to underflow: they go to the exact path too.
  const double bound = 3.3306690738754716e-16 * (std::fabs(left) + std::fabs(right));
  if (turn > bound || -turn > bound) {
    if (std::fabs(turn) > 1e-290) return turn > 0 ? 1 : -1;
  }
  return exact_orientation(a, b, c);
}

bool contains(const PolygonView& area, Point p) {
  if (!area.tree.empty()) return tree_contains(area, p);
  bool found = false;
  for_each_polygon(area, [&](std::uint32_t first, std::uint32_t last, std::uint32_t point) {
    found = polygon_contains(area, first, last, point, p);
    return !found;
  });
  return found;
}

bool touches(const PolygonView& area, const Rect& box) {
  if (box.west == box.east && box.south == box.north) return contains(area, {box.west, box.south});
  // No edge touches the box: it lies wholly on one side, and any of its points tells which.
  return any_edge_touches(area, box) || contains(area, Point{box.west, box.south});
}

Rect bounds(const PolygonView& area) {
  Rect box = kNowhere;
  for (const Point p : area.points) box = join(box, Rect{p.lon, p.lat, p.lon, p.lat});
  return box;
}

}  // namespace nearcast

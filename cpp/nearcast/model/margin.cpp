#include "nearcast/model/margin.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nearcast/model/semantics.h"

namespace nearcast {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSlackDegrees = 1e-9;
constexpr double kSlackMetres = 1;  // what haversines of nearly opposite points lose is less
constexpr double kLeastDegrees = 1e-3;
constexpr double kLeastMetres = 100;

/// Circles beside other areas: metres and degrees.
bool is_mixed(const Areas& areas) {
  const auto is_circle = [](const AreaPart& part) { return std::holds_alternative<Circle>(part); };
  const auto circles = std::count_if(areas.parts.begin(), areas.parts.end(), is_circle);
  return circles != 0 && static_cast<std::size_t>(circles) != areas.parts.size();
}

double rounded_down(double margin, double slack) { return std::fmax(0.0, margin - slack); }

template <typename Measure>
double least_of_parts(const Place& place, Measure&& measure) {
  const double first = measure(place.part[0]);
  return place.parts == 2 ? std::fmin(first, measure(place.part[1])) : first;
}

// ---- boxes ----

/// Above 0: so far do the sides of the two lie apart; otherwise the least that they overlap by.
double gap(const Rect& a, const Rect& b) {
  return std::max(std::max(b.west - a.east, a.west - b.east),
                  std::max(b.south - a.north, a.south - b.north));
}

double box_margin(const Rect& box, const Place& place) {
  const Place area = Place::box(box);
  return std::fabs(least_of_parts(area, [&](const Rect& own) {
    return least_of_parts(place, [&](const Rect& part) { return gap(own, part); });
  }));
}

Rect expanded_box(const Rect& box, double reach) {
  const double south = std::fmax(-90.0, box.south - reach);
  const double north = std::fmin(90.0, box.north + reach);
  if (box.west <= box.east) {
    // No message lies beyond 180: what is cut off there holds nothing.
    return {std::fmax(-180.0, box.west - reach), south, std::fmin(180.0, box.east + reach), north};
  }
  if (box.west - reach <= box.east + reach) return {-180, south, 180, north};
  return {box.west - reach, south, box.east + reach, north};
}

// ---- polygons ----

double distance(Point a, Point b) { return std::hypot(a.lon - b.lon, a.lat - b.lat); }

double distance(Point p, Point a, Point b) {
  const double lon = b.lon - a.lon, lat = b.lat - a.lat, square = lon * lon + lat * lat;
  if (square == 0) return distance(p, a);
  const double along = ((p.lon - a.lon) * lon + (p.lat - a.lat) * lat) / square;
  const double share = std::clamp(along, 0.0, 1.0);
  return distance(p, {a.lon + share * lon, a.lat + share * lat});
}

double distance(Point p, const Rect& box) {
  return std::hypot(std::max({box.west - p.lon, 0.0, p.lon - box.east}),
                    std::max({box.south - p.lat, 0.0, p.lat - box.north}));
}

template <typename Measure>
double least_of_edges(const PolygonView& area, Measure&& measure) {
  double least = kInfinity;
  std::uint32_t start = 0;
  for (const std::uint32_t end : area.ring_ends) {
    for (std::uint32_t i = start; i + 1 < end; ++i)
      least = std::fmin(least, measure(area.points[i], area.points[i + 1]));
    start = end;
  }
  return least;
}

double to_border(const PolygonView& area, Point p) {
  return least_of_edges(area, [&](Point a, Point b) { return distance(p, a, b); });
}

/// A box that touches goes on doing so while one of its points stays inside.
double depth(const PolygonView& area, const Rect& box) {
  double most = 0;
  for (const Point p : {Point{box.west, box.south}, Point{box.east, box.south},
                        Point{box.west, box.north}, Point{box.east, box.north},
                        Point{(box.west + box.east) / 2, (box.south + box.north) / 2}}) {
    if (contains(area, p)) most = std::fmax(most, to_border(area, p));
  }
  return most;
}

/// Where a box and an edge that do not touch are nearest, one of them has a corner.
double to_border(const PolygonView& area, const Rect& box) {
  return least_of_edges(area, [&](Point a, Point b) {
    double least = std::fmin(distance(a, box), distance(b, box));
    for (const Point p : {Point{box.west, box.south}, Point{box.east, box.south},
                          Point{box.west, box.north}, Point{box.east, box.north}}) {
      least = std::fmin(least, distance(p, a, b));
    }
    return least;
  });
}

double polygon_margin(const PolygonView& area, const Place& place) {
  double outside = kInfinity, inside = 0;
  bool touches_any = false;
  for (int i = 0; i < place.parts; ++i) {
    const Rect& part = place.part[i];
    if (touches(area, part)) {
      touches_any = true;
      inside = std::fmax(inside, depth(area, part));
    } else {
      outside = std::fmin(outside, to_border(area, part));
    }
  }
  return touches_any ? inside : outside;
}

double half_of_longer_side(const Rect& box) {
  const double across = box.west <= box.east ? width(box) : width(box) + 360;
  return std::fmax(kLeastDegrees, std::fmax(across, height(box)) / 2);
}

// ---- each kind of area ----

double margin_of(const Anywhere&, const Place&) { return kInfinity; }
double margin_of(const Rect& box, const Place& place) {
  return rounded_down(box_margin(box, place), kSlackDegrees);
}
double margin_of(const PolygonArea& polygon, const Place& place) {
  return rounded_down(polygon_margin(polygon.view(), place), kSlackDegrees);
}
double margin_of(const Circle& circle, const Place& place) {
  const double nearest = least_of_parts(
      place, [&](const Rect& part) { return great_circle_to_box_m(circle.center, part); });
  return rounded_down(std::fabs(nearest - circle.radius_m), kSlackMetres);
}
/// What touches goes on doing so while it touches one part; what does not must reach one.
double margin_of(const Areas& areas, const Place& place) {
  if (is_mixed(areas)) return 0;
  double outside = kInfinity, inside = 0;
  bool touches_any = false;
  for (const AreaPart& part : areas.parts) {
    const double own = std::visit([&](const auto& shape) { return margin_of(shape, place); }, part);
    outside = std::fmin(outside, own);
    if (!area_touches(part, place)) continue;
    touches_any = true;
    inside = std::fmax(inside, own);
  }
  return touches_any ? inside : outside;
}

Anywhere grown(const Anywhere& anywhere, double) { return anywhere; }
Rect grown(const Rect& box, double reach) { return expanded_box(box, reach); }
Rect grown(const PolygonArea& polygon, double reach) {
  return expanded_box(bounds(polygon.view()), reach);
}
Circle grown(const Circle& circle, double reach) {
  return {circle.center, circle.radius_m + reach};
}
Areas grown(const Areas& areas, double reach) {
  Areas larger;
  for (const AreaPart& part : areas.parts)
    std::visit([&](const auto& shape) { larger.parts.emplace_back(grown(shape, reach)); }, part);
  return larger;
}

double extent_of(const Anywhere&) { return 0; }
double extent_of(const Rect& box) { return half_of_longer_side(box); }
double extent_of(const PolygonArea& polygon) { return half_of_longer_side(bounds(polygon.view())); }
double extent_of(const Circle& circle) { return std::fmax(kLeastMetres, circle.radius_m); }
double extent_of(const Areas& areas) {
  if (is_mixed(areas)) return 0;
  double most = 0;
  for (const AreaPart& part : areas.parts)
    most = std::fmax(most, std::visit([](const auto& shape) { return extent_of(shape); }, part));
  return most;
}

}  // namespace

double margin(const Area& area, const Place& place) {
  return std::visit([&](const auto& shape) { return margin_of(shape, place); }, area);
}

Area expanded(const Area& area, double reach) {
  return std::visit([&](const auto& shape) { return Area(grown(shape, reach)); }, area);
}

double extent(const Area& area) {
  return std::visit([&](const auto& shape) { return extent_of(shape); }, area);
}

}  // namespace nearcast

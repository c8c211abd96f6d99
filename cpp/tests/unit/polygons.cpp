// Corner trees against the walk along all edges, and the shapes that many subscriptions share.
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "nearcast/geo/corner_tree.h"
#include "nearcast/geo/polygon.h"
#include "nearcast/model/shape_store.h"
#include "tests/unit/check.h"

namespace nearcast::unit {
namespace {

using Dice = std::mt19937;

void add_ring(PolygonArea& area, std::vector<Point> ring, bool is_outline) {
  ring.push_back(ring.front());
  area.points.insert(area.points.end(), ring.begin(), ring.end());
  area.ring_ends.push_back(static_cast<std::uint32_t>(area.points.size()));
  if (is_outline) area.polygon_ends.push_back(0);
  area.polygon_ends.back() = static_cast<std::uint32_t>(area.ring_ends.size());
}

/// Corners on a small grid, in any order: edges cross, overlap, lie level and repeat.
std::vector<Point> tangle(Dice& dice, std::size_t corners, int side) {
  std::vector<Point> ring;
  const auto any = [&] { return static_cast<double>(dice() % (2 * side + 1)) - side; };
  for (std::size_t i = 0; i < corners; ++i) ring.push_back({any(), any()});
  return ring;
}

/// Around a centre, each corner at another distance.
std::vector<Point> star(Dice& dice, std::size_t corners, Point centre, double radius,
                        double spread) {
  std::vector<Point> ring;
  for (std::size_t i = 0; i < corners; ++i) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(corners);
    const double away = radius * (1 + spread * (static_cast<double>(dice() % 2001) / 1000 - 1));
    ring.push_back({centre.lon + away * std::cos(angle), centre.lat + away * std::sin(angle)});
  }
  return ring;
}

/// A step along, teeth up and down: long edges side by side.
std::vector<Point> comb(std::size_t teeth, double lean) {
  std::vector<Point> ring;
  for (std::size_t i = 0; i < teeth; ++i) {
    const auto at = static_cast<double>(i);
    ring.push_back({at, 0.25});
    ring.push_back({at + 0.5 + lean, 10 + at / 64});
  }
  ring.push_back({static_cast<double>(teeth), -1});
  ring.push_back({0, -1});
  return ring;
}

struct Pair {
  PolygonView walked, indexed;
};

void check_point(const Pair& area, Point p) {
  check(contains(area.walked, p) == contains(area.indexed, p));
}

void check_box(const Pair& area, const Rect& box) {
  check(touches(area.walked, box) == touches(area.indexed, box));
}

/// Points of the border, near it and anywhere, and boxes of all sizes.
void check_area(PolygonArea area, Dice& dice, int questions) {
  check(area.tree.empty());
  const std::vector<std::uint32_t> tree = build_corner_tree(area.view());
  check(!tree.empty() && tree.size() <= kTreeWords * area.points.size());
  check(is_sound_tree(tree, area.points.size()));
  Pair pair{area.view(), area.view()};
  pair.indexed.tree = tree;
  const Rect all = bounds(area.view());
  const auto any = [&](double low, double high) {
    return low - 1 + (high - low + 2) * (static_cast<double>(dice() % 100001) / 100000);
  };
  for (int i = 0; i < questions; ++i) {
    const std::size_t at = dice() % (area.points.size() - 1);
    const Point a = area.points[at], b = area.points[at + 1];
    const Point middle{(a.lon + b.lon) / 2, (a.lat + b.lat) / 2};
    const Point free{any(all.west, all.east), any(all.south, all.north)};
    check_point(pair, a);
    check_point(pair, middle);
    check_point(pair, {std::nextafter(middle.lon, free.lon), middle.lat});
    check_point(pair, {middle.lon, std::nextafter(middle.lat, free.lat)});
    check_point(pair, {a.lon, free.lat});
    check_point(pair, {free.lon, a.lat});
    check_point(pair, free);
    const Point other{any(all.west, all.east), any(all.south, all.north)};
    const double size = 1e-4 * static_cast<double>(1 + dice() % 20000);
    check_box(pair, {std::min(free.lon, other.lon), std::min(free.lat, other.lat),
                     std::max(free.lon, other.lon), std::max(free.lat, other.lat)});
    check_box(pair, {free.lon, free.lat, free.lon + size, free.lat + size});
    check_box(pair, {a.lon, a.lat, a.lon + size, a.lat});
    check_box(pair, {a.lon, a.lat - size, a.lon, a.lat});
    check_box(pair, {middle.lon, middle.lat, middle.lon, middle.lat});
  }
}

const Test kTangles("a tree of edges that cross and overlap answers like the walk", [] {
  Dice dice(1);
  for (int i = 0; i < 300; ++i) {
    PolygonArea area;
    const int rings = 1 + static_cast<int>(dice() % 5), side = 2 + static_cast<int>(dice() % 12);
    for (int ring = 0; ring < rings; ++ring)
      add_ring(area, tangle(dice, 32 + dice() % 64, side), ring == 0 || dice() % 2 == 0);
    if (area.points.size() < kLeastTreeCorners) continue;
    check_area(std::move(area), dice, 60);
  }
});

const Test kStars("a tree of a polygon with holes and islands answers like the walk", [] {
  Dice dice(2);
  for (const double spread : {0.0, 0.02, 0.3, 0.9}) {
    for (const std::size_t corners : {64u, 500u, 999u, 1000u, 1001u, 3000u}) {
      PolygonArea area;
      add_ring(area, star(dice, corners, {10, 50}, 8, spread), true);
      for (int hole = 0; hole < 6; ++hole)
        add_ring(area, star(dice, 12 + dice() % 50, {6.0 + hole * 1.5, 50}, 0.6, spread), false);
      for (int island = 0; island < 20; ++island)
        add_ring(area, star(dice, 8, {20.0 + island % 5, 45.0 + island}, 0.4, 0.2), true);
      check_area(std::move(area), dice, 400);
    }
  }
});

const Test kRasters("the finest raster answers like the walk", [] {
  Dice dice(8);
  for (const std::size_t corners : {7999u, 8000u, 8001u}) {
    PolygonArea area;
    add_ring(area, star(dice, corners - 1, {-60, -30}, 3, 0.01), true);
    check_area(std::move(area), dice, 100);
  }
});

const Test kCombs("a tree of long edges side by side answers like the walk", [] {
  Dice dice(3);
  for (const double lean : {0.0, 3.0, 40.0}) {
    for (const std::size_t teeth : {40u, 700u}) {
      PolygonArea area;
      add_ring(area, comb(teeth, lean), true);
      check_area(std::move(area), dice, 300);
    }
  }
});

const Test kStacked("a tree of polygons on top of each other answers like the walk", [] {
  Dice dice(4);
  PolygonArea area;
  for (int i = 0; i < 200; ++i) {
    const double size = 1 + i % 17;
    add_ring(area, {{-size, -size}, {size, -size}, {size, size}, {-size, size}}, i % 3 != 1);
  }
  check_area(std::move(area), dice, 400);
});

const Test kFlat("a tree of corners on one line answers like the walk", [] {
  Dice dice(5);
  for (const bool is_level : {true, false}) {
    PolygonArea area;
    std::vector<Point> ring;
    for (int i = 0; i < 100; ++i) {
      const auto at = static_cast<double>(dice() % 50);
      ring.push_back(is_level ? Point{at, 7} : Point{7, at});
    }
    add_ring(area, ring, true);
    check_area(std::move(area), dice, 100);
  }
});

const Test kThreshold("a tree is built from so many corners on", [] {
  Dice dice(6);
  for (const std::size_t corners :
       {kLeastTreeCorners - 1, kLeastTreeCorners, kLeastTreeCorners + 1}) {
    PolygonArea area;
    add_ring(area, star(dice, corners - 1, {0, 0}, 5, 0.1), true);
    check(area.points.size() == corners);
    check(build_corner_tree(area.view()).empty() == (corners < kLeastTreeCorners));
    if (corners >= kLeastTreeCorners) check_area(std::move(area), dice, 100);
  }
});

const Test kDamage("a damaged tree is refused, or answers something", [] {
  Dice dice(7);
  PolygonArea area;
  add_ring(area, star(dice, 400, {0, 0}, 5, 0.4), true);
  add_ring(area, star(dice, 40, {0, 0}, 1, 0.4), false);
  const std::vector<std::uint32_t> tree = build_corner_tree(area.view());
  std::size_t refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::uint32_t> damaged = tree;
    const std::size_t at = dice() % damaged.size();
    damaged[at] ^= std::uint32_t{1} << (dice() % 32);
    if (dice() % 8 == 0) damaged.resize(dice() % damaged.size());
    if (!is_sound_tree(damaged, area.points.size())) {
      ++refused;
      continue;
    }
    PolygonView view = area.view();
    view.tree = damaged;
    const auto any = [&] { return static_cast<double>(dice() % 121) / 10 - 6; };
    for (int question = 0; question < 5; ++question) {
      const Point p{any(), any()};
      (void)contains(view, p);
      (void)touches(view, Rect{p.lon, p.lat, p.lon + 1, p.lat + 1});
    }
  }
  check(refused > 1000);
});

// ---- shapes ----

PolygonArea square(double at) {
  PolygonArea area;
  add_ring(area, {{at, at}, {at + 1, at}, {at + 1, at + 1}, {at, at + 1}}, true);
  return area;
}

const Test kShared("equal shapes have one number, and go with their last use", [] {
  ShapeStore shapes;
  const Areas both{{Rect{0, 0, 1, 1}, Circle{{5, 5}, 100}, square(2)}};
  const auto circle = shapes.add(Circle{{5, 5}, 100});
  check(shapes.add(Circle{{5, 5}, 100}) == circle && shapes.add(Circle{{5, 5}, 101}) != circle);
  const auto first = shapes.add(both);
  const auto second = shapes.add(both);
  check(first == second && shapes.size() == 5);  // two circles, a box, a square, the union
  check(shapes.add(square(2)) != first && shapes.size() == 5);
  shapes.release(first);
  shapes.release(second);
  check(shapes.size() == 3);
  const std::size_t bytes = shapes.memory_bytes();
  for (int i = 0; i < 1000; ++i) shapes.release(shapes.add(both));
  check(shapes.size() == 3 && shapes.memory_bytes() == bytes);
});

const Test kMemo("a memo answers for its place only, and not after a shape has gone", [] {
  ShapeStore shapes;
  ShapeMemo memo;
  const auto number = shapes.add(square(0));
  shapes.add(square(0));
  const Place inside = Place::at({0.5, 0.5}), outside = Place::at({5, 5});
  for (int i = 0; i < 3; ++i) {
    check(shapes.touches(number, inside, &memo) && !shapes.touches(number, outside, &memo));
    check(shapes.touches(number, inside, &memo) && shapes.touches(number, inside, &memo));
  }
  shapes.release(number);
  shapes.release(number);
  const auto other = shapes.add(square(7));
  shapes.add(square(7));
  check(other == number && !shapes.touches(other, inside, &memo));
  check(shapes.touches(other, Place::at({7, 8}), &memo));
});

}  // namespace
}  // namespace nearcast::unit

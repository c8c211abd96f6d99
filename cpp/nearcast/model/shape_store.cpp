#include "nearcast/model/shape_store.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "nearcast/base/errors.h"
#include "nearcast/base/hash.h"
#include "nearcast/geo/corner_tree.h"

namespace nearcast {
namespace {

template <typename T>
std::string_view bytes_of(std::span<const T> items) {
  return {reinterpret_cast<const char*>(items.data()), items.size_bytes()};
}

Area area_of(const AreaPart& part) {
  return std::visit([](const auto& shape) { return Area(shape); }, part);
}

}  // namespace

AreaKind kind_of(const Area& area) {
  if (std::holds_alternative<Anywhere>(area)) return AreaKind::kAnywhere;
  if (std::holds_alternative<Areas>(area)) return AreaKind::kUnion;
  if (const Rect* box = std::get_if<Rect>(&area)) {
    return box->west <= box->east ? AreaKind::kBox : AreaKind::kSplitBox;
  }
  return std::holds_alternative<Circle>(area) ? AreaKind::kCircle : AreaKind::kPolygon;
}

Rect bounds_of(const Area& area) {
  if (const Rect* box = std::get_if<Rect>(&area)) {
    return box->west <= box->east ? *box : Rect{-180, box->south, 180, box->north};
  }
  if (const Circle* circle = std::get_if<Circle>(&area)) return bounds(*circle);
  if (const PolygonArea* polygon = std::get_if<PolygonArea>(&area)) return bounds(polygon->view());
  if (const Areas* areas = std::get_if<Areas>(&area)) {
    Rect box = kNowhere;
    for (const AreaPart& part : areas->parts) box = join(box, bounds_of(area_of(part)));
    return box;
  }
  return kWorld;
}

/// What a shape consists of, on its way into the store.
struct ShapeStore::Content {
  AreaKind kind;
  std::span<const Point> points;
  std::span<const Word> ring_ends, polygon_ends;
  std::span<const Number> parts;
  std::span<const Word> tree;  ///< empty: it is still to be built, if there is to be one

  /// Parts have numbers: a union is what its numbers are.
  Word head() const {
    const std::uint64_t numbers = hash_of(bytes_of(ring_ends)) ^ hash_of(bytes_of(parts));
    const Word hash = parts.empty() ? hash_of(bytes_of(points)) : 0;
    return (hash_of(numbers << 32 | hash) & ~Word{7}) | static_cast<Word>(kind);
  }
};

void ShapeStore::check_room(const Area& area) const {
  std::size_t points = 0, words = 0;
  const auto count = [&](const PolygonArea& polygon) {
    points += polygon.points.size();
    words += kCounts + polygon.ring_ends.size() + polygon.polygon_ends.size() +
             kTreeWords * polygon.points.size();
  };
  if (const auto* polygon = std::get_if<PolygonArea>(&area)) count(*polygon);
  if (const auto* areas = std::get_if<Areas>(&area)) {
    for (const AreaPart& part : areas->parts) {
      points += 4;
      words += 2;
      if (const auto* polygon = std::get_if<PolygonArea>(&part)) count(*polygon);
    }
  }
  // Capacities are rounded up.
  if (2 * (points + 2) > points_.room() || 2 * (words + 2) > words_.room())
    too_large("corners of all areas", std::to_string(points_.places() + points),
              "fewer than 2^32, their trees included");
}

ShapeStore::Number ShapeStore::add(const Area& area) {
  if (const Areas* areas = std::get_if<Areas>(&area)) return add_union(*areas);
  if (const PolygonArea* polygon = std::get_if<PolygonArea>(&area))
    return add(Content{AreaKind::kPolygon,
                       polygon->points,
                       polygon->ring_ends,
                       polygon->polygon_ends,
                       {},
                       polygon->tree});
  Point points[2];
  if (const Rect* box = std::get_if<Rect>(&area)) {
    points[0] = {box->west, box->south};
    points[1] = {box->east, box->north};
  } else {
    const Circle& circle = std::get<Circle>(area);
    points[0] = circle.center;
    points[1] = {circle.radius_m, 0};
  }
  return add(Content{kind_of(area), points, {}, {}, {}, {}});
}

ShapeStore::Number ShapeStore::add_union(const Areas& areas) {
  std::vector<Number> parts;
  std::vector<Point> corners;
  for (const AreaPart& part : areas.parts) {
    const Area area = area_of(part);
    const Rect box = bounds_of(area);
    parts.push_back(add(area));
    corners.insert(corners.end(), {{box.west, box.south}, {box.east, box.north}});
  }
  const Number number = add(Content{AreaKind::kUnion, corners, {}, {}, parts, {}});
  // A union that was there before has its parts already.
  if (shapes_[number].uses > 1) {
    for (const Number part : parts) release(part);
  }
  return number;
}

ShapeStore::Number ShapeStore::add(const Content& content) {
  const Word head = content.head();
  const auto hash_of_any = [&](Number number) { return hash_of_number(number); };
  const Number known = table_.find(head, [&](Number number) {
    return shapes_[number].head == head && is_same(shapes_[number], content);
  });
  if (known != SlotTable::kNone) {
    ++shapes_[known].uses;
    return known;
  }
  Number number;
  if (free_.empty()) {
    number = static_cast<Number>(shapes_.size());
    shapes_.resize(shapes_.size() + 1);
  } else {
    number = free_.back();
    free_.pop_back();
  }
  Shape made{head, 1, 0, 0};
  write(made, content);
  shapes_[number] = made;
  table_.insert(head, number, hash_of_any);
  return number;
}

bool ShapeStore::is_same(const Shape& shape, const Content& content) const {
  const auto equal = [](auto a, auto b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
  };
  if (shape.kind() == AreaKind::kUnion) return equal(parts(shape), content.parts);
  if (shape.kind() != AreaKind::kPolygon)
    return equal(std::span(points_.at(shape.points), 2), content.points);
  const PolygonView own = polygon(shape);
  return equal(own.points, content.points) && equal(own.ring_ends, content.ring_ends) &&
         equal(own.polygon_ends, content.polygon_ends);
}

void ShapeStore::write(Shape& shape, const Content& content) {
  shape.points = points_.allocate(static_cast<Word>(content.points.size()));
  std::copy(content.points.begin(), content.points.end(), points_.at(shape.points));
  if (content.kind == AreaKind::kPolygon) write_polygon(shape, content);
  if (content.kind == AreaKind::kUnion) {
    shape.words = words_.allocate(static_cast<Word>(1 + content.parts.size()));
    Word* out = words_.at(shape.words);
    *out++ = static_cast<Word>(content.parts.size());
    std::copy(content.parts.begin(), content.parts.end(), out);
  }
}

void ShapeStore::write_polygon(Shape& shape, const Content& content) {
  std::vector<Word> built;
  if (content.tree.empty())
    built = build_corner_tree({content.points, content.ring_ends, content.polygon_ends});
  const std::span<const Word> tree = content.tree.empty() ? built : content.tree;
  const std::size_t ends = content.ring_ends.size() + content.polygon_ends.size();
  shape.words = words_.allocate(static_cast<Word>(kCounts + ends + tree.size()));
  Word* out = words_.at(shape.words);
  for (const std::size_t count :
       {content.points.size(), content.ring_ends.size(), content.polygon_ends.size(), tree.size()})
    *out++ = static_cast<Word>(count);
  out = std::copy(content.ring_ends.begin(), content.ring_ends.end(), out);
  out = std::copy(content.polygon_ends.begin(), content.polygon_ends.end(), out);
  std::copy(tree.begin(), tree.end(), out);
}

void ShapeStore::release(Number number) {
  Shape& shape = shapes_[number];
  if (--shape.uses != 0) return;
  table_.erase(shape.head, number, [&](Number other) { return hash_of_number(other); });
  if (shape.kind() == AreaKind::kUnion) {
    // Parts are no unions: this ends here.
    const std::vector<Word> gone(parts(shape).begin(), parts(shape).end());
    for (const Number part : gone) release(part);
  }
  free(shape);
  free_.push_back(number);
  ++version_;
}

void ShapeStore::free(const Shape& shape) {
  const Word words = word_count(shape);
  points_.free(shape.points, point_count(shape));
  if (words != 0) words_.free(shape.words, words);
}

PolygonView ShapeStore::polygon(const Shape& shape) const {
  const Word* counts = words_.at(shape.words);
  const Word rings = counts[1], polygons = counts[2];
  const Word* ends = counts + kCounts;
  return {{points_.at(shape.points), counts[0]},
          {ends, rings},
          {ends + rings, polygons},
          {ends + rings + polygons, counts[3]}};
}

std::span<const ShapeStore::Word> ShapeStore::parts(const Shape& shape) const {
  const Word* count = words_.at(shape.words);
  return {count + 1, *count};
}

Rect ShapeStore::box(const Shape& shape, std::size_t i) const {
  const Point* corners = points_.at(shape.points) + 2 * i;
  return {corners[0].lon, corners[0].lat, corners[1].lon, corners[1].lat};
}

ShapeStore::Word ShapeStore::point_count(const Shape& shape) const {
  if (shape.kind() == AreaKind::kPolygon) return *words_.at(shape.words);
  return shape.kind() == AreaKind::kUnion ? 2 * *words_.at(shape.words) : 2;
}

ShapeStore::Word ShapeStore::word_count(const Shape& shape) const {
  if (shape.kind() == AreaKind::kUnion) return 1 + *words_.at(shape.words);
  if (shape.kind() != AreaKind::kPolygon) return 0;
  const Word* counts = words_.at(shape.words);
  return kCounts + counts[1] + counts[2] + counts[3];
}

AreaPart ShapeStore::part(const Shape& shape) const {
  if (shape.kind() == AreaKind::kPolygon) {
    const PolygonView view = polygon(shape);
    return PolygonArea{{view.points.begin(), view.points.end()},
                       {view.ring_ends.begin(), view.ring_ends.end()},
                       {view.polygon_ends.begin(), view.polygon_ends.end()},
                       {view.tree.begin(), view.tree.end()}};
  }
  const Rect numbers = box(shape, 0);
  if (shape.kind() != AreaKind::kCircle) return numbers;
  return Circle{{numbers.west, numbers.south}, numbers.east};
}

Area ShapeStore::area(Number number) const {
  const Shape& shape = shapes_[number];
  if (shape.kind() != AreaKind::kUnion) return area_of(part(shape));
  Areas areas;
  for (const Number each : parts(shape)) areas.parts.push_back(part(shapes_[each]));
  return areas;
}

bool ShapeStore::touches(Number number, const Place& place, ShapeMemo* memo) const {
  const Shape& shape = shapes_[number];
  if (memo == nullptr || shape.uses < 2) return decide(shape, place, memo);
  memo->start(place, version_, shapes_.size());
  if (const auto known = memo->find(number)) return *known;
  const bool answer = decide(shape, place, memo);
  memo->put(number, answer);
  return answer;
}

bool ShapeStore::decide(const Shape& shape, const Place& place, ShapeMemo* memo) const {
  switch (shape.kind()) {
    case AreaKind::kAnywhere:
      return true;
    case AreaKind::kBox:
    case AreaKind::kSplitBox: {
      const Place area = Place::box(box(shape, 0));
      return any_part(place, [&](const Rect& each) { return nearcast::touches(each, area); });
    }
    case AreaKind::kCircle: {
      const Rect numbers = box(shape, 0);
      const Circle circle{{numbers.west, numbers.south}, numbers.east};
      return any_part(place, [&](const Rect& each) { return nearcast::touches(circle, each); });
    }
    case AreaKind::kPolygon: {
      const PolygonView view = polygon(shape);
      return any_part(place, [&](const Rect& each) { return nearcast::touches(view, each); });
    }
    case AreaKind::kUnion:
      break;
  }
  const auto numbers = parts(shape);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (nearcast::touches(box(shape, i), place) && touches(numbers[i], place, memo)) return true;
  }
  return false;
}

void plant_trees(Area& area) {
  const auto plant = [](PolygonArea& polygon) {
    if (polygon.tree.empty()) polygon.tree = build_corner_tree(polygon.view());
  };
  if (auto* polygon = std::get_if<PolygonArea>(&area)) plant(*polygon);
  if (auto* areas = std::get_if<Areas>(&area)) {
    for (AreaPart& part : areas->parts) {
      if (auto* polygon = std::get_if<PolygonArea>(&part)) plant(*polygon);
    }
  }
}

std::size_t ShapeStore::memory_bytes() const {
  return shapes_.memory_bytes() + free_.memory_bytes() + points_.memory_bytes() +
         words_.memory_bytes() + table_.memory_bytes();
}

void ShapeStore::save(ArchiveWriter& out) const {
  shapes_.save(out);
  free_.save(out);
  points_.save(out);
  words_.save(out);
  table_.save(out);
}

void ShapeStore::load(ArchiveReader& in) {
  shapes_.load(in);
  free_.load(in);
  points_.load(in);
  words_.load(in);
  table_.load(in);
}

}  // namespace nearcast

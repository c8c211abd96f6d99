/// Are shapes that were read from a file sound? Checked before anything follows their numbers.
#include <cmath>

#include "nearcast/base/claims.h"
#include "nearcast/geo/corner_tree.h"
#include "nearcast/model/shape_store.h"

namespace nearcast {
namespace {

constexpr const char* kShapeOfArea = "the shape of an area";
constexpr double kFarthestOut = 1e6;  ///< no coordinate is, that of a grown area included

bool is_near_enough(double value) { return std::fabs(value) <= kFarthestOut; }  // false for NaN
bool is_near_enough(const Point& p) { return is_near_enough(p.lon) && is_near_enough(p.lat); }

/// Ascending, the last one being `last`.
bool are_all_ends(std::span<const std::uint32_t> ends, std::uint32_t last) {
  if (ends.empty() || ends.front() == 0 || ends.back() != last) return false;
  for (std::size_t i = 1; i < ends.size(); ++i) {
    if (ends[i - 1] >= ends[i]) return false;
  }
  return true;
}

}  // namespace

struct ShapeStore::Check {
  const ShapeStore& store;
  Claims points, words;
  std::vector<Word> uses;  ///< by number

  Check(const ShapeStore& checked, std::span<const Word> uses_by_others)
      : store(checked),
        points(store.points_.claim_free()),
        words(store.words_.claim_free()),
        uses(uses_by_others.begin(), uses_by_others.end()) {
    uses.resize(store.slots());
  }

  /// Counts of a polygon or a union are there to be read.
  void counts(const Shape& shape, Word count) const {
    expect(shape.words < store.words_.places() && store.words_.places() - shape.words >= count,
           kShapeOfArea);
  }

  void polygon(const Shape& shape) {
    counts(shape, kCounts);
    const Word* count = store.words_.at(shape.words);
    const std::uint64_t size = std::uint64_t{kCounts} + count[1] + count[2] + count[3];
    ListArena<Word>::claim(words, shape.words, size, kShapeOfArea);
    const PolygonView view = store.polygon(shape);
    expect(are_all_ends(view.ring_ends, count[0]) && are_all_ends(view.polygon_ends, count[1]) &&
               (view.tree.empty() || is_sound_tree(view.tree, view.points.size())),
           kShapeOfArea);
  }

  void combined(const Shape& shape) {
    counts(shape, 1);
    const std::uint64_t count = *store.words_.at(shape.words);
    // Equal parts are one shape, so there may be more parts than shapes.
    expect(count >= 2 && count <= Areas::kMaxParts, kShapeOfArea);
    ListArena<Word>::claim(words, shape.words, 1 + count, kShapeOfArea);
    for (const Number part : store.parts(shape)) {
      expect(part < store.slots() && store.shapes_[part].uses != 0 &&
                 store.shapes_[part].kind() != AreaKind::kUnion,
             kShapeOfArea);
      ++uses[part];
    }
  }

  void shape(const Shape& shape) {
    const AreaKind kind = shape.kind();
    expect(kind > AreaKind::kAnywhere && kind <= AreaKind::kUnion, kShapeOfArea);
    if (kind == AreaKind::kPolygon) polygon(shape);
    if (kind == AreaKind::kUnion) combined(shape);
    const Word count = store.point_count(shape);
    ListArena<Point>::claim(points, shape.points, count, kShapeOfArea);
    const Point* first = store.points_.at(shape.points);
    if (kind == AreaKind::kCircle) {
      const double radius_m = first[1].lon;
      expect(is_near_enough(first[0]) && std::isfinite(radius_m) && radius_m >= 0, kShapeOfArea);
      return;
    }
    for (Word i = 0; i < count; ++i) expect(is_near_enough(first[i]), kShapeOfArea);
    if (kind == AreaKind::kBox || kind == AreaKind::kSplitBox) {
      expect((first[0].lon > first[1].lon) == (kind == AreaKind::kSplitBox) &&
                 first[0].lat <= first[1].lat,
             kShapeOfArea);
    }
  }
};

void ShapeStore::check_loaded(std::span<const std::uint32_t> uses) const {
  Check check(*this, uses);
  Claims numbers(slots());
  numbers.claim_all(free_, kShapeOfArea);
  std::size_t live = 0;
  for (Number number = 0; number < slots(); ++number) {
    expect((shapes_[number].uses == 0) == numbers.has(number), kShapeOfArea);
    if (shapes_[number].uses == 0) continue;
    check.shape(shapes_[number]);
    ++live;
  }
  for (Number number = 0; number < slots(); ++number)
    expect(check.uses[number] == shapes_[number].uses, kShapeOfArea);
  table_.check_loaded(
      slots(), live, [&](Number number) { return shapes_[number].uses != 0; },
      [&](Number number) { return hash_of_number(number); });
}

}  // namespace nearcast

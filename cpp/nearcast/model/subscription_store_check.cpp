/// Is a store that was read from a file sound? Checked before anything follows its numbers.
#include <cmath>

#include "nearcast/base/claims.h"
#include "nearcast/model/subscription_store.h"

namespace nearcast {
namespace {

constexpr const char* kSlot = "a slot of a subscription";
constexpr const char* kRecord = "the record of a subscription";
constexpr const char* kShape = "the shape of an area";
constexpr double kFarthest = 1e6;  ///< no coordinate is farther out, that of a grown area included

bool is_near(double value) { return std::fabs(value) <= kFarthest; }  // false for NaN
bool is_near(const Point& point) { return is_near(point.lon) && is_near(point.lat); }

bool is_box(const Rect& box) {
  return is_near(box.west) && is_near(box.east) && is_near(box.south) && is_near(box.north) &&
         box.west <= box.east && box.south <= box.north;
}

/// Ascending, the last one being `last`.
bool are_ends(std::span<const std::uint32_t> ends, std::uint32_t last) {
  if (ends.empty() || ends.back() != last) return false;
  for (std::size_t i = 1; i < ends.size(); ++i) {
    if (ends[i - 1] >= ends[i]) return false;
  }
  return ends.front() != 0;
}

}  // namespace

struct SubscriptionStore::Check {
  const SubscriptionStore& store;
  const Claims& known;  ///< tokens
  Claims slots, words, points, shapes, extras;

  Check(const SubscriptionStore& checked, const Claims& known_tokens)
      : store(checked),
        known(known_tokens),
        slots(store.slots()),
        words(store.words_.claim_free()),
        points(store.points_.claim_free()),
        shapes(store.shapes_.size()),
        extras(store.extras_.size()) {
    slots.claim_all(store.free_slots_, kSlot);
    shapes.claim_all(store.free_shapes_, kShape);
    extras.claim_all(store.free_extras_, kRecord);
  }

  void tokens(const Word* first, Word count) const {
    for (Word i = 0; i < count; ++i) {
      expect(known.has(first[i]) && (i == 0 || first[i - 1] < first[i]), "a token of a clause");
    }
  }

  /// Claims the record and checks its tokens; how many words stand before the list of extras.
  Word record(Word position, bool is_first) {
    expect(position < store.words_.places(), kRecord);
    const Word* words_of_record = store.words_.at(position);
    const Word head = words_of_record[0];
    const bool has_clause = (head & kHasClause) != 0, has_extras = (head & kHasExtras) != 0;
    expect(kind(head) <= AreaKind::kPolygon && (head & kExtraBit) == 0, kRecord);
    expect(has_clause || (tokens_of(head) == 0 && !has_extras), kRecord);
    expect(is_first || (has_clause && !has_extras && kind(head) == AreaKind::kAnywhere), kRecord);
    const Word fixed = 1 + tokens_of(head) + (has_shape(head) ? 1 : 0);
    std::uint64_t size = fixed;
    if (has_extras) {
      expect(std::uint64_t{position} + fixed < store.words_.places(), kRecord);
      const std::uint64_t count = words_of_record[fixed];
      expect(count >= 1 && count <= store.extras_.size(), kRecord);
      size += 1 + count;
    }
    ListArena<Word>::claim(words, position, size, kRecord);
    tokens(words_of_record + 1, positives(head));
    tokens(words_of_record + 1 + positives(head), negatives(head));
    return fixed;
  }
  static Word tokens_of(Word head) { return SubscriptionStore::tokens(head); }

  void polygon(const Shape& shape) {
    expect(shape.rings >= 1 && shape.polygons >= 1, kShape);
    const std::uint64_t count = std::uint64_t{shape.rings} + shape.polygons;
    ListArena<Word>::claim(words, shape.ends, count, kShape);
    const Word* ends = store.words_.at(shape.ends);
    expect(are_ends({ends, shape.rings}, shape.point_count) &&
               are_ends({ends + shape.rings, shape.polygons}, shape.rings),
           kShape);
  }

  void shape(Word number, AreaKind kind) {
    shapes.claim(number, kShape);
    const Shape& shape = store.shapes_[number];
    ListArena<Point>::claim(points, shape.points, shape.point_count, kShape);
    const Point* first = store.points_.at(shape.points);
    if (kind == AreaKind::kPolygon) {
      polygon(shape);
    } else {
      expect(shape.point_count == 2 && shape.rings == 0, kShape);
    }
    if (kind == AreaKind::kCircle) {
      expect(is_near(first[0]) && std::isfinite(first[1].lon) && first[1].lon >= 0, kShape);
      return;
    }
    for (Word i = 0; i < shape.point_count; ++i) expect(is_near(first[i]), kShape);
    if (kind == AreaKind::kSplitBox) {
      expect(first[0].lon > first[1].lon && first[0].lat <= first[1].lat, kShape);
    }
  }

  void subscription(SubscriptionId id) {
    slots.claim(raw(id), kSlot);
    expect(is_box(store.bounds(id)), "the bounds of an area");
    if (store.is_short(raw(id))) {
      tokens(&store.records_[raw(id)], 1);
      return;
    }
    const Word position = store.records_[raw(id)] - 1;
    const Word fixed = record(position, /*is_first=*/true);
    const Word* words_of_record = store.words_.at(position);
    if (has_shape(words_of_record[0])) shape(words_of_record[fixed - 1], kind(words_of_record[0]));
    for (const Word extra : store.extras(words_of_record)) {
      extras.claim(extra, kRecord);
      expect(store.extras_[extra].owner == id, kRecord);
      record(store.extras_[extra].record, /*is_first=*/false);
    }
  }
};

void SubscriptionStore::check_loaded(const Claims& known_tokens) const {
  expect(slots() < kExtraBit && extras_.size() < kExtraBit && records_.size() == slots() &&
             short_.size() >= (slots() + 63) / 64,
         kSlot);
  // Slots beyond the last one must not be marked short: they are marked when they are written.
  for (std::size_t word = slots() / 64; word < short_.size(); ++word) {
    const std::uint64_t own = word == slots() / 64 ? slots() % 64 : 0;
    expect(short_[word] >> own == 0, kSlot);
  }
  Check check(*this, known_tokens);
  std::size_t found = 0;
  for_each([&](SubscriptionId id) {
    check.subscription(id);
    ++found;
  });
  expect(found == live_, kSlot);
}

}  // namespace nearcast

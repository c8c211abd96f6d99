/// The shapes of areas that are more than a box, each stored once, however many subscriptions have
/// it.
///
/// A shape is a number, which stays as long as something uses it. Shapes are equal if they were
/// said alike: the same corners in the same order. The hash has no key (base/hash.h).
///
///   per shape    16 bytes, about 6 in a table of hashes, and
///     boxes, circles    two points: corners, or centre and (radius, 0)
///     polygons          points; counts, ends of rings and of polygons; a corner tree from
///                       kLeastTreeCorners on (geo/corner_tree.h)
///     unions            the numbers of their parts, which are shapes too, and a box for each
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/list_arena.h"
#include "nearcast/base/slot_table.h"
#include "nearcast/geo/place.h"
#include "nearcast/model/shape_memo.h"
#include "nearcast/model/subscription.h"

namespace nearcast {

enum class AreaKind : std::uint8_t { kAnywhere, kBox, kSplitBox, kCircle, kPolygon, kUnion };

AreaKind kind_of(const Area& area);
Rect bounds_of(const Area& area);  ///< a box that holds all of it
/// Builds the corner trees of its polygons: for an area that many messages are compared with before
/// it is in a store. A store takes them over.
void plant_trees(Area& area);

class ShapeStore {
 public:
  using Number = std::uint32_t;

  /// Throws a capacity error if there is no room for an area.
  void check_room(const Area& area) const;
  /// One use more of this shape. Not of Anywhere.
  Number add(const Area& area);
  void release(Number number);  ///< with its last use a shape goes

  /// Do the shape and the place share a point? A memo answers for shapes that are used more than
  /// once, if it can.
  bool touches(Number number, const Place& place, ShapeMemo* memo = nullptr) const;
  Area area(Number number) const;  ///< a copy, as it was said
  AreaKind kind(Number number) const { return shapes_[number].kind(); }
  Rect box(Number number) const { return box(shapes_[number], 0); }  ///< of a box

  std::size_t size() const { return table_.size(); }    ///< different ones
  std::size_t slots() const { return shapes_.size(); }  ///< numbers are below this
  std::size_t memory_bytes() const;
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);
  /// Throws a snapshot error if what was read is not sound, or if shapes are not used as often as
  /// they say. `uses` has the uses by others, by number.
  void check_loaded(std::span<const std::uint32_t> uses) const;

 private:
  struct Check;
  struct Content;
  using Word = std::uint32_t;
  struct Shape {
    Word head;    ///< hash, in the last three bits the kind
    Word uses;    ///< 0: the number is free
    Word points;  ///< of a union: two for each part, its box
    Word words;   ///< of a polygon: counts, ends, tree; of a union: count, parts

    AreaKind kind() const { return static_cast<AreaKind>(head & 7); }
  };
  static constexpr Word kCounts = 4;  ///< before a polygon's ends: points, rings, polygons, tree

  Number add(const Content& content);
  Number add_union(const Areas& areas);
  bool is_same(const Shape& shape, const Content& content) const;
  void write(Shape& shape, const Content& content);
  void write_polygon(Shape& shape, const Content& content);
  void free(const Shape& shape);

  PolygonView polygon(const Shape& shape) const;
  std::span<const Word> parts(const Shape& shape) const;
  Rect box(const Shape& shape, std::size_t i) const;  ///< of two points
  AreaPart part(const Shape& shape) const;
  Word point_count(const Shape& shape) const;
  Word word_count(const Shape& shape) const;

  bool decide(const Shape& shape, const Place& place, ShapeMemo* memo) const;
  std::uint32_t hash_of_number(Number number) const { return shapes_[number].head; }

  Array<Shape> shapes_;
  Array<Word> free_;
  ListArena<Point> points_;
  ListArena<Word> words_;
  SlotTable table_;
  std::uint64_t version_ = 0;  ///< grows when a number becomes free
};

}  // namespace nearcast

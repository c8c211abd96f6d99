#include "nearcast/model/subscription_store.h"

#include <algorithm>
#include <string>
#include <type_traits>

#include "nearcast/base/errors.h"

namespace nearcast {
namespace {

template <typename T>
std::uint32_t take_or_append(Array<T>& items, Array<std::uint32_t>& free) {
  if (free.empty()) {
    items.resize(items.size() + 1);
    return static_cast<std::uint32_t>(items.size() - 1);
  }
  const std::uint32_t slot = free.back();
  free.pop_back();
  return slot;
}

AreaKind kind_of(const Area& area) {
  if (std::holds_alternative<Anywhere>(area)) return AreaKind::kAnywhere;
  if (const Rect* box = std::get_if<Rect>(&area)) {
    return box->west <= box->east ? AreaKind::kBox : AreaKind::kSplitBox;
  }
  return std::holds_alternative<Circle>(area) ? AreaKind::kCircle : AreaKind::kPolygon;
}

TokenSpan as_tokens(const std::uint32_t* words, std::uint32_t count) {
  static_assert(sizeof(Token) == sizeof(std::uint32_t));
  return {reinterpret_cast<const Token*>(words), count};
}

}  // namespace

Rect bounds_of(const Area& area) {
  if (const Rect* box = std::get_if<Rect>(&area)) {
    return box->west <= box->east ? *box : Rect{-180, box->south, 180, box->north};
  }
  if (const Circle* circle = std::get_if<Circle>(&area)) return bounds(*circle);
  if (const PolygonArea* polygon = std::get_if<PolygonArea>(&area)) return bounds(polygon->view());
  return kWorld;
}

SubscriptionId SubscriptionStore::new_slot() {
  const Word slot = take_or_append(bounds_, free_slots_);
  if (records_.size() < bounds_.size()) {
    records_.resize(bounds_.size());
    short_.resize(bounds_.size() / 64 + 1);
  }
  return SubscriptionId{slot};
}

SubscriptionStore::Word SubscriptionStore::write_record(const Clause* clause, AreaKind kind,
                                                        Word shape,
                                                        std::span<const Word> extra_entries) {
  Word head = static_cast<Word>(kind) << kKindShift;
  if (clause != nullptr) {
    ensure(clause->positive.size() <= kMaxTokens && clause->negative.size() <= kMaxTokens,
           "a clause has more tokens than a record can count");
    head |= kHasClause | static_cast<Word>(clause->positive.size()) |
            static_cast<Word>(clause->negative.size()) << 13;
  }
  if (!extra_entries.empty()) head |= kHasExtras;
  const Word size = 1 + tokens(head) + (has_shape(head) ? 1 : 0) +
                    (extra_entries.empty() ? 0 : 1 + static_cast<Word>(extra_entries.size()));
  const Word position = words_.allocate(size);
  Word* out = words_.at(position);
  *out++ = head;
  if (clause != nullptr) {
    for (const Token token : clause->positive) *out++ = raw(token);
    for (const Token token : clause->negative) *out++ = raw(token);
  }
  if (has_shape(head)) *out++ = shape;
  if (!extra_entries.empty()) {
    *out++ = static_cast<Word>(extra_entries.size());
    std::copy(extra_entries.begin(), extra_entries.end(), out);
  }
  return position;
}

void SubscriptionStore::free_record(Word position) {
  const Word* words = words_.at(position);
  const auto further = extras(words);
  words_.free(position, 1 + tokens(words[0]) + (has_shape(words[0]) ? 1 : 0) +
                            (further.empty() ? 0 : 1 + static_cast<Word>(further.size())));
}

std::span<const SubscriptionStore::Word> SubscriptionStore::extras(const Word* record) const {
  if (!(record[0] & kHasExtras)) return {};
  const Word* count = record + 1 + tokens(record[0]) + (has_shape(record[0]) ? 1 : 0);
  return {count + 1, *count};
}

void SubscriptionStore::check_room(const Subscription& subscription) const {
  if (free_slots_.empty() && bounds_.size() >= kMaxSlots)
    too_large("subscriptions", std::to_string(live_), "at most 2^30");
  const std::size_t further = subscription.clauses.size();
  if (extras_.size() + further > kMaxSlots + free_extras_.size())
    too_large("clauses of all subscriptions", std::to_string(extras_.size() + further),
              "at most 2^30 beyond the first of each");
  std::size_t words = 8 + 2 * further, points = 2;  // and of the shape, capacities being rounded up
  for (const Clause& clause : subscription.clauses)
    words += 2 * (2 + clause.positive.size() + clause.negative.size());
  if (const auto* polygon = std::get_if<PolygonArea>(subscription.area)) {
    points = polygon->points.size();
    words += 2 * (polygon->ring_ends.size() + polygon->polygon_ends.size());
  }
  if (words > words_.room() || 2 * points > points_.room() || points > kMaxSlots)
    too_large("keywords and corners of all subscriptions", std::to_string(words + points),
              "fewer than 2^32 in all");
}

SubscriptionId SubscriptionStore::add(const Subscription& subscription) {
  check_room(subscription);
  const SubscriptionId id = new_slot();
  ++live_;
  const auto clauses = subscription.clauses;
  std::vector<Word> further;
  for (std::size_t i = 1; i < clauses.size(); ++i) further.push_back(add_extra(id, clauses[i]));
  write_first(id, clauses.empty() ? nullptr : &clauses[0], *subscription.area, further);
  return id;
}

/// Write what stands under the subscription's own number: area, first clause, list of the others.
void SubscriptionStore::write_first(SubscriptionId id, const Clause* clause, const Area& area,
                                    std::span<const Word> further) {
  const AreaKind area_kind = kind_of(area);
  bounds_[raw(id)] = bounds_of(area);
  if (area_kind == AreaKind::kBox && clause != nullptr && further.empty() &&
      clause->positive.size() == 1 && clause->negative.empty()) {
    records_[raw(id)] = raw(clause->positive[0]);
    set_short(raw(id), true);
    return;
  }
  const Word shape_number = area_kind > AreaKind::kBox ? add_shape(area) : 0;
  records_[raw(id)] = write_record(clause, area_kind, shape_number, further) + 1;
}

void SubscriptionStore::replace_area(SubscriptionId id, const Area& area) {
  if (kind_of(area) == area_kind(id) && bounds_are_exact(id)) {
    bounds_[raw(id)] = bounds_of(area);
    return;
  }
  // The record's length depends on the area's kind: copied out, freed, written anew.
  const bool has_clause = is_short(raw(id)) || (record(id)[0] & kHasClause) != 0;
  std::vector<Token> plus, minus;
  std::vector<Word> further;
  if (has_clause) {
    const Clause old = clause(EntryId{raw(id)});
    plus.assign(old.positive.begin(), old.positive.end());
    minus.assign(old.negative.begin(), old.negative.end());
  }
  if (is_short(raw(id))) {
    set_short(raw(id), false);
  } else {
    const Word* words = record(id);
    further.assign(extras(words).begin(), extras(words).end());
    if (has_shape(words[0])) remove_shape(words[1 + tokens(words[0])]);
    free_record(records_[raw(id)] - 1);
  }
  const Clause kept{plus, minus};
  write_first(id, has_clause ? &kept : nullptr, area, further);
}

SubscriptionStore::Word SubscriptionStore::add_extra(SubscriptionId owner, const Clause& clause) {
  const Word number = take_or_append(extras_, free_extras_);
  extras_[number] = {owner, write_record(&clause, AreaKind::kAnywhere, 0, {})};
  return number;
}

void SubscriptionStore::remove(SubscriptionId id) {
  if (is_short(raw(id))) {
    set_short(raw(id), false);
  } else {
    remove_record(id);
  }
  records_[raw(id)] = 0;
  bounds_[raw(id)] = kNowhere;
  free_slots_.push_back(raw(id));
  --live_;
}

void SubscriptionStore::remove_record(SubscriptionId id) {
  const Word* words = record(id);
  for (const Word extra : extras(words)) {
    free_record(extras_[extra].record);
    free_extras_.push_back(extra);
  }
  if (has_shape(words[0])) remove_shape(words[1 + tokens(words[0])]);
  free_record(records_[raw(id)] - 1);
}

SubscriptionStore::Word SubscriptionStore::add_shape(const Area& area) {
  std::vector<Point> points;
  std::vector<Word> ends;
  Shape made{};
  if (const Rect* box = std::get_if<Rect>(&area)) {
    points = {{box->west, box->south}, {box->east, box->north}};
  } else if (const Circle* circle = std::get_if<Circle>(&area)) {
    points = {circle->center, {circle->radius_m, 0}};
  } else {
    const auto& polygon = std::get<PolygonArea>(area);
    points = polygon.points;
    ends = polygon.ring_ends;
    ends.insert(ends.end(), polygon.polygon_ends.begin(), polygon.polygon_ends.end());
    made.rings = static_cast<Word>(polygon.ring_ends.size());
    made.polygons = static_cast<Word>(polygon.polygon_ends.size());
    made.ends = words_.allocate(static_cast<Word>(ends.size()));
    std::copy(ends.begin(), ends.end(), words_.at(made.ends));
  }
  made.point_count = static_cast<Word>(points.size());
  made.points = points_.allocate(made.point_count);
  std::copy(points.begin(), points.end(), points_.at(made.points));
  const Word number = take_or_append(shapes_, free_shapes_);
  shapes_[number] = made;
  return number;
}

void SubscriptionStore::remove_shape(Word number) {
  const Shape& gone = shapes_[number];
  points_.free(gone.points, gone.point_count);
  if (gone.rings != 0) words_.free(gone.ends, gone.rings + gone.polygons);
  free_shapes_.push_back(number);
}

const SubscriptionStore::Word* SubscriptionStore::record(EntryId entry) const {
  if (is_extra(entry)) return words_.at(extras_[raw(entry) & ~kExtraBit].record);
  return record(SubscriptionId{raw(entry)});
}

const SubscriptionStore::Shape& SubscriptionStore::shape(SubscriptionId id) const {
  const Word* words = record(id);
  return shapes_[words[1 + tokens(words[0])]];
}

AreaKind SubscriptionStore::area_kind(SubscriptionId id) const {
  return is_short(raw(id)) ? AreaKind::kBox : kind(record(id)[0]);
}

Rect SubscriptionStore::split_box(SubscriptionId id) const {
  const Point* corners = points_.at(shape(id).points);
  return {corners[0].lon, corners[0].lat, corners[1].lon, corners[1].lat};
}

Circle SubscriptionStore::circle(SubscriptionId id) const {
  const Point* points = points_.at(shape(id).points);
  return {points[0], points[1].lon};
}

PolygonView SubscriptionStore::polygon(SubscriptionId id) const {
  const Shape& made = shape(id);
  const Word* ends = words_.at(made.ends);
  return {{points_.at(made.points), made.point_count},
          {ends, made.rings},
          {ends + made.rings, made.polygons}};
}

Area SubscriptionStore::area(SubscriptionId id) const {
  switch (area_kind(id)) {
    case AreaKind::kAnywhere:
      return Anywhere{};
    case AreaKind::kBox:
      return bounds(id);
    case AreaKind::kSplitBox:
      return split_box(id);
    case AreaKind::kCircle:
      return circle(id);
    case AreaKind::kPolygon:
      break;
  }
  const PolygonView view = polygon(id);
  return PolygonArea{{view.points.begin(), view.points.end()},
                     {view.ring_ends.begin(), view.ring_ends.end()},
                     {view.polygon_ends.begin(), view.polygon_ends.end()}};
}

SubscriptionId SubscriptionStore::owner(EntryId entry) const {
  return is_extra(entry) ? extras_[raw(entry) & ~kExtraBit].owner : SubscriptionId{raw(entry)};
}

Clause SubscriptionStore::clause(EntryId entry) const {
  if (!is_extra(entry) && is_short(raw(entry))) return {as_tokens(&records_[raw(entry)], 1), {}};
  const Word* words = record(entry);
  const Word plus = positives(words[0]), minus = negatives(words[0]);
  return {as_tokens(words + 1, plus), as_tokens(words + 1 + plus, minus)};
}

std::size_t SubscriptionStore::memory_bytes() const {
  return bounds_.memory_bytes() + records_.memory_bytes() + short_.memory_bytes() +
         free_slots_.memory_bytes() + words_.memory_bytes() + extras_.memory_bytes() +
         free_extras_.memory_bytes() + shapes_.memory_bytes() + free_shapes_.memory_bytes() +
         points_.memory_bytes();
}

void SubscriptionStore::save(ArchiveWriter& out) const {
  out.value(static_cast<std::uint64_t>(live_));
  bounds_.save(out);
  records_.save(out);
  short_.save(out);
  free_slots_.save(out);
  words_.save(out);
  extras_.save(out);
  free_extras_.save(out);
  shapes_.save(out);
  free_shapes_.save(out);
  points_.save(out);
}

void SubscriptionStore::load(ArchiveReader& in) {
  live_ = in.value<std::uint64_t>();
  bounds_.load(in);
  records_.load(in);
  short_.load(in);
  free_slots_.load(in);
  words_.load(in);
  extras_.load(in);
  free_extras_.load(in);
  shapes_.load(in);
  free_shapes_.load(in);
  points_.load(in);
}

}  // namespace nearcast

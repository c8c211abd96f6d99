#include "nearcast/model/semantics.h"

namespace nearcast {
namespace {

/// Does any part of the place pass the test for one box?
template <typename Test>
bool any_part(const Place& place, Test&& test) {
  return test(place.part[0]) || (place.parts == 2 && test(place.part[1]));
}

/// west > east: the box crosses the antimeridian.
bool box_touches(const Rect& box, const Place& place) {
  const Place area = Place::box(box);
  return any_part(place, [&](const Rect& part) { return touches(part, area); });
}

template <typename Shape>
bool shape_touches(const Shape& shape, const Place& place) {
  return any_part(place, [&](const Rect& part) { return touches(shape, part); });
}

}  // namespace

bool area_touches(const SubscriptionStore& store, SubscriptionId id, const Place& place) {
  if (!touches(store.bounds(id), place)) return false;
  switch (store.area_kind(id)) {
    case AreaKind::kAnywhere:
    case AreaKind::kBox:
      return true;
    case AreaKind::kSplitBox:
      return box_touches(store.split_box(id), place);
    case AreaKind::kCircle:
      return shape_touches(store.circle(id), place);
    case AreaKind::kPolygon:
      return shape_touches(store.polygon(id), place);
  }
  return false;
}

bool area_touches(const Area& area, const Place& place) {
  if (const Rect* box = std::get_if<Rect>(&area)) return box_touches(*box, place);
  if (const Circle* circle = std::get_if<Circle>(&area)) return shape_touches(*circle, place);
  if (const PolygonArea* polygon = std::get_if<PolygonArea>(&area)) {
    return shape_touches(polygon->view(), place);
  }
  return true;
}

bool holds(const SubscriptionStore& store, SubscriptionId id, TokenSpan tokens) {
  bool found = false;
  store.for_each_entry(id,
                       [&](EntryId entry) { found = found || holds(store.clause(entry), tokens); });
  return found;
}

bool matches(const SubscriptionStore& store, SubscriptionId id, const Message& message) {
  return holds(store, id, message.tokens) && area_touches(store, id, message.place);
}

}  // namespace nearcast

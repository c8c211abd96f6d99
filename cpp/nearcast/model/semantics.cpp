#include "nearcast/model/semantics.h"

#include <algorithm>

namespace nearcast {
namespace {

/// west > east: the box crosses the antimeridian.
bool part_touches(const Rect& box, const Place& place) {
  const Place area = Place::box(box);
  return any_part(place, [&](const Rect& part) { return touches(part, area); });
}

bool part_touches(const Circle& circle, const Place& place) {
  return any_part(place, [&](const Rect& part) { return touches(circle, part); });
}

bool part_touches(const PolygonArea& polygon, const Place& place) {
  const PolygonView view = polygon.view();
  return any_part(place, [&](const Rect& part) { return touches(view, part); });
}

bool part_touches(const Areas& areas, const Place& place) {
  return std::any_of(areas.parts.begin(), areas.parts.end(), [&](const AreaPart& part) {
    return std::visit([&](const auto& shape) { return part_touches(shape, place); }, part);
  });
}

bool part_touches(const Anywhere&, const Place&) { return true; }

}  // namespace

bool area_touches(const SubscriptionStore& store, SubscriptionId id, const Place& place,
                  ShapeMemo* memo) {
  return touches(store.bounds(id), place) && shape_touches(store, id, place, memo);
}

bool area_touches(const Area& area, const Place& place) {
  return std::visit([&](const auto& shape) { return part_touches(shape, place); }, area);
}

bool area_touches(const AreaPart& part, const Place& place) {
  return std::visit([&](const auto& shape) { return part_touches(shape, place); }, part);
}

bool holds(const SubscriptionStore& store, SubscriptionId id, TokenSpan tokens) {
  bool found = false;
  store.for_each_entry(id,
                       [&](EntryId entry) { found = found || holds(store.clause(entry), tokens); });
  return found;
}

bool matches(const SubscriptionStore& store, SubscriptionId id, const Message& message,
             ShapeMemo* memo) {
  return holds(store, id, message.tokens) && area_touches(store, id, message.place, memo);
}

}  // namespace nearcast

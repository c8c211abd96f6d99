#include "nearcast/model/semantics.h"

namespace nearcast {
namespace {

/// Does any part of the place pass the test for one box?
template <typename Test>
bool any_part(const Place& place, Test&& test) {
  return test(place.part[0]) || (place.parts == 2 && test(place.part[1]));
}

}  // namespace

bool area_touches(const SubscriptionStore& store, SubscriptionId id, const Place& place) {
  if (!touches(store.bounds(id), place)) return false;
  switch (store.area_kind(id)) {
    case AreaKind::kAnywhere:
    case AreaKind::kBox:
      return true;
    case AreaKind::kSplitBox: {
      const Place area = Place::box(store.split_box(id));
      return any_part(place, [&](const Rect& part) { return touches(part, area); });
    }
    case AreaKind::kCircle: {
      const Circle circle = store.circle(id);
      return any_part(place, [&](const Rect& part) { return touches(circle, part); });
    }
    case AreaKind::kPolygon: {
      const PolygonView polygon = store.polygon(id);
      return any_part(place, [&](const Rect& part) { return touches(polygon, part); });
    }
  }
  return false;
}

bool matches(const SubscriptionStore& store, SubscriptionId id, const Message& message) {
  bool found = false;
  store.for_each_entry(
      id, [&](EntryId entry) { found = found || holds(store.clause(entry), message.tokens); });
  return found && area_touches(store, id, message.place);
}

}  // namespace nearcast

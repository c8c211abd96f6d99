/// Promises to subscribers that move: made when one tells where it is, shortened when a message
/// comes that would break them. A message that goes breaks none.
#include <algorithm>

#include "nearcast/base/errors.h"
#include "nearcast/engine/hub.h"
#include "nearcast/model/margin.h"

namespace nearcast {
namespace {

constexpr double kFirstExtents = 4;  ///< an area's first reach, in its own half sizes
constexpr double kMostExtents = 32;  ///< how much farther than its own size an area's reach may be

/// A reach that was not used up grows, one that was far too long shrinks: impact regions cost time
/// for every message that comes into them.
double next_reach(const SafeRegions::Region& region, double extent) {
  double reach = region.reach;
  if (region.promised >= reach) {
    reach *= 2;
  } else if (region.promised < reach / 4) {
    reach /= 2;
  }
  return std::clamp(reach, extent / kMostExtents, extent * kMostExtents);
}

}  // namespace

void Hub::promise(const Event& event, SubscriptionId id, Step& step) {
  if (!is_safe_ || std::holds_alternative<Anywhere>(*event.area)) return;
  if (safe_.has(id)) {
    SafeRegions::Region& region = safe_[id];
    region.reach = next_reach(region, extent(*event.area));
    engine_.move(region.impact, expanded(*event.area, region.reach), moved_);
  } else {
    const double reach = kFirstExtents * extent(*event.area);
    const std::string name = SafeRegions::impact_id(event.id);
    const SubscriptionId impact =
        engine_.subscribe(ExternalId(name), engine_.clauses(id), expanded(*event.area, reach));
    safe_.add(id, {impact, reach, reach});
  }
  safe_[id].promised = least_margin(id, *event.area);
  tell(event.id, safe_[id].promised, step);
}

double Hub::least_margin(SubscriptionId id, const Area& area) const {
  const SafeRegions::Region& region = safe_[id];
  std::vector<MessageId> near;
  engine_.find(region.impact, near);
  double least = region.reach;
  for (const MessageId message : near)
    least = std::min(least, margin(area, messages_.store().message(message).place));
  return least;
}

void Hub::shorten(SubscriptionId impact, const Place& place, Step& step) {
  const SubscriptionId id = safe_.owner(impact);
  const double found = margin(engine_.area(id), place);
  if (found >= safe_[id].promised) return;
  safe_[id].promised = found;
  tell(engine_.word(id), found, step);
}

void Hub::tell(std::string_view subscription, double distance, Step& step) {
  step.out.promises.event.push_back(step.row);
  step.out.promises.subscription.push_back(subscription);
  step.out.promises.distance.push_back(distance);
}

void Hub::end_promise(SubscriptionId id) {
  if (!safe_.has(id)) return;
  const std::string name = SafeRegions::impact_id(engine_.word(id));
  safe_.remove(id);
  engine_.unsubscribe(ExternalId(name));
}

std::optional<double> Hub::safe_distance(std::string_view subscription) const {
  if (require(subscription) != Mode::kMatch) return std::nullopt;
  const SubscriptionId id = engine_.slot_of(ExternalId(subscription));
  return safe_.has(id) ? std::optional(safe_[id].promised) : std::nullopt;
}

void Hub::check_promises() const {
  safe_.for_each([&](SubscriptionId id, const SafeRegions::Region& region) {
    ensure(match_holders_.has(id) && safe_.owner(region.impact) == id,
           "hub: an impact region is another's");
    ensure(region.promised <= least_margin(id, engine_.area(id)),
           "hub: a promise is longer than what is true");
  });
}

}  // namespace nearcast

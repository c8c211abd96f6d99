/// Promises to subscribers that move: made when one tells where it is, shortened when a message
/// comes that would break them. A message that goes breaks none.
#include <algorithm>

#include "nearcast/base/errors.h"
#include "nearcast/model/margin.h"
#include "nearcast/modes/match_mode.h"

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

void MatchMode::promise(const Event& event, SubscriptionId id, Step& step) {
  if (!is_safe_ || std::holds_alternative<Anywhere>(*event.area)) return;
  if (safe_.has(id)) {
    SafeRegions::Region& region = safe_[id];
    region.reach = next_reach(region, extent(*event.area));
    set_.move(region.impact, expanded(*event.area, region.reach), moved_);
  } else {
    const double reach = kFirstExtents * extent(*event.area);
    const SubscriptionId impact = set_.add_like(id, expanded(*event.area, reach));
    safe_.add(id, {impact, reach, reach});
  }
  safe_[id].promised = least_margin(id, *event.area);
  tell(event.id, safe_[id].promised, step);
}

double MatchMode::least_margin(SubscriptionId id, const Area& area) const {
  const SafeRegions::Region& region = safe_[id];
  std::vector<MessageId> near;
  set_.find(region.impact, near);
  double least = region.reach;
  for (const MessageId message : near)
    least = std::min(least, margin(area, messages().store().message(message).place));
  return least;
}

void MatchMode::shorten(SubscriptionId impact, const Place& place, Step& step) {
  const SubscriptionId id = safe_.owner(impact);
  const double found = margin(set_.area(id), place);
  if (found >= safe_[id].promised) return;
  safe_[id].promised = found;
  tell(name(id), found, step);
}

void MatchMode::tell(std::string_view subscription, double distance, Step& step) {
  step.out.promises.event.push_back(step.row);
  step.out.promises.subscription.push_back(subscription);
  step.out.promises.distance.push_back(distance);
}

void MatchMode::end_promise(SubscriptionId id) {
  if (!safe_.has(id)) return;
  const SubscriptionId impact = safe_[id].impact;
  safe_.remove(id);
  set_.remove(impact);
}

std::optional<double> MatchMode::safe_distance(SubscriptionId id) const {
  return safe_.has(id) ? std::optional(safe_[id].promised) : std::nullopt;
}

void MatchMode::check_promises() const {
  safe_.for_each([&](SubscriptionId id, const SafeRegions::Region& region) {
    ensure(holders_.has(id) && safe_.owner(region.impact) == id,
           "safe region: an impact region is another's");
    ensure(region.promised <= least_margin(id, set_.area(id)),
           "safe region: a promise is longer than what is true");
  });
}

}  // namespace nearcast

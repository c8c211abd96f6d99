/// May this event happen? Asked before anything changes.
#include "nearcast/base/errors.h"
#include "nearcast/base/number_text.h"
#include "nearcast/engine/hub.h"

namespace nearcast {
namespace {

std::string named(const char* noun, std::string_view id) {
  return noun + (" " + quoted(ExternalId(id)));
}

}  // namespace

bool Hub::is_subscribed(std::string_view id, double now) const {
  if (!mode_of(id)) return false;
  const auto expires = subscription_expires_.find(id);
  return expires == subscription_expires_.end() || expires->second > now;
}

void Hub::check(const Event& event, double now) const {
  switch (event.op) {
    case Op::kSubscribe:
      check_subscribe(event, now);
      return;
    case Op::kPublish:
      check_publish(event, now);
      return;
    case Op::kMove:
    case Op::kUnsubscribe:
      if (!is_subscribed(event.id, now)) {
        throw Error(ErrorKind::kUnknownId, named("subscription", event.id),
                    "an id that is not subscribed", "an id in use");
      }
      if (event.op == Op::kMove) check_move(event);
      return;
    case Op::kRetract:
      return;
  }
}

void Hub::check_move(const Event& event) const {
  const std::string who = named("subscription", event.id) + ": move";
  const Mode mode = *mode_of(event.id);
  if (mode == Mode::kTop && !event.at) {
    throw Error(ErrorKind::kInvalidSubscription, who, "area", "at",
                "a top subscription is at a point");
  }
  if (mode != Mode::kTop && !event.area) {
    throw Error(ErrorKind::kInvalidSubscription, who, "at", "area",
                "only a top subscription is at a point");
  }
  if (mode == Mode::kRank && !std::holds_alternative<Rect>(*event.area)) {
    throw Error(ErrorKind::kInvalidSubscription, who, "an area that is not a box",
                "[west, south, east, north]", "a rank subscription has a box");
  }
}

void Hub::check_subscribe(const Event& event, double now) const {
  if (is_safe_ && SafeRegions::is_reserved(event.id)) {
    throw Error(ErrorKind::kInvalidSubscription, named("subscription", event.id),
                "an id that the hub keeps for itself", "one that begins otherwise");
  }
  if (is_subscribed(event.id, now)) {
    throw Error(ErrorKind::kDuplicateId, named("subscription", event.id), "an id that is in use",
                "a new id", "unsubscribe the old one first");
  }
  if (event.expires && *event.expires <= now) {
    throw Error(ErrorKind::kInvalidSubscription,
                named("subscription", event.id) + ": expires is in the past",
                number_text(*event.expires),
                "a time after the clock, which is at " + number_text(now));
  }
}

void Hub::check_publish(const Event& event, double now) const {
  const auto known = messages_.find(event.id);
  if (!known || messages_.expires(*known) <= now) return;
  throw Error(ErrorKind::kDuplicateId, named("message", event.id), "the id of a live message",
              "a new id", "retract the old one first");
}

}  // namespace nearcast

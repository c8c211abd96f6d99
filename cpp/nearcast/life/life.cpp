#include "nearcast/life/life.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "nearcast/base/claims.h"
#include "nearcast/base/errors.h"
#include "nearcast/base/number_text.h"

namespace nearcast {
namespace {

/// More slots of one mode than this, and their numbers in the table of ids would not fit.
constexpr std::uint32_t kMaxSlots = 0xFFFFFFF0u / kModes;

std::string named(const char* noun, std::string_view id) {
  return noun + (" " + quoted(ExternalId(id)));
}

}  // namespace

const char* name_of(ModeId mode) {
  constexpr const char* kNames[] = {"match", "rank", "top"};
  return kNames[static_cast<int>(mode)];
}

double Life::moment_of(const Event& event) const {
  return std::max(clock_, event.time.value_or(clock_));
}

// ---- may it happen?
// ------------------------------------------------------------------------------

void Life::check(const Event& event, double now) const {
  switch (event.op) {
    case Op::kSubscribe:
      check_subscribe(event, now);
      return;
    case Op::kPublish:
      check_publish(event, now);
      return;
    case Op::kMove:
    case Op::kUnsubscribe: {
      const auto known = find_at(event.id, now);
      if (!known) {
        throw Error(ErrorKind::kUnknownId, named("subscription", event.id),
                    "an id that is not subscribed", "an id in use");
      }
      if (event.op == Op::kMove) check_move(event, known->mode);
      return;
    }
    case Op::kRetract:
    case Op::kAdvance:
      return;
  }
}

void Life::check_subscribe(const Event& event, double now) const {
  if (!event.replaces && find_at(event.id, now)) {
    throw Error(ErrorKind::kDuplicateId, named("subscription", event.id), "an id that is in use",
                "a new id", "replace it, or unsubscribe the old one first");
  }
  if (event.expires && *event.expires <= now) {
    throw Error(ErrorKind::kInvalidSubscription,
                named("subscription", event.id) + ": expires is in the past",
                number_text(*event.expires),
                "a time after the clock, which is at " + number_text(now));
  }
  ids_.check_room(event.id);
  if (ids_.size() >= kMaxSlots) {
    too_large("subscriptions", std::to_string(ids_.size()), "at most " + std::to_string(kMaxSlots));
  }
}

void Life::check_publish(const Event& event, double now) const {
  const auto known = event.replaces ? std::nullopt : messages_.find(event.id);
  if (known && messages_.expires(*known) > now) {
    throw Error(ErrorKind::kDuplicateId, named("message", event.id), "the id of a live message",
                "a new id", "replace it, or retract the old one first");
  }
  messages_.check_room(event.id);
}

void Life::check_move(const Event& event, ModeId mode) {
  const std::string who = named("subscription", event.id) + ": move";
  if (mode == ModeId::kTop && !event.at) {
    throw Error(ErrorKind::kInvalidSubscription, who, "area", "at",
                "a top subscription is at a point");
  }
  if (mode != ModeId::kTop && !event.area) {
    throw Error(ErrorKind::kInvalidSubscription, who, "at", "area",
                "only a top subscription is at a point");
  }
  if (mode == ModeId::kRank && !std::holds_alternative<Rect>(*event.area)) {
    throw Error(ErrorKind::kInvalidSubscription, who, "an area that is not a box",
                "[west, south, east, north]", "a rank subscription has a box");
  }
}

// ---- what goes
// -----------------------------------------------------------------------------------

Life::Due Life::next_due(double now) const {
  const auto message = messages_.next_to_expire();
  const double message_end = message ? messages_.expires(*message) : kNever;
  double first = kNever;
  Subscriber subscriber{};
  for (int mode = 0; mode < kModes; ++mode) {
    const SlotHeap& waiting = expiries_[mode];
    if (waiting.empty() || waiting.first().key >= first) continue;
    first = waiting.first().key;
    subscriber = {static_cast<ModeId>(mode), SubscriptionId{waiting.first().slot}};
  }
  if (std::min(message_end, first) > now) return {};
  return message_end <= first ? Due(*message) : Due(subscriber);
}

double Life::end_of(const Event& event, double now) const {
  if (!window_.is_set() && !event.expires) return now;
  double end = event.expires.value_or(kNever);
  if (window_.seconds) end = std::min(end, event.time.value_or(now) + *window_.seconds);
  return end;
}

std::optional<MessageId> Life::surplus() const {
  if (!window_.count || messages_.size() <= *window_.count) return std::nullopt;
  return messages_.oldest();
}

// ---- subscriptions
// -------------------------------------------------------------------------------

std::optional<Subscriber> Life::find(std::string_view id) const {
  const std::uint32_t found = ids_.find(ExternalId(id));
  if (found == Ids::kNone) return std::nullopt;
  return Subscriber{static_cast<ModeId>(Ids::group_of(found)), SubscriptionId{Ids::slot_of(found)}};
}

Subscriber Life::require(std::string_view id) const {
  const std::uint32_t found = ids_.require(ExternalId(id));
  return {static_cast<ModeId>(Ids::group_of(found)), SubscriptionId{Ids::slot_of(found)}};
}

std::optional<Subscriber> Life::find_at(std::string_view id, double now) const {
  const auto known = find(id);
  if (!known) return std::nullopt;
  const SlotHeap& waiting = expiries(known->mode);
  const bool is_gone = waiting.has(raw(known->slot)) && waiting.key(raw(known->slot)) <= now;
  return is_gone ? std::nullopt : known;
}

void Life::begin(std::string_view id, Subscriber at, std::optional<double> expires) {
  ids_.bind(ExternalId(id), number(at.mode, at.slot));
  if (expires) expiries(at.mode).push({*expires, 0, raw(at.slot)});
}

void Life::end(Subscriber at) {
  if (expiries(at.mode).has(raw(at.slot))) expiries(at.mode).erase(raw(at.slot));
  ids_.release(number(at.mode, at.slot));
}

// ---- the whole
// -----------------------------------------------------------------------------------

std::size_t Life::expiry_bytes() const {
  std::size_t bytes = 0;
  for (const SlotHeap& waiting : expiries_) bytes += waiting.memory_bytes();
  return bytes;
}

void Life::save(ArchiveWriter& out) const {
  out.value(clock_);
  ids_.save(out);
  for (const SlotHeap& waiting : expiries_) {
    Array<double> ends;
    Array<std::uint32_t> slots;
    for (const SlotHeap::Item& item : waiting.items()) {
      ends.push_back(item.key);
      slots.push_back(item.slot);
    }
    ends.save(out);
    slots.save(out);
  }
  messages_.save(out);
}

void Life::load(ArchiveReader& in, const Claims& known_tokens) {
  clock_ = in.value<double>();
  expect(std::isfinite(clock_), "the clock");
  ids_.load(in);
  for (std::uint32_t mode = 0; mode < kModes; ++mode) {
    SlotHeap& waiting = expiries_[mode];
    Array<double> ends;
    Array<std::uint32_t> slots;
    ends.load(in);
    slots.load(in);
    expect(ends.size() == slots.size(), kExpiry);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      expect(std::isfinite(ends[i]) && slots[i] < ids_.slots(mode) && !waiting.has(slots[i]),
             kExpiry);
      waiting.push({ends[i], 0, slots[i]});
    }
  }
  messages_.load(in, known_tokens);
}

}  // namespace nearcast

#include "nearcast/engine/hub.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {
namespace {

std::string number_text(double number) {
  std::string text = std::to_string(number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string named(const char* noun, std::string_view id) {
  return noun + (" " + quoted(ExternalId(id)));
}

}  // namespace

Hub::Hub(std::string index, Engine::GivenParameters parameters, Window window)
    : engine_(std::move(index), std::move(parameters)), window_(window) {}

double Hub::clock() const {
  const std::lock_guard lock(mutex_);
  return clock_;
}

std::size_t Hub::live_messages() const {
  const std::lock_guard lock(mutex_);
  return messages_.size();
}

bool Hub::is_live(std::string_view message) const {
  const std::lock_guard lock(mutex_);
  return messages_.contains(message);
}

ChangeColumns Hub::apply(std::span<const Event> events, bool stops_at_error) {
  const std::lock_guard lock(mutex_);
  ChangeColumns out;
  for (std::size_t row = 0; row < events.size(); ++row) {
    const double now = moment_of(events[row]);
    try {
      check(events[row], now);
    } catch (const Error& error) {
      out.rejected.emplace_back(static_cast<std::int64_t>(row), error);
      if (stops_at_error) break;
      continue;
    }
    expire_until(now);
    clock_ = now;
    carry_out(events[row], now, static_cast<std::int64_t>(row), out);
  }
  return out;
}

double Hub::moment_of(const Event& event) const {
  return std::max(clock_, event.time.value_or(clock_));
}

bool Hub::is_subscribed(std::string_view id, double now) const {
  if (!engine_.has(ExternalId(id))) return false;
  const auto expires = subscription_expires_.find(id);
  return expires == subscription_expires_.end() || expires->second > now;
}

void Hub::check(const Event& event, double now) const {
  switch (event.op) {
    case Op::kSubscribe:
      if (is_subscribed(event.id, now)) {
        throw Error(ErrorKind::kDuplicateId, named("subscription", event.id),
                    "an id that is in use", "a new id", "unsubscribe the old one first");
      }
      if (event.expires && *event.expires <= now) {
        throw Error(ErrorKind::kInvalidSubscription,
                    named("subscription", event.id) + ": expires is in the past",
                    number_text(*event.expires),
                    "a time after the clock, which is at " + number_text(now));
      }
      return;
    case Op::kPublish: {
      const auto known = messages_.find(event.id);
      if (known != messages_.end() && known->second.expires > now) {
        throw Error(ErrorKind::kDuplicateId, named("message", event.id), "the id of a live message",
                    "a new id", "retract the old one first");
      }
      return;
    }
    case Op::kMove:
    case Op::kUnsubscribe:
      if (!is_subscribed(event.id, now)) {
        throw Error(ErrorKind::kUnknownId, named("subscription", event.id),
                    "an id that is not subscribed", "an id in use");
      }
      return;
    case Op::kRetract:
      return;
  }
}

void Hub::carry_out(const Event& event, double now, std::int64_t row, ChangeColumns& out) {
  switch (event.op) {
    case Op::kSubscribe:
      engine_.subscribe(ExternalId(event.id), event.clauses, event.area);
      if (event.expires) {
        subscription_expires_.emplace(event.id, *event.expires);
        subscription_expiries_.emplace(*event.expires, event.id);
      }
      return;
    case Op::kPublish:
      publish(event, now, row, out);
      return;
    case Op::kMove:
      engine_.replace_area(ExternalId(event.id), event.area);
      return;
    case Op::kRetract:
      drop_message(event.id);
      return;
    case Op::kUnsubscribe:
      forget_expiry(event.id);
      engine_.unsubscribe(ExternalId(event.id));
      return;
  }
}

void Hub::publish(const Event& event, double now, std::int64_t row, ChangeColumns& out) {
  const MatchColumns found = engine_.match_one(event.words, event.place);
  for (std::size_t i = 0; i + 1 < found.word_offsets.size(); ++i) {
    const auto begin = static_cast<std::size_t>(found.word_offsets[i]);
    const auto end = static_cast<std::size_t>(found.word_offsets[i + 1]);
    out.event.push_back(row);
    out.subscription.push_back(std::string_view(found.word_bytes).substr(begin, end - begin));
    out.message.push_back(event.id);
    out.kind.push_back(static_cast<std::uint8_t>(ChangeKind::kAdded));
    out.reason.push_back(static_cast<std::uint8_t>(Reason::kPublished));
  }
  keep(event, now);
}

/// A message lives until its own expiry or the window's, counted from its own time, whichever is
/// first.
void Hub::keep(const Event& event, double now) {
  if (!window_.is_set() && !event.expires) return;
  double expires = event.expires.value_or(kNever);
  if (window_.seconds) expires = std::min(expires, event.time.value_or(now) + *window_.seconds);
  if (expires <= now) return;
  const std::uint64_t number = published_++;
  messages_.emplace(event.id, LiveMessage{expires, number});
  by_age_.emplace(number, event.id);
  if (expires != kNever) message_expiries_.emplace(expires, number);
  while (window_.count && messages_.size() > *window_.count)
    drop_message(std::string(by_age_.begin()->second));
}

void Hub::drop_message(std::string_view id) {
  const auto known = messages_.find(id);
  if (known == messages_.end()) return;
  message_expiries_.erase({known->second.expires, known->second.number});
  by_age_.erase(known->second.number);
  messages_.erase(known);
}

void Hub::forget_expiry(std::string_view subscription) {
  const auto known = subscription_expires_.find(subscription);
  if (known == subscription_expires_.end()) return;
  subscription_expiries_.erase({known->second, std::string(subscription)});
  subscription_expires_.erase(known);
}

void Hub::expire_until(double now) {
  while (!message_expiries_.empty() && message_expiries_.begin()->first <= now) {
    drop_message(std::string(by_age_.at(message_expiries_.begin()->second)));
  }
  while (!subscription_expiries_.empty() && subscription_expiries_.begin()->first <= now) {
    const std::string id = subscription_expiries_.begin()->second;
    forget_expiry(id);
    engine_.unsubscribe(ExternalId(id));
  }
}

}  // namespace nearcast

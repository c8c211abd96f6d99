#include "nearcast/engine/hub.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {

Hub::Hub(std::string index, Engine::GivenParameters parameters, Window window, TopSettings top,
         bool is_safe)
    : engine_(index, parameters),
      rank_(index, parameters, engine_.vocabulary()),
      window_(window),
      rank_sets_(rank_, messages_.store()),
      top_(messages_.store(), std::move(top)),
      is_safe_(is_safe) {}

void Hub::check_invariants() const {
  engine_.check_invariants(uses_beside_matching());
  rank_.check_invariants();
  rank_sets_.check_invariants();
  top_.check_invariants();
  check_promises();
  ensure(messages_.store().size() == messages_.size(), "hub: a dropped message is still there");
}

/// Of words, by token: by rank and top subscriptions, the epoch in force and live messages.
std::vector<std::uint32_t> Hub::uses_beside_matching() const {
  std::vector<std::uint32_t> uses;
  rank_.count_uses(uses);
  const auto count = [&](TokenSpan tokens) {
    for (const Token token : tokens) ++uses[raw(token)];
  };
  const MessageStore& live = messages_.store();
  live.for_each_by_age([&](MessageId id) { count(live.tokens(id)); });
  top_.for_each([&](SubscriptionId id) { count(top_.tokens(id)); });
  return uses;
}

/// What was dropped during an event is read until its end; then its words are given back too.
void Hub::forget_dropped() {
  for (const MessageId id : messages_.dropped()) {
    engine_.release_words(messages_.store().tokens(id));
  }
  messages_.forget_dropped();
}

bool Hub::apply(const Event& event, std::int64_t row, ChangeColumns& out) {
  Step step{row, moment_of(event), out};
  try {
    check(event, step.now);
  } catch (const Error& error) {
    out.rejected.emplace_back(row, error);
    return false;
  }
  top_.begin();
  expire_until(step);
  clock_ = step.now;
  carry_out(event, step);
  report_top(step);
  forget_dropped();
  catch_up();
  return true;
}

void Hub::catch_up() {
  engine_.catch_up(slice_);
  rank_sets_.catch_up(slice_);
  top_.catch_up(slice_);
}

void Hub::trim() {
  scratch_.reading.trim();
  nearcast::trim(tokens_);
  nearcast::trim(counts_);
}

double Hub::moment_of(const Event& event) const {
  return std::max(clock_, event.time.value_or(clock_));
}

void Hub::carry_out(const Event& event, Step& step) {
  switch (event.op) {
    case Op::kSubscribe:
      subscribe(event, step);
      return;
    case Op::kPublish:
      publish(event, step);
      return;
    case Op::kMove:
      move(event, step);
      return;
    case Op::kRetract:
      if (const auto message = messages_.find(event.id)) leave(*message, Reason::kRetracted, step);
      return;
    case Op::kUnsubscribe:
      forget_expiry(event.id);
      unsubscribe(event.id);
      return;
  }
}

/// Let go what is due, in order of expiry. At the same moment messages go first: a subscription
/// expires like an unsubscribe at that time, before which everything due has gone.
void Hub::expire_until(Step& step) {
  while (true) {
    const auto message = messages_.next_to_expire();
    const double message_end = message ? messages_.expires(*message) : kNever;
    const double subscription_end =
        subscription_expiries_.empty() ? kNever : subscription_expiries_.begin()->first;
    if (std::min(message_end, subscription_end) > step.now) return;
    if (message_end <= subscription_end) {
      leave(*message, Reason::kExpired, step);
    } else {
      const std::string id = subscription_expiries_.begin()->second;
      forget_expiry(id);
      unsubscribe(id);
    }
  }
}

void Hub::forget_expiry(std::string_view subscription) {
  const auto known = subscription_expires_.find(subscription);
  if (known == subscription_expires_.end()) return;
  subscription_expiries_.erase({known->second, std::string(subscription)});
  subscription_expires_.erase(known);
}

void Hub::unsubscribe(std::string_view id) {
  const ExternalId known(id);
  if (engine_.has(known)) {
    end_promise(engine_.slot_of(known));
    match_holders_.set(engine_.slot_of(known), false);
    engine_.unsubscribe(known);
  } else if (rank_.has(known)) {
    const SubscriptionId slot = rank_.slot_of(known);
    const TokenSpan wanted = rank_.store().tokens(slot);
    tokens_.assign(wanted.begin(), wanted.end());
    rank_holders_.set(slot, false);
    rank_.unsubscribe(known);
    engine_.release_words(tokens_);
  } else {
    const TokenSpan wanted = top_.tokens(top_.slot_of(id));
    tokens_.assign(wanted.begin(), wanted.end());
    top_.unsubscribe(id);
    engine_.release_words(tokens_);
  }
}

/// When a message goes: at its own expiry or the window's, counted from its own time, whichever is
/// first. Not after `now`: it is not kept.
double Hub::end_of(const Event& event, double now) const {
  if (!window_.is_set() && !event.expires) return now;
  double end = event.expires.value_or(kNever);
  if (window_.seconds) end = std::min(end, event.time.value_or(now) + *window_.seconds);
  return end;
}

}  // namespace nearcast

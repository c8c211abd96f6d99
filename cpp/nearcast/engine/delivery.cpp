/// What one event changes, for whom.
#include <limits>

#include "nearcast/engine/hub.h"

namespace nearcast {
namespace {

constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void Hub::report(std::string_view subscription, std::string_view message, ChangeKind kind,
                 Reason reason, Step& step, double score) {
  step.out.event.push_back(step.row);
  step.out.subscription.push_back(subscription);
  step.out.message.push_back(message);
  step.out.kind.push_back(static_cast<std::uint8_t>(kind));
  step.out.reason.push_back(static_cast<std::uint8_t>(reason));
  step.out.score.push_back(score);
}

void Hub::subscribe(const Event& event, Step& step) {
  if (event.expires) {
    subscription_expires_.emplace(event.id, *event.expires);
    subscription_expiries_.emplace(*event.expires, event.id);
  }
  if (event.mode == Mode::kRank) {
    subscribe_rank(event, step);
    return;
  }
  if (event.mode == Mode::kTop) {
    subscribe_top(event);
    return;
  }
  const SubscriptionId id = engine_.subscribe(ExternalId(event.id), event.clauses, *event.area);
  if (!event.is_live) return;
  // The first live subscription makes the index keep messages.
  if (!engine_.is_holding()) engine_.hold(messages_.store());
  match_holders_.set(id, true);
  found_.clear();
  engine_.find(id, found_);
  for (const MessageId message : found_) {
    report(event.id, messages_.word(message), ChangeKind::kAdded, Reason::kSubscribed, step,
           kNoScore);
  }
  promise(event, id, step);
}

void Hub::move(const Event& event, Step& step) {
  const Mode mode = *mode_of(event.id);
  if (mode == Mode::kTop) {
    top_.move(event.id, *event.at);
    return;
  }
  if (mode == Mode::kRank) {
    move_rank(event, step);
    return;
  }
  const SubscriptionId id = engine_.slot_of(ExternalId(event.id));
  if (!match_holders_.has(id)) {
    engine_.replace_area(ExternalId(event.id), *event.area);
    return;
  }
  engine_.move(id, *event.area, moved_);
  for (const MessageId message : moved_.gained) {
    report(event.id, messages_.word(message), ChangeKind::kAdded, Reason::kMoved, step, kNoScore);
  }
  for (const MessageId message : moved_.lost) {
    report(event.id, messages_.word(message), ChangeKind::kRemoved, Reason::kMoved, step, kNoScore);
  }
  promise(event, id, step);
}

void Hub::publish(const Event& event, Step& step) {
  const double end = end_of(event, step.now);
  const bool is_kept = end > step.now;
  engine_.read(event.words, is_kept, tokens_, counts_);
  std::optional<MessageId> kept;
  if (is_kept) kept = messages_.add(event.id, {tokens_, counts_, event.place, end});
  if (kept && engine_.is_holding()) {
    engine_.keep(*kept, scratch_);
  } else {
    engine_.match({tokens_, event.place}, scratch_);
  }
  for (const SubscriptionId id : scratch_.sink.ids()) {
    if (safe_.is_impact(id)) {
      if (kept) shorten(id, event.place, step);
      continue;
    }
    report(engine_.word(id), event.id, ChangeKind::kAdded, Reason::kPublished, step, kNoScore);
  }
  publish_rank({tokens_, event.place}, kept, event.id, step);
  if (kept) top_.publish(*kept);
  if (window_.count && messages_.size() > *window_.count) {
    leave(*messages_.oldest(), Reason::kExpired, step);
  }
}

void Hub::subscribe_top(const Event& event) {
  if (!top_.is_holding()) top_.hold();
  engine_.read(event.clauses.front().positive, /*is_growing=*/true, tokens_, counts_);
  top_.subscribe(event.id, tokens_, {*event.at, event.k, event.alpha});
}

/// Top lists change once per event, by the net difference.
void Hub::report_top(Step& step) {
  top_changes_.clear();
  top_.finish(top_changes_);
  for (const TopChange& change : top_changes_) {
    report(top_.word(change.subscription), messages_.word(change.message), change.kind,
           change.reason, step, change.score);
  }
}

/// A message goes: all that hold it lose it.
void Hub::leave(MessageId message, Reason reason, Step& step) {
  if (!match_holders_.empty()) {
    engine_.match(messages_.store().message(message), scratch_);
    for (const SubscriptionId id : scratch_.sink.ids()) {
      if (!match_holders_.has(id)) continue;
      report(engine_.word(id), messages_.word(message), ChangeKind::kRemoved, reason, step,
             kNoScore);
    }
  }
  if (engine_.is_holding()) engine_.drop(message);
  leave_rank(message, reason, step);
  top_.drop(message, reason);
  messages_.drop(message);
}

}  // namespace nearcast

#include "nearcast/modes/match_mode.h"

#include "nearcast/base/errors.h"

namespace nearcast {

SubscriptionId MatchMode::subscribe(const Event& event, bool is_successor, Step& step) {
  Wish wish{event.wanted};
  if (!event.keywords.empty()) wish.keywords = &event.keywords;
  if (!event.where.empty()) wish.where = &event.where;
  wish.words_only = event.is_live;  // live messages are found by their words
  const SubscriptionId id =
      set_.add(wish, *event.area, event.excluded ? &*event.excluded : nullptr);
  if (!event.is_live) return id;
  if (!set_.is_holding()) set_.hold(messages().store());
  holders_.set(id, true);
  if (!is_successor) {
    found_.clear();
    set_.find(id, found_);
    for (const MessageId message : found_) {
      step.report(event.id, messages().word(message), ChangeKind::kAdded, Reason::kSubscribed);
    }
  }
  promise(event, id, step);
  return id;
}

void MatchMode::end(SubscriptionId id) {
  end_promise(id);
  holders_.set(id, false);
  set_.remove(id);
}

void MatchMode::move(SubscriptionId id, const Event& event, Step& step) {
  if (!holders_.has(id)) {
    set_.replace_area(id, *event.area);
    return;
  }
  set_.move(id, *event.area, moved_);
  for (const MessageId message : moved_.gained) {
    step.report(event.id, messages().word(message), ChangeKind::kAdded, Reason::kMoved);
  }
  for (const MessageId message : moved_.lost) {
    step.report(event.id, messages().word(message), ChangeKind::kRemoved, Reason::kMoved);
  }
  promise(event, id, step);
}

void MatchMode::publish(const Newcomer& newcomer, Step& step) {
  if (newcomer.kept && set_.is_holding()) {
    set_.keep(*newcomer.kept, scratch_);
  } else {
    set_.match(newcomer.message, scratch_);
  }
  if (newcomer.is_successor) {
    succeed(newcomer, step);
    return;
  }
  for (const SubscriptionId id : scratch_.sink.ids()) {
    if (safe_.is_impact(id)) {
      if (newcomer.kept) shorten(id, newcomer.message.place, step);
      continue;
    }
    step.report(name(id), newcomer.id, ChangeKind::kAdded, Reason::kPublished);
  }
}

/// What the new version of a message matches is in scratch_.
void MatchMode::succeed(const Newcomer& newcomer, Step& step) {
  for (const SubscriptionId id : scratch_.sink.ids()) {
    if (safe_.is_impact(id)) {
      shorten(id, newcomer.message.place, step);
    } else {
      versions_.add_now(id);
    }
  }
  versions_.report(
      newcomer.id, [&](SubscriptionId id) { return holders_.has(id); },
      [&](SubscriptionId id) { return name(id); }, step);
}

void MatchMode::leave(MessageId message, Reason reason, Step& step) {
  const bool is_replaced = reason == Reason::kChanged;
  if (is_replaced) versions_.start();
  if (is_replaced || !holders_.empty()) {
    set_.match(messages().store().message(message), scratch_);
    for (const SubscriptionId id : scratch_.sink.ids()) {
      if (is_replaced) {
        if (!safe_.is_impact(id)) versions_.add_before(id);
      } else if (holders_.has(id)) {
        step.report(name(id), messages().word(message), ChangeKind::kRemoved, reason);
      }
    }
  }
  if (set_.is_holding()) set_.drop(message);
}

std::vector<HeldMessage> MatchMode::results(SubscriptionId id) const {
  std::vector<MessageId> found;
  set_.find(id, found);
  std::vector<HeldMessage> held;
  for (const MessageId message : found) held.push_back({message, Step::kNoScore});
  return held;
}

void MatchMode::find_matches(const Question& question, std::vector<SubscriptionId>& out) const {
  ScratchPool<BatchScratch>::Loan loan(scratches_);
  set_.match(question.message, *loan);
  for (const SubscriptionId id : (*loan).sink.ids()) {
    if (!safe_.is_impact(id)) out.push_back(id);
  }
}

SetSizes MatchMode::sizes() const {
  SetSizes sizes = set_.sizes();
  sizes.subscriptions -= safe_.size();  // impact regions stand in the set, too
  return sizes;
}

void MatchMode::check_invariants() const {
  set_.check_invariants();
  check_promises();
}

void MatchMode::save(ArchiveWriter& out) const {
  set_.save(out);
  holders_.save(out);
  safe_.save(out);
  out.value(static_cast<std::uint64_t>(set_.is_holding()));
}

void MatchMode::load(ArchiveReader& in, const Claims& known) {
  set_.load(in, known);
  holders_.load(in);
  safe_.load(in);
  if (in.value<std::uint64_t>() != 0) set_.hold(messages().store());
  if (in.is_checking()) check_loaded();
}

void MatchMode::check_loaded() const {
  constexpr const char* kLive = "which subscriptions are live";
  expect(holders_.empty() || set_.is_holding(), kLive);
  holders_.for_each([&](SubscriptionId id) { expect(set_.has(id), kLive); });
  constexpr const char* kPromise = "a promise";
  expect(is_safe_ || safe_.size() == 0, kPromise);
  safe_.check_loaded();
  safe_.for_each([&](SubscriptionId id, const SafeRegions::Region& region) {
    expect(holders_.has(id) && set_.has(region.impact) && !holders_.has(region.impact), kPromise);
  });
}

}  // namespace nearcast

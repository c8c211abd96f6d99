/// What did the event change? Lists before and after it, and why they differ.
#include <algorithm>

#include "nearcast/base/errors.h"
#include "nearcast/topk/top_engine.h"

namespace nearcast {
namespace {

/// Calls visit(message, is_before) for each message that is in one of two lists only.
template <typename Visit>
void for_each_difference(std::vector<MessageId>& before, std::vector<MessageId>& after,
                         Visit&& visit) {
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  auto old = before.begin();
  for (auto now = after.begin(); old != before.end() || now != after.end();) {
    if (now == after.end() || (old != before.end() && *old < *now)) {
      visit(*old++, true);
    } else if (old == before.end() || *now < *old) {
      visit(*now++, false);
    } else {
      ++old;
      ++now;
    }
  }
}

bool contains(std::span<const MessageId> messages, MessageId wanted) {
  return std::find(messages.begin(), messages.end(), wanted) != messages.end();
}

}  // namespace

void TopEngine::compare(const Journal::Page& page, TopChanges& out) {
  if (page.cause == Journal::Cause::kForgotten || page.cause == Journal::Cause::kSilent) return;
  const std::span<const MessageId> before = state_.journal.held(page);
  const std::span<const MessageId> after = best(page.id);
  // A list that held the old version of a message and holds the new one is told of the new one.
  const bool is_updated =
      successor_ && contains(before, *replaced_) && contains(after, *successor_);
  const auto visit = [&](MessageId message, bool is_before) {
    if (is_updated && is_before && message == *replaced_) return;
    const ChangeKind kind = is_before                              ? ChangeKind::kRemoved
                            : is_updated && message == *successor_ ? ChangeKind::kUpdated
                                                                   : ChangeKind::kAdded;
    report(page, message, kind, out);
  };
  if (page.cause == Journal::Cause::kMoved) {  // its scores have changed
    std::vector<MessageId> old(before.begin(), before.end()), now(after.begin(), after.end());
    for_each_difference(old, now, visit);
    return;
  }
  // Messages in both lists are in the same order. So where the lists differ, the message that is
  // now here is new, or it was further down before and all above it are gone.
  auto old = before.begin() + page.same;
  for (const MessageId message : after.subspan(page.same)) {
    if (old != before.end() && *old == message) {
      ++old;
      continue;
    }
    const auto was = std::find(old, before.end(), message);
    if (was == before.end()) {
      visit(message, false);
      continue;
    }
    while (old != was) visit(*old++, true);
    ++old;
  }
  while (old != before.end()) visit(*old++, true);
}

/// The score is computed later, when what it reads has been prefetched.
void TopEngine::report(const Journal::Page& page, MessageId message, ChangeKind kind,
                       TopChanges& out) {
  state_.prefetch(message, 0);
  state_.subscriptions.prefetch_tokens(page.id);
  out.push_back({page.id, message, kind, reason_for(page, message, kind), 0});
  unscored_.push_back(&page);
}

void TopEngine::score_changes(TopChanges& out) {
  const std::span<TopChange> changes = std::span(out).last(unscored_.size());
  for (const TopChange& change : changes) state_.prefetch(change.message, 1);
  for (std::size_t i = 0; i < changes.size(); ++i)
    changes[i].score = score_in(*unscored_[i], changes[i].message, changes[i].kind);
  unscored_.clear();
}

/// Most events mark one or two messages, which are compared without reading the table.
TopEngine::Mark TopEngine::mark_of(MessageId message) const {
  constexpr std::size_t kFew = 4;
  if (marked_.size() <= kFew && std::find(marked_.begin(), marked_.end(), message) == marked_.end())
    return Mark::kNone;
  return raw(message) < marks_.size() ? static_cast<Mark>(marks_[raw(message)]) : Mark::kNone;
}

Reason TopEngine::reason_for(const Journal::Page& page, MessageId message, ChangeKind kind) const {
  const Mark mark = mark_of(message);
  const bool has_moved = page.cause == Journal::Cause::kMoved;
  if (kind == ChangeKind::kRemoved) {
    if (mark == Mark::kExpired) return Reason::kExpired;
    if (mark == Mark::kRetracted) return Reason::kRetracted;
    if (mark == Mark::kReplaced) return Reason::kChanged;
    return has_moved ? Reason::kMoved : Reason::kDisplaced;
  }
  if (page.cause == Journal::Cause::kSubscribed) return Reason::kSubscribed;
  if (mark == Mark::kPublished) return Reason::kPublished;
  if (mark == Mark::kSuccessor) return Reason::kChanged;
  return has_moved ? Reason::kMoved : Reason::kRefilled;
}

double TopEngine::score_in(const Journal::Page& page, MessageId message, ChangeKind kind) const {
  if (kind != ChangeKind::kRemoved || page.cause != Journal::Cause::kMoved)
    return state_.score(page.id, message);
  const TopSubscriptions::Record& record = state_.subscriptions[page.id];
  return top_score(record.alpha, distance_between(page.at, state_.messages.centre(message)),
                   state_.max_distance, state_.product(page.id, message),
                   record.length * state_.length(message));
}

void TopEngine::set_weights(const TokenWeights& weights) {
  ensure(state_.journal.pages().empty(), "top engine: weights change in an event of their own");
  const TokenWeights& old_weights = *state_.weights;
  arrival_->clear();
  search_->clear();
  state_.weights = &weights;
  state_.messages.for_each_by_age([&](MessageId id) { state_.measure(id); });
  state_.subscriptions.reweigh(weights);
  search_->insert_all();
  state_.subscriptions.for_each([&](SubscriptionId id) {
    arrival_->insert(id);
    replace_results(id, old_weights);
  });
}

/// Fills a buffer under new weights and notes what changed. A removed message is reported with its
/// score under the old weights.
void TopEngine::replace_results(SubscriptionId id, const TokenWeights& old_weights) {
  const TopSubscriptions::Record& record = state_.subscriptions[id];
  const auto copy_best = [&] {
    const std::span<const MessageId> held = best(id);
    return std::vector(held.begin(), held.end());
  };
  std::vector<MessageId> before = copy_best();
  expiry_->evaluate(id);
  std::vector<MessageId> after = copy_best();
  const TokenSpan tokens = state_.subscriptions.tokens(id);
  for_each_difference(before, after, [&](MessageId message, bool is_before) {
    if (!is_before) {
      reweighed_.push_back(
          {id, message, ChangeKind::kAdded, Reason::kRefilled, state_.score(id, message)});
      return;
    }
    const TokenSpan said = state_.messages.tokens(message);
    const auto counts = state_.messages.counts(message);
    const double product = common_product(tokens, said, counts, old_weights);
    const double lengths =
        vector_length(tokens, {}, old_weights) * vector_length(said, counts, old_weights);
    const double score =
        top_score(record.alpha, distance_between(record.at, state_.messages.centre(message)),
                  state_.max_distance, product, lengths);
    reweighed_.push_back({id, message, ChangeKind::kRemoved, Reason::kDisplaced, score});
  });
}

}  // namespace nearcast

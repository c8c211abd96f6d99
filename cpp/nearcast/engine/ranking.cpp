/// What one event changes for rank subscriptions, and what another weights epoch does.
#include <algorithm>
#include <string>

#include "nearcast/engine/column_checks.h"
#include "nearcast/engine/hub.h"

namespace nearcast {

void Hub::subscribe_rank(const Event& event, Step& step) {
  const ExternalId name(event.id);
  const auto& words = event.clauses.front().positive;
  engine_.read(words, /*is_growing=*/true, tokens_, counts_);
  rank_.subscribe(name, TokenSpan(tokens_), std::get<Rect>(*event.area),
                  {event.alpha, event.threshold});
  if (!event.is_live) return;
  if (!rank_sets_.is_holding()) rank_sets_.hold();
  rank_holders_.set(rank_.slot_of(name), true);
  rank_sets_.find(rank_.slot_of(name), after_, found_);
  for (const auto& [message, score] : after_) {
    report(event.id, messages_.word(message), ChangeKind::kAdded, Reason::kSubscribed, step, score);
  }
}

void Hub::publish_rank(const Message& message, std::optional<MessageId> kept, std::string_view id,
                       Step& step) {
  if (kept && rank_sets_.is_holding()) rank_sets_.keep(*kept);
  rank_.rank_one(message, ranked_);
  for (std::size_t i = 0; i < ranked_.ids().size(); ++i) {
    report(rank_.ids().word(raw(ranked_.ids()[i])), id, ChangeKind::kAdded, Reason::kPublished,
           step, ranked_.scores()[i]);
  }
}

void Hub::move_rank(const Event& event, Step& step) {
  const SubscriptionId id = rank_.slot_of(ExternalId(event.id));
  const bool holds = rank_holders_.has(id);
  if (holds) rank_sets_.find(id, before_, found_);
  rank_.replace_area(ExternalId(event.id), std::get<Rect>(*event.area));
  if (holds) compare_rank(event.id, before_, step);
}

void Hub::leave_rank(MessageId message, Reason reason, Step& step) {
  if (!rank_holders_.empty()) {
    rank_.rank_one(messages_.store().message(message), ranked_);
    for (std::size_t i = 0; i < ranked_.ids().size(); ++i) {
      const SubscriptionId id = ranked_.ids()[i];
      if (!rank_holders_.has(id)) continue;
      report(rank_.ids().word(raw(id)), messages_.word(message), ChangeKind::kRemoved, reason, step,
             ranked_.scores()[i]);
    }
  }
  if (rank_sets_.is_holding()) rank_sets_.drop(message);
}

/// Report what a set gains and loses against what it held before; both are in the order of ids.
void Hub::compare_rank(std::string_view id, std::span<const ScoredMessage> before, Step& step) {
  rank_sets_.find(rank_.slot_of(ExternalId(id)), after_, found_);
  const auto report_missing = [&](std::span<const ScoredMessage> from,
                                  std::span<const ScoredMessage> in, ChangeKind kind) {
    for (const auto& [message, score] : from) {
      const auto at = std::lower_bound(
          in.begin(), in.end(), message,
          [](const ScoredMessage& held, MessageId wanted) { return held.id < wanted; });
      if (at != in.end() && at->id == message) continue;
      report(id, messages_.word(message), kind, Reason::kMoved, step, score);
    }
  };
  report_missing(before, after_, ChangeKind::kRemoved);
  report_missing(after_, before, ChangeKind::kAdded);
}

template <typename Change>
ChangeColumns Hub::reweigh(Change&& change) {
  ChangeColumns out;
  Step step{0, clock_, out};
  std::vector<std::pair<std::string, std::vector<ScoredMessage>>> before;
  rank_.store().for_each([&](SubscriptionId id) {
    if (!rank_holders_.has(id)) return;
    before.emplace_back(rank_.ids().word(raw(id)), std::vector<ScoredMessage>{});
    rank_sets_.find(id, before.back().second, found_);
  });
  top_.begin();
  change();
  for (const auto& [id, held] : before) compare_rank(id, held, step);
  report_top(step);
  return out;
}

ChangeColumns Hub::start_epoch(const EpochColumns& epoch) {
  epoch.check();
  return reweigh([&] {
    const std::vector<Token> before = rank_.store().weights().listed();
    const std::vector<Token> tokens = engine_.intern(epoch.words);
    const std::vector<TokenWeights::Count> counts = epoch.counts(tokens);
    rank_.start_epoch(epoch.documents, counts);
    auto weights = std::make_unique<TokenWeights>();
    weights->start_epoch(epoch.documents, counts);
    // An epoch's words stay known while it is in force, for rank and top together.
    engine_.hold_words(weights->listed());
    top_.set_weights(std::move(weights));
    engine_.release_words(tokens);
    engine_.release_words(before);
  });
}

ChangeColumns Hub::end_epoch() {
  return reweigh([&] {
    const std::vector<Token> before = rank_.store().weights().listed();
    rank_.end_epoch();
    top_.set_weights(std::make_unique<TokenWeights>());
    engine_.release_words(before);
  });
}

}  // namespace nearcast

/// What users ask the hub, without changing anything.
#include "nearcast/base/errors.h"
#include "nearcast/engine/hub.h"

namespace nearcast {

std::vector<std::string> Hub::reached_by_rank(std::span<const std::string_view> words,
                                              const Place& place) const {
  std::vector<Token> tokens;
  engine_.find_known(words, tokens);
  RankSink sink;
  rank_.rank_one({tokens, place}, sink);
  std::vector<std::string> reached;
  for (const SubscriptionId id : sink.ids()) reached.emplace_back(rank_.ids().word(raw(id)));
  return reached;
}

std::optional<Mode> Hub::mode_of(std::string_view subscription) const {
  const std::lock_guard lock(mutex_);
  return known_mode(subscription);
}

std::optional<Mode> Hub::known_mode(std::string_view subscription) const {
  if (is_safe_ && SafeRegions::is_reserved(subscription)) return std::nullopt;
  if (engine_.has(ExternalId(subscription))) return Mode::kMatch;
  if (rank_.has(ExternalId(subscription))) return Mode::kRank;
  if (top_.has(subscription)) return Mode::kTop;
  return std::nullopt;
}

bool Hub::holds_set(std::string_view subscription) const {
  const std::lock_guard lock(mutex_);
  switch (known_mode(subscription).value_or(Mode::kTop)) {
    case Mode::kMatch:
      return match_holders_.has(engine_.slot_of(ExternalId(subscription)));
    case Mode::kRank:
      return rank_holders_.has(rank_.slot_of(ExternalId(subscription)));
    case Mode::kTop:
      break;
  }
  return top_.has(subscription);
}

std::vector<Hub::Held> Hub::results(std::string_view subscription) const {
  const std::lock_guard lock(mutex_);
  std::vector<Held> held;
  const ExternalId id(subscription);
  if (top_.has(subscription)) {
    for (const auto& [message, score] : top_.results(subscription)) {
      held.emplace_back(messages_.word(message), score);
    }
  } else if (rank_.has(id)) {
    std::vector<ScoredMessage> found;
    if (rank_sets_.is_holding()) rank_sets_.find(rank_.slot_of(id), found);
    for (const auto& [message, score] : found) held.emplace_back(messages_.word(message), score);
  } else {
    std::vector<MessageId> found;
    if (engine_.is_holding()) engine_.find(engine_.slot_of(id), found);
    for (const MessageId message : found) held.emplace_back(messages_.word(message), std::nullopt);
  }
  return held;
}

std::size_t Hub::size() const {
  const std::lock_guard lock(mutex_);
  return engine_.stats().subscriptions - safe_.size() + rank_.ids().size() + top_.size();
}

std::size_t Hub::safe_regions() const {
  const std::lock_guard lock(mutex_);
  return safe_.size();
}

}  // namespace nearcast

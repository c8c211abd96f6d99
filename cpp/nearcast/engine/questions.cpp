/// What users ask the hub, without changing anything.
#include "nearcast/base/errors.h"
#include "nearcast/engine/hub.h"

namespace nearcast {
namespace {

std::string named(std::string_view id) { return "subscription " + quoted(ExternalId(id)); }

std::string shown(Mode mode) {
  switch (mode) {
    case Mode::kMatch:
      return "'match'";
    case Mode::kRank:
      return "'rank'";
    case Mode::kTop:
      break;
  }
  return "'top'";
}

}  // namespace

MatchColumns Hub::match(std::span<const std::string_view> words, const Place& place) const {
  ScratchPool<BatchScratch>::Loan loan(scratches_);
  BatchScratch& scratch = *loan;
  std::vector<Token>& tokens = scratch.reading.tokens[0];
  engine_.find_known(words, tokens);
  engine_.match({tokens, place}, scratch);
  MatchColumns out;
  out.has_words = true;
  const auto report = [&](std::string_view id) { out.words.push_back(id); };
  for (const SubscriptionId id : scratch.sink.ids()) {
    if (!safe_.is_impact(id)) report(engine_.word(id));
  }
  RankSink ranked;
  if (rank_.ids().size() != 0) rank_.rank_one({tokens, place}, ranked);
  for (const SubscriptionId id : ranked.ids()) report(rank_.ids().word(raw(id)));
  return out;
}

std::optional<Mode> Hub::mode_of(std::string_view subscription) const {
  if (is_safe_ && SafeRegions::is_reserved(subscription)) return std::nullopt;
  if (engine_.has(ExternalId(subscription))) return Mode::kMatch;
  if (rank_.has(ExternalId(subscription))) return Mode::kRank;
  if (top_.has(subscription)) return Mode::kTop;
  return std::nullopt;
}

Mode Hub::require(std::string_view subscription) const {
  const auto mode = mode_of(subscription);
  if (mode) return *mode;
  throw Error(ErrorKind::kUnknownId, named(subscription), "an id that is not subscribed",
              "an id in use");
}

Definition Hub::definition(std::string_view subscription) const {
  const Mode mode = require(subscription);
  if (mode == Mode::kMatch) return engine_.definition(ExternalId(subscription));
  throw Error(ErrorKind::kUnsupported, named(subscription), shown(mode), "a match subscription");
}

Verdict Hub::judge(std::string_view subscription, std::span<const std::string_view> words,
                   const Place& place) const {
  const ExternalId id(subscription);
  return {definition(subscription), engine_.matches_pair(id, words, place),
          engine_.touches_pair(id, place)};
}

bool Hub::holds_set(std::string_view subscription, Mode mode) const {
  switch (mode) {
    case Mode::kMatch:
      return match_holders_.has(engine_.slot_of(ExternalId(subscription)));
    case Mode::kRank:
      return rank_holders_.has(rank_.slot_of(ExternalId(subscription)));
    case Mode::kTop:
      break;
  }
  return true;
}

std::vector<Hub::Held> Hub::results(std::string_view subscription) const {
  const Mode mode = require(subscription);
  if (!holds_set(subscription, mode)) {
    throw Error(ErrorKind::kUnsupported, named(subscription) + " holds nothing", shown(mode),
                "a top subscription, or a live one", "live=True");
  }
  const ExternalId id(subscription);
  std::vector<Held> held;
  std::vector<MessageId> found;
  if (mode == Mode::kTop) {
    for (const auto& [message, score] : top_.results(subscription)) {
      held.emplace_back(messages_.word(message), score);
    }
  } else if (mode == Mode::kRank) {
    std::vector<ScoredMessage> scored;
    rank_sets_.find(rank_.slot_of(id), scored, found);
    for (const auto& [message, score] : scored) held.emplace_back(messages_.word(message), score);
  } else {
    engine_.find(engine_.slot_of(id), found);
    for (const MessageId message : found) held.emplace_back(messages_.word(message), std::nullopt);
  }
  return held;
}

std::size_t Hub::size() const {
  return engine_.stats().subscriptions - safe_.size() + rank_.ids().size() + top_.size();
}

HubStats Hub::stats() const {
  EngineStats sizes = engine_.stats();
  const EngineStats ranked = rank_.stats();
  sizes.subscriptions += ranked.subscriptions - safe_.size();  // which the engine counts too
  sizes.store_bytes += ranked.store_bytes;
  sizes.id_bytes += ranked.id_bytes;
  sizes.index_bytes += ranked.index_bytes;
  sizes.message_index_bytes += rank_sets_.memory_bytes();
  const auto top = top_.stats();
  const std::size_t top_bytes = top_.memory_bytes() + (top ? top->search_bytes : 0);
  // Each expiry stands in a table and in an ordered set, with its name in both.
  constexpr std::size_t kExpiryBytes =
      2 * (sizeof(double) + sizeof(std::string)) + 6 * sizeof(void*);
  const std::size_t other_bytes = subscription_expiries_.size() * kExpiryBytes +
                                  safe_.memory_bytes() + match_holders_.memory_bytes() +
                                  rank_holders_.memory_bytes();
  return {sizes, messages_.size(), messages_.memory_bytes(), top_bytes, other_bytes};
}

}  // namespace nearcast

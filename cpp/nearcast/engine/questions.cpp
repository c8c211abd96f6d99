/// What users ask a hub, without changing anything.
#include <cmath>

#include "nearcast/base/errors.h"
#include "nearcast/engine/hub.h"
#include "nearcast/text/text_tokens.h"

namespace nearcast {

MatchColumns Hub::match(const Saying& saying, const Place& place) const {
  std::vector<Token> tokens;
  find_tokens(words_, saying.words, tokens);
  MatchColumns out;
  out.has_words = true;
  std::vector<SubscriptionId> found;
  for (int id = 0; id < kModes; ++id) {
    found.clear();
    modes_[id]->find_matches({saying.words, {tokens, place, {&saying, nullptr}}}, found);
    for (const SubscriptionId slot : found) {
      out.words.push_back(life_.name(static_cast<ModeId>(id), slot));
    }
  }
  return out;
}

std::optional<ModeId> Hub::mode_of(std::string_view subscription) const {
  const auto found = life_.find(subscription);
  return found ? std::optional(found->mode) : std::nullopt;
}

Definition Hub::definition(std::string_view subscription) const {
  return definition(life_.require(subscription));
}

Definition Hub::definition(Subscriber subscriber) const {
  Definition found = mode(subscriber.mode).definition(subscriber.slot);
  found.terms.expires = life_.expires(subscriber);
  found.said = said_[static_cast<std::size_t>(subscriber.mode)][raw(subscriber.slot)];
  return found;
}

Hub::DefinitionPage Hub::definitions(std::size_t first, std::size_t count) const {
  DefinitionPage page;
  std::size_t start = 0;  // of the mode's slots, among those of all modes
  for (int id = 0; id < kModes; ++id) {
    const std::size_t slots = modes_[id]->slots();
    while (first < start + slots) {
      if (count-- == 0) {
        page.next = first;
        return page;
      }
      const Subscriber own{static_cast<ModeId>(id),
                           SubscriptionId{static_cast<std::uint32_t>(first++ - start)}};
      if (modes_[id]->has(own.slot))
        page.found.emplace_back(life_.name(own.mode, own.slot), definition(own));
    }
    start += slots;
  }
  return page;
}

Verdict Hub::explain(std::string_view subscription, const Saying& saying,
                     const Place& place) const {
  const Subscriber found = life_.require(subscription);
  std::vector<Token> tokens;
  find_tokens(words_, saying.words, tokens);
  Verdict verdict =
      mode(found.mode).explain(found.slot, {saying.words, {tokens, place, {&saying, nullptr}}});
  verdict.definition = definition(found);
  return verdict;
}

std::vector<Hub::Held> Hub::results(std::string_view subscription) const {
  const Subscriber found = life_.require(subscription);
  if (!mode(found.mode).holds_set(found.slot)) {
    throw Error(ErrorKind::kUnsupported,
                "subscription " + quoted(ExternalId(subscription)) + " holds nothing",
                "'" + std::string(name_of(found.mode)) + "'", "a top subscription, or a live one",
                "live=True");
  }
  std::vector<Held> held;
  for (const auto& [message, score] : mode(found.mode).results(found.slot)) {
    held.emplace_back(life_.messages().word(message),
                      std::isnan(score) ? std::nullopt : std::optional(score));
  }
  return held;
}

std::optional<double> Hub::safe_distance(std::string_view subscription) const {
  const Subscriber found = life_.require(subscription);
  return found.mode == ModeId::kMatch ? match_.safe_distance(found.slot) : std::nullopt;
}

HubSizes Hub::sizes() const {
  HubSizes all{};
  for (const Mode* mode : modes_) {
    const SetSizes own = mode->sizes();
    all.subscriptions += own.subscriptions;
    all.store_bytes += own.store_bytes;
    all.index_bytes += own.index_bytes;
    all.message_index_bytes += own.message_index_bytes;
    all.other_bytes += mode->other_bytes();
  }
  all.words = words_.size();
  all.word_bytes = words_.memory_bytes();
  all.id_bytes = life_.id_bytes();
  all.live_messages = life_.messages().size();
  all.message_bytes = life_.messages().memory_bytes();
  const auto top = top_.stats();
  all.top_bytes = top_.memory_bytes() + (top ? top->search_bytes : 0);
  all.other_bytes += life_.expiry_bytes() + terms_.memory_bytes();
  for (const SaidTexts& said : said_) all.other_bytes += said.memory_bytes();
  return all;
}

}  // namespace nearcast

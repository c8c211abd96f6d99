#include "nearcast/modes/top_mode.h"

#include "nearcast/model/condition_plan.h"
#include "nearcast/text/text_tokens.h"
#include "nearcast/topk/registry.h"

namespace nearcast {

TopMode::TopMode(Vocabulary& words, TermRegistry& terms, const Life& life, TopSettings settings)
    : words_(words),
      terms_(terms),
      life_(life),
      settings_(std::move(settings)),
      weights_(std::make_unique<TokenWeights>()),
      conditions_(words, terms) {
  // The kinds that names stand for now: a snapshot opens with them, even if `auto` is another kind
  // by then. A wrong name is refused here, not by the first subscription.
  if (settings_.arrival.empty()) settings_.arrival = "auto";
  settings_.expiry = expiry_kind(settings_.arrival, settings_.expiry).name;
  settings_.arrival = arrival_kind(settings_.arrival).name;
  TopTuning::from(settings_.parameters);
}

std::unique_ptr<TopEngine> TopMode::make_lists() const {
  auto lists = std::make_unique<TopEngine>(life_.messages().store(), *weights_, settings_.space,
                                           settings_.arrival, settings_.expiry,
                                           TopTuning::from(settings_.parameters));
  lists->heed(conditions_, words_, terms_);
  return lists;
}

void TopMode::hold() {
  lists_ = make_lists();
  lists_->hold();
  lists_->begin();
}

SubscriptionId TopMode::subscribe(const Event& event, bool is_successor, Step&) {
  if (!lists_) hold();
  Wish wish;
  wish.where = event.where.empty() ? nullptr : &event.where;
  wish.is_filed = false;
  ConditionPlan plan(wish, words_);
  conditions_.check_room(plan.program());
  read_text(words_, event.wanted, /*is_kept=*/true, tokens_, counts_);
  std::uint32_t slot = slots_;
  if (free_slots_.empty()) {
    ++slots_;
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  conditions_.add(SubscriptionId{slot}, plan.program(), nullptr);
  plan.keep(terms_);
  lists_->subscribe(SubscriptionId{slot}, tokens_, {*event.at, event.k, event.alpha}, is_successor);
  return SubscriptionId{slot};
}

void TopMode::end(SubscriptionId id) {
  const TokenSpan wanted = lists_->tokens(id);
  tokens_.assign(wanted.begin(), wanted.end());
  lists_->unsubscribe(id);
  conditions_.remove(id);
  words_.release_all(tokens_);
  free_slots_.push_back(raw(id));
}

/// Lists change once per event, by the net difference.
void TopMode::finish_event(Step& step) {
  if (!lists_) return;
  changes_.clear();
  lists_->finish(changes_);
  for (const TopChange& change : changes_) {
    step.report(life_.name(ModeId::kTop, change.subscription),
                life_.messages().word(change.message), change.kind, change.reason, change.score);
  }
}

void TopMode::weigh(const Epoch* epoch, Step&) {
  auto weights = std::make_unique<TokenWeights>();
  if (epoch != nullptr) weights->start_epoch(epoch->documents, epoch->counts);
  for (const Token token : weights->listed()) words_.hold(token);
  words_.release_all(weights_->listed());
  if (lists_) lists_->set_weights(*weights);
  weights_ = std::move(weights);  // only now: the old ones were still needed
}

std::vector<HeldMessage> TopMode::results(SubscriptionId id) const {
  std::vector<HeldMessage> held;
  for (const auto& [message, score] : lists_->results(id)) held.push_back({message, score});
  return held;
}

std::vector<HeldMessage> TopMode::last_told(SubscriptionId id) const {
  std::vector<HeldMessage> held;
  for (const auto& [message, score] : lists_->results_before(id)) held.push_back({message, score});
  return held;
}

std::optional<TopStats> TopMode::stats() const {
  return lists_ ? std::optional(lists_->stats()) : std::nullopt;
}

std::size_t TopMode::memory_bytes() const {
  if (!lists_) return 0;
  const TopStats now = lists_->stats();
  return conditions_.memory_bytes() + now.record_bytes + now.buffer_bytes + now.holder_bytes +
         now.index_bytes;
}

void TopMode::count_uses(std::vector<std::uint32_t>& uses) const {
  if (lists_) {
    lists_->for_each([&](SubscriptionId id) {
      for (const Token token : lists_->tokens(id)) ++uses[raw(token)];
    });
  }
  for (const Token token : weights_->listed()) ++uses[raw(token)];
  conditions_.count_uses(uses);
}

void TopMode::check_invariants() const {
  if (lists_) lists_->check_invariants();
}

void TopMode::save(ArchiveWriter& out) const {
  weights_->save(out);
  conditions_.save(out);
  free_slots_.save(out);
  out.value(slots_);
  out.value(static_cast<std::uint8_t>(lists_ != nullptr));
  if (lists_) lists_->save(out);
}

void TopMode::load(ArchiveReader& in, const Claims& known) {
  weights_->load(in);
  conditions_.load(in);
  free_slots_.load(in);
  slots_ = in.value<std::uint32_t>();
  const bool is_there = in.value<std::uint8_t>() != 0;
  if (in.is_checking()) {
    weights_->check_loaded(words_.slots());
    conditions_.check_loaded(known, [&](SubscriptionId id) { return raw(id) < slots_; });
  }
  if (is_there) {
    lists_ = make_lists();
    lists_->load(in, known);
  }
  if (in.is_checking()) check_loaded();
}

void TopMode::check_loaded() const {
  constexpr const char* kWhat = "a slot of a top subscription";
  const std::size_t used = lists_ ? lists_->size() : 0;
  expect(slots_ == free_slots_.size() + used, kWhat);
  Claims slots(slots_);
  slots.claim_all(free_slots_, kWhat);
  std::size_t found = 0;
  for (std::uint32_t slot = 0; slot < slots_; ++slot) {
    if (!has(SubscriptionId{slot})) continue;
    slots.claim(slot, kWhat);
    ++found;
  }
  expect(found == used, kWhat);
  conditions_.for_each([&](SubscriptionId id) { expect(has(id), kWhat); });
}

}  // namespace nearcast

#include "nearcast/engine/top_lists.h"

#include "nearcast/topk/registry.h"

namespace nearcast {

TopLists::TopLists(const MessageStore& messages, TopSettings settings)
    : messages_(messages),
      settings_(std::move(settings)),
      weights_(std::make_unique<TokenWeights>()) {
  // The kinds that names stand for now: a snapshot opens with them, whatever `auto` is by then. A
  // wrong name is refused here, not by the first subscription.
  if (settings_.arrival.empty()) settings_.arrival = "auto";
  settings_.expiry = expiry_kind(settings_.arrival, settings_.expiry).name;
  settings_.arrival = arrival_kind(settings_.arrival).name;
  TopTuning::from(settings_.parameters);
}

std::unique_ptr<TopEngine> TopLists::make_engine() const {
  return std::make_unique<TopEngine>(messages_, *weights_, settings_.space, settings_.arrival,
                                     settings_.expiry, TopTuning::from(settings_.parameters));
}

void TopLists::hold() {
  engine_ = make_engine();
  engine_->hold();
  engine_->begin();
}

void TopLists::subscribe(std::string_view id, TokenSpan tokens, const TopTerms& terms) {
  std::uint32_t slot = slots_;
  if (free_slots_.empty()) {
    ++slots_;
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  ids_.bind(ExternalId(id), slot);
  engine_->subscribe(SubscriptionId{slot}, tokens, terms);
}

void TopLists::unsubscribe(std::string_view id) {
  const SubscriptionId slot = slot_of(id);
  engine_->unsubscribe(slot);
  ids_.release(raw(slot));
  free_slots_.push_back(raw(slot));
}

void TopLists::set_weights(std::unique_ptr<TokenWeights> weights) {
  if (is_holding()) engine_->set_weights(*weights);
  weights_ = std::move(weights);  // only now: the old ones were still needed
}

std::optional<TopStats> TopLists::stats() const {
  return is_holding() ? std::optional(engine_->stats()) : std::nullopt;
}

std::size_t TopLists::memory_bytes() const {
  if (!is_holding()) return 0;
  const TopStats now = engine_->stats();
  return ids_.memory_bytes() + now.record_bytes + now.buffer_bytes + now.holder_bytes +
         now.index_bytes;
}

void TopLists::check_invariants() const {
  if (is_holding()) engine_->check_invariants();
}

void TopLists::save(ArchiveWriter& out) const {
  weights_->save(out);
  ids_.save(out);
  free_slots_.save(out);
  out.value(slots_);
  out.value(static_cast<std::uint8_t>(is_holding()));
  if (is_holding()) engine_->save(out);
}

void TopLists::load(ArchiveReader& in, const Claims& known_tokens, std::size_t tokens) {
  weights_->load(in);
  ids_.load(in);
  free_slots_.load(in);
  slots_ = in.value<std::uint32_t>();
  const bool is_there = in.value<std::uint8_t>() != 0;
  if (in.is_checking()) weights_->check_loaded(tokens);
  if (is_there) {
    engine_ = make_engine();
    engine_->load(in, known_tokens);
  }
  if (in.is_checking()) check_loaded();
}

void TopLists::check_loaded() const {
  constexpr const char* kWhat = "a slot of a top subscription";
  const auto is_used = [&](std::uint32_t slot) {
    return is_holding() && engine_->has(SubscriptionId{slot});
  };
  expect(slots_ == free_slots_.size() + (is_holding() ? engine_->size() : 0), kWhat);
  Claims slots(slots_);
  slots.claim_all(free_slots_, kWhat);
  std::size_t used = 0;
  for (std::uint32_t slot = 0; slot < slots_; ++slot) {
    if (!is_used(slot)) continue;
    slots.claim(slot, kWhat);
    ++used;
  }
  expect(used == (is_holding() ? engine_->size() : 0), kWhat);
  ids_.check_loaded(slots_, used, /*has_to_be_words=*/true, is_used);
}

}  // namespace nearcast

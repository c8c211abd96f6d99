#include "nearcast/topk/top_engine.h"

#include <algorithm>

#include "nearcast/base/errors.h"
#include "nearcast/topk/registry.h"

namespace nearcast {

TopEngine::TopEngine(const MessageStore& messages, const TokenWeights& weights, const Rect& space,
                     const std::string& arrival, const std::string& expiry, TopTuning tuning)
    : state_(messages, weights, space, expiry_kind(arrival, expiry).counts_dominators),
      arrival_(arrival_kind(arrival).make(state_, tuning)),
      search_(std::make_unique<BacklogSearch>(state_, make_search(state_, tuning))),
      expiry_(expiry_kind(arrival, expiry).make(state_, *search_, *arrival_, tuning)) {}

void TopEngine::hold() {
  state_.lengths.resize(state_.messages.slots());
  state_.backlog.start(state_.messages);
}

void TopEngine::begin() {
  state_.journal.start();
  for (const MessageId id : marked_) marks_[raw(id)] = 0;
  marked_.clear();
  replaced_ = successor_ = std::nullopt;
}

void TopEngine::subscribe(SubscriptionId id, TokenSpan tokens, const TopTerms& terms,
                          bool is_silent) {
  state_.subscriptions.add(id, tokens, terms, *state_.weights);
  arrival_->insert(id);
  state_.journal.remember_new(id, is_silent);
  expiry_->request(id, Refill::kSurely);
}

void TopEngine::unsubscribe(SubscriptionId id) {
  state_.journal.forget(id);
  arrival_->erase(id);
  state_.buffers.close(id);
  state_.subscriptions.remove(id);
}

void TopEngine::move(SubscriptionId id, Point at) {
  const TopSubscriptions::Record& record = state_.subscriptions[id];
  state_.journal.remember_moved(id, record.at, record.k, state_.buffers);
  arrival_->erase(id);
  state_.subscriptions.move(id, at);
  arrival_->insert(id);
  expiry_->request(id, Refill::kSurely);
}

void TopEngine::publish(MessageId id, bool is_successor) {
  if (is_successor) successor_ = id;
  mark(id, is_successor ? Mark::kSuccessor : Mark::kPublished);
  state_.measure(id);
  search_->insert(id);
  expiry_->window_moved(true);
  hits_.clear();
  arrival_->find(id, hits_, arrival_work_);
  std::erase_if(hits_, [&](const ArrivalHit& hit) { return !state_.accepts(hit.id, id, facts_); });
  // Buffers are all over the memory: prefetch those that follow.
  constexpr std::size_t kAhead = 4;
  const auto prefetch = [&](std::size_t i) {
    if (i < hits_.size()) state_.buffers.prefetch_block(hits_[i].id);
  };
  for (std::size_t i = 0; i < kAhead; ++i) prefetch(i);
  for (std::size_t i = 0; i < hits_.size(); ++i) {
    prefetch(i + kAhead);
    expiry_->arrive(hits_[i].id, {hits_[i].units, id});
  }
}

void TopEngine::drop(MessageId id, Reason reason) {
  const bool is_replaced = reason == Reason::kChanged;
  if (is_replaced) replaced_ = id;
  mark(id, is_replaced                  ? Mark::kReplaced
           : reason == Reason::kExpired ? Mark::kExpired
                                        : Mark::kRetracted);
  const bool is_oldest = state_.messages.oldest() == id;
  search_->erase(id, is_oldest);
  expiry_->window_moved(false);
  const std::span<const SubscriptionId> holders = state_.holders.of(id);
  constexpr std::size_t kAhead = 4;
  const auto prefetch = [&](std::size_t i) {
    if (i < holders.size()) state_.subscriptions.prefetch(holders[i]);
  };
  const auto prefetch_block = [&](std::size_t i) {
    if (i < holders.size()) state_.buffers.prefetch_block(holders[i]);
  };
  for (std::size_t i = 0; i < 2 * kAhead; ++i) prefetch(i);
  for (std::size_t i = 0; i < kAhead; ++i) prefetch_block(i);
  for (std::size_t i = 0; i < holders.size(); ++i) {
    prefetch(i + 2 * kAhead);
    prefetch_block(i + kAhead);
    expiry_->leave(holders[i], id, is_oldest);
  }
  state_.holders.forget(id);
}

void TopEngine::finish(TopChanges& out) {
  expiry_->evaluate_requested();
  for (const Journal::Page& page : state_.journal.pages()) {
    compare(page, out);
    if (unscored_.size() >= 128) score_changes(out);
  }
  score_changes(out);
  out.insert(out.end(), reweighed_.begin(), reweighed_.end());
  reweighed_.clear();
}

void TopEngine::mark(MessageId id, Mark mark) {
  if (raw(id) >= marks_.size())
    marks_.resize(std::max<std::size_t>(raw(id) + 1, 2 * marks_.size()));
  marks_[raw(id)] = static_cast<std::uint8_t>(mark);
  marked_.push_back(id);
}

std::span<const MessageId> TopEngine::best(SubscriptionId id) const {
  const std::span<const MessageId> held = state_.buffers.messages(id);
  return held.first(std::min<std::size_t>(state_.subscriptions[id].k, held.size()));
}

std::vector<TopResult> TopEngine::results(SubscriptionId id) const {
  std::vector<TopResult> all;
  for (const MessageId message : best(id)) all.push_back(scored(id, message));
  return all;
}

std::vector<TopResult> TopEngine::results_before(SubscriptionId id) const {
  const Journal::Page* page = state_.journal.find(id);
  std::vector<TopResult> all;
  for (const MessageId message : page != nullptr ? state_.journal.held(*page) : best(id))
    all.push_back(scored(id, message));
  return all;
}

TopStats TopEngine::stats() const {
  TopStats stats;
  stats.subscriptions = size();
  stats.messages = state_.messages.size();
  stats.record_bytes = state_.subscriptions.memory_bytes() + expiry_->memory_bytes();
  stats.buffer_bytes = state_.buffers.memory_bytes();
  stats.holder_bytes = state_.holders.memory_bytes();
  stats.index_bytes = arrival_->memory_bytes();
  stats.search_bytes = search_->memory_bytes() + state_.lengths.memory_bytes();
  std::size_t held = 0;
  state_.subscriptions.for_each([&](SubscriptionId id) { held += state_.buffers.size(id); });
  if (size() != 0) stats.mean_buffer = static_cast<double>(held) / static_cast<double>(size());
  stats.arrival = arrival_work_;
  stats.expiry = expiry_->work();
  return stats;
}

void TopEngine::save(ArchiveWriter& out) const {
  state_.subscriptions.save(out);
  state_.buffers.save(out);
}

void TopEngine::load(ArchiveReader& in, const Claims& known_tokens) {
  state_.subscriptions.load(in);
  state_.buffers.load(in);
  if (in.is_checking()) {
    state_.subscriptions.check_loaded(known_tokens);
    state_.subscriptions.reweigh(*state_.weights);  // cheaper than to check the lengths
    state_.buffers.check_loaded([&](MessageId id) {
      return raw(id) < state_.messages.slots() && state_.messages.is_live(id);
    });
  }
  hold();
  state_.subscriptions.for_each([&](SubscriptionId id) {
    arrival_->insert(id);
    for (const MessageId message : state_.buffers.messages(id)) state_.holders.add(message, id);
  });
}

void TopEngine::adopt(const TopEngine& other) {
  ensure(size() == 0, "top engine: subscriptions are adopted where there are none");
  std::vector<Held> held;
  other.state_.subscriptions.for_each([&](SubscriptionId id) {
    state_.subscriptions.add(id, other.state_.subscriptions.tokens(id), other.terms(id),
                             *state_.weights);
    arrival_->insert(id);
    const ResultBuffers& theirs = other.state_.buffers;
    held.clear();
    for (std::uint32_t place = 0; place < theirs.size(id); ++place)
      held.push_back(theirs.held(id, place));
    expiry_->restore(id, held, theirs.threshold(id));
  });
}

}  // namespace nearcast

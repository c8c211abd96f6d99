#include "nearcast/topk/search/posting_search.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {

using top_postings::first_weight;
using top_postings::pack_weights;

PostingSearch::PostingSearch(const TopState& state, const TopTuning& tuning)
    : MessageSearch(state),
      most_rare_(tuning.frequent_messages),
      frame_(state.space),
      scan_(tuning.uses_vectors ? top_postings::best_scan() : top_postings::plain_scan()) {}

bool PostingSearch::is_odd(MessageId id) const {
  return !state_.messages.counts(id).empty() || state_.messages.tokens(id).size() > kManyTokens;
}

template <typename Visit>
void PostingSearch::for_each_frequent(MessageId id, Visit&& visit) const {
  for (const Token token : state_.messages.tokens(id)) {
    if (is_frequent(token)) visit(token);
  }
}

/// Of a message without repeated tokens.
double PostingSearch::weight(MessageId id, Token token) const {
  return (*state_.weights)[token] / state_.length(id);
}

void PostingSearch::insert(MessageId id) {
  const TokenSpan tokens = state_.messages.tokens(id);
  const std::span<const std::uint32_t> counts = state_.messages.counts(id);
  for (const Token token : tokens) lists_.prefetch(raw(token));
  prints_.set(id, tokens);
  const PackedCell cell = frame_.pack(state_.messages.centre(id));
  const double length = state_.length(id);
  const bool odd = is_odd(id);
  double most_said = 1;
  for (const std::uint32_t count : counts) most_said = std::max(most_said, double(count));
  frequent_tokens_.clear();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const double idf = (*state_.weights)[tokens[i]];
    const bool by_pairs = is_frequent(tokens[i]) && !odd;
    if (by_pairs) frequent_tokens_.push_back(tokens[i]);
    // Another token weighs at most as much as one of its idf that occurs as often as the most
    // frequent.
    const double rest = by_pairs ? 0 : most_said * idf / length;
    lists_.add(raw(tokens[i]), {cell, pack_weights(count_at(counts, i) * idf / length, rest), id});
  }
  for (std::size_t i = 0; i < frequent_tokens_.size(); ++i) {
    for (std::size_t j = i + 1; j < frequent_tokens_.size(); ++j) {
      pairs_.prefetch(frequent_tokens_[i], frequent_tokens_[j]);
    }
  }
  for (std::size_t i = 0; i < frequent_tokens_.size(); ++i) {
    for (std::size_t j = i + 1; j < frequent_tokens_.size(); ++j) {
      add_pair(id, frequent_tokens_[i], frequent_tokens_[j]);
    }
  }
  for (const Token token : tokens) {
    if (!is_frequent(token) && lists_.size(raw(token)) > most_rare_) make_frequent(token);
  }
}

void PostingSearch::erase(MessageId id, bool is_oldest) {
  const TokenSpan tokens = state_.messages.tokens(id);
  for (const Token token : tokens) lists_.prefetch(raw(token));
  for (const Token token : tokens) lists_.remove(raw(token), id, is_oldest);
  if (!is_odd(id)) {
    frequent_tokens_.clear();
    for_each_frequent(id, [&](Token token) { frequent_tokens_.push_back(token); });
    for (std::size_t i = 0; i < frequent_tokens_.size(); ++i) {
      for (std::size_t j = i + 1; j < frequent_tokens_.size(); ++j) {
        const std::uint32_t pair = pairs_.find(frequent_tokens_[i], frequent_tokens_[j]);
        pair_lists_.remove(pair, id, is_oldest);
        if (pair_lists_.size(pair) == 0) pairs_.forget(pair);
      }
    }
  }
  // Half as many, so that a token near the limit does not change back and forth.
  for (const Token token : tokens) {
    if (is_frequent(token) && lists_.size(raw(token)) <= most_rare_ / 2) make_rare(token);
  }
}

void PostingSearch::add_pair(MessageId id, Token a, Token b) {
  const PackedCell cell = frame_.pack(state_.messages.centre(id));
  pair_lists_.add(pairs_.number(a, b), {cell, pack_weights(weight(id, a), weight(id, b)), id});
}

void PostingSearch::make_frequent(Token token) {
  lists_.for_each(raw(token), [&](MessageId id) {
    if (is_odd(id)) return;
    for_each_frequent(
        id, [&](Token other) { add_pair(id, std::min(token, other), std::max(token, other)); });
  });
  if (raw(token) >= frequent_.size()) frequent_.resize(raw(token) + 1);
  frequent_[raw(token)] = 1;
  lists_.change_weights(raw(token), [&](std::uint32_t weights, MessageId id) {
    return is_odd(id) ? weights : weights & 0xFFFF0000u;
  });
}

void PostingSearch::make_rare(Token token) {
  frequent_[raw(token)] = 0;
  lists_.for_each(raw(token), [&](MessageId id) {
    for_each_frequent(id, [&](Token other) {
      const std::uint32_t pair = pairs_.find(std::min(token, other), std::max(token, other));
      if (pair == TokenPairs::kNone) return;
      pair_lists_.clear(pair);
      pairs_.forget(pair);
    });
  });
  lists_.change_weights(raw(token), [&](std::uint32_t weights, MessageId id) {
    return is_odd(id) ? weights : weights | weights >> 16;  // without repeats both are one
  });
}

void PostingSearch::clear() {
  lists_.clear();
  pair_lists_.clear();
  pairs_ = TokenPairs{};
  std::fill(frequent_.begin(), frequent_.end(), std::uint8_t{0});
}

std::size_t PostingSearch::memory_bytes() const {
  return lists_.memory_bytes() + pairs_.memory_bytes() + pair_lists_.memory_bytes() +
         frequent_.memory_bytes() + prints_.memory_bytes();
}

void PostingSearch::check_invariants() const {
  std::size_t expected = 0, expected_pairs = 0;
  state_.messages.for_each_by_age([&](MessageId id) {
    if (state_.backlog.has(id)) return;
    expected += state_.messages.tokens(id).size();
    std::size_t frequent = 0;
    for_each_frequent(id, [&](Token) { ++frequent; });
    if (!is_odd(id)) expected_pairs += frequent * (frequent - 1) / 2;
  });
  ensure(lists_.postings() == expected,
         "posting search: as many postings as live messages have tokens");
  ensure(pair_lists_.postings() == expected_pairs,
         "posting search: as many postings as live messages have pairs of frequent tokens");
}

}  // namespace nearcast

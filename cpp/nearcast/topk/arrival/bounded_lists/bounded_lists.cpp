#include "nearcast/topk/arrival/bounded_lists/bounded_lists.h"

#include <algorithm>
#include <limits>

#include "nearcast/base/errors.h"

namespace nearcast {

using bounded_lists::Entry;
using bounded_lists::EntryLists;

BoundedLists::BoundedLists(const TopState& state, const TopTuning& tuning)
    : ArrivalIndex(state),
      most_long_tokens_(tuning.most_long_tokens),
      uses_avx2_(false),
      frame_(state.space),
      by_token_(tuning.most_short),
      by_pair_(tuning.most_short) {
#if NEARCAST_HAS_AVX2_ARRIVAL
  uses_avx2_ = tuning.uses_vectors && __builtin_cpu_supports("avx2");
#endif
}

float BoundedLists::slack_of(SubscriptionId id) const {
  const Units threshold = state_.buffers.threshold(id);
  if (threshold == kLowestUnits) return std::numeric_limits<float>::infinity();
  const double alpha = state_.subscriptions[id].alpha;
  const double blur = alpha * frame_.cell_diagonal() * 0.55 / state_.max_distance;
  // Half a unit below the threshold still rounds to it.
  const double slack = alpha + blur - (threshold - 0.5) * 1e-9;
  return round_up(slack + bounded_lists::kRounding * (1 + std::fabs(slack)));
}

/// The entry for the list of token `a`, or of the pair if `b` is another.
Entry BoundedLists::entry_for(SubscriptionId id, Token a, Token b) const {
  const TopSubscriptions::Record& record = state_.subscriptions[id];
  const double highest = (*state_.weights)[kUnknownToken];
  double listed = 0, other_text = 0, largest = 0;
  std::uint32_t prints = 0, others = 0;
  for (const Token token : state_.subscriptions.tokens(id)) {
    const double idf = (*state_.weights)[token];
    if (token == a || token == b) {
      listed += idf * idf;
      largest = std::max(largest, idf);
    } else {
      other_text += idf * idf;
      prints = prints << 8 | bounded_lists::print_of(token);
      ++others;
    }
  }
  if (others > bounded_lists::kMostPrints) prints = bounded_lists::kAnyPrint;
  const double share = (1 - record.alpha) / record.length;
  return {frame_.pack(record.at),
          bounded_lists::pack_shape(record.alpha, share * listed / largest),
          slack_of(id),
          prints,
          round_up(share * other_text / highest * (1 + bounded_lists::kRounding)),
          id};
}

/// Visits every list that the subscription is in, with its entry there.
template <typename Visit>
void BoundedLists::for_each_list(SubscriptionId id, Visit&& visit) {
  const TokenSpan tokens = state_.subscriptions.tokens(id);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    visit(by_token_, raw(tokens[i]), entry_for(id, tokens[i], tokens[i]));
    if (!by_token_.is_long(raw(tokens[i]))) continue;
    for (std::size_t j = i + 1; j < tokens.size(); ++j) {
      if (!by_token_.is_long(raw(tokens[j]))) continue;
      visit(by_pair_, pairs_.number(tokens[i], tokens[j]), entry_for(id, tokens[i], tokens[j]));
    }
  }
}

template <typename Visit>
void BoundedLists::for_each_long_partner(SubscriptionId id, Token token, Visit&& visit) const {
  for (const Token other : state_.subscriptions.tokens(id)) {
    if (other != token && by_token_.is_long(raw(other))) visit(other);
  }
}

void BoundedLists::insert(SubscriptionId id) {
  for_each_list(id, [&](EntryLists& lists, std::size_t key, const Entry& entry) {
    lists.add(key, entry);
    if (&lists == &by_pair_) settle_pair(static_cast<std::uint32_t>(key));
  });
  for (const Token token : state_.subscriptions.tokens(id)) {
    if (!by_token_.is_long(raw(token)) && by_token_.should_be_long(raw(token))) make_long(token);
  }
}

void BoundedLists::erase(SubscriptionId id) {
  for_each_list(id, [&](EntryLists& lists, std::size_t key, const Entry& entry) {
    lists.remove(key, entry);
    if (&lists == &by_pair_) settle_pair(static_cast<std::uint32_t>(key));
  });
  for (const Token token : state_.subscriptions.tokens(id)) {
    if (by_token_.is_long(raw(token)) && by_token_.should_be_short(raw(token))) make_short(token);
  }
}

void BoundedLists::threshold_changed(SubscriptionId id, Units) {
  for_each_list(id, [&](EntryLists& lists, std::size_t key, const Entry& entry) {
    lists.set_slack(key, entry);
  });
}

/// Puts the subscriptions of a list that became long into the lists of pairs with other long
/// tokens.
void BoundedLists::make_long(Token token) {
  std::vector<Entry> all;
  by_token_.collect(raw(token), all);
  for (const Entry& entry : all) {
    for_each_long_partner(entry.id, token, [&](Token other) {
      const Token a = std::min(token, other), b = std::max(token, other);
      const std::uint32_t pair = pairs_.number(a, b);
      by_pair_.add(pair, entry_for(entry.id, a, b));
      settle_pair(pair);
    });
  }
  by_token_.make_long(raw(token));
}

void BoundedLists::make_short(Token token) {
  std::vector<Entry> all;
  by_token_.collect(raw(token), all);
  by_token_.make_short(raw(token));
  for (const Entry& entry : all) {
    for_each_long_partner(entry.id, token, [&](Token other) {
      const Token a = std::min(token, other), b = std::max(token, other);
      const std::uint32_t pair = pairs_.number(a, b);
      by_pair_.remove(pair, entry_for(entry.id, a, b));
      settle_pair(pair);
    });
  }
}

void BoundedLists::settle_pair(std::uint32_t pair) {
  if (by_pair_.size(pair) == 0) {
    if (by_pair_.is_long(pair)) by_pair_.make_short(pair);
    pairs_.forget(pair);
  } else if (by_pair_.is_long(pair)) {
    if (by_pair_.should_be_short(pair)) by_pair_.make_short(pair);
  } else if (by_pair_.should_be_long(pair)) {
    by_pair_.make_long(pair);
  }
}

void BoundedLists::clear() {
  by_token_.clear();
  by_pair_.clear();
  pairs_ = TokenPairs{};
}

std::size_t BoundedLists::memory_bytes() const {
  return by_token_.memory_bytes() + by_pair_.memory_bytes() + pairs_.memory_bytes();
}

void BoundedLists::check_invariants() const {
  std::size_t expected = 0, expected_pairs = 0, listed = 0, listed_pairs = 0;
  state_.subscriptions.for_each([&](SubscriptionId id) {
    std::size_t long_ones = 0;
    for (const Token token : state_.subscriptions.tokens(id)) {
      ++expected;
      if (by_token_.is_long(raw(token))) ++long_ones;
    }
    expected_pairs += long_ones * (long_ones - 1) / 2;
  });
  const auto check = [](const EntryLists& lists, std::size_t& total) {
    for (std::size_t key = 0; key < lists.keys(); ++key) {
      total += lists.size(key);
      if (lists.is_long(key)) lists.longs().check(lists.long_list(key));
    }
  };
  check(by_token_, listed);
  check(by_pair_, listed_pairs);
  ensure(listed == expected, "bounded-lists: as many entries as subscriptions have tokens");
  ensure(listed_pairs == expected_pairs,
         "bounded-lists: as many entries as subscriptions have pairs of long tokens");
}

}  // namespace nearcast

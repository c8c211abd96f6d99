/// Which buffers does a newcomer enter? The search of BoundedLists.
#include <algorithm>

#include "nearcast/topk/arrival/bounded_lists/bounded_lists.h"

namespace nearcast {

namespace bounded_lists {
namespace plain {
using Kernels = PlainKernels;
#include "nearcast/topk/arrival/bounded_lists/search.inc.h"
}  // namespace plain

#if NEARCAST_HAS_AVX2_ARRIVAL
#pragma GCC push_options
#pragma GCC target("avx2,bmi,popcnt")
namespace avx2 {
using Kernels = Avx2Kernels;
#include "nearcast/topk/arrival/bounded_lists/search.inc.h"

void read(Search& search, const EntryLists& lists, std::size_t key, const Query& query,
          bool counts_others) {
  search.read(lists, key, query, counts_others);
}
}  // namespace avx2
#pragma GCC pop_options
#endif
}  // namespace bounded_lists

BoundedLists::Newcomer BoundedLists::meet(MessageId message) const {
  Newcomer newcomer{};
  double most_said = 1;
  for (const std::uint32_t count : state_.messages.counts(message))
    most_said = std::max(most_said, static_cast<double>(count));
  for (const Token token : state_.messages.tokens(message))
    newcomer.query.said.add(bounded_lists::print_of(token));
  newcomer.unit = 1 / state_.length(message);
  newcomer.query.at = frame_.point(state_.messages.centre(message));
  newcomer.query.near_x = static_cast<float>(frame_.cell_width() / state_.max_distance);
  newcomer.query.near_y = static_cast<float>(frame_.cell_height() / state_.max_distance);
  newcomer.query.max_other_weight =
      static_cast<float>((*state_.weights)[kUnknownToken] * most_said * newcomer.unit);
  return newcomer;
}

/// Writes to scratch_.readings which lists are to be read: those of the newcomer's tokens, and of
/// pairs of them. They are all over the memory, so each step prefetches, for all lists, what the
/// next step reads.
void BoundedLists::choose_lists(MessageId message, double unit) {
  const TokenSpan tokens = state_.messages.tokens(message);
  const std::span<const std::uint32_t> counts = state_.messages.counts(message);
  const TokenWeights& weights = *state_.weights;
  std::vector<Reading>& readings = scratch_.readings;
  std::vector<std::uint32_t>& long_tokens = scratch_.long_tokens;
  readings.clear();
  long_tokens.clear();
  for (const Token token : tokens) by_token_.prefetch(raw(token), 0);
  for (std::uint32_t i = 0; i < tokens.size(); ++i) {
    by_token_.prefetch(raw(tokens[i]), 1);
    if (by_token_.is_long(raw(tokens[i]))) long_tokens.push_back(i);
  }
  const bool by_pairs = long_tokens.size() <= most_long_tokens_;
  for (std::size_t i = 0; by_pairs && i < long_tokens.size(); ++i) {
    for (std::size_t j = i + 1; j < long_tokens.size(); ++j)
      pairs_.prefetch(tokens[long_tokens[i]], tokens[long_tokens[j]]);
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (by_token_.size(raw(tokens[i])) == 0) continue;
    const double said = count_at(counts, i) * weights[tokens[i]];
    readings.push_back({&by_token_, raw(tokens[i]), static_cast<float>(said * unit), !by_pairs});
    by_token_.prefetch(raw(tokens[i]), 2);
  }
  const std::size_t first_pair = readings.size();
  for (std::size_t i = 0; by_pairs && i < long_tokens.size(); ++i) {
    for (std::size_t j = i + 1; j < long_tokens.size(); ++j) {
      const std::uint32_t a = long_tokens[i], b = long_tokens[j];
      const std::uint32_t pair = pairs_.find(tokens[a], tokens[b]);
      if (pair == TokenPairs::kNone) continue;
      const double idf_a = weights[tokens[a]], idf_b = weights[tokens[b]];
      const double squares = idf_a * idf_a + idf_b * idf_b;
      const double said = count_at(counts, a) * idf_a * idf_a + count_at(counts, b) * idf_b * idf_b;
      const double token_weight = said / squares * std::max(idf_a, idf_b) * unit;
      readings.push_back({&by_pair_, pair, static_cast<float>(token_weight), true});
      by_pair_.prefetch(pair, 0);
    }
  }
  for (const int step : {1, 2}) {
    for (std::size_t i = first_pair; i < readings.size(); ++i)
      by_pair_.prefetch(readings[i].key, step);
  }
}

void BoundedLists::find(MessageId message, std::vector<ArrivalHit>& out, WorkCounters& work) {
  if (state_.messages.tokens(message).empty()) return;
  const Newcomer newcomer = meet(message);
  choose_lists(message, newcomer.unit);
  bounded_lists::Query query = newcomer.query;
  scratch_.candidates.clear();
  for (const Reading& reading : scratch_.readings) {
    query.token_weight = reading.token_weight;
#if NEARCAST_HAS_AVX2_ARRIVAL
    if (uses_avx2_) {
      bounded_lists::avx2::Search search{scratch_.blocks, scratch_.candidates, work};
      bounded_lists::avx2::read(search, *reading.lists, reading.key, query, reading.counts_others);
      continue;
    }
#endif
    bounded_lists::plain::Search{scratch_.blocks, scratch_.candidates, work}.read(
        *reading.lists, reading.key, query, reading.counts_others);
  }
  work.verified += scratch_.candidates.size();
  verify(message, out);
}

/// Scores all entries that passed. What a common token adds depends on the newcomer only, so it is
/// computed once; the sums are those of common_product().
void BoundedLists::verify(MessageId message, std::vector<ArrivalHit>& out) {
  const std::vector<SubscriptionId>& candidates = scratch_.candidates;
  const auto before = static_cast<std::ptrdiff_t>(out.size());
  const TokenSpan said = state_.messages.tokens(message);
  const std::span<const std::uint32_t> counts = state_.messages.counts(message);
  scratch_.brings.resize(said.size());
  for (std::size_t i = 0; i < said.size(); ++i) {
    scratch_.brings[i] = common_part(said, counts, *state_.weights, i);
  }
  constexpr std::size_t kAhead = 8;
  const auto prefetch = [&](std::size_t i) {
    if (i < candidates.size()) state_.subscriptions.prefetch(candidates[i]);
  };
  const auto prefetch_tokens = [&](std::size_t i) {
    if (i < candidates.size()) state_.subscriptions.prefetch_tokens(candidates[i]);
  };
  for (std::size_t i = 0; i < 2 * kAhead; ++i) prefetch(i);
  for (std::size_t i = 0; i < kAhead; ++i) prefetch_tokens(i);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    prefetch(i + 2 * kAhead);
    prefetch_tokens(i + kAhead);
    const SubscriptionId id = candidates[i];
    const double product = sum_of_common(state_.subscriptions.tokens(id), said,
                                         [&](std::size_t at) { return scratch_.brings[at]; });
    if (product == 0) continue;
    const Units units = units_of(state_.score(id, message, product));
    if (units >= state_.buffers.threshold(id)) out.push_back({id, units});
  }
  // A subscription with several common tokens was found in several lists.
  const auto first = out.begin() + before;
  std::sort(first, out.end(), [](const ArrivalHit& a, const ArrivalHit& b) { return a.id < b.id; });
  const auto is_same = [](const ArrivalHit& a, const ArrivalHit& b) { return a.id == b.id; };
  out.erase(std::unique(first, out.end(), is_same), out.end());
}

}  // namespace nearcast

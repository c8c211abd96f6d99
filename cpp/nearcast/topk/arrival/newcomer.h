/// A newcomer in the form that the papers' kinds use: its tokens in one global order, with bounds
/// of what each token and those behind it can add. [Skype §5.1.1 equations 3 and 4]
///
/// The order is by falling token number: words that occurred late are mostly rare, and a prefix of
/// rare words prunes most. Weights are components of a vector of unit length.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "nearcast/topk/arrival/arrival_index.h"
#include "nearcast/topk/top_state.h"

namespace nearcast {

struct Newcomer {
  struct Term {
    Token token;
    double weight;
    double weight_sum, max_weight;  ///< wtsum and maxwt: of this one and all behind it
  };

  void read(const TopState& state, MessageId message) {
    id = message;
    at = state.messages.centre(message);
    const TokenSpan tokens = state.messages.tokens(message);
    const auto counts = state.messages.counts(message);
    terms.resize(tokens.size() + 1);
    terms.back() = {};
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const Term& behind = terms[tokens.size() - i];
      const double weight =
          count_at(counts, i) * (*state.weights)[tokens[i]] / state.length(message);
      terms[tokens.size() - 1 - i] = {tokens[i], weight, behind.weight_sum + weight,
                                      std::max(behind.max_weight, weight)};
    }
  }
  std::size_t size() const { return terms.size() - 1; }

  MessageId id;
  Point at;
  std::vector<Term> terms;  ///< one more than there are tokens: the last has no weight
};

/// The distance from a point to the nearest point of a box. [Skype §5.1.2 Definition 7]
inline double distance_to(const Rect& bounds, Point at) {
  const double lon = std::max({bounds.west - at.lon, at.lon - bounds.east, 0.0});
  const double lat = std::max({bounds.south - at.lat, at.lat - bounds.north, 0.0});
  return std::sqrt(lon * lon + lat * lat);
}

/// Score the candidates, each once, and report those whose buffers the newcomer enters.
inline void verify(const TopState& state, MessageId message,
                   const std::vector<SubscriptionId>& candidates, std::vector<ArrivalHit>& out,
                   WorkCounters& work) {
  constexpr std::size_t kAhead = 8;
  for (std::size_t i = 0; i < std::min(2 * kAhead, candidates.size()); ++i)
    state.subscriptions.prefetch(candidates[i]);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i + 2 * kAhead < candidates.size())
      state.subscriptions.prefetch(candidates[i + 2 * kAhead]);
    if (i + kAhead < candidates.size()) state.subscriptions.prefetch_tokens(candidates[i + kAhead]);
    const Units units = units_of(state.score(candidates[i], message));
    if (units >= state.buffers.threshold(candidates[i])) out.push_back({candidates[i], units});
  }
  work.verified += candidates.size();
}

}  // namespace nearcast

/// How well does a message suit a top subscription? The only definition of the score in the core:
/// indexes bound it, this decides.
///
///   Score = α·SSim + (1 − α)·TSim      [Skype §3 equation 1]
///
/// SSim = 1 − distance / MaxDist, Euclidean in degrees; it is negative where the hub's space is
/// smaller than the data. TSim is the cosine of tf-idf vectors: a subscription has each token once,
/// a message as often as it says it, and all tokens of the message count in its length.
///
/// Scores are compared in whole units of 10⁻⁹, so that the way of summing cannot decide. A unit
/// count is a double: it is a whole number in it at any size, and there is no largest one.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "nearcast/geo/rect.h"
#include "nearcast/text/token_set.h"
#include "nearcast/text/token_weights.h"

namespace nearcast {

constexpr std::uint32_t kMaxK = 0x7FFFFFFF;

/// What a top subscription requires besides its keywords.
struct TopTerms {
  Point at;
  std::uint32_t k = 1;  ///< to kMaxK
  double alpha = 0;     ///< 0 to 1: how much nearness counts, against text
};

using Units = double;                                                     ///< a whole number
constexpr Units kLowestUnits = -std::numeric_limits<double>::infinity();  ///< below every score

/// The nearest whole number of units; halves go to the even one.
inline Units units_of(double score) {
  const double scaled = score * 1e9;
  // Adding and taking away 1.5·2⁵² leaves no bits behind the point: the rounding of an addition is
  // the one we want, and there is no call. Larger numbers are rare, and very large ones whole.
  constexpr double kShift = 6755399441055744.0;
  if (std::fabs(scaled) < 2251799813685248.0) return (scaled + kShift) - kShift;
  return std::nearbyint(scaled);
}

/// How often the i-th token is said; no counts: once each.
inline double count_at(std::span<const std::uint32_t> counts, std::size_t i) {
  return counts.empty() ? 1.0 : static_cast<double>(counts[i]);
}

/// The length of a tf-idf vector.
inline double vector_length(TokenSpan tokens, std::span<const std::uint32_t> counts,
                            const TokenWeights& weights) {
  double sum = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const double part = count_at(counts, i) * weights[tokens[i]];
    sum += part * part;
  }
  return std::sqrt(sum);
}

/// The sum over common tokens of brings(i), for the message's i-th token; 0 if there are none.
template <typename Brings>
double sum_of_common(TokenSpan wanted, TokenSpan said, Brings&& brings) {
  double sum = 0;
  std::size_t at = 0;
  for (const Token token : wanted) {
    while (at < said.size() && said[at] < token) ++at;
    if (at == said.size()) break;
    if (said[at] == token) sum += brings(at);
  }
  return sum;
}

/// What the message's i-th token adds to the product with a subscription that has it.
inline double common_part(TokenSpan said, std::span<const std::uint32_t> counts,
                          const TokenWeights& weights, std::size_t i) {
  return count_at(counts, i) * weights[said[i]] * weights[said[i]];
}

/// The product of a subscription's vector and a message's; 0 if they share no token.
inline double common_product(TokenSpan wanted, TokenSpan said,
                             std::span<const std::uint32_t> counts, const TokenWeights& weights) {
  return sum_of_common(wanted, said,
                       [&](std::size_t i) { return common_part(said, counts, weights, i); });
}

inline double distance_between(Point a, Point b) {
  const double lon = a.lon - b.lon, lat = a.lat - b.lat;
  return std::sqrt(lon * lon + lat * lat);
}

/// `lengths` is the product of the two vectors' lengths.
inline double top_score(double alpha, double distance, double max_distance, double product,
                        double lengths) {
  return alpha * (1 - distance / max_distance) + (1 - alpha) * (product / lengths);
}

}  // namespace nearcast

/// How well does a message suit a rank subscription? The only definition of the score in the core:
/// an index may bound it, this decides.
///
///   ψ = α·ψ_s + (1 − α)·ψ_t      [Rt §6 equation 3]
///
/// ψ_t is the share of the subscription's token weight that the message has. ψ_s is, in this order:
/// of a point message 1 if it touches the area, else 0; of an area without size 1 if the message
/// covers it wholly, else 0; otherwise the share of the area that the message covers, in square
/// degrees. The paper leaves the first two undefined (0/0, or 0 for every point).
///
/// Scores are compared in whole units of 10⁻⁹, so that the way of summing cannot decide.
#pragma once

#include <cmath>
#include <cstdint>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "nearcast/geo/place.h"
#include "nearcast/model/message.h"
#include "nearcast/text/token_set.h"
#include "nearcast/text/token_weights.h"

namespace nearcast {

/// What a rank subscription requires besides its keywords and its area.
struct RankTerms {
  double alpha = 0;      ///< 0 to 1: how much space counts, against text
  double threshold = 0;  ///< above 0, to 1

  friend bool operator==(const RankTerms&, const RankTerms&) = default;
};

/// The nearest whole number of units; halves go to the even one.
inline std::int64_t score_units(double score) {
#if defined(__x86_64__)
  return _mm_cvtsd_si64(_mm_set_sd(score * 1e9));  // the same, without a call
#else
  return std::llrint(score * 1e9);
#endif
}

inline bool reaches(double score, double threshold) {
  return score_units(score) >= score_units(threshold);
}

/// ψ_s; the area is a box, or a box across the antimeridian.
double spatial_similarity(const Place& area, const Place& place);

/// ψ_t; `weight` is that of all the subscription's tokens.
double textual_similarity(TokenSpan wanted, double weight, TokenSpan said,
                          const TokenWeights& weights);

inline double combine(double alpha, double spatial, double textual) {
  return alpha * spatial + (1 - alpha) * textual;
}

}  // namespace nearcast

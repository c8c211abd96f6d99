/// How much of its text does a subscription need to find in a message? [Rt §6.2 equations 5 and 6]
///
///   paper     here               meaning
///   B_t^l     with_contact       share of the token weight needed if the message touches the area
///                                (ψ_s ≤ 1)
///   B_t^u     without_contact    share needed if it is elsewhere (ψ_s = 0)
///   PRE(s)    prefix_length      first tokens, in the index's order, of which a message must have
///                                one: with all others together it would stay below the share
///
/// Departs from the paper: PRE(s) is the *shortest* such prefix, and the others must stay
/// *strictly* below (the paper says longest and ≤). A share of 0 or less is needed by no message:
/// there is no prefix, and text must not prune (θ ≤ α). A share above 1 is out of reach: the prefix
/// is empty, and text prunes always. The paper's footnote 3 does not tell the two apart.
///
/// Shares are computed for a goal that lies one unit below the threshold: rounding errors, here and
/// in the score, are a million times smaller, so no answer is lost.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "nearcast/model/rank_score.h"

namespace nearcast {

/// A score below this is certainly below the threshold.
inline double score_goal(double threshold) {
  return static_cast<double>(score_units(threshold) - 1) * 1e-9;
}

struct TextNeeds {
  double with_contact, without_contact;

  explicit TextNeeds(const RankTerms& terms) {
    constexpr double kOutOfReach = std::numeric_limits<double>::infinity();
    const double goal = score_goal(terms.threshold);
    const double text = 1 - terms.alpha;
    // If α = 1 nothing is divided by 0: the goal is below 1.
    with_contact = goal <= terms.alpha ? 0 : (goal - terms.alpha) / text;
    without_contact = goal <= 0 ? 0 : text < goal ? kOutOfReach : goal / text;
  }
};

/// How many of the weights, from the first on, make the prefix for a share above 0? `total` is
/// their sum.
inline std::size_t prefix_length(std::span<const double> weights, double total, double share) {
  // The sum of the rest is built up from the last one: it needs no subtraction, and so no error of
  // the size of the total.
  double rest = 0;
  std::size_t length = weights.size();
  while (length > 0 && rest + weights[length - 1] < share * total) rest += weights[--length];
  return length;
}

/// A message must have one of a subscription's first `near` tokens if it touches the area, one of
/// the first `far`, which are no more, if it does not.
struct Prefixes {
  static constexpr std::uint16_t kNothingNeeded = 0xFFFF;  ///< more than any prefix

  std::uint16_t near, far;

  Prefixes() = default;
  Prefixes(const RankTerms& terms, std::span<const double> weights, double total) {
    const TextNeeds needs(terms);
    const auto length = [&](double share) {
      return share <= 0 ? kNothingNeeded
                        : static_cast<std::uint16_t>(prefix_length(weights, total, share));
    };
    near = length(needs.with_contact);
    far = length(needs.without_contact);
  }
};

}  // namespace nearcast

/// By which tokens can a subscription be found? The prefixes of rank/text_needs.h, taken one step
/// further: if the first token that is found does not suffice, which one can be the second?
/// [Rt §6.2]
///
/// A subscription's tokens are taken in an order of the caller's, rarest first. A message that
/// reaches the threshold has a first one of them, at a position within the prefix. Either that one
/// alone may suffice, or there is a second one, and it lies before the point from which on all the
/// rest together would not make up for what is missing. So a route is one token or a pair.
///
///   near    for messages that touch the area: found in the list of the first token, by box, and by
///           the second token where there is only one that can be it
///   far     for messages anywhere; whoever is found by a far route needs no near one
///
/// Weights need not be equal: the prefixes are sums of weights.
#pragma once

#include <span>
#include <vector>

#include "nearcast/base/ids.h"
#include "nearcast/rank/text_needs.h"

namespace nearcast {

struct RankRoute {
  Token first;   ///< kUnknownToken: no token is needed
  Token second;  ///< kUnknownToken: the first may suffice, or any of several can be the second

  friend bool operator==(const RankRoute&, const RankRoute&) = default;
};

/// Keeps its memory between calls.
class RankRoutes {
 public:
  /// `weights` are those of `tokens`, `total` is their sum.
  void find(std::span<const Token> tokens, std::span<const double> weights, double total,
            const RankTerms& terms);

  std::span<const RankRoute> near() const { return near_; }
  std::span<const RankRoute> far() const { return far_; }

 private:
  /// More pairs than this are not worth their memory: first tokens alone lead to the subscription.
  static constexpr std::size_t kMaxPairs = 24;

  /// Positions that can be the second after `first`: up to the one returned, none if it is `first`.
  std::size_t last_second(std::size_t first, double needed) const;
  void add_far(std::size_t prefix, double needed);
  void add_near(std::size_t prefix, double needed, std::size_t far_prefix, double far_needed);

  std::span<const Token> tokens_;
  std::span<const double> weights_;
  bool has_far_pairs_ = false;
  std::vector<RankRoute> near_, far_;
};

}  // namespace nearcast

/// By which tokens can a subscription be found? The prefixes of rank/text_needs.h, taken one step
/// further: if the first token of a subscription that a message has is not enough to reach the
/// threshold, which tokens can be the second one? [Rt §6.2]
///
/// A subscription's tokens are taken in the caller's order, rarest first. The first of them that a
/// message has, if it reaches the threshold, is within the prefix. Either that token alone may
/// suffice, or the message has a second one, at a position from which on the remaining weight is
/// still large enough. So a route is one token or a pair.
///
///   near    for messages that touch the area: found in the list of the first token, by box, and by
///           the second token where there is only one that can be it
///   far     for messages anywhere; a subscription with a far route needs no near one
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

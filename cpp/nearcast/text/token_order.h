/// A total order of tokens, fixed while an index is built on it: the most frequent first [AP
/// §5.1.1], or the rarest.
///
/// Tokens that come later rank behind all others in the order of their arrival: whatever is new is
/// rare, and where rare ones come first it is out of the way of those that are known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"

namespace nearcast {

using Rank = std::uint32_t;

class TokenOrder {
 public:
  static constexpr Rank kUnranked = 0xFFFFFFFFu;

  std::size_t size() const { return ranked_; }

  /// The token's rank, or kUnranked: no subscription had it, so no message can need it.
  Rank rank(Token token) const {
    return raw(token) < ranks_.size() && ranks_[raw(token)] != 0 ? ranks_[raw(token)] - 1
                                                                 : kUnranked;
  }

  Rank rank_or_append(Token token) {
    if (raw(token) >= ranks_.size()) ranks_.resize(raw(token) + 1);
    Rank& rank = ranks_[raw(token)];
    if (rank == 0) rank = ++ranked_;
    return rank - 1;
  }

  enum class First { kFrequent, kRare };

  /// Order anew by count (a token's position is its number), equal counts by number.
  void order_by(std::span<const std::uint32_t> counts, First first = First::kFrequent) {
    std::vector<std::uint32_t> tokens;
    for (std::uint32_t token = 0; token < counts.size(); ++token) {
      if (counts[token] != 0) tokens.push_back(token);
    }
    std::stable_sort(tokens.begin(), tokens.end(), [&](std::uint32_t a, std::uint32_t b) {
      return first == First::kFrequent ? counts[a] > counts[b] : counts[a] < counts[b];
    });
    ranks_.clear();
    ranks_.resize(counts.size());
    ranked_ = 0;
    for (const std::uint32_t token : tokens) ranks_[token] = ++ranked_;
  }

  std::size_t memory_bytes() const { return ranks_.memory_bytes(); }

 private:
  Array<std::uint32_t> ranks_;  ///< rank + 1 by token; 0: unranked
  std::uint32_t ranked_ = 0;
};

}  // namespace nearcast

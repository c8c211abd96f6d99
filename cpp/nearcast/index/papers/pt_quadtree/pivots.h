/// Which of its tokens stands for an entry? [LFilter §4.1]
#pragma once

#include <span>
#include <vector>

#include "nearcast/model/subscription_store.h"

namespace nearcast {

using PivotKey = std::uint32_t;  ///< 1 + token; 0: the entry needs no token

inline PivotKey pivot_key(Token token) { return raw(token) + 1; }

/// kFrequent: few tokens for all, by the greedy hitting set: the token that most entries have, then
/// the token that most of the rest have, and so on. kRare: for each entry its rarest token.
enum class PivotRule { kFrequent, kRare };

/// How many entries have a token, among all of an index.
class TokenUses {
 public:
  void clear() { counts_.clear(); }
  void add(TokenSpan tokens, int step);
  std::uint32_t operator[](Token token) const {
    return raw(token) < counts_.size() ? counts_[raw(token)] : 0;
  }

  std::size_t memory_bytes() const { return counts_.memory_bytes(); }

 private:
  Array<std::uint32_t> counts_;
};

/// The pivot of one entry by itself: its most frequent or its rarest token.
PivotKey choose_pivot(TokenSpan tokens, const TokenUses& counts, PivotRule rule);

/// Pivots for entries that share a place in the tree: one per set of tokens.
std::vector<PivotKey> choose_pivots(std::span<const TokenSpan> sets, const TokenUses& counts,
                                    PivotRule rule);

}  // namespace nearcast

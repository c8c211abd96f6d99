/// A total order of tokens, fixed while an index is built on it: the most frequent first [AP
/// §5.1.1], or the rarest.
///
/// Tokens that come later are placed behind all others, in the order of their arrival. A new token
/// is rare, so this is right where frequent tokens come first; where rare ones come first it leaves
/// the positions of known tokens as they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"

namespace nearcast {

using Position = std::uint32_t;

class TokenOrder {
 public:
  static constexpr Position kUnplaced = 0xFFFFFFFFu;

  std::size_t size() const { return placed_; }

  /// The token's position, or kUnplaced: no subscription had it, so no message can need it.
  Position position(Token token) const {
    return raw(token) < positions_.size() && positions_[raw(token)] != 0
               ? positions_[raw(token)] - 1
               : kUnplaced;
  }

  Position position_or_append(Token token) {
    if (raw(token) >= positions_.size()) positions_.resize(raw(token) + 1);
    Position& position = positions_[raw(token)];
    if (position == 0) position = ++placed_;
    return position - 1;
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
    positions_.clear();
    positions_.resize(counts.size());
    placed_ = 0;
    for (const std::uint32_t token : tokens) positions_[token] = ++placed_;
  }

  std::size_t memory_bytes() const { return positions_.memory_bytes(); }

 private:
  Array<std::uint32_t> positions_;  ///< position + 1 by token; 0: it has none
  std::uint32_t placed_ = 0;
};

}  // namespace nearcast

/// A message that is not kept, as top lists are asked about it, and their answer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "nearcast/geo/rect.h"
#include "nearcast/text/token_set.h"

namespace nearcast {

struct TopQuestion {
  TokenSpan tokens;                       ///< known ones, ascending and distinct
  std::span<const std::uint32_t> counts;  ///< how often each occurs; empty: once
  double length;                          ///< of the vector of all its words
  Point at;
};

struct TopVerdict {
  double spatial = 0, textual = 0, score = 0;
  std::optional<double> last_score;  ///< of the k-th in the list; nothing: there is room
  bool is_better = false;            ///< shares a word, and is among the k best
};

}  // namespace nearcast

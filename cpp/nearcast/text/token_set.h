/// Sets of tokens as ascending spans: is one inside the other, do they meet?
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "nearcast/base/ids.h"

namespace nearcast {

using TokenSpan = std::span<const Token>;

inline bool contains(TokenSpan set, Token token) {
  return std::binary_search(set.begin(), set.end(), token);
}

/// Is every token of `few` in `many`? Meant for few: a handful of keywords against a message.
inline bool contains_all(TokenSpan many, TokenSpan few) {
  for (const Token token : few) {
    const auto found = std::lower_bound(many.begin(), many.end(), token);
    if (found == many.end() || *found != token) return false;
    many = {found + 1, many.end()};
  }
  return true;
}

inline bool contains_any(TokenSpan many, TokenSpan few) {
  return std::any_of(few.begin(), few.end(), [&](Token token) { return contains(many, token); });
}

inline void sort_unique(std::vector<Token>& tokens) {
  if (tokens.size() <= 24) {  // a short message: moving beats calling
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      const Token token = tokens[i];
      std::size_t at = i;
      for (; at > 0 && token < tokens[at - 1]; --at) tokens[at] = tokens[at - 1];
      tokens[at] = token;
    }
  } else {
    std::sort(tokens.begin(), tokens.end());
  }
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
}

}  // namespace nearcast

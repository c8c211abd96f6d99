/// What trees with tokens file an entry under: its positive tokens, or one that all messages have.
///
/// A clause without positive tokens requires no word, so no filter by words may drop it. It is
/// filed under kNoKeyword, which is not in the vocabulary and which every message is treated as
/// containing; so no filter needs an exception for it. [Rt §3.2 token filter, which has no such
/// subscriptions]
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "nearcast/base/errors.h"
#include "nearcast/model/subscription.h"
#include "nearcast/text/token_set.h"

namespace nearcast {

enum class TokenKey : std::uint32_t {};  ///< 31 bits
constexpr TokenKey kNoKey{0};            ///< of an empty cell
constexpr TokenKey kNoKeyword{1};

inline TokenKey key_of(Token token) {
  ensure(raw(token) < 0x7FFFFFFDu, "a vocabulary of more than 2^31 words");
  return TokenKey{raw(token) + 2};
}

inline Token token_of(TokenKey key) { return Token{raw(key) - 2}; }  ///< not of kNoKeyword

/// How many keys a clause has: at least one.
inline std::size_t key_count(const Clause& clause) {
  return std::max<std::size_t>(1, clause.positive.size());
}

template <typename Visit>
void for_each_key(const Clause& clause, Visit&& visit) {
  for (const Token token : clause.positive) visit(key_of(token));
  if (clause.positive.empty()) visit(kNoKeyword);
}

/// Append the keys of a message. kNoKeyword comes last: few nodes have it, and a search for any
/// common key should try the likely ones first.
inline void append_message_keys(TokenSpan tokens, std::vector<std::uint32_t>& keys) {
  for (const Token token : tokens) {
    // No subscription has a token this large.
    if (raw(token) < 0x7FFFFFFDu) keys.push_back(raw(key_of(token)));
  }
  keys.push_back(raw(kNoKeyword));
}

}  // namespace nearcast

/// A message in 64 bits: enough to rule out most of a million messages without reading them.
///
/// One bit says that the message is live, one that its place is a box; each of its tokens sets
/// three of the others. If a message has some tokens, its outline has their bits. The reverse is
/// not certain: about one in 30 messages of 8 words has the bits of a given word without the word.
#pragma once

#include <cstdint>

#include "nearcast/base/hash.h"
#include "nearcast/text/token_set.h"

namespace nearcast {

using Outline = std::uint64_t;

constexpr Outline kLiveOutline = Outline{1} << 63;
constexpr Outline kBoxOutline = Outline{1} << 62;

inline Outline outline_of(Token token) {
  constexpr std::uint32_t kBits = 62;
  const std::uint32_t hash = hash_of(std::uint64_t{raw(token)});
  const auto bit = [&](int shift) {
    return Outline{1} << (((hash >> shift & 0x3FF) * kBits) >> 10);
  };
  return bit(0) | bit(10) | bit(20);
}

/// The bits that the outline of any live message with all these tokens has.
inline Outline outline_of(TokenSpan tokens) {
  Outline outline = kLiveOutline;
  for (const Token token : tokens) outline |= outline_of(token);
  return outline;
}

inline bool may_have(Outline message, Outline wanted) { return (message & wanted) == wanted; }

}  // namespace nearcast

/// A set of tokens in 32 bits, so that a posting has room for it. If one set is inside another, so
/// are its bits; the reverse is probable but not certain.
#pragma once

#include <cstdint>

#include "nearcast/base/hash.h"
#include "nearcast/text/token_set.h"

namespace nearcast {

inline std::uint32_t signature_of(TokenSpan tokens) {
  std::uint32_t signature = 0;
  for (const Token token : tokens) signature |= std::uint32_t{1} << (hash_of(raw(token)) >> 27);
  return signature;
}

}  // namespace nearcast

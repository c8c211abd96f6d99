/// Are these bytes text? The core knows no Unicode beyond how UTF-8 writes a character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "nearcast/base/utf8.h"

namespace nearcast {

inline bool is_ascii(std::string_view bytes) {
  std::uint64_t seen = 0;  // without a branch per word, so that the compiler takes several at once
  std::size_t at = 0;
  for (; at + sizeof(seen) <= bytes.size(); at += sizeof(seen)) {
    std::uint64_t eight;
    std::memcpy(&eight, bytes.data() + at, sizeof(eight));
    seen |= eight;
  }
  for (; at < bytes.size(); ++at) seen |= static_cast<unsigned char>(bytes[at]);
  return (seen & 0x8080808080808080) == 0;  // the high bit of each byte
}

}  // namespace nearcast

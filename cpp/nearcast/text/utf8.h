/// Are these bytes text? The core knows no Unicode beyond how UTF-8 writes a character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

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

/// Well-formed by Unicode's table 3-7: shortest form, no surrogates, at most U+10FFFF.
inline bool is_utf8(std::string_view bytes) {
  const auto byte_at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  std::size_t at = 0;
  while (at < bytes.size()) {
    const unsigned first = byte_at(at);
    if (first < 0x80) {
      ++at;
      continue;
    }
    const std::size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
    if (first < 0xC2 || first > 0xF4 || bytes.size() - at <= more) return false;
    // The second byte has a narrower range after some first bytes; all others are 80 to BF.
    const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    const unsigned second = byte_at(at + 1);
    if (second < low || second > high) return false;
    for (std::size_t i = 2; i <= more; ++i) {
      if ((byte_at(at + i) & 0xC0) != 0x80) return false;
    }
    at += more + 1;
  }
  return true;
}

}  // namespace nearcast

/// Is this text that Python can decode?
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace nearcast {

/// Well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
inline bool is_utf8(std::string_view text) {
  std::size_t i = 0;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  while (i < text.size()) {
    if (text.size() - i >= 8) {
      std::uint64_t eight;
      std::memcpy(&eight, text.data() + i, sizeof(eight));
      if ((eight & 0x8080808080808080ull) == 0) {
        i += 8;
        continue;
      }
    }
    const unsigned char lead = byte(i++);
    if (lead < 0x80) continue;
    const std::size_t more = lead < 0xC2   ? 0
                             : lead < 0xE0 ? 1
                             : lead < 0xF0 ? 2
                             : lead < 0xF5 ? 3
                                           : 0;
    if (more == 0 || text.size() - i < more) return false;
    const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(i) < low || byte(i) > high) return false;
    for (std::size_t k = 1; k < more; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    }
    i += more;
  }
  return true;
}

}  // namespace nearcast

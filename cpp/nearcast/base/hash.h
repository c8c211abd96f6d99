/// One hash for words and numbers. It has no key, so it does not resist chosen collisions: they
/// make the probes of a table longer, never an answer wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace nearcast {

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline std::uint32_t hash_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(mix(key ^ 0x9E3779B97F4A7C15ull, 0xD6E8FEB86659FD93ull));
}

inline std::uint32_t hash_of(std::string_view word) {
  std::uint64_t state = 0x9E3779B97F4A7C15ull ^ word.size();
  const char* at = word.data();
  std::size_t left = word.size();
  while (left >= 8) {
    std::uint64_t chunk;
    std::memcpy(&chunk, at, 8);
    state = mix(state ^ chunk, 0xD6E8FEB86659FD93ull);
    at += 8;
    left -= 8;
  }
  std::uint64_t tail = 0;
  if (left != 0) std::memcpy(&tail, at, left);
  return static_cast<std::uint32_t>(mix(state ^ tail, 0xA0761D6478BD642Full));
}

}  // namespace nearcast

#include "nearcast/index/ours/message_postings/place_lists.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nearcast::postings {
namespace {

bool touches(Corner low, Corner high, const CellBox& window) {
  const auto x = [](Corner word) { return static_cast<Cell>(word); };
  const auto y = [](Corner word) { return static_cast<Cell>(word >> 16); };
  return (x(low) <= window.east) & (window.west <= x(high)) & (y(low) <= window.north) &
         (window.south <= y(high));
}

std::uint64_t scan_plain(const Corner* low, const Corner* high, std::uint32_t count,
                         std::span<const CellBox> windows) {
  std::uint64_t hits = 0;
  for (const CellBox& window : windows) {
    for (std::uint32_t i = 0; i < count; ++i) {
      hits |= static_cast<std::uint64_t>(touches(low[i], high[i], window)) << i;
    }
  }
  return hits;
}

#if defined(__x86_64__)
#pragma GCC push_options
#pragma GCC target("avx2")
std::uint64_t scan_avx2(const Corner* low, const Corner* high, std::uint32_t count,
                        std::span<const CellBox> windows) {
  std::uint64_t hits = 0;
  const std::uint32_t whole = count & ~7u;
  for (const CellBox& window : windows) {
    const __m256i from = _mm256_set1_epi32(static_cast<int>(corner(window.west, window.south)));
    const __m256i to = _mm256_set1_epi32(static_cast<int>(corner(window.east, window.north)));
    for (std::uint32_t i = 0; i < whole; i += 8) {
      const __m256i lows = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(low + i));
      const __m256i highs = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(high + i));
      // a ≤ b without unsigned comparison: a − b, saturated at zero, is zero.
      const __m256i outside =
          _mm256_or_si256(_mm256_subs_epu16(lows, to), _mm256_subs_epu16(from, highs));
      const __m256i inside = _mm256_cmpeq_epi32(outside, _mm256_setzero_si256());
      const auto mask = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(inside)));
      hits |= static_cast<std::uint64_t>(mask) << i;
    }
  }
  if (whole != count)
    hits |= scan_plain(low + whole, high + whole, count - whole, windows) << whole;
  return hits;
}
#pragma GCC pop_options
#endif

}  // namespace

Scan plain_scan() { return &scan_plain; }

Scan best_scan() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return &scan_avx2;
#endif
  return &scan_plain;
}

void PlaceLists::add(std::size_t key, const CellBox& place, MessageId message) {
  if (key >= lists_.size()) lists_.resize(key + 1);
  List& list = lists_[key];
  if (list.handle.size_class == 0 || list.handle.size == capacity_of(list.handle.size_class)) {
    grow(list);
  }
  const std::uint32_t at = list.handle.start + list.handle.size++;
  *low_.at(at) = corner(place.west, place.south);
  if (corners_ == 2) *high_.at(at) = corner(place.east, place.north);
  *messages_.at(at) = raw(message);
  ++list.live;
}

/// Doubles the capacity: most words are in one message or in many, and moving a list costs reading
/// and writing it.
void PlaceLists::grow(List& list) {
  const std::uint32_t wanted = std::max(1u, 2 * list.handle.size);
  ListHandle low = list.handle, high = list.handle;
  low_.reserve(low, wanted);
  if (corners_ == 2) high_.reserve(high, wanted);
  messages_.reserve(list.handle, wanted);
}

void PlaceLists::set_split(std::size_t key, std::uint32_t number) {
  List& list = lists_[key];
  ListHandle low = list.handle, high = list.handle;
  low_.release(low);
  if (corners_ == 2) high_.release(high);
  messages_.release(list.handle);
  list.split = number;
}

void PlaceLists::clear() {
  lists_.clear();
  low_ = {};
  high_ = {};
  messages_ = {};
}

std::size_t PlaceLists::memory_bytes() const {
  return lists_.memory_bytes() + low_.memory_bytes() + high_.memory_bytes() +
         messages_.memory_bytes();
}

}  // namespace nearcast::postings

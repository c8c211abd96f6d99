/// The few instructions that matching spends its time in: does a query overlap each of many boxes?
///
/// Two forms of the same functions: for AVX2, and plain loops that compile anywhere. Which one runs
/// is decided once, when the index is made.
#pragma once

#include <cstdint>

#include "nearcast/index/auto/frame.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define NEARCAST_HAS_AVX2_KERNELS 1
#endif

namespace nearcast::automatic {

/// Boxes whose columns lie `stride` apart: west, east, south, north.
struct Columns {
  const Cell* west;
  std::uint32_t stride;
};

/// A query as the kernels want it, and its upper halves for directories.
struct Query {
  CellBox box;

  std::uint8_t west8() const { return static_cast<std::uint8_t>(box.west >> 8); }
  std::uint8_t east8() const { return static_cast<std::uint8_t>(box.east >> 8); }
  std::uint8_t south8() const { return static_cast<std::uint8_t>(box.south >> 8); }
  std::uint8_t north8() const { return static_cast<std::uint8_t>(box.north >> 8); }
};

struct PlainKernels {
  /// Bit i: box i of the first 16 overlaps the query. Bits of places beyond the list are arbitrary.
  static std::uint32_t overlaps16(const Columns& boxes, const Query& query) {
    const Cell *west = boxes.west, *east = west + boxes.stride, *south = east + boxes.stride,
               *north = south + boxes.stride;
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; i < 16; ++i) {
      const bool hit = (west[i] <= query.box.east) & (query.box.west <= east[i]) &
                       (south[i] <= query.box.north) & (query.box.south <= north[i]);
      mask |= static_cast<std::uint32_t>(hit) << i;
    }
    return mask;
  }

  /// The same for 32 boxes of 8 bits whose columns lie 32 apart.
  static std::uint32_t overlaps32(const std::uint8_t* west, const Query& query) {
    const std::uint8_t *east = west + 32, *south = west + 64, *north = west + 96;
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; i < 32; ++i) {
      const bool hit = (west[i] <= query.east8()) & (query.west8() <= east[i]) &
                       (south[i] <= query.north8()) & (query.south8() <= north[i]);
      mask |= static_cast<std::uint32_t>(hit) << i;
    }
    return mask;
  }
};

#if NEARCAST_HAS_AVX2_KERNELS
#pragma GCC push_options
#pragma GCC target("avx2,bmi,popcnt")
struct Avx2Kernels {
  static std::uint32_t overlaps16(const Columns& boxes, const Query& query) {
    const __m256i west = load(boxes.west), east = load(boxes.west + boxes.stride);
    const __m256i south = load(boxes.west + 2 * boxes.stride),
                  north = load(boxes.west + 3 * boxes.stride);
    // a ≤ b without unsigned comparison: a − b, saturated at zero, is zero.
    const __m256i outside =
        _mm256_or_si256(_mm256_or_si256(_mm256_subs_epu16(west, all(query.box.east)),
                                        _mm256_subs_epu16(all(query.box.west), east)),
                        _mm256_or_si256(_mm256_subs_epu16(south, all(query.box.north)),
                                        _mm256_subs_epu16(all(query.box.south), north)));
    const __m256i inside = _mm256_cmpeq_epi16(outside, _mm256_setzero_si256());
    const __m128i packed =
        _mm_packs_epi16(_mm256_castsi256_si128(inside), _mm256_extracti128_si256(inside, 1));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(packed));
  }

  static std::uint32_t overlaps32(const std::uint8_t* west, const Query& query) {
    const __m256i outside =
        _mm256_or_si256(_mm256_or_si256(_mm256_subs_epu8(load(west), all8(query.east8())),
                                        _mm256_subs_epu8(all8(query.west8()), load(west + 32))),
                        _mm256_or_si256(_mm256_subs_epu8(load(west + 64), all8(query.north8())),
                                        _mm256_subs_epu8(all8(query.south8()), load(west + 96))));
    return static_cast<std::uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(outside, _mm256_setzero_si256())));
  }

 private:
  static __m256i load(const void* at) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(at));
  }
  static __m256i all(Cell cell) { return _mm256_set1_epi16(static_cast<short>(cell)); }
  static __m256i all8(std::uint8_t cell) { return _mm256_set1_epi8(static_cast<char>(cell)); }
};
#pragma GCC pop_options
#endif

}  // namespace nearcast::automatic

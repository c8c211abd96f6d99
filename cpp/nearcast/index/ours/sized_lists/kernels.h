/// The few instructions that matching spends its time in: does a query overlap each of many boxes?
///
/// Two forms of the same functions: for AVX2, and plain loops that compile anywhere. Which one runs
/// is decided once, when the index is made.
#pragma once

#include <cstdint>
#include <string>

#include "nearcast/index/ours/sized_lists/frame.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define NEARCAST_HAS_AVX2_KERNELS 1
#endif

namespace nearcast::sized_lists {

/// Boxes in upper halves of cells, whose columns lie `stride` apart: west, east, south, north.
struct Columns {
  const std::uint8_t* west;
  std::uint32_t stride;
};

/// A query: its box in cells, and the upper halves of it.
struct Query {
  Query() = default;
  explicit Query(const CellBox& cells)
      : box(cells),
        west(high(cells.west)),
        east(high(cells.east)),
        south(high(cells.south)),
        north(high(cells.north)) {}

  CellBox box;
  std::uint8_t west, east, south, north;

 private:
  static std::uint8_t high(Cell cell) { return static_cast<std::uint8_t>(cell >> 8); }
};

struct PlainKernels {
  /// Bit i: box i of the first 16 overlaps the query. Bits of places beyond the list are arbitrary.
  static std::uint32_t overlaps16(const Columns& boxes, const Query& query) {
    return overlaps<16>(boxes, query);
  }
  static std::uint32_t overlaps32(const Columns& boxes, const Query& query) {
    return overlaps<32>(boxes, query);
  }

  /// Bit i: a border of box i lies in the same upper half as the query's opposite one, so that the
  /// lower halves have to decide.
  static std::uint32_t ties32(const Columns& boxes, const Query& query) {
    const std::uint8_t *west = boxes.west, *east = west + boxes.stride,
                       *south = east + boxes.stride, *north = south + boxes.stride;
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; i < 32; ++i) {
      const bool tie = (west[i] == query.east) | (query.west == east[i]) |
                       (south[i] == query.north) | (query.south == north[i]);
      mask |= static_cast<std::uint32_t>(tie) << i;
    }
    return mask;
  }

  /// Bit i: value i of 16 is this one.
  static std::uint32_t equals16(const std::uint16_t* values, std::uint16_t value) {
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; i < 16; ++i) mask |= std::uint32_t{values[i] == value} << i;
    return mask;
  }

 private:
  template <std::uint32_t kCount>
  static std::uint32_t overlaps(const Columns& boxes, const Query& query) {
    const std::uint8_t *west = boxes.west, *east = west + boxes.stride,
                       *south = east + boxes.stride, *north = south + boxes.stride;
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; i < kCount; ++i) {
      const bool hit = (west[i] <= query.east) & (query.west <= east[i]) &
                       (south[i] <= query.north) & (query.south <= north[i]);
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
    const auto column = [&](std::uint32_t i) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(boxes.west + i * boxes.stride));
    };
    const auto all = [](std::uint8_t half) { return _mm_set1_epi8(static_cast<char>(half)); };
    // a ≤ b without unsigned comparison: a − b, saturated at zero, is zero.
    const __m128i outside = _mm_or_si128(_mm_or_si128(_mm_subs_epu8(column(0), all(query.east)),
                                                      _mm_subs_epu8(all(query.west), column(1))),
                                         _mm_or_si128(_mm_subs_epu8(column(2), all(query.north)),
                                                      _mm_subs_epu8(all(query.south), column(3))));
    return static_cast<std::uint32_t>(
        _mm_movemask_epi8(_mm_cmpeq_epi8(outside, _mm_setzero_si128())));
  }

  static std::uint32_t overlaps32(const Columns& boxes, const Query& query) {
    const __m256i outside =
        _mm256_or_si256(_mm256_or_si256(_mm256_subs_epu8(column(boxes, 0), all(query.east)),
                                        _mm256_subs_epu8(all(query.west), column(boxes, 1))),
                        _mm256_or_si256(_mm256_subs_epu8(column(boxes, 2), all(query.north)),
                                        _mm256_subs_epu8(all(query.south), column(boxes, 3))));
    return bits(_mm256_cmpeq_epi8(outside, _mm256_setzero_si256()));
  }

  static std::uint32_t ties32(const Columns& boxes, const Query& query) {
    const auto ties = [&](std::uint32_t i, std::uint8_t half) {
      return _mm256_cmpeq_epi8(column(boxes, i), all(half));
    };
    return bits(_mm256_or_si256(_mm256_or_si256(ties(0, query.east), ties(1, query.west)),
                                _mm256_or_si256(ties(2, query.north), ties(3, query.south))));
  }

  static std::uint32_t equals16(const std::uint16_t* values, std::uint16_t value) {
    const __m256i equal =
        _mm256_cmpeq_epi16(load(values), _mm256_set1_epi16(static_cast<short>(value)));
    const __m128i packed =
        _mm_packs_epi16(_mm256_castsi256_si128(equal), _mm256_extracti128_si256(equal, 1));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(packed));
  }

 private:
  static __m256i load(const void* at) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(at));
  }
  static __m256i column(const Columns& boxes, std::uint32_t i) {
    return load(boxes.west + i * boxes.stride);
  }
  static __m256i all(std::uint8_t half) { return _mm256_set1_epi8(static_cast<char>(half)); }
  static std::uint32_t bits(__m256i lanes) {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(lanes));
  }
};
#pragma GCC pop_options
#endif

/// As the parameter `kernels` says, if the machine can.
inline bool may_use_avx2(const std::string& wanted) {
#if NEARCAST_HAS_AVX2_KERNELS
  return wanted == "best" && __builtin_cpu_supports("avx2");
#else
  static_cast<void>(wanted);
  return false;
#endif
}

}  // namespace nearcast::sized_lists

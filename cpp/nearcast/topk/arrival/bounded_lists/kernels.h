/// The instructions that take most of a search's time. Two forms of the same functions: for AVX2,
/// and plain loops that compile anywhere.
#pragma once

#include <cstdint>

#include "nearcast/topk/arrival/bounded_lists/entry.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define NEARCAST_HAS_AVX2_ARRIVAL 1
#endif

namespace nearcast::bounded_lists {

/// Entries as columns: cell, shape, slack, prints and other_text lie `stride` apart.
struct Columns {
  const std::uint32_t* cells;
  std::uint32_t stride;

  const std::uint32_t* shapes() const { return cells + stride; }
  const float* slacks() const { return reinterpret_cast<const float*>(cells + 2 * stride); }
  const std::uint32_t* prints() const { return cells + 3 * stride; }
  const float* other_texts() const { return reinterpret_cast<const float*>(cells + 4 * stride); }
};

/// Bounds of up to eight blocks. The largest slack + text · token_weight of a block's entries is a
/// convex function of token_weight: it is kept for three values, and between two of them it lies
/// below the line that joins them.
struct Bounds {
  static constexpr float kTokenWeights[3] = {0.2f, 0.5f, 1.0f};
  static constexpr std::uint16_t kUnbounded = 0xFFFF;  ///< of a sum
  static constexpr float kSumScale = 32767;            ///< sums from −1 up
  static constexpr float kOtherScale = 4096;           ///< of other_text

  std::uint16_t west[8], east[8], south[8], north[8];
  std::uint16_t alpha[8];       ///< the least
  std::uint16_t sum[3][8];      ///< the most
  std::uint16_t other_text[8];  ///< the largest; kUnbounded: there is no bound
};

/// Where a token_weight lies between those for which sums are kept.
struct Chord {
  std::uint32_t low, high;
  float share;  ///< of the higher one

  explicit Chord(float token_weight) {
    high = token_weight <= Bounds::kTokenWeights[0]   ? 0
           : token_weight <= Bounds::kTokenWeights[1] ? 1
                                                      : 2;
    low = high == 0 ? 0 : high - 1;
    share = high == 0 ? 0
                      : (token_weight - Bounds::kTokenWeights[low]) /
                            (Bounds::kTokenWeights[high] - Bounds::kTokenWeights[low]);
  }
};

struct PlainKernels {
  static bool passes(std::uint32_t cell, std::uint32_t shape, float room, const Query& query) {
    const float x = (static_cast<float>(cell & 0xFFFF) - query.at.x) * query.near_x;
    const float y = (static_cast<float>(cell >> 16) - query.at.y) * query.near_y;
    const float alpha = alpha_in(shape);
    return room >= 0 && alpha * alpha * (x * x + y * y) <= room * room;
  }

  /// Bit i: entry i of eight passes with the tokens of the list alone.
  static std::uint32_t passes_alone(const Columns& entries, const Query& query) {
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; i < 8; ++i) {
      const std::uint32_t shape = entries.shapes()[i];
      const float room = entries.slacks()[i] + text_in(shape) * query.token_weight;
      mask |= static_cast<std::uint32_t>(passes(entries.cells[i], shape, room, query)) << i;
    }
    return mask;
  }

  /// The same, if further tokens may be common. Reads `count` entries only.
  static std::uint32_t passes_with_others(const Columns& entries, std::uint32_t count,
                                          const Query& query) {
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t shape = entries.shapes()[i];
      float room = entries.slacks()[i] + text_in(shape) * query.token_weight;
      if (has_any(query.said, entries.prints()[i]))
        room += entries.other_texts()[i] * query.max_other_weight;
      mask |= static_cast<std::uint32_t>(passes(entries.cells[i], shape, room, query)) << i;
    }
    return mask;
  }

  /// Bit i: an entry of block i may pass. With max_other_weight = 0 in the query: with the list's
  /// tokens alone.
  static std::uint32_t may_pass(const Bounds& bounds, const Query& query, const Chord& chord) {
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; i < 8; ++i) {
      const auto sum = [&](std::uint32_t which) {
        return static_cast<float>(bounds.sum[which][i]) / Bounds::kSumScale - 1;
      };
      const float other_text = static_cast<float>(bounds.other_text[i]) / Bounds::kOtherScale;
      const float room = sum(chord.low) + (sum(chord.high) - sum(chord.low)) * chord.share +
                         other_text * query.max_other_weight;
      const float x = outside(bounds.west[i], bounds.east[i], query.at.x) * query.near_x;
      const float y = outside(bounds.south[i], bounds.north[i], query.at.y) * query.near_y;
      const float alpha = static_cast<float>(bounds.alpha[i]) / kShare;
      const bool is_near = room >= 0 && alpha * alpha * (x * x + y * y) <= room * room;
      const bool is_unbounded =
          bounds.sum[chord.high][i] == Bounds::kUnbounded ||
          (bounds.other_text[i] == Bounds::kUnbounded && query.max_other_weight > 0);
      mask |= static_cast<std::uint32_t>(is_near | is_unbounded) << i;
    }
    return mask;
  }

 private:
  static float outside(std::uint16_t low, std::uint16_t high, float at) {
    return std::max({static_cast<float>(low) - at, at - static_cast<float>(high), 0.0f});
  }
  static bool has_any(const SaidPrints& said, std::uint32_t prints) {
    return said.has(prints & 255) || said.has(prints >> 8 & 255) || said.has(prints >> 16 & 255) ||
           said.has(prints >> 24);
  }
};

#if NEARCAST_HAS_AVX2_ARRIVAL
#pragma GCC push_options
#pragma GCC target("avx2,bmi,popcnt")
struct Avx2Kernels {
  static std::uint32_t passes_alone(const Columns& entries, const Query& query) {
    const __m256i shapes = load(entries.shapes());
    return passes(entries, shapes, room_alone(entries, shapes, query), query);
  }

  static std::uint32_t passes_with_others(const Columns& entries, std::uint32_t count,
                                          const Query& query) {
    const __m256i shapes = load(entries.shapes());
    const __m256 other_text =
        _mm256_mul_ps(_mm256_loadu_ps(entries.other_texts()), all(query.max_other_weight));
    const __m256 misses = has_none(query.said, load(entries.prints()));
    const __m256 room =
        _mm256_add_ps(room_alone(entries, shapes, query), _mm256_andnot_ps(misses, other_text));
    const std::uint32_t mask = passes(entries, shapes, room, query);
    return count < 8 ? mask & ((1u << count) - 1) : mask;
  }

  static std::uint32_t may_pass(const Bounds& bounds, const Query& query, const Chord& chord) {
    const __m256 x =
        _mm256_mul_ps(outside(bounds.west, bounds.east, query.at.x), all(query.near_x));
    const __m256 y =
        _mm256_mul_ps(outside(bounds.south, bounds.north, query.at.y), all(query.near_y));
    const __m256 alpha = _mm256_mul_ps(widen(bounds.alpha), all(1 / kShare));
    const __m256 low = widen(bounds.sum[chord.low]), high = widen(bounds.sum[chord.high]);
    const __m256 sum =
        _mm256_add_ps(low, _mm256_mul_ps(_mm256_sub_ps(high, low), all(chord.share)));
    __m256 room = _mm256_sub_ps(_mm256_mul_ps(sum, all(1 / Bounds::kSumScale)), all(1));
    __m256 unbounded = _mm256_cmp_ps(high, all(Bounds::kUnbounded), _CMP_EQ_OQ);
    if (query.max_other_weight > 0) {
      const __m256 other_text = widen(bounds.other_text);
      room = _mm256_add_ps(
          room, _mm256_mul_ps(other_text, all(query.max_other_weight / Bounds::kOtherScale)));
      unbounded =
          _mm256_or_ps(unbounded, _mm256_cmp_ps(other_text, all(Bounds::kUnbounded), _CMP_EQ_OQ));
    }
    const __m256 near = is_within(x, y, alpha, room);
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_or_ps(near, unbounded)));
  }

 private:
  static constexpr long long kPowers = static_cast<long long>(0x8040201008040201u);  ///< of two

  static __m256i load(const void* at) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(at));
  }
  static __m256 all(float value) { return _mm256_set1_ps(value); }
  static __m256i all_bits(std::uint32_t value) {
    return _mm256_set1_epi32(static_cast<int>(value));
  }
  static __m256 widen(const std::uint16_t* codes) {
    return _mm256_cvtepi32_ps(
        _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes))));
  }
  static __m256 lower_half(__m256i words) {
    return _mm256_cvtepi32_ps(_mm256_and_si256(words, all_bits(0xFFFF)));
  }
  static __m256 upper_half(__m256i words) {
    return _mm256_cvtepi32_ps(_mm256_srli_epi32(words, 16));
  }
  static __m256 room_alone(const Columns& entries, __m256i shapes, const Query& query) {
    const __m256 text =
        _mm256_mul_ps(lower_half(shapes), all(kTextRange / kShare * query.token_weight));
    return _mm256_add_ps(_mm256_loadu_ps(entries.slacks()), text);
  }
  /// All ones where none of an entry's four prints occurs. A byte of `bits` holds eight prints: it
  /// is looked up by the upper five bits of a print, and the one bit in it by the lower three.
  static __m256 has_none(const SaidPrints& said, __m256i prints) {
    const __m256i bits = load(said.bits);
    const __m256i front = _mm256_permute2x128_si256(bits, bits, 0x00),
                  back = _mm256_permute2x128_si256(bits, bits, 0x11);
    const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(prints, 3), _mm256_set1_epi8(31)),
                  lower = _mm256_and_si256(prints, _mm256_set1_epi8(7));
    const __m256i eight =
        _mm256_blendv_epi8(_mm256_shuffle_epi8(front, upper), _mm256_shuffle_epi8(back, upper),
                           _mm256_slli_epi16(upper, 3));
    const __m256i one = _mm256_shuffle_epi8(_mm256_set1_epi64x(kPowers), lower);
    return _mm256_castsi256_ps(
        _mm256_cmpeq_epi32(_mm256_and_si256(eight, one), _mm256_setzero_si256()));
  }
  static __m256 outside(const std::uint16_t* low, const std::uint16_t* high, float at) {
    const __m256 below = _mm256_sub_ps(widen(low), all(at)),
                 above = _mm256_sub_ps(all(at), widen(high));
    return _mm256_max_ps(_mm256_max_ps(below, above), _mm256_setzero_ps());
  }
  static __m256 is_within(__m256 x, __m256 y, __m256 alpha, __m256 room) {
    const __m256 far = _mm256_mul_ps(_mm256_mul_ps(alpha, alpha),
                                     _mm256_add_ps(_mm256_mul_ps(x, x), _mm256_mul_ps(y, y)));
    return _mm256_and_ps(_mm256_cmp_ps(room, _mm256_setzero_ps(), _CMP_GE_OQ),
                         _mm256_cmp_ps(far, _mm256_mul_ps(room, room), _CMP_LE_OQ));
  }
  static std::uint32_t passes(const Columns& entries, __m256i shapes, __m256 room,
                              const Query& query) {
    const __m256i cells = load(entries.cells);
    const __m256 x =
        _mm256_mul_ps(_mm256_sub_ps(lower_half(cells), all(query.at.x)), all(query.near_x));
    const __m256 y =
        _mm256_mul_ps(_mm256_sub_ps(upper_half(cells), all(query.at.y)), all(query.near_y));
    const __m256 alpha = _mm256_mul_ps(upper_half(shapes), all(1 / kShare));
    return static_cast<std::uint32_t>(_mm256_movemask_ps(is_within(x, y, alpha, room)));
  }
};
#pragma GCC pop_options
#endif

}  // namespace nearcast::bounded_lists

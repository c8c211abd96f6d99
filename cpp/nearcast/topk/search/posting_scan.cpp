#include "nearcast/topk/search/posting_scan.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define NEARCAST_HAS_AVX2_SCAN 1
#endif

namespace nearcast::top_postings {
namespace {

// The distance is compared in squares: a root only for those that pass.
std::uint32_t scan_plain(const Columns& columns, std::uint32_t count, const Query& query,
                         float level, std::uint16_t* hits) {
  std::uint32_t found = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const float x = (static_cast<float>(columns.cells[i] & 0xFFFF) - query.at.x) * query.near_x;
    const float y = (static_cast<float>(columns.cells[i] >> 16) - query.at.y) * query.near_y;
    const std::uint32_t weights = columns.weights[i];
    const float room = query.base + query.first * first_weight(weights) +
                       query.second * second_weight(weights) - level;
    hits[found] = static_cast<std::uint16_t>(i);
    found += (room >= 0) & (x * x + y * y <= room * room);
  }
  return found;
}

#if NEARCAST_HAS_AVX2_SCAN
#pragma GCC push_options
#pragma GCC target("avx2,bmi,popcnt")
std::uint32_t scan_avx2(const Columns& columns, std::uint32_t count, const Query& query,
                        float level, std::uint16_t* hits) {
  const __m256 at_x = _mm256_set1_ps(query.at.x), at_y = _mm256_set1_ps(query.at.y);
  const __m256 near_x = _mm256_set1_ps(query.near_x), near_y = _mm256_set1_ps(query.near_y);
  const __m256 base = _mm256_set1_ps(query.base - level);
  const __m256 first_text = _mm256_set1_ps(query.first / kWeightScale);
  const __m256 second_text = _mm256_set1_ps(query.second / kWeightScale);
  const __m256 zero = _mm256_setzero_ps();
  const __m256i low = _mm256_set1_epi32(0xFFFF);
  std::uint32_t found = 0;
  for (std::uint32_t first = 0; first < count; first += 8) {
    const __m256i cells =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(columns.cells + first));
    const __m256i weights =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(columns.weights + first));
    const __m256 x = _mm256_mul_ps(
        _mm256_sub_ps(_mm256_cvtepi32_ps(_mm256_and_si256(cells, low)), at_x), near_x);
    const __m256 y = _mm256_mul_ps(
        _mm256_sub_ps(_mm256_cvtepi32_ps(_mm256_srli_epi32(cells, 16)), at_y), near_y);
    const __m256 upper = _mm256_cvtepi32_ps(_mm256_srli_epi32(weights, 16));
    const __m256 lower = _mm256_cvtepi32_ps(_mm256_and_si256(weights, low));
    const __m256 room = _mm256_add_ps(_mm256_add_ps(base, _mm256_mul_ps(first_text, upper)),
                                      _mm256_mul_ps(second_text, lower));
    const __m256 far = _mm256_add_ps(_mm256_mul_ps(x, x), _mm256_mul_ps(y, y));
    const __m256 passes = _mm256_and_ps(_mm256_cmp_ps(room, zero, _CMP_GE_OQ),
                                        _mm256_cmp_ps(far, _mm256_mul_ps(room, room), _CMP_LE_OQ));
    auto mask = static_cast<std::uint32_t>(_mm256_movemask_ps(passes));
    if (count - first < 8) mask &= (1u << (count - first)) - 1;
    for (; mask != 0; mask &= mask - 1) {
      hits[found++] =
          static_cast<std::uint16_t>(first + static_cast<std::uint32_t>(__builtin_ctz(mask)));
    }
  }
  return found;
}
#pragma GCC pop_options
#endif

}  // namespace

Scan plain_scan() { return &scan_plain; }

Scan best_scan() {
#if NEARCAST_HAS_AVX2_SCAN
  if (__builtin_cpu_supports("avx2")) return &scan_avx2;
#endif
  return &scan_plain;
}

}  // namespace nearcast::top_postings

#include "nearcast/topk/arrival/igpt/bounds_scan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nearcast/topk/arrival/needs.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define NEARCAST_HAS_AVX2_BOUNDS 1
#endif

namespace nearcast::igpt {
namespace {

/// More than the rounding of a nearness of about 1.
constexpr float kRoom = 3e-7f;

void nearness_plain(std::span<const CellBlock> cells, const Spot& spot, bool prunes, float* out) {
  for (const CellBlock& cell : cells) {
    for (std::uint32_t i = 0; i < CellBlock::kSize; ++i) {
      const float lon = std::max({cell.west[i] - spot.lon[1], spot.lon[0] - cell.east[i], 0.0f});
      const float lat = std::max({cell.south[i] - spot.lat[1], spot.lat[0] - cell.north[i], 0.0f});
      const float lost = std::sqrt(lon * lon + lat * lat) * spot.scale;
      const float left = std::min(std::max(1 + kRoom - lost, 0.0f), kNearest);
      *out++ = prunes && cell.nearness[i] > left ? kSkipped : left;
    }
  }
}

std::uint32_t groups_plain(const GroupBlock* blocks, std::uint32_t size, const float* nearness,
                           const Said& said, std::uint32_t* out) {
  std::uint32_t found = 0;
  for (std::uint32_t place = 0; place < size; ++place) {
    const GroupBlock& block = blocks[place / GroupBlock::kSize];
    const std::uint32_t i = place % GroupBlock::kSize;
    out[found] = place;
    const float text =
        std::min(block.weight[i] * said.weight_sum, block.weight_sum[i] * said.max_weight);
    found += text >= block.score[i] - block.alpha[i] * nearness[block.cell[i]];
  }
  return found;
}

#if NEARCAST_HAS_AVX2_BOUNDS
#pragma GCC push_options
#pragma GCC target("avx2,bmi,popcnt")
__m256 all(float value) { return _mm256_set1_ps(value); }

void nearness_avx2(std::span<const CellBlock> cells, const Spot& spot, bool prunes, float* out) {
  const __m256 zero = _mm256_setzero_ps(), scale = all(spot.scale);
  const __m256 never = all(prunes ? 0 : std::numeric_limits<float>::infinity());
  for (const CellBlock& cell : cells) {
    const __m256 lon = _mm256_max_ps(
        zero, _mm256_max_ps(_mm256_sub_ps(_mm256_loadu_ps(cell.west), all(spot.lon[1])),
                            _mm256_sub_ps(all(spot.lon[0]), _mm256_loadu_ps(cell.east))));
    const __m256 lat = _mm256_max_ps(
        zero, _mm256_max_ps(_mm256_sub_ps(_mm256_loadu_ps(cell.south), all(spot.lat[1])),
                            _mm256_sub_ps(all(spot.lat[0]), _mm256_loadu_ps(cell.north))));
    const __m256 far = _mm256_add_ps(_mm256_mul_ps(lon, lon), _mm256_mul_ps(lat, lat));
    const __m256 lost = _mm256_mul_ps(_mm256_sqrt_ps(far), scale);
    const __m256 left =
        _mm256_min_ps(_mm256_max_ps(_mm256_sub_ps(all(1 + kRoom), lost), zero), all(kNearest));
    const __m256 skipped =
        _mm256_cmp_ps(_mm256_loadu_ps(cell.nearness), _mm256_add_ps(left, never), _CMP_GT_OQ);
    _mm256_storeu_ps(out, _mm256_blendv_ps(left, all(kSkipped), skipped));
    out += CellBlock::kSize;
  }
}

std::uint32_t groups_avx2(const GroupBlock* blocks, std::uint32_t size, const float* nearness,
                          const Said& said, std::uint32_t* out) {
  const __m256 sum = _mm256_set1_ps(said.weight_sum), most = _mm256_set1_ps(said.max_weight);
  std::uint32_t found = 0;
  for (std::uint32_t first = 0; first < size; first += GroupBlock::kSize) {
    const GroupBlock& block = blocks[first / GroupBlock::kSize];
    const __m256i cells = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block.cell));
    const __m256 near = _mm256_i32gather_ps(nearness, cells, 4);
    const __m256 needed = _mm256_sub_ps(_mm256_loadu_ps(block.score),
                                        _mm256_mul_ps(_mm256_loadu_ps(block.alpha), near));
    const __m256 text = _mm256_min_ps(_mm256_mul_ps(_mm256_loadu_ps(block.weight), sum),
                                      _mm256_mul_ps(_mm256_loadu_ps(block.weight_sum), most));
    const __m256 passes = _mm256_cmp_ps(text, needed, _CMP_GE_OQ);
    auto mask = static_cast<std::uint32_t>(_mm256_movemask_ps(passes));
    if (size - first < GroupBlock::kSize) mask &= (1u << (size - first)) - 1;
    for (; mask != 0; mask &= mask - 1)
      out[found++] = first + static_cast<std::uint32_t>(__builtin_ctz(mask));
  }
  return found;
}
#pragma GCC pop_options
#endif

}  // namespace

Spot::Spot(Point at, double max_distance)
    : lon{rounded_down(at.lon), rounded_up(at.lon)},
      lat{rounded_down(at.lat), rounded_up(at.lat)},
      // A millionth less than it is: products and the root are rounded.
      scale(static_cast<float>(
          std::min((1 - 1e-6) / max_distance, double{std::numeric_limits<float>::max()}))) {}

const BoundsScan& BoundsScan::plain() {
  static const BoundsScan scan{&nearness_plain, &groups_plain};
  return scan;
}

const BoundsScan& BoundsScan::best() {
#if NEARCAST_HAS_AVX2_BOUNDS
  static const BoundsScan scan{&nearness_avx2, &groups_avx2};
  if (__builtin_cpu_supports("avx2")) return scan;
#endif
  return plain();
}

}  // namespace nearcast::igpt

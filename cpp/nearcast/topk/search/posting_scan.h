/// The instructions that take most of a search's time: which postings of a list can reach a level?
/// Two forms, for AVX2 and for any machine; they differ only in rounding, for which the query
/// leaves room.
///
///   bound = base + first · (first weight) + second · (second weight) − near · distance in cells
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "nearcast/topk/planar_frame.h"

namespace nearcast::top_postings {

/// Columns of a list, one word each per posting.
struct Columns {
  const PackedCell* cells;
  const std::uint32_t* weights;  ///< two of them: the first above, the second below
};

constexpr float kWeightScale = 65535;  ///< weights are from 0 to 1

/// Rounded up, so that bounds stay bounds.
inline std::uint32_t pack_weights(double first, double second) {
  const auto code = [](double weight) {
    return static_cast<std::uint32_t>(std::ceil(std::min(weight, 1.0) * kWeightScale));
  };
  return code(first) << 16 | code(second);
}
inline float first_weight(std::uint32_t weights) {
  return static_cast<float>(weights >> 16) * (1 / kWeightScale);
}
inline float second_weight(std::uint32_t weights) {
  return static_cast<float>(weights & 0xFFFF) * (1 / kWeightScale);
}

struct Query {
  CellPoint at;
  float near_x, near_y;  ///< what a cell of distance costs
  float base;            ///< of a message at the same place, without text
  float first, second;   ///< what a unit of each weight brings
};

constexpr std::uint32_t kChunk = 256;  ///< postings per call

/// Writes to `hits` the places, of `count` ≤ kChunk, whose bound reaches the level. Reads whole
/// groups of eight.
using Scan = std::uint32_t (*)(const Columns& columns, std::uint32_t count, const Query& query,
                               float level, std::uint16_t* hits);
Scan best_scan();
Scan plain_scan();

}  // namespace nearcast::top_postings

/// The instructions that take most of a search's time: how near can a subscription of a cell be,
/// and which groups can be skipped? Two forms, for AVX2 and for any machine. Numbers are rounded so
/// that there are no false negatives.
#pragma once

#include <cstdint>

#include "nearcast/geo/rect.h"
#include "nearcast/topk/arrival/igpt/group_columns.h"

namespace nearcast::igpt {

/// Eight cells.
struct CellBlock {
  static constexpr std::uint32_t kSize = 8;

  float west[kSize], east[kSize], south[kSize], north[kSize];  ///< not smaller than they are
  float nearness[kSize];  ///< λ_S: the least that one of its subscriptions needs
};

/// A newcomer between coordinates that are short numbers.
struct Spot {
  float lon[2], lat[2];
  float scale;  ///< nearness lost per degree

  Spot(Point at, double max_distance);
};

/// The nearness of a cell that the newcomer is in or touches.
constexpr float kNearest = 1;
/// What a newcomer says from one of its tokens on.
struct Said {
  float weight_sum, max_weight;  ///< wtsum(m.w), maxwt(m.w)
};

/// The nearness of a cell that is skipped: less than any subscription needs.
constexpr float kSkipped = -1e30f;

struct BoundsScan {
  /// The most nearness that is left in each cell; 0 where it would be negative, for which bounds of
  /// text do not hold. `prunes`: kSkipped where that is too little for all subscriptions [Skype
  /// §5.2.3 Lemma 6].
  void (*nearness)(std::span<const CellBlock> cells, const Spot& spot, bool prunes, float* out);
  /// Writes the places of groups that cannot be skipped [Skype §5.2.1 Theorem 3]; returns how many.
  /// A group is skipped too if Theorem 1 holds for all of it.
  std::uint32_t (*groups)(const GroupBlock* blocks, std::uint32_t size, const float* nearness,
                          const Said& said, std::uint32_t* out);

  static const BoundsScan& best();
  static const BoundsScan& plain();
};

}  // namespace nearcast::igpt

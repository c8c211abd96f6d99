/// A subscription in a list of the index, in 24 bytes, and a newcomer in the form that lists use.
///
/// A list belongs to a token or to a pair of tokens. A newcomer with just these tokens in common
/// enters the subscription's buffer if
///
///   slack + text · token_weight ≥ α · nearness lost,    slack = α − threshold,
///
/// where token_weight depends on the newcomer and the list, and the others on the entry. All are
/// rounded so that there are no false negatives; what passes is scored exactly. If further tokens
/// may be common, they add at most other_text · max_other_weight, where max_other_weight is the
/// newcomer's. Prints, a byte for each further token, nearly always tell whether one is common.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "nearcast/base/hash.h"
#include "nearcast/base/ids.h"
#include "nearcast/geo/float_box.h"
#include "nearcast/topk/planar_frame.h"

namespace nearcast::bounded_lists {

constexpr float kShare = 65535;     ///< the code of 1
constexpr float kTextRange = 2;     ///< texts are from 0 to this
constexpr double kRounding = 4e-6;  ///< of a handful of float operations on numbers around 1

struct Entry {
  PackedCell cell;
  std::uint32_t shape;  ///< α above, rounded down; text below, rounded up
  float slack;
  std::uint32_t prints;  ///< of up to four further tokens, or kAnyPrint
  float other_text;      ///< rounded up
  SubscriptionId id;
};

inline std::uint32_t code_up(double value) {
  return static_cast<std::uint32_t>(std::ceil(std::min(value, 1.0) * kShare));
}
inline std::uint32_t pack_shape(double alpha, double text) {
  return static_cast<std::uint32_t>(alpha * kShare) << 16 | code_up(text / kTextRange);
}

/// A print is one of 254 bytes; no token has 0, and every newcomer has 255.
constexpr std::uint32_t kMostPrints = 4;
constexpr std::uint32_t kAnyPrint = 255;
inline std::uint32_t print_of(Token token) {
  return 1 + static_cast<std::uint32_t>(hash_of(static_cast<std::uint64_t>(raw(token))) % 254);
}

/// The prints of a newcomer's tokens: a bit for each that occurs.
struct SaidPrints {
  alignas(32) std::uint8_t bits[32] = {};

  SaidPrints() { add(kAnyPrint); }
  void add(std::uint32_t print) {
    bits[print / 8] = static_cast<std::uint8_t>(bits[print / 8] | 1u << print % 8);
  }
  bool has(std::uint32_t print) const { return (bits[print / 8] >> print % 8 & 1) != 0; }
};

inline float alpha_in(std::uint32_t shape) {
  return static_cast<float>(shape >> 16) * (1 / kShare);
}
inline float text_in(std::uint32_t shape) {
  return static_cast<float>(shape & 0xFFFF) * (kTextRange / kShare);
}

/// Sorts by α first, then by place: the entries of a block share one bound.
inline std::uint32_t sort_key(PackedCell cell, std::uint32_t shape) {
  const auto spread = [](std::uint32_t bits) {
    bits = (bits | bits << 8) & 0x00FF00FFu;
    bits = (bits | bits << 4) & 0x0F0F0F0Fu;
    bits = (bits | bits << 2) & 0x33333333u;
    return (bits | bits << 1) & 0x55555555u;
  };
  const std::uint32_t place = spread((cell & 0xFFFF) >> 2) | spread(cell >> 18) << 1;
  return (shape >> 28) << 28 | place;
}

/// What a newcomer is in the search of one list.
struct Query {
  CellPoint at;
  float near_x, near_y;    ///< nearness lost per cell
  float token_weight;      ///< what a unit of text adds
  float max_other_weight;  ///< what a unit of other_text adds at most
  SaidPrints said;
};

}  // namespace nearcast::bounded_lists

/// A subscription in a list of the index, in 20 bytes, and a newcomer as the lists see it.
///
/// A list belongs to a token or to a pair of tokens. A newcomer with just these tokens in common
/// concerns the subscription if
///
///   lift + text · v ≥ α · nearness lost,    lift = α − threshold,
///
/// where v is the newcomer's and the list's, and the other four are the entry's. All are rounded so
/// that nobody is lost; whoever passes is scored exactly. If further tokens may be common, they
/// bring at most rest · w, where w is the newcomer's: a signature of 16 bits says no to most.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "nearcast/base/hash.h"
#include "nearcast/base/ids.h"
#include "nearcast/geo/float_box.h"
#include "nearcast/topk/planar_frame.h"

namespace nearcast::auto_arrival {

constexpr float kShare = 65535;     ///< the code of 1
constexpr float kTextRange = 2;     ///< texts are from 0 to this
constexpr float kRestRange = 16;    ///< rests too, in units of the highest idf
constexpr float kAnyRest = 1e30f;   ///< a rest beyond its range
constexpr double kRounding = 4e-6;  ///< of a handful of float operations on numbers around 1

struct Entry {
  PackedCell cell;
  std::uint32_t shape;  ///< α above, rounded down; text below, rounded up
  float lift;
  std::uint32_t rest;  ///< rest above, rounded up; signature of further tokens below
  SubscriptionId id;
};

inline std::uint32_t code_up(double value) {
  return static_cast<std::uint32_t>(std::ceil(std::min(value, 1.0) * kShare));
}
inline std::uint32_t pack_shape(double alpha, double text) {
  return static_cast<std::uint32_t>(alpha * kShare) << 16 | code_up(text / kTextRange);
}
inline std::uint32_t pack_rest(double rest, std::uint32_t signature) {
  return code_up(rest / kRestRange) << 16 | signature;
}
inline std::uint32_t signature_of(Token token) {
  return 1u << (hash_of(static_cast<std::uint64_t>(raw(token))) >> 28);
}

inline float alpha_in(std::uint32_t shape) {
  return static_cast<float>(shape >> 16) * (1 / kShare);
}
inline float text_in(std::uint32_t shape) {
  return static_cast<float>(shape & 0xFFFF) * (kTextRange / kShare);
}
inline float rest_in(std::uint32_t rest) {
  return rest >> 16 == 0xFFFF ? kAnyRest : static_cast<float>(rest >> 16) * (kRestRange / kShare);
}

/// Similar α first, then near each other: what lies in one block is bounded together.
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

/// Of one list for one newcomer.
struct Query {
  CellPoint at;
  float near_x, near_y;  ///< nearness lost per cell
  float v;               ///< what a unit of text brings
  float w;               ///< what a unit of rest brings
  std::uint32_t signature;
};

}  // namespace nearcast::auto_arrival

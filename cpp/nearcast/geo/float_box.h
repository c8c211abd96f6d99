/// A box in single precision, rounded outward: half the memory, and never too small. A filter that
/// uses it lets a few more boxes pass and loses none.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "nearcast/geo/place.h"

namespace nearcast {

struct FloatBox {
  float west, south, east, north;
};

constexpr float kFar = std::numeric_limits<float>::infinity();
constexpr FloatBox kNoFloatBox{kFar, kFar, -kFar, -kFar};  ///< the neutral element of widen()

inline float round_down(double value) {
  const auto rounded = static_cast<float>(value);
  return rounded > value ? std::nextafter(rounded, -kFar) : rounded;
}
inline float round_up(double value) {
  const auto rounded = static_cast<float>(value);
  return rounded < value ? std::nextafter(rounded, kFar) : rounded;
}

inline FloatBox float_box(const Rect& box) {
  return {round_down(box.west), round_down(box.south), round_up(box.east), round_up(box.north)};
}

inline void widen(FloatBox& box, const FloatBox& other) {
  box = {std::min(box.west, other.west), std::min(box.south, other.south),
         std::max(box.east, other.east), std::max(box.north, other.north)};
}

inline bool covers(const FloatBox& outer, const FloatBox& inner) {
  return (outer.west <= inner.west) & (inner.east <= outer.east) & (outer.south <= inner.south) &
         (inner.north <= outer.north);
}

inline bool touches(const FloatBox& box, const Place& place) {
  const auto touches_part = [&](const Rect& part) {
    return (box.west <= part.east) & (part.west <= box.east) & (box.south <= part.north) &
           (part.south <= box.north);
  };
  return touches_part(place.part[0]) || (place.parts == 2 && touches_part(place.part[1]));
}

}  // namespace nearcast

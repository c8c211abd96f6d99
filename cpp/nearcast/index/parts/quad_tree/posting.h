/// What a list of a quadtree's cell holds: an entry, with its box in half the bytes.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "nearcast/base/ids.h"
#include "nearcast/geo/rect.h"

namespace nearcast {

struct QuadPosting {
  float west, south, east, north;  ///< rounded outward: a filter, never a decision
  EntryId entry;

  static QuadPosting of(EntryId entry, const Rect& box) {
    return {below(box.west), below(box.south), above(box.east), above(box.north), entry};
  }
  Rect box() const { return {west, south, east, north}; }

  struct KeyOf {  ///< of lists in the order of their entries
    std::uint32_t operator()(const QuadPosting& posting) const { return raw(posting.entry); }
  };

 private:
  static float below(double value) {
    const float near = static_cast<float>(value);
    return near <= value ? near : std::nextafter(near, -std::numeric_limits<float>::infinity());
  }
  static float above(double value) {
    const float near = static_cast<float>(value);
    return near >= value ? near : std::nextafter(near, std::numeric_limits<float>::infinity());
  }
};

}  // namespace nearcast

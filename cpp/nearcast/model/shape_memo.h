/// What has been decided about shapes for one message, so that a shape that many subscriptions have
/// is decided once.
///
/// Empties itself when it is asked about another place, or after a shape has been forgotten: no
/// caller has to tell it where a message begins, and a message that meets no shared shape pays
/// nothing. 4 bytes a shape, from the first question on. Each thread has its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "nearcast/base/array.h"
#include "nearcast/geo/place.h"

namespace nearcast {

class ShapeMemo {
 public:
  /// Shapes are numbers below `count`; `version` changes when a number gets another shape.
  void start(const Place& place, std::uint64_t version, std::size_t count) {
    if (count <= marks_.size() && version == version_ && is_same(place)) return;
    if (count > marks_.size()) marks_.resize(std::max(count, marks_.size() * 2));
    place_ = place;
    version_ = version;
    if (++stamp_ == kStamps) {
      std::fill(marks_.begin(), marks_.end(), 0);
      stamp_ = 1;
    }
  }
  std::optional<bool> find(std::uint32_t shape) const {
    const std::uint32_t mark = marks_[shape];
    if (mark >> 1 != stamp_) return std::nullopt;
    return (mark & 1) != 0;
  }
  void put(std::uint32_t shape, bool touches) { marks_[shape] = stamp_ << 1 | (touches ? 1 : 0); }

 private:
  static constexpr std::uint32_t kStamps = std::uint32_t{1} << 31;

  bool is_same(const Place& place) const {
    return place_.parts == place.parts && place_.part[0] == place.part[0] &&
           (place.parts == 1 || place_.part[1] == place.part[1]);
  }

  Place place_;
  std::uint64_t version_ = 0;
  std::uint32_t stamp_ = 1;  ///< what was decided with another one is forgotten
  Array<std::uint32_t> marks_;
};

}  // namespace nearcast

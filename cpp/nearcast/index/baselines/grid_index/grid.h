/// Equal cells over the part of the world where the subscriptions are; those at the rim reach to
/// infinity. Boxes and points go through the same monotone rule, so two that share a point share a
/// cell.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "nearcast/geo/place.h"
#include "nearcast/geo/rect.h"

namespace nearcast {

class Grid {
 public:
  struct Range {
    std::uint32_t west, south, east, north;  ///< columns and rows, inclusive

    std::uint32_t cells() const { return (east - west + 1) * (north - south + 1); }
    bool contains(std::uint32_t column, std::uint32_t row) const {
      return west <= column && column <= east && south <= row && row <= north;
    }
  };

  Grid(const Rect& frame, std::uint32_t side)
      : frame_(frame),
        side_(side),
        columns_per_degree_(side / std::max(width(frame), kLeast)),
        rows_per_degree_(side / std::max(height(frame), kLeast)) {}

  const Rect& frame() const { return frame_; }
  std::uint32_t side() const { return side_; }
  std::uint32_t cell(std::uint32_t column, std::uint32_t row) const { return row * side_ + column; }
  /// A cell that is everywhere: for what would be in too many.
  std::uint32_t everywhere() const { return side_ * side_; }
  bool is_everywhere(const Range& range) const {
    return range.cells() > std::max(4u, side_ * side_ / 4);
  }

  Range range_of(const Rect& box) const {
    return {column_of(box.west), row_of(box.south), column_of(box.east), row_of(box.north)};
  }

  /// Calls visit(cell) for each cell where a box is filed: those it touches, or the one that is
  /// everywhere.
  template <typename Visit>
  void for_each_home(const Rect& box, Visit&& visit) const {
    const Range range = range_of(box);
    if (is_everywhere(range)) return visit(everywhere());
    for_each_in(range, visit);
  }
  /// The same for a place; a cell that both parts touch is visited once.
  template <typename Visit>
  void for_each_home(const Place& place, Visit&& visit) const {
    const Range first = range_of(place.part[0]);
    if (place.parts == 1) return for_each_home(place.part[0], visit);
    const Range second = range_of(place.part[1]);
    if (is_everywhere(first) || is_everywhere(second)) return visit(everywhere());
    for_each_in_either(first, second, visit);
  }
  /// Calls visit(cell) for each cell where something that touches the place may be filed.
  template <typename Visit>
  void for_each_cell_at(const Place& place, Visit&& visit) const {
    const Range first = range_of(place.part[0]);
    if (place.parts == 1) {
      for_each_in(first, visit);
    } else {
      for_each_in_either(first, range_of(place.part[1]), visit);
    }
    visit(everywhere());
  }
  /// The same for what touches one of two boxes.
  template <typename Visit>
  void for_each_cell_at(const Rect& one, const Rect& other, Visit&& visit) const {
    for_each_in_either(range_of(one), range_of(other), visit);
    visit(everywhere());
  }

  /// Holds everything that is in the cell, and a little more than it: rounding must not matter.
  Rect extent(std::uint32_t cell) const {
    constexpr double kSlack = 0.01, kFarAway = std::numeric_limits<double>::infinity();
    if (cell == everywhere()) return {-kFarAway, -kFarAway, kFarAway, kFarAway};
    const std::uint32_t column = cell % side_, row = cell / side_;
    const auto line = [](double from, double number, double per_degree) {
      return from + number / per_degree;
    };
    return {column == 0 ? -kFarAway : line(frame_.west, column - kSlack, columns_per_degree_),
            row == 0 ? -kFarAway : line(frame_.south, row - kSlack, rows_per_degree_),
            column + 1 == side_ ? kFarAway
                                : line(frame_.west, column + 1 + kSlack, columns_per_degree_),
            row + 1 == side_ ? kFarAway : line(frame_.south, row + 1 + kSlack, rows_per_degree_)};
  }

 private:
  static constexpr double kLeast = 1e-9;  ///< degrees; of a frame without extent

  std::uint32_t column_of(double lon) const {
    return clamped((lon - frame_.west) * columns_per_degree_);
  }
  std::uint32_t row_of(double lat) const {
    return clamped((lat - frame_.south) * rows_per_degree_);
  }
  std::uint32_t clamped(double position) const {
    return static_cast<std::uint32_t>(std::clamp(position, 0.0, side_ - 1.0));
  }

  template <typename Visit>
  void for_each_in(const Range& range, Visit&& visit) const {
    for (std::uint32_t row = range.south; row <= range.north; ++row) {
      for (std::uint32_t column = range.west; column <= range.east; ++column) {
        visit(cell(column, row));
      }
    }
  }
  template <typename Visit>
  void for_each_in_either(const Range& first, const Range& second, Visit&& visit) const {
    for_each_in(first, visit);
    for_each_in(second, [&](std::uint32_t at) {
      if (!first.contains(at % side_, at / side_)) visit(at);
    });
  }

  Rect frame_;
  std::uint32_t side_;
  double columns_per_degree_, rows_per_degree_;
};

}  // namespace nearcast

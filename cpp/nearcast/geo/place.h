/// Where a message is: a point, a box, or a box that crosses the antimeridian (two boxes).
#pragma once

#include "nearcast/geo/rect.h"

namespace nearcast {

struct Place {
  Rect part[2] = {kNowhere, kNowhere};
  int parts = 0;
  bool is_point = false;

  static Place at(Point p) {
    Place place;
    place.part[0] = {p.lon, p.lat, p.lon, p.lat};
    place.parts = 1;
    place.is_point = true;
    return place;
  }

  /// west > east: the box crosses the antimeridian. A box without size is a point.
  static Place box(const Rect& box) {
    Place place;
    if (box.west <= box.east) {
      place.part[0] = box;
      place.parts = 1;
      place.is_point = box.west == box.east && box.south == box.north;
    } else {
      place.part[0] = {box.west, box.south, 180, box.north};
      place.part[1] = {-180, box.south, box.east, box.north};
      place.parts = 2;
    }
    return place;
  }

  Point point() const { return {part[0].west, part[0].south}; }
};

/// Does any part of the place pass the test for one box?
template <typename Test>
bool any_part(const Place& place, Test&& test) {
  return test(place.part[0]) || (place.parts == 2 && test(place.part[1]));
}

/// Does any part of the place touch the box?
inline bool touches(const Rect& box, const Place& place) {
  return overlaps(box, place.part[0]) || (place.parts == 2 && overlaps(box, place.part[1]));
}

}  // namespace nearcast

/// Circles on the sphere of 6,371,008.8 m.
#pragma once

#include "nearcast/geo/rect.h"

namespace nearcast {

struct Circle {
  Point center;
  double radius_m = 0;
};

double great_circle_m(Point a, Point b);  ///< haversine
/// Distance from a point to the nearest point of a lon/lat box, both on the sphere.
double great_circle_to_box_m(Point p, const Rect& box);
bool touches(const Circle& circle, const Rect& box);  ///< a point is a box of zero size
/// A box that holds the circle, a little too large rather than too small.
Rect bounds(const Circle& circle);

}  // namespace nearcast

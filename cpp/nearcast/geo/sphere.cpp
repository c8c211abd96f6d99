#include "nearcast/geo/sphere.h"

#include <cmath>
#include <numbers>

namespace nearcast {
namespace {

constexpr double kEarthRadiusM = 6371008.8;
constexpr double kDegree = std::numbers::pi / 180;

double to_degrees(double angle) { return angle / kDegree; }

/// The latitude of a meridian's segment that is nearest to a point `apart` degrees of longitude
/// away.
///
/// cos(distance) = sin φ₀ sin φ + cos φ₀ cos φ cos Δλ is one sine wave in φ: its crest, if it lies
/// on the segment, otherwise one of the ends.
double nearest_latitude(double latitude, double apart, double south, double north) {
  const double crest = to_degrees(std::atan2(
      std::sin(latitude * kDegree), std::cos(latitude * kDegree) * std::cos(apart * kDegree)));
  if (crest >= south && crest <= north) return crest;
  const double south_m = great_circle_m({0, latitude}, {apart, south});
  const double north_m = great_circle_m({0, latitude}, {apart, north});
  return south_m <= north_m ? south : north;
}

bool holds_longitude(const Rect& box, double lon) {
  return (box.west <= lon && lon <= box.east) || (box.west <= lon + 360 && lon + 360 <= box.east) ||
         (box.west <= lon - 360 && lon - 360 <= box.east);
}

}  // namespace

double great_circle_m(Point a, Point b) {
  const double phi_a = a.lat * kDegree, phi_b = b.lat * kDegree;
  const double sin_lat = std::sin((b.lat - a.lat) * kDegree / 2);
  // The remainder is exact: −180 and 180 are the same meridian, not nearly the same.
  const double sin_lon = std::sin(std::remainder(b.lon - a.lon, 360.0) * kDegree / 2);
  const double h = sin_lat * sin_lat + std::cos(phi_a) * std::cos(phi_b) * sin_lon * sin_lon;
  return 2 * kEarthRadiusM * std::asin(std::sqrt(std::fmin(1.0, h)));
}

double great_circle_to_box_m(Point p, const Rect& box) {
  if (box.west == box.east && box.south == box.north)
    return great_circle_m(p, {box.west, box.south});
  if (holds_longitude(box, p.lon)) {
    const double lat = std::fmin(std::fmax(p.lat, box.south), box.north);
    return great_circle_m(p, {p.lon, lat});
  }
  // At each latitude the box's nearest point is an end of its parallel, so the nearest of all lies
  // on the western or the eastern edge.
  const double west = nearest_latitude(p.lat, box.west - p.lon, box.south, box.north);
  const double east = nearest_latitude(p.lat, box.east - p.lon, box.south, box.north);
  return std::fmin(great_circle_m(p, {box.west, west}), great_circle_m(p, {box.east, east}));
}

bool touches(const Circle& circle, const Rect& box) {
  return great_circle_to_box_m(circle.center, box) <= circle.radius_m;
}

Rect bounds(const Circle& circle) {
  constexpr double kSlack = 1e-7;  // about a centimetre: far more than rounding can lose
  const double angle = circle.radius_m / kEarthRadiusM;
  const double reach = to_degrees(angle) + kSlack;
  const double south = circle.center.lat - reach, north = circle.center.lat + reach;
  Rect box{-180, std::fmax(-90.0, south), 180, std::fmin(90.0, north)};
  if (south <= -90 || north >= 90) return box;  // holds a pole: every longitude
  const double sine = std::sin(angle + kSlack * kDegree) / std::cos(circle.center.lat * kDegree);
  if (!(sine < 1)) return box;
  const double spread = to_degrees(std::asin(sine)) + kSlack;
  const double west = circle.center.lon - spread, east = circle.center.lon + spread;
  if (west <= -180 || east >= 180) return box;  // reaches the antimeridian, which has two names
  box.west = west;
  box.east = east;
  return box;
}

}  // namespace nearcast

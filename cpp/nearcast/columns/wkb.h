/// Areas in well-known binary (ISO 19125, with the flags of PostGIS): Polygon, MultiPolygon, and
/// GeometryCollections of these.
///
/// Heights and measures are ignored. A coordinate system may be named only if it is 4326, longitude
/// and latitude. Everything is bounded: corners, parts and levels as in an area of one's own, and no
/// count is believed that the bytes cannot have.
#pragma once

#include <string_view>

#include "nearcast/model/subscription.h"

namespace nearcast {

/// Throws an error about a wrong subscription.
Area read_wkb(std::string_view bytes);

/// Throws an error about a wrong subscription unless rings are closed, of four positions or more,
/// and in range, and not too many.
void check_polygon(const PolygonArea& polygon);

}  // namespace nearcast

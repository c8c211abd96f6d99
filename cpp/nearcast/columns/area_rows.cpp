#include "nearcast/columns/area_rows.h"

#include <cmath>
#include <string>

#include "nearcast/base/errors.h"
#include "nearcast/base/number_text.h"
#include "nearcast/columns/wkb.h"
#include "nearcast/model/shape_store.h"

namespace nearcast {
namespace {

void check_in_circle(const char* name, double value, double low, double high,
                     const std::string& wanted) {
  if (low <= value && value <= high) return;  // false for NaN
  throw Error(ErrorKind::kInvalidSubscription, name,
              std::isnan(value) ? "null or NaN" : number_text(value), wanted);
}

}  // namespace

Area AreaRows::at(std::size_t row) const {
  try {
    return read(row);
  } catch (const Error& error) {
    throw Error(error.kind, "row " + std::to_string(row) + ": " + error.what(), error.got,
                error.wanted, error.hint);
  }
}

Area CircleRows::read(std::size_t row) const {
  check_in_circle("lon", lon_[row], -180, 180, "a number from -180 to 180");
  check_in_circle("lat", lat_[row], -90, 90, "a number from -90 to 90");
  check_in_circle("radius_m", radius_m_[row], 0, 1e300, "metres, at least 0");
  return Circle{{lon_[row], lat_[row]}, radius_m_[row]};
}

Area WkbRows::read(std::size_t row) const { return read_wkb(bytes_[row]); }

Area PolygonRows::read(std::size_t row) const {
  const auto at = [](std::span<const std::int64_t> offsets, std::size_t i) {
    return static_cast<std::size_t>(offsets[i]);
  };
  const auto& [rows, polygons, rings, lon, lat, stride] = columns_;
  const std::size_t first = rows.empty() ? row : at(rows, row);
  const std::size_t end = rows.empty() ? row + 1 : at(rows, row + 1);
  PolygonArea area;
  for (std::size_t polygon = first; polygon < end; ++polygon) {
    const std::size_t last_ring = at(polygons, polygon + 1);
    if (at(polygons, polygon) == last_ring)
      throw Error(ErrorKind::kInvalidSubscription, "geometry", "an empty polygon", "a ring");
    for (std::size_t ring = at(polygons, polygon); ring < last_ring; ++ring) {
      const std::size_t start = at(rings, ring), stop = at(rings, ring + 1);
      if (area.points.size() + (stop - start) > kMaxCorners)
        throw Error(ErrorKind::kInvalidSubscription, "geometry", "more corners",
                    "at most " + std::to_string(kMaxCorners));
      for (std::size_t i = start; i < stop; ++i)
        area.points.push_back({lon[i * stride], lat[i * stride]});
      area.ring_ends.push_back(static_cast<std::uint32_t>(area.points.size()));
    }
    area.polygon_ends.push_back(static_cast<std::uint32_t>(area.ring_ends.size()));
  }
  if (area.polygon_ends.empty())
    throw Error(ErrorKind::kInvalidSubscription, "geometry", "no polygon", "at least one");
  check_polygon(area);
  return area;
}

RowBounds::RowBounds(const AreaRows& areas, std::span<const std::uint8_t> lacks_area) {
  for (std::vector<double>* side : {&west_, &south_, &east_, &north_}) side->resize(areas.size());
  for (std::size_t row = 0; row < areas.size(); ++row) {
    if (!lacks_area.empty() && lacks_area[row] != 0) continue;
    const Rect box = bounds_of(areas.at(row));
    west_[row] = box.west;
    south_[row] = box.south;
    east_[row] = box.east;
    north_[row] = box.north;
  }
}

}  // namespace nearcast

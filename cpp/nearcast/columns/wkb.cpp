#include "nearcast/columns/wkb.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "nearcast/base/errors.h"
#include "nearcast/base/number_text.h"

namespace nearcast {
namespace {

constexpr int kMaxNesting = 16;  ///< geometries in collections in collections
constexpr std::uint32_t kPolygonType = 3, kMultiPolygonType = 6, kCollectionType = 7;
constexpr std::uint32_t kHasZ = 0x80000000u, kHasM = 0x40000000u, kHasSrid = 0x20000000u;
constexpr std::uint32_t kLonLat = 4326;
constexpr std::size_t kHeaderBytes = 5;  ///< of a geometry: byte order and type
constexpr std::uint32_t kLeastPositions = 4;

[[noreturn]] void refuse_geometry(const std::string& got, const std::string& wanted,
                                  const std::string& hint = {}) {
  throw Error(ErrorKind::kInvalidSubscription, "geometry", got, wanted, hint);
}

std::string kind_name(std::uint32_t type) {
  constexpr std::array<const char*, 8> kNames = {
      "Geometry",   "Point",           "LineString",   "Polygon",
      "MultiPoint", "MultiLineString", "MultiPolygon", "GeometryCollection"};
  if (type < kNames.size()) return std::string("a ") + kNames[type];
  return "type " + std::to_string(type);
}

class WkbReader {
 public:
  explicit WkbReader(std::string_view bytes) : bytes_(bytes) {}

  Area read() {
    read_geometry(0);
    if (at_ != bytes_.size())
      refuse_geometry(std::to_string(bytes_.size() - at_) + " bytes after its end", "none");
    if (parts_.empty()) refuse_geometry("an empty GeometryCollection", "at least one polygon");
    if (parts_.size() > 1) return Areas{std::move(parts_)};
    return std::visit([](auto&& shape) { return Area(std::forward<decltype(shape)>(shape)); },
                      std::move(parts_[0]));
  }

 private:
  struct Header {
    std::uint32_t type;
    std::size_t dimensions;
  };

  template <typename Number>
  Number take() {
    Number number;
    if (bytes_.size() - at_ < sizeof(number))
      refuse_geometry(std::to_string(bytes_.size()) + " bytes", "more: it ends too early");
    std::memcpy(&number, bytes_.data() + at_, sizeof(number));
    at_ += sizeof(number);
    if (!is_swapped_) return number;
    std::array<char, sizeof(Number)> reversed;
    std::memcpy(reversed.data(), &number, sizeof(number));
    std::reverse(reversed.begin(), reversed.end());
    std::memcpy(&number, reversed.data(), sizeof(number));
    return number;
  }

  /// A count of things that take at least so many bytes each.
  std::uint32_t take_count(std::size_t least_bytes, const char* what) {
    const auto count = take<std::uint32_t>();
    if (count > (bytes_.size() - at_) / least_bytes)
      refuse_geometry(std::to_string(count) + " " + what, "no more than its bytes can hold");
    return count;
  }

  Header take_header() {
    const auto order = take<std::uint8_t>();
    if (order > 1)
      refuse_geometry("byte order " + std::to_string(order), "WKB, which begins with 0 or 1");
    is_swapped_ = (order == 1) != (std::endian::native == std::endian::little);
    const auto type = take<std::uint32_t>();
    const std::uint32_t plain = type & ~(kHasZ | kHasM | kHasSrid);
    const std::uint32_t group = plain / 1000;  // 1: with heights, 2: with measures, 3: with both
    if (group > 3) refuse_geometry(kind_name(plain), "a Polygon or MultiPolygon");
    if ((type & kHasSrid) != 0) {
      if (const auto srid = take<std::uint32_t>(); srid != kLonLat && srid != 0)
        refuse_geometry("coordinates of system " + std::to_string(srid),
                        "longitude and latitude, which is 4326", "transform the geometries");
    }
    const std::size_t dimensions =
        2 + ((type & kHasZ) != 0 || group == 1 || group == 3) + ((type & kHasM) != 0 || group >= 2);
    return {plain % 1000, dimensions};
  }

  void read_geometry(int depth) {
    if (depth > kMaxNesting)
      refuse_geometry("collections in collections",
                      "at most " + std::to_string(kMaxNesting) + " levels");
    const Header header = take_header();
    if (header.type == kCollectionType) {
      const auto count = take_count(kHeaderBytes, "geometries");
      for (std::uint32_t i = 0; i < count; ++i) read_geometry(depth + 1);
      return;
    }
    PolygonArea polygon;
    if (header.type == kPolygonType) {
      read_polygon(header, polygon);
    } else if (header.type == kMultiPolygonType) {
      const auto count = take_count(kHeaderBytes, "polygons");
      if (count == 0) refuse_geometry("an empty MultiPolygon", "at least one polygon");
      for (std::uint32_t i = 0; i < count; ++i) {
        const Header own = take_header();
        if (own.type != kPolygonType) refuse_geometry(kind_name(own.type), "a Polygon");
        read_polygon(own, polygon);
      }
    } else {
      refuse_geometry(kind_name(header.type), "a Polygon or MultiPolygon",
                      "points and lines are no areas");
    }
    if (parts_.size() == Areas::kMaxParts)
      refuse_geometry("more parts", "at most " + std::to_string(Areas::kMaxParts));
    check_polygon(polygon);
    parts_.emplace_back(std::move(polygon));
  }

  void read_polygon(const Header& header, PolygonArea& out) {
    const auto rings = take_count(sizeof(std::uint32_t), "rings");
    if (rings == 0) refuse_geometry("an empty Polygon", "a ring");
    for (std::uint32_t ring = 0; ring < rings; ++ring) {
      const auto positions = take_count(header.dimensions * sizeof(double), "positions");
      corners_ += positions;
      if (corners_ > kMaxCorners)
        refuse_geometry("more corners", "at most " + std::to_string(kMaxCorners));
      for (std::uint32_t i = 0; i < positions; ++i) {
        const auto lon = take<double>();
        const auto lat = take<double>();
        for (std::size_t ignored = 2; ignored < header.dimensions; ++ignored) take<double>();
        out.points.push_back({lon, lat});
      }
      out.ring_ends.push_back(static_cast<std::uint32_t>(out.points.size()));
    }
    out.polygon_ends.push_back(static_cast<std::uint32_t>(out.ring_ends.size()));
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool is_swapped_ = false;  ///< of the geometry that is being read
  std::size_t corners_ = 0;
  std::vector<AreaPart> parts_;
};

}  // namespace

Area read_wkb(std::string_view bytes) { return WkbReader(bytes).read(); }

void check_polygon(const PolygonArea& polygon) {
  if (polygon.points.size() > kMaxCorners)
    refuse_geometry(std::to_string(polygon.points.size()) + " corners",
                    "at most " + std::to_string(kMaxCorners));
  for (const Point p : polygon.points) {
    if (!(std::fabs(p.lon) <= 180))  // nor for NaN
      refuse_geometry("longitude " + number_text(p.lon), "-180 to 180");
    if (!(std::fabs(p.lat) <= 90))
      refuse_geometry("latitude " + number_text(p.lat), "-90 to 90",
                      "the order is longitude, latitude");
  }
  std::uint32_t start = 0;
  for (const std::uint32_t end : polygon.ring_ends) {
    if (end - start < kLeastPositions)
      refuse_geometry("a ring of " + std::to_string(end - start) + " positions",
                      "at least 4, the last equal to the first");
    const Point first = polygon.points[start], last = polygon.points[end - 1];
    if (first.lon != last.lon || first.lat != last.lat)
      refuse_geometry("a ring that is not closed", "the last position equal to the first");
    start = end;
  }
}

}  // namespace nearcast

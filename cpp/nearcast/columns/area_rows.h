/// Areas of a batch that are more than boxes: circles in three columns, or geometries in one. Each
/// is read from its column whenever it is needed, so that a batch takes no memory twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nearcast/columns/columns.h"
#include "nearcast/model/subscription.h"

namespace nearcast {

class AreaRows {
 public:
  virtual ~AreaRows() = default;
  virtual std::size_t size() const = 0;
  /// Throws an error that names the row if it has no area, or a wrong one.
  Area at(std::size_t row) const;

 private:
  virtual Area read(std::size_t row) const = 0;
};

class CircleRows final : public AreaRows {
 public:
  CircleRows(std::span<const double> lon, std::span<const double> lat,
             std::span<const double> radius_m)
      : lon_(lon), lat_(lat), radius_m_(radius_m) {}
  std::size_t size() const override { return lon_.size(); }

 private:
  Area read(std::size_t row) const override;
  std::span<const double> lon_, lat_, radius_m_;
};

class WkbRows final : public AreaRows {
 public:
  explicit WkbRows(const WordColumn& bytes) : bytes_(bytes) {}
  std::size_t size() const override { return bytes_.size(); }

 private:
  Area read(std::size_t row) const override;
  WordColumn bytes_;
};

/// Polygons as GeoArrow has them: row i is the polygons [rows[i], rows[i + 1]), these are rings, and
/// those are positions. Offsets ascend and end where the next ones begin.
struct PolygonColumns {
  std::span<const std::int64_t> rows;  ///< empty: each row is one polygon
  std::span<const std::int64_t> polygons, rings;
  std::span<const double> lon, lat;
  std::size_t stride = 1;  ///< from one longitude to the next
};

class PolygonRows final : public AreaRows {
 public:
  explicit PolygonRows(const PolygonColumns& columns) : columns_(columns) {}
  std::size_t size() const override {
    return (columns_.rows.empty() ? columns_.polygons : columns_.rows).size() - 1;
  }

 private:
  Area read(std::size_t row) const override;
  PolygonColumns columns_;
};

/// Boxes around the areas of a batch; of rows without one, all zero.
class RowBounds {
 public:
  RowBounds(const AreaRows& areas, std::span<const std::uint8_t> lacks_area);
  PlaceColumns view() const { return {west_, south_, east_, north_}; }

 private:
  std::vector<double> west_, south_, east_, north_;
};

}  // namespace nearcast

/// A column of geometries as areas: WKB, or polygons as GeoArrow has them.
#pragma once

#include <memory>

#include "bindings/arrow_columns.h"
#include "nearcast/columns/area_rows.h"

namespace nearcast {

/// Binary of every layout is WKB; list<list<position>> are polygons, list<list<list<position>>>
/// multipolygons, a position being a fixed-size list of two numbers or more, or a struct of x and y.
/// What a column is said to be (geoarrow.polygon) must be what it is. What lies under nulls is not
/// read.
std::unique_ptr<AreaRows> geometries_of(const ArrowCells& cells, OwnedColumns& owned);

}  // namespace nearcast

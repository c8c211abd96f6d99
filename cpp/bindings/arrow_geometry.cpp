#include "bindings/arrow_geometry.h"

#include <cstring>
#include <optional>
#include <string_view>

#include "bindings/arrow_buffers.h"
#include "nearcast/columns/column_checks.h"

namespace nearcast {
namespace {

constexpr const char* kWantedGeometry = "WKB (binary) or polygons of GeoArrow";
constexpr std::int32_t kMostMetadata = 1 << 20;  // pairs, and bytes of one: more is damage

/// The value of a key in a schema's metadata: int32 pairs, then for each int32 and bytes, twice.
std::optional<std::string_view> metadata_of(const ArrowSchema& schema, std::string_view wanted) {
  const char* at = schema.metadata;
  if (at == nullptr) return std::nullopt;
  const auto take = [&] {
    std::int32_t number;
    std::memcpy(&number, at, sizeof(number));
    at += sizeof(number);
    return number;
  };
  const auto take_text = [&]() -> std::optional<std::string_view> {
    const std::int32_t bytes = take();
    if (bytes < 0 || bytes > kMostMetadata) return std::nullopt;
    const std::string_view text(at, static_cast<std::size_t>(bytes));
    at += bytes;
    return text;
  };
  const std::int32_t pairs = take();
  if (pairs < 0 || pairs > kMostMetadata) return std::nullopt;
  for (std::int32_t i = 0; i < pairs; ++i) {
    const auto key = take_text();
    const auto value = key ? take_text() : std::nullopt;
    if (!value) return std::nullopt;
    if (*key == wanted) return value;
  }
  return std::nullopt;
}

/// Offsets of one level of lists, from 0 on, and the items that they use.
struct Level {
  std::span<const std::int64_t> offsets;
  ArrowCells items;
};

Level level_of(const ArrowCells& cells, OwnedColumns& owned) {
  const ArrowType type = type_of(*cells.schema);
  if (type != ArrowType::kList && type != ArrowType::kLargeList)
    refuse_type(cells, kWantedGeometry);
  ArrowCells items = items_of(cells);
  const auto given = offsets_of(cells, type == ArrowType::kLargeList, owned);
  check_offsets(cells.kind, cells.name.c_str(), given, items.size());
  const std::int64_t first = given.front();
  std::vector<std::int64_t> offsets(given.begin(), given.end());
  for (std::int64_t& offset : offsets) offset -= first;
  items.start += first;
  items.rows = offsets.back();
  return {owned.keep(std::move(offsets)), items};
}

void refuse_null_parts(const ArrowCells& cells) {
  const NullMap nulls = nulls_of(cells);
  for (std::size_t i = 0; nulls.has_any() && i < cells.size(); ++i) {
    if (nulls[i])
      throw Error(cells.kind, "column '" + cells.name + "' has a null inside a geometry", {},
                  "rings and positions that are there");
  }
}

/// Children of a fixed-size list or a struct; of no rows without an array.
ArrowCells child_of(const ArrowCells& cells, std::int64_t which) {
  const ArrowSchema& schema = *cells.schema->children[which];
  if (cells.rows == 0) return {&schema, nullptr, 0, 0, cells.name, cells.kind};
  const ArrowArray& array = *cells.array;
  if (array.n_children != cells.schema->n_children || array.children == nullptr ||
      array.children[which] == nullptr)
    refuse_damaged(cells, "positions without numbers", "one array for each coordinate");
  return cells_of(schema, *array.children[which], cells.name, cells.kind);
}

void read_interleaved(const ArrowCells& cells, PolygonColumns& out, OwnedColumns& owned) {
  const std::int64_t size = fixed_list_size(*cells.schema);
  if (size < 2 || size > 4 || cells.schema->n_children != 1) refuse_type(cells, kWantedGeometry);
  ArrowCells numbers = child_of(cells, 0);
  if (type_of(*numbers.schema) != ArrowType::kDouble) refuse_type(cells, kWantedGeometry);
  if (cells.rows > 0) {
    if (cells.start + cells.rows > numbers.rows / size)
      refuse_damaged(cells, std::to_string(numbers.rows) + " numbers",
                     std::to_string(size) + " for each position");
    numbers.start += cells.start * size;
    numbers.rows = cells.rows * size;
  }
  refuse_null_parts(numbers);
  out.lon = numbers_of(numbers, owned);
  out.lat = out.lon.empty() ? out.lon : out.lon.subspan(1);
  out.stride = static_cast<std::size_t>(size);
}

void read_separated(const ArrowCells& cells, PolygonColumns& out, OwnedColumns& owned) {
  const auto coordinate = [&](const char* name) {
    for (std::int64_t i = 0; i < cells.schema->n_children; ++i) {
      const ArrowSchema& child = *cells.schema->children[i];
      if (child.name == nullptr || std::strcmp(child.name, name) != 0) continue;
      ArrowCells numbers = child_of(cells, i);
      if (cells.rows > 0) {
        if (numbers.rows < cells.start + cells.rows)
          refuse_damaged(cells, std::to_string(numbers.rows) + " numbers", "one for each position");
        numbers.start += cells.start;
        numbers.rows = cells.rows;
      }
      if (type_of(child) != ArrowType::kDouble) refuse_type(cells, kWantedGeometry);
      refuse_null_parts(numbers);
      return numbers_of(numbers, owned);
    }
    refuse_type(cells, kWantedGeometry);
  };
  out.lon = coordinate("x");
  out.lat = coordinate("y");
}

std::unique_ptr<AreaRows> polygons_of(const ArrowCells& cells, std::string_view said,
                                      OwnedColumns& owned) {
  std::vector<Level> levels{level_of(cells, owned)};
  while (levels.size() < 3 && is_list(type_of(*levels.back().items.schema)) &&
         type_of(*levels.back().items.schema) != ArrowType::kFixedSizeList) {
    refuse_null_parts(levels.back().items);
    levels.push_back(level_of(levels.back().items, owned));
  }
  const std::size_t depth = said == "geoarrow.polygon"        ? 2
                            : said == "geoarrow.multipolygon" ? 3
                                                              : 0;
  if (levels.size() < 2 || (depth != 0 && depth != levels.size()))
    refuse_type(cells, kWantedGeometry);
  const ArrowCells positions = levels.back().items;
  refuse_null_parts(positions);
  PolygonColumns columns;
  if (levels.size() == 3) columns.rows = levels[0].offsets;
  columns.polygons = levels[levels.size() - 2].offsets;
  columns.rings = levels.back().offsets;
  if (type_of(*positions.schema) == ArrowType::kFixedSizeList) {
    read_interleaved(positions, columns, owned);
  } else if (std::strcmp(positions.schema->format, "+s") == 0) {
    read_separated(positions, columns, owned);
  } else {
    refuse_type(cells, kWantedGeometry);
  }
  return std::make_unique<PolygonRows>(columns);
}

}  // namespace

std::unique_ptr<AreaRows> geometries_of(const ArrowCells& cells, OwnedColumns& owned) {
  const std::string_view said =
      metadata_of(*cells.schema, "ARROW:extension:name").value_or(std::string_view{});
  const bool is_said_wkb = said == "geoarrow.wkb" || said == "ogc.wkb";
  const bool is_said_polygon = said == "geoarrow.polygon" || said == "geoarrow.multipolygon";
  if (!said.empty() && !is_said_wkb && !is_said_polygon) {
    throw Error(cells.kind, "column '" + cells.name + "' has the wrong type", std::string(said),
                "geoarrow.wkb, geoarrow.polygon or geoarrow.multipolygon");
  }
  const ArrowType type = type_of(*cells.schema);
  if (cells.schema->dictionary != nullptr) refuse_type(cells, kWantedGeometry);
  if (is_binary(type) && !is_said_polygon) return std::make_unique<WkbRows>(bytes_of(cells, owned));
  if (!is_list(type) || is_said_wkb) refuse_type(cells, kWantedGeometry);
  return polygons_of(cells, said, owned);
}

}  // namespace nearcast

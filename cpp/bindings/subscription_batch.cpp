#include "bindings/subscription_batch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "bindings/arrow_geometry.h"

namespace nearcast {
namespace {

constexpr ErrorKind kRefused = ErrorKind::kInvalidSubscription;
constexpr std::initializer_list<const char*> kBorders = {"west", "south", "east", "north"};
constexpr std::initializer_list<const char*> kCircle = {"lon", "lat", "radius_m"};

}  // namespace

SubscriptionTable::SubscriptionTable(nb::handle table) {
  ArrowBatches batches(table, "subscriptions", kRefused);
  schema_ = batches.schema();
  batch_ = *batches.next();
  if (batches.next()) {
    throw Error(kRefused, "subscriptions", "a table of several batches",
                "one: all of them are subscribed, or none");
  }
}

ArrowTable SubscriptionTable::table() const { return {**schema_, *batch_, kRefused}; }

std::span<const double> SubscriptionTable::numbers(const char* name) {
  return numbers_of(table().column(name), owned_);
}

WordLists SubscriptionTable::keyword_lists(const ArrowCells& cells) {
  ArrowLists found = lists_of(cells, owned_);
  if (found.dictionary != nullptr) {
    std::get<CodedColumn>(found.lists.items).dictionary =
        dictionary_of(*found.dictionary_schema, *found.dictionary, kRefused, owned_);
  }
  return found.lists;
}

std::span<const std::uint8_t> SubscriptionTable::lacking(std::initializer_list<const char*> names) {
  std::vector<std::uint8_t> lacks(table().rows(), 1);
  for (const char* name : names) {
    const auto nulls = null_flags(table().column(name), owned_);
    if (nulls.empty()) return {};
    for (std::size_t row = 0; row < lacks.size(); ++row) lacks[row] &= nulls[row];
  }
  if (std::find(lacks.begin(), lacks.end(), 1) == lacks.end()) return {};
  return owned_.keep(std::move(lacks));
}

void SubscriptionTable::read_areas(SubscriptionColumns& columns) {
  const ArrowTable rows = table();
  const bool has_borders = rows.has_any(kBorders), has_circles = rows.has_any(kCircle);
  const bool has_geometries = rows.has("geometry");
  if (has_borders + has_circles + has_geometries > 1) {
    throw Error(
        kRefused, "columns of areas",
        std::string(has_borders ? "west" : "lon") + " and " + (has_geometries ? "geometry" : "lon"),
        "west, south, east, north, or lon, lat, radius_m, or geometry");
  }
  if (has_geometries) {
    shapes_ = geometries_of(rows.column("geometry"), owned_);
    columns.lacks_area = lacking({"geometry"});
  } else if (has_circles) {
    shapes_ = std::make_unique<CircleRows>(numbers("lon"), numbers("lat"), numbers("radius_m"));
    columns.lacks_area = lacking(kCircle);
  } else if (has_borders) {
    columns.areas = {numbers("west"), numbers("south"), numbers("east"), numbers("north")};
    columns.lacks_area = lacking(kBorders);
  } else {
    columns.lacks_area = owned_.keep(std::vector<std::uint8_t>(rows.rows(), 1));
  }
  columns.shapes = shapes_.get();
}

SubscriptionColumns SubscriptionTable::match_columns() {
  const ArrowTable rows = table();
  rows.refuse_others(
      {"id", "keywords", "west", "south", "east", "north", "lon", "lat", "radius_m", "geometry"});
  SubscriptionColumns columns;
  columns.rows = rows.rows();
  columns.ids = ids_of(rows.column("id"), owned_);
  if (rows.has("keywords")) {
    const ArrowCells cells = rows.column("keywords");
    columns.keywords = keyword_lists(cells);
    columns.lacks_keywords = null_flags(cells, owned_);
  } else {
    columns.lacks_keywords = owned_.keep(std::vector<std::uint8_t>(rows.rows(), 1));
  }
  read_areas(columns);
  return columns;
}

RankSubscriptionColumns SubscriptionTable::rank_columns() {
  const ArrowTable rows = table();
  rows.refuse_others({"id", "keywords", "west", "south", "east", "north", "alpha", "threshold"});
  RankSubscriptionColumns columns;
  columns.rows = rows.rows();
  columns.ids = ids_of(rows.column("id"), owned_);
  const ArrowCells keywords = rows.column("keywords");
  refuse_nulls(keywords);
  columns.keywords = keyword_lists(keywords);
  columns.areas = {numbers("west"), numbers("south"), numbers("east"), numbers("north")};
  columns.alpha = numbers("alpha");
  columns.threshold = numbers("threshold");
  return columns;
}

IdTable::IdTable(nb::handle ids) : column_(array_from(ids, "ids", ErrorKind::kUnknownId)) {
  ids_ = ids_of(cells_of(**column_.schema, *column_.array, "id", ErrorKind::kUnknownId), owned_);
}

}  // namespace nearcast

/// Python values to the core's columns and back. Nothing is copied on the way in: the caller's
/// arrays outlive the call. On the way out an array owns the core's vector.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <span>
#include <vector>

#include "nearcast/engine/columns.h"
#include "nearcast/engine/engine.h"

namespace nb = nanobind;

namespace nearcast {

template <typename T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
std::span<const T> view(const Column<T>& column) {
  return {column.data(), column.shape(0)};
}

template <typename T>
std::span<const T> view(nb::handle column) {
  return column.is_none() ? std::span<const T>() : view(nb::cast<Column<T>>(column));
}

template <typename T, typename Allocator>
auto to_numpy(std::vector<T, Allocator>&& values) {
  using Vector = std::vector<T, Allocator>;
  auto* owned = new Vector(std::move(values));
  nb::capsule owner(owned, [](void* memory) noexcept { delete static_cast<Vector*>(memory); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner);
}

inline WordColumn words_from(nb::handle pair) {
  const auto parts = nb::cast<nb::tuple>(pair);
  const auto bytes = view<std::uint8_t>(parts[1]);
  return {view<std::int64_t>(parts[0]), reinterpret_cast<const char*>(bytes.data())};
}

/// Words and, in another column, how many of so many documents have them.
inline EpochColumns epoch_from(std::uint64_t documents, nb::handle words, nb::handle counts) {
  return {documents, words_from(words), view<std::int64_t>(counts)};
}

/// (offsets, ("words", offsets, bytes)) or (offsets, ("codes", codes, offsets and bytes of the
/// dictionary, its tokens, version of the vocabulary))
inline WordLists word_lists_from(nb::handle pair) {
  const auto parts = nb::cast<nb::tuple>(pair);
  const auto items = nb::cast<nb::tuple>(parts[1]);
  WordLists lists{view<std::int64_t>(parts[0]), {}};
  if (nb::cast<std::string_view>(items[0]) == "codes") {
    lists.items = CodedColumn{view<std::int32_t>(items[1]), words_from(items[2]),
                              view<std::uint32_t>(items[3]), nb::cast<std::uint64_t>(items[4])};
  } else {
    const auto bytes = view<std::uint8_t>(items[2]);
    lists.items =
        WordColumn{view<std::int64_t>(items[1]), reinterpret_cast<const char*>(bytes.data())};
  }
  return lists;
}

inline IdColumn ids_from(nb::handle ids) {
  if (nb::isinstance<nb::tuple>(ids)) return words_from(ids);
  return view<std::int64_t>(ids);
}

/// (lon, lat) or (west, south, east, north), each a column
inline PlaceColumns places_from(const nb::tuple& columns) {
  if (columns.size() == 0) return {};
  PlaceColumns places{view<double>(columns[0]), view<double>(columns[1]), {}, {}};
  if (columns.size() == 4) {
    places.east = view<double>(columns[2]);
    places.north = view<double>(columns[3]);
  }
  return places;
}

inline ExternalId id_from(nb::handle id) {
  if (nb::isinstance<nb::str>(id)) return nb::cast<std::string_view>(id);
  return nb::cast<std::int64_t>(id);
}

/// None, (west, south, east, north), (lon, lat, radius_m), or (points, ring_ends, polygon_ends) of
/// lists
Area area_from(nb::handle area);
nb::object area_to_python(const Area& area);
/// (lon, lat) or (west, south, east, north)
Place place_from(const nb::tuple& place);
/// [([positive], [negative]), …]; the words live as long as the list does
std::vector<WordClause> clauses_from(nb::handle clauses);
std::vector<std::string_view> words_from_list(nb::handle words);
/// A list of words and a tuple (lon, lat) of floats in range, read without a Python call per value.
/// False: they are something else, and it takes more to read them or to say what is wrong.
bool read_plain(nb::handle words, nb::handle at, std::vector<std::string_view>& views,
                Place& place);
MessageColumns messages_from(nb::handle texts, bool is_text, const nb::tuple& places,
                             std::size_t rows);

nb::object ids_to_python(MatchColumns& matches);  ///< as a column; takes the memory
nb::list id_list(const MatchColumns& matches);
nb::dict to_python(const WorkCounters& work);
nb::dict to_python(const EngineStats& now);

}  // namespace nearcast

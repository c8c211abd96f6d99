/// Python values to the core's columns and back. Nothing is copied on the way in: the caller's
/// arrays outlive the call. On the way out an array owns the core's vector.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "bindings/arguments.h"
#include "nearcast/columns/change_columns.h"
#include "nearcast/columns/columns.h"
#include "nearcast/columns/reading.h"
#include "nearcast/engine/guarded.h"
#include "nearcast/life/event.h"
#include "nearcast/modes/sizes.h"

namespace nb = nanobind;

namespace nearcast {

template <typename T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
std::span<const T> view(const Column<T>& column) {
  return {column.data(), column.shape(0)};
}

/// A contiguous array of T in one dimension, as it lies. Others are refused, not converted: what a
/// conversion made would be gone before it is read.
template <typename T>
std::span<const T> view(nb::handle column, const char* name) {
  Column<T> found;
  if (!nb::try_cast(column, found, /*convert=*/false)) {
    refuse_argument(name, column,
                    std::string("a contiguous array of ") +
                        (std::is_floating_point_v<T> ? "float"
                         : std::is_signed_v<T>       ? "int"
                                                     : "uint") +
                        std::to_string(8 * sizeof(T)));
  }
  return view(found);
}

template <typename T, typename Allocator>
auto to_numpy(std::vector<T, Allocator>&& values) {
  using Vector = std::vector<T, Allocator>;
  auto* owned = new Vector(std::move(values));
  nb::capsule owner(owned, [](void* memory) noexcept { delete static_cast<Vector*>(memory); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner);
}

/// A weights epoch: a dict of words, with how many of so many documents have each.
class GivenEpoch {
 public:
  GivenEpoch(std::uint64_t documents, nb::handle df);
  EpochColumns columns() const { return {documents_, {words_.offsets, words_.bytes}, counts_}; }

 private:
  std::uint64_t documents_;
  WordsOut words_;
  std::vector<std::int64_t> counts_;
};
/// An int64 or a string
ExternalId id_from(nb::handle id);
/// None, (west, south, east, north), (lon, lat, radius_m), (points, ring_ends, polygon_ends) of
/// lists, or a list of such areas: their union
Area area_from(nb::handle area);
nb::object area_to_python(const Area& area);
/// (lon, lat) or (west, south, east, north)
Place place_from(nb::handle place);
std::vector<std::string_view> words_from_list(nb::handle words);
/// A message as nearly all come: a text in ASCII or a list of words, and a tuple (lon, lat) of floats
/// in range. It is read without a Python call per value.
class PlainMessage {
 public:
  /// False: it is something else, and it takes more to read it or to say what is wrong. A text is
  /// only read if `may_split`: the analyzer has no options.
  bool read(nb::handle message, nb::handle at, bool may_split);
  /// Keeps the words, which are views of a list that other threads may change.
  void keep_words();

  const std::vector<std::string_view>& words() const { return words_; }
  const Place& place() const { return place_; }

 private:
  bool read_words(nb::handle words);

  std::vector<std::string_view> words_;
  std::string letters_;
  std::vector<std::string> kept_;
  Place place_;
};
/// A short question about a plain message.
template <typename Inside, typename Question>
auto ask_plain(const Guarded<Inside>& self, PlainMessage& message, Question&& question) {
  std::optional<std::invoke_result_t<Question, const Inside&>> answer;
  const auto put = [&](const Inside& inside) { answer.emplace(question(inside)); };
  if (!self.try_ask(put)) {
    message.keep_words();
    const nb::gil_scoped_release unlocked;
    self.ask(put);
  }
  return *std::move(answer);
}

/// (lon, lat) in a tuple of floats in range.
bool read_plain_point(nb::handle at, Point& point);

inline nb::str to_str(std::string_view text) { return nb::str(text.data(), text.size()); }
nb::list id_list(const MatchColumns& matches);
nb::dict to_python(const WorkCounters& work);
nb::dict to_python(const MatcherSizes& now);

}  // namespace nearcast

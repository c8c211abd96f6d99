#include "bindings/columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nearcast/columns/column_checks.h"
#include "nearcast/model/subscription_store.h"
#include "nearcast/text/splitter.h"

namespace nearcast {

namespace {

/// Ends of parts: ascending, each part of at least `least`, the last at `total`.
std::vector<std::uint32_t> ends_from(nb::handle value, const char* name, std::size_t least,
                                     std::size_t total) {
  std::vector<std::uint32_t> ends;
  std::uint64_t start = 0;
  for (const nb::handle item : list_from(value, name)) {
    start = whole_from(item, name, start + least, total);
    ends.push_back(static_cast<std::uint32_t>(start));
  }
  if (start != total || ends.empty()) {
    refuse_argument(name, value, "ends of parts, the last at " + std::to_string(total));
  }
  return ends;
}

/// `corners` are those of other parts of the area.
PolygonArea polygon_from(const nb::tuple& parts, std::size_t corners) {
  constexpr std::size_t kLeastPoints = 4;  // a triangle that is closed
  PolygonArea polygon;
  corners += list_from(parts[0], "points of a polygon").size();
  if (corners > kMaxCorners)
    refuse_argument("points of a polygon", nb::int_(corners),
                    "at most " + std::to_string(kMaxCorners) + " in one area");
  for (const nb::handle point : list_from(parts[0], "points of a polygon"))
    polygon.points.push_back(point_from(point, "point of a polygon"));
  polygon.ring_ends = ends_from(parts[1], "ring_ends", kLeastPoints, polygon.points.size());
  polygon.polygon_ends = ends_from(parts[2], "polygon_ends", 1, polygon.ring_ends.size());
  std::size_t start = 0;
  for (const std::uint32_t end : polygon.ring_ends) {
    const Point first = polygon.points[start], last = polygon.points[end - 1];
    if (first.lon != last.lon || first.lat != last.lat)
      refuse_argument("points of a polygon", parts[0], "rings that end where they begin");
    start = end;
  }
  return polygon;
}

AreaPart part_from(nb::handle part, std::size_t corners) {
  const nb::tuple numbers = tuple_from(part, "area", 3, 4);
  if (numbers.size() == 4) return box_from(part, "area");
  if (nb::isinstance<nb::list>(numbers[0])) return polygon_from(numbers, corners);
  return Circle{{number_from(numbers[0], "longitude", -180, 180),
                 number_from(numbers[1], "latitude", -90, 90)},
                number_from(numbers[2], "radius_m", 0)};
}

Areas areas_from(const nb::list& parts) {
  if (parts.size() < 2 || parts.size() > Areas::kMaxParts)
    refuse_argument("parts of an area", nb::int_(parts.size()),
                    "2 to " + std::to_string(Areas::kMaxParts));
  Areas areas;
  std::size_t corners = 0;
  for (const nb::handle part : parts) {
    areas.parts.push_back(part_from(part, corners));
    if (const auto* polygon = std::get_if<PolygonArea>(&areas.parts.back()))
      corners += polygon->points.size();
  }
  return areas;
}

nb::object part_to_python(const AreaPart& part) {
  if (const auto* box = std::get_if<Rect>(&part))
    return nb::make_tuple(box->west, box->south, box->east, box->north);
  if (const auto* circle = std::get_if<Circle>(&part))
    return nb::make_tuple(circle->center.lon, circle->center.lat, circle->radius_m);
  const auto& polygon = std::get<PolygonArea>(part);
  nb::list points;
  for (const Point p : polygon.points) points.append(nb::make_tuple(p.lon, p.lat));
  return nb::make_tuple(points, nb::cast(polygon.ring_ends), nb::cast(polygon.polygon_ends));
}

}  // namespace

GivenEpoch::GivenEpoch(std::uint64_t documents, nb::handle df) : documents_(documents) {
  if (!PyDict_Check(df.ptr())) refuse_argument("df", df, "a dict of words and counts");
  PyObject *word = nullptr, *count = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(df.ptr(), &at, &word, &count) != 0;) {
    if (!PyUnicode_Check(word)) refuse_argument("word of df", word, "a string");
    Py_ssize_t bytes = 0;
    const char* letters = PyUnicode_AsUTF8AndSize(word, &bytes);
    if (letters == nullptr) {
      PyErr_Clear();  // a lone surrogate: no text has this word
      continue;
    }
    counts_.push_back(static_cast<std::int64_t>(
        whole_from(count, "count of df", 0, std::numeric_limits<std::int64_t>::max())));
    words_.push_back({letters, static_cast<std::size_t>(bytes)});
  }
}

ExternalId id_from(nb::handle id) {
  if (PyUnicode_Check(id.ptr())) return word_from(id, "id");
  std::int64_t number = 0;
  if (PyBool_Check(id.ptr()) || !nb::try_cast(id, number, /*convert=*/false))
    refuse_argument("id", id, "an int64 or a string");
  return number;
}

Area area_from(nb::handle area) {
  if (area.is_none()) return Anywhere{};
  if (nb::isinstance<nb::list>(area)) return areas_from(nb::borrow<nb::list>(area));
  return std::visit([](auto&& shape) { return Area(std::move(shape)); }, part_from(area, 0));
}

nb::object area_to_python(const Area& area) {
  if (std::holds_alternative<Anywhere>(area)) return nb::none();
  if (const auto* areas = std::get_if<Areas>(&area)) {
    nb::list parts;
    for (const AreaPart& part : areas->parts) parts.append(part_to_python(part));
    return parts;
  }
  if (const auto* box = std::get_if<Rect>(&area)) return part_to_python(*box);
  if (const auto* circle = std::get_if<Circle>(&area)) return part_to_python(*circle);
  return part_to_python(std::get<PolygonArea>(area));
}

Place place_from(nb::handle place) {
  const nb::tuple parts = tuple_from(place, "place", 2, 4);
  if (parts.size() == 2) return Place::at(point_from(place, "place"));
  return Place::box(box_from(place, "place"));
}

std::vector<std::string_view> words_from_list(nb::handle words) {
  std::vector<std::string_view> views;
  const nb::list list = list_from(words, "words");
  views.reserve(list.size());
  for (const nb::handle word : list) views.push_back(word_from(word, "word"));
  return views;
}

bool read_plain_point(nb::handle at, Point& point) {
  if (!PyTuple_CheckExact(at.ptr()) || PyTuple_GET_SIZE(at.ptr()) != 2) return false;
  PyObject *lon = PyTuple_GET_ITEM(at.ptr(), 0), *lat = PyTuple_GET_ITEM(at.ptr(), 1);
  if (!PyFloat_CheckExact(lon) || !PyFloat_CheckExact(lat)) return false;
  point = {PyFloat_AS_DOUBLE(lon), PyFloat_AS_DOUBLE(lat)};
  return std::fabs(point.lon) <= 180 && std::fabs(point.lat) <= 90;  // false for NaN
}

bool PlainMessage::read(nb::handle message, nb::handle at, bool may_split) {
  Point point;
  if (!read_plain_point(at, point)) return false;
  place_ = Place::at(point);
  if (!PyUnicode_CheckExact(message.ptr())) return read_words(message);
  if (!may_split || !PyUnicode_IS_ASCII(message.ptr())) return false;
  split_words(word_from(message, "text"), letters_,
              [&](std::string_view word) { words_.push_back(word); });
  return true;
}

bool PlainMessage::read_words(nb::handle words) {
  if (!PyList_CheckExact(words.ptr())) return false;
  const Py_ssize_t count = PyList_GET_SIZE(words.ptr());
  words_.reserve(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* word = PyList_GET_ITEM(words.ptr(), i);
    Py_ssize_t bytes = 0;
    const char* letters = PyUnicode_Check(word) ? PyUnicode_AsUTF8AndSize(word, &bytes) : nullptr;
    if (letters == nullptr) {
      PyErr_Clear();  // a lone surrogate
      return false;
    }
    words_.emplace_back(letters, static_cast<std::size_t>(bytes));
  }
  return true;
}

void PlainMessage::keep_words() {
  kept_.assign(words_.begin(), words_.end());
  words_.assign(kept_.begin(), kept_.end());
}

nb::dict to_python(const WorkCounters& work) {
  nb::dict counters;
  counters["nodes_visited"] = work.nodes_visited;
  counters["candidates"] = work.candidates;
  counters["matches"] = work.matches;
  return counters;
}

nb::list id_list(const MatchColumns& matches) {
  nb::list ids;
  for (const std::int64_t number : matches.number) ids.append(number);
  for (std::size_t i = 0; i < matches.words.size(); ++i) ids.append(to_str(matches.words[i]));
  return ids;
}

nb::dict to_python(const MatcherSizes& now) {
  nb::dict out;
  out["subscriptions"] = now.subscriptions;
  out["vocabulary"] = now.words;
  out["memory_bytes"] = now.store_bytes + now.id_bytes + now.index_bytes;
  out["store_bytes"] = now.store_bytes;
  out["id_bytes"] = now.id_bytes;
  out["index_bytes"] = now.index_bytes;
  out["vocabulary_bytes"] = now.word_bytes;
  out["message_index_bytes"] = now.message_index_bytes;
  out["total_bytes"] =
      now.store_bytes + now.id_bytes + now.index_bytes + now.word_bytes + now.message_index_bytes;
  return out;
}

}  // namespace nearcast

#include "bindings/columns.h"

#include <cmath>

namespace nearcast {

Area area_from(nb::handle area) {
  if (area.is_none()) return Anywhere{};
  const auto parts = nb::cast<nb::tuple>(area);
  const auto number = [&](std::size_t i) { return nb::cast<double>(parts[i]); };
  if (parts.size() == 4) return Rect{number(0), number(1), number(2), number(3)};
  if (!nb::isinstance<nb::list>(parts[0])) return Circle{{number(0), number(1)}, number(2)};
  PolygonArea polygon;
  for (const nb::handle point : nb::cast<nb::list>(parts[0])) {
    const auto pair = nb::cast<nb::tuple>(point);
    polygon.points.push_back({nb::cast<double>(pair[0]), nb::cast<double>(pair[1])});
  }
  polygon.ring_ends = nb::cast<std::vector<std::uint32_t>>(parts[1]);
  polygon.polygon_ends = nb::cast<std::vector<std::uint32_t>>(parts[2]);
  return polygon;
}

nb::object area_to_python(const Area& area) {
  if (const auto* box = std::get_if<Rect>(&area))
    return nb::make_tuple(box->west, box->south, box->east, box->north);
  if (const auto* circle = std::get_if<Circle>(&area)) {
    return nb::make_tuple(circle->center.lon, circle->center.lat, circle->radius_m);
  }
  if (std::holds_alternative<Anywhere>(area)) return nb::none();
  const auto& polygon = std::get<PolygonArea>(area);
  nb::list points;
  for (const Point p : polygon.points) points.append(nb::make_tuple(p.lon, p.lat));
  return nb::make_tuple(points, nb::cast(polygon.ring_ends), nb::cast(polygon.polygon_ends));
}

Place place_from(const nb::tuple& place) {
  const auto number = [&](std::size_t i) { return nb::cast<double>(place[i]); };
  if (place.size() == 2) return Place::at({number(0), number(1)});
  return Place::box({number(0), number(1), number(2), number(3)});
}

std::vector<std::string_view> words_from_list(nb::handle words) {
  std::vector<std::string_view> views;
  for (const nb::handle word : nb::cast<nb::list>(words))
    views.push_back(nb::cast<std::string_view>(word));
  return views;
}

bool read_plain(nb::handle words, nb::handle at, std::vector<std::string_view>& views,
                Place& place) {
  if (!PyList_CheckExact(words.ptr()) || !PyTuple_CheckExact(at.ptr()) || nb::len(at) != 2)
    return false;
  double coordinates[2];
  for (Py_ssize_t i = 0; i < 2; ++i) {
    PyObject* number = PyTuple_GET_ITEM(at.ptr(), i);
    if (!PyFloat_CheckExact(number)) return false;
    coordinates[i] = PyFloat_AS_DOUBLE(number);
    if (!(std::fabs(coordinates[i]) <= (i == 0 ? 180 : 90))) return false;  // nor for NaN
  }
  const Py_ssize_t count = PyList_GET_SIZE(words.ptr());
  views.reserve(static_cast<std::size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* word = PyList_GET_ITEM(words.ptr(), i);
    Py_ssize_t bytes = 0;
    const char* letters = PyUnicode_Check(word) ? PyUnicode_AsUTF8AndSize(word, &bytes) : nullptr;
    if (letters == nullptr) {
      PyErr_Clear();  // a lone surrogate
      return false;
    }
    views.emplace_back(letters, static_cast<std::size_t>(bytes));
  }
  place = Place::at({coordinates[0], coordinates[1]});
  return true;
}

std::vector<WordClause> clauses_from(nb::handle clauses) {
  std::vector<WordClause> made;
  for (const nb::handle clause : nb::cast<nb::list>(clauses)) {
    const auto parts = nb::cast<nb::tuple>(clause);
    made.push_back({words_from_list(parts[0]), words_from_list(parts[1])});
  }
  return made;
}

nb::object ids_to_python(MatchColumns& matches) {
  if (!matches.has_words) return nb::cast(to_numpy(std::move(matches.number)));
  return nb::make_tuple(to_numpy(std::move(matches.word_offsets)),
                        nb::bytes(matches.word_bytes.data(), matches.word_bytes.size()));
}

nb::dict to_python(const WorkCounters& work) {
  nb::dict counters;
  counters["nodes_visited"] = work.nodes_visited;
  counters["candidates"] = work.candidates;
  counters["matches"] = work.matches;
  return counters;
}

MessageColumns messages_from(nb::handle texts, bool is_text, const nb::tuple& places,
                             std::size_t rows) {
  MessageColumns messages{{}, places_from(places), rows};
  if (is_text) {
    messages.texts = words_from(texts);
  } else {
    messages.texts = word_lists_from(texts);
  }
  return messages;
}

nb::list id_list(const MatchColumns& matches) {
  nb::list ids;
  for (const std::int64_t number : matches.number) ids.append(number);
  for (std::size_t i = 0; i + 1 < matches.word_offsets.size(); ++i) {
    ids.append(
        nb::str(matches.word_bytes.data() + matches.word_offsets[i],
                static_cast<std::size_t>(matches.word_offsets[i + 1] - matches.word_offsets[i])));
  }
  return ids;
}

nb::dict to_python(const EngineStats& now) {
  nb::dict out;
  out["subscriptions"] = now.subscriptions;
  out["vocabulary"] = now.vocabulary;
  out["memory_bytes"] = now.store_bytes + now.id_bytes + now.index_bytes;
  out["store_bytes"] = now.store_bytes;
  out["id_bytes"] = now.id_bytes;
  out["index_bytes"] = now.index_bytes;
  out["vocabulary_bytes"] = now.vocabulary_bytes;
  out["message_index_bytes"] = now.message_index_bytes;
  out["total_bytes"] = now.store_bytes + now.id_bytes + now.index_bytes + now.vocabulary_bytes +
                       now.message_index_bytes;
  return out;
}

}  // namespace nearcast

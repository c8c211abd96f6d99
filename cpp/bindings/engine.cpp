#include "nearcast/engine/engine.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>

#include "bindings/bind.h"
#include "bindings/columns.h"
#include "nearcast/snapshot/snapshot.h"

using namespace nb::literals;

namespace nearcast {
namespace {

nb::tuple match(const Engine& self, nb::handle texts, bool is_text, const nb::tuple& places,
                std::size_t rows, bool is_timed) {
  const MessageColumns messages = messages_from(texts, is_text, places, rows);
  MatchColumns matches;
  {
    nb::gil_scoped_release unlocked;
    matches = self.match(messages, is_timed);
  }
  return nb::make_tuple(to_numpy(std::move(matches.message)), ids_to_python(matches),
                        to_python(matches.work), to_numpy(std::move(matches.nanoseconds)),
                        matches.cpu_seconds);
}

nb::list match_one(const Engine& self, nb::handle words, const nb::tuple& place) {
  return id_list(self.match_one(words_from_list(words), place_from(place)));
}

nb::object match_plain(const Engine& self, nb::handle words, nb::handle at) {
  std::vector<std::string_view> views;
  Place place;
  if (!read_plain(words, at, views, place)) return nb::none();
  return id_list(self.match_one(views, place));
}

nb::list words_to_python(std::span<const std::string_view> words) {
  nb::list list;
  for (const std::string_view word : words) list.append(nb::str(word.data(), word.size()));
  return list;
}

nb::tuple definition(const Engine& self, nb::handle id) {
  const auto [clauses, area] = self.definition(id_from(id));
  nb::list words;
  for (const WordClause& clause : clauses) {
    words.append(
        nb::make_tuple(words_to_python(clause.positive), words_to_python(clause.negative)));
  }
  return nb::make_tuple(words, area_to_python(area));
}

}  // namespace

void bind_engine(nb::module_& module) {
  nb::class_<Engine>(module, "Engine", "One index with its words, subscriptions and ids.")
      .def(nb::init<std::string, Engine::GivenParameters>(), "index"_a, "parameters"_a)
      .def(
          "subscribe",
          [](Engine& self, nb::handle id, nb::handle clauses, nb::handle area) {
            self.subscribe(id_from(id), clauses_from(clauses), area_from(area));
          },
          "id"_a, "clauses"_a, "area"_a.none())
      .def(
          "subscribe_rows",
          [](Engine& self, nb::handle ids, nb::handle keywords, const nb::tuple& areas,
             nb::handle lacks_keywords, nb::handle lacks_area, std::size_t rows) {
            const SubscriptionColumns columns{
                ids_from(ids),
                keywords.is_none() ? WordLists{} : word_lists_from(keywords),
                places_from(areas),
                view<std::uint8_t>(lacks_keywords),
                view<std::uint8_t>(lacks_area),
                rows};
            nb::gil_scoped_release unlocked;
            self.subscribe(columns);
          },
          "ids"_a, "keywords"_a.none(), "areas"_a, "lacks_keywords"_a.none(), "lacks_area"_a.none(),
          "rows"_a)
      .def(
          "unsubscribe", [](Engine& self, nb::handle id) { self.unsubscribe(id_from(id)); }, "id"_a)
      .def(
          "unsubscribe_rows",
          [](Engine& self, nb::handle ids) {
            const IdColumn columns = ids_from(ids);
            nb::gil_scoped_release unlocked;
            self.unsubscribe(columns);
          },
          "ids"_a)
      .def(
          "has", [](const Engine& self, nb::handle id) { return self.has(id_from(id)); }, "id"_a)
      .def("match", &match, "texts"_a, "is_text"_a, "places"_a, "rows"_a, "is_timed"_a,
           "Match a batch: (message rows, ids, work, nanoseconds, cpu seconds).")
      .def(
          "floor",
          [](const Engine& self, nb::handle texts, bool is_text, const nb::tuple& places,
             std::size_t rows, nb::handle ends, nb::handle answers) {
            const MessageColumns messages = messages_from(texts, is_text, places, rows);
            const auto known_ends = view<std::int64_t>(ends), known = view<std::int64_t>(answers);
            MatchColumns taken;
            {
              nb::gil_scoped_release unlocked;
              taken = self.floor(messages, known_ends, known);
            }
            return nb::make_tuple(to_python(taken.work), to_numpy(std::move(taken.nanoseconds)),
                                  taken.cpu_seconds);
          },
          "texts"_a, "is_text"_a, "places"_a, "rows"_a, "ends"_a, "answers"_a,
          "Touch the lists of each message and copy a known answer: (work, nanoseconds, cpu "
          "seconds).")
      .def("match_one", &match_one, "words"_a, "place"_a, "Match one message: ids.")
      .def("match_plain", &match_plain, "words"_a.none(), "at"_a.none(),
           "match_one for a list of words and a tuple of two floats; None if it got another thing.")
      .def(
          "matches_pair",
          [](const Engine& self, nb::handle id, nb::handle words, const nb::tuple& place) {
            return self.matches_pair(id_from(id), words_from_list(words), place_from(place));
          },
          "id"_a, "words"_a, "place"_a)
      .def(
          "touches_pair",
          [](const Engine& self, nb::handle id, const nb::tuple& place) {
            return self.touches_pair(id_from(id), place_from(place));
          },
          "id"_a, "place"_a)
      .def(
          "learn",
          [](Engine& self, nb::handle texts, bool is_text, const nb::tuple& places,
             std::size_t rows) {
            const MessageColumns messages = messages_from(texts, is_text, places, rows);
            nb::gil_scoped_release unlocked;
            self.learn(messages);
          },
          "texts"_a, "is_text"_a, "places"_a, "rows"_a)
      .def("definition", &definition, "id"_a, "What was subscribed: (clauses, area).")
      .def(
          "tokens_of",
          [](Engine& self, nb::handle words, bool is_growing) {
            return to_numpy(self.tokens_of(words_from(words), is_growing));
          },
          "words"_a, "is_growing"_a)
      .def("stats", [](const Engine& self) { return to_python(self.stats()); })
      .def("check_invariants", &Engine::check_invariants)
      .def_prop_ro("index_name", &Engine::index_name)
      .def_prop_ro("vocabulary_size", [](const Engine& self) { return self.stats().vocabulary; })
      .def(
          "save",
          [](const Engine& self, const std::string& path) {
            nb::gil_scoped_release unlocked;
            save_snapshot(self, path);
          },
          "path"_a);
}

}  // namespace nearcast

#include "nearcast/engine/engine.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>

#include "bindings/bind.h"
#include "bindings/columns.h"
#include "bindings/turns.h"
#include "nearcast/engine/column_checks.h"
#include "nearcast/snapshot/snapshot.h"

using namespace nb::literals;

namespace nearcast {
namespace {

using SharedEngine = Guarded<Engine>;

nb::tuple match(const SharedEngine& self, nb::handle texts, bool is_text, const nb::tuple& places,
                std::size_t rows, bool is_timed) {
  const MessageColumns messages = messages_from(texts, is_text, places, rows);
  MatchColumns matches =
      ask_without_gil(self, [&](const Engine& engine) { return engine.match(messages, is_timed); });
  return nb::make_tuple(to_numpy(std::move(matches.message)), ids_to_python(matches),
                        to_python(matches.work), to_numpy(std::move(matches.nanoseconds)),
                        matches.cpu_seconds);
}

nb::list match_one(const SharedEngine& self, nb::handle words, nb::handle place) {
  const auto views = words_from_list(words);
  const Place where = place_from(place);
  return id_list(ask(self, [&](const Engine& engine) { return engine.match_one(views, where); }));
}

nb::object match_plain(const SharedEngine& self, nb::handle words, nb::handle at) {
  std::vector<std::string_view> views;
  Place place;
  if (!read_plain(words, at, views, place)) return nb::none();
  MatchColumns found;
  const auto match = [&](const Engine& engine) { found = engine.match_one(views, place); };
  if (!self.try_ask(match)) {
    // The list is the user's own: another thread may change it while this one waits.
    const std::vector<std::string> copies(views.begin(), views.end());
    views.assign(copies.begin(), copies.end());
    const nb::gil_scoped_release unlocked;
    self.ask(match);
  }
  return id_list(found);
}

}  // namespace

void bind_engine(nb::module_& module) {
  nb::class_<SharedEngine>(module, "Engine", "One index with its words, subscriptions and ids.")
      .def(nb::init<std::string, Engine::GivenParameters>(), "index"_a, "parameters"_a)
      .def(
          "subscribe",
          [](SharedEngine& self, nb::handle id, nb::handle clauses, nb::handle area) {
            const ExternalId own = id_from(id);
            const auto wanted = clauses_from(clauses);
            const Area where = area_from(area);
            change(self, [&](Engine& engine) { engine.subscribe(own, wanted, where); });
          },
          "id"_a, "clauses"_a, "area"_a.none())
      .def(
          "subscribe_rows",
          [](SharedEngine& self, nb::handle ids, nb::handle keywords, const nb::tuple& areas,
             nb::handle lacks_keywords, nb::handle lacks_area, std::size_t rows) {
            const SubscriptionColumns columns{
                ids_from(ids),
                keywords.is_none() ? WordLists{} : word_lists_from(keywords, "keywords"),
                places_from(areas),
                view_or_none<std::uint8_t>(lacks_keywords, "lacks_keywords"),
                view_or_none<std::uint8_t>(lacks_area, "lacks_area"),
                rows};
            change_without_gil(self, [&](Engine& engine) { engine.subscribe(columns); });
          },
          "ids"_a, "keywords"_a.none(), "areas"_a, "lacks_keywords"_a.none(), "lacks_area"_a.none(),
          "rows"_a)
      .def(
          "unsubscribe",
          [](SharedEngine& self, nb::handle id) {
            const ExternalId own = id_from(id);
            change(self, [&](Engine& engine) { engine.unsubscribe(own); });
          },
          "id"_a)
      .def(
          "unsubscribe_rows",
          [](SharedEngine& self, nb::handle ids) {
            const IdColumn columns = ids_from(ids);
            change_without_gil(self, [&](Engine& engine) { engine.unsubscribe(columns); });
          },
          "ids"_a)
      .def(
          "has",
          [](const SharedEngine& self, nb::handle id) {
            const ExternalId own = id_from(id);
            return ask(self, [&](const Engine& engine) { return engine.has(own); });
          },
          "id"_a)
      .def("match", &match, "texts"_a, "is_text"_a, "places"_a, "rows"_a, "is_timed"_a,
           "Match a batch: (message rows, ids, work, nanoseconds, cpu seconds).")
      .def(
          "floor",
          [](const SharedEngine& self, nb::handle texts, bool is_text, const nb::tuple& places,
             std::size_t rows, nb::handle ends, nb::handle answers) {
            const MessageColumns messages = messages_from(texts, is_text, places, rows);
            const auto known_ends = view<std::int64_t>(ends, "ends");
            const auto known = view<std::int64_t>(answers, "answers");
            MatchColumns taken = ask_without_gil(self, [&](const Engine& engine) {
              return engine.floor(messages, known_ends, known);
            });
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
          "learn",
          [](SharedEngine& self, nb::handle texts, bool is_text, const nb::tuple& places,
             std::size_t rows) {
            const MessageColumns messages = messages_from(texts, is_text, places, rows);
            change_without_gil(self, [&](Engine& engine) { engine.learn(messages); });
          },
          "texts"_a, "is_text"_a, "places"_a, "rows"_a)
      .def(
          "tokens_of",
          [](const SharedEngine& self, nb::handle words) {
            const WordColumn column = words_from(words, "words");
            check_words(ErrorKind::kInvalidParameter, "words", column);
            auto [tokens, version] = ask_without_gil(
                self, [&](const Engine& engine) { return engine.tokens_of(column); });
            return nb::make_tuple(to_numpy(std::move(tokens)), version);
          },
          "words"_a, "Tokens of words, by position, and the version of the vocabulary.")
      .def("stats",
           [](const SharedEngine& self) {
             return to_python(ask(self, [](const Engine& engine) { return engine.stats(); }));
           })
      .def("check_invariants",
           [](const SharedEngine& self) {
             ask_at_length(self, [](const Engine& engine) { engine.check_invariants(); });
           })
      .def_prop_ro("index_name",
                   [](const SharedEngine& self) {
                     return ask(self, [](const Engine& engine) { return engine.index_name(); });
                   })
      .def_prop_ro("vocabulary_version",
                   [](const SharedEngine& self) {
                     return ask(self,
                                [](const Engine& engine) { return engine.vocabulary_version(); });
                   })
      .def(
          "save",
          [](const SharedEngine& self, const std::string& path) {
            ask_at_length(self, [&](const Engine& engine) { save_snapshot(engine, path); });
          },
          "path"_a);
}

}  // namespace nearcast

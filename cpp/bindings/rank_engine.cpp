#include "nearcast/engine/rank_engine.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include "bindings/bind.h"
#include "bindings/columns.h"
#include "nearcast/snapshot/snapshot.h"

using namespace nb::literals;

namespace nearcast {
namespace {

nb::tuple rank(const RankEngine& self, nb::handle texts, bool is_text, const nb::tuple& places,
               std::size_t rows, bool is_timed) {
  const MessageColumns messages = messages_from(texts, is_text, places, rows);
  MatchColumns found;
  {
    nb::gil_scoped_release unlocked;
    found = self.rank(messages, is_timed);
  }
  return nb::make_tuple(to_numpy(std::move(found.message)), ids_to_python(found),
                        to_python(found.work), to_numpy(std::move(found.nanoseconds)),
                        found.cpu_seconds, to_numpy(std::move(found.score)));
}

nb::tuple rank_one(const RankEngine& self, nb::handle words, const nb::tuple& place) {
  const MatchColumns found = self.rank_one(words_from_list(words), place_from(place));
  nb::list scores;
  for (const double score : found.score) scores.append(score);
  return nb::make_tuple(id_list(found), scores);
}

Rect box_from(const nb::tuple& box) {
  return {nb::cast<double>(box[0]), nb::cast<double>(box[1]), nb::cast<double>(box[2]),
          nb::cast<double>(box[3])};
}

void start_rank_epoch(RankEngine& self, std::uint64_t documents, nb::handle words,
                      nb::handle counts) {
  const auto pairs = word_counts_from(words, counts);
  nb::gil_scoped_release unlocked;
  self.start_epoch(documents, pairs);
}

}  // namespace

void bind_rank_engine(nb::module_& module) {
  nb::class_<RankEngine>(module, "RankEngine", "Rank subscriptions behind one index.")
      .def(
          "__init__",
          [](RankEngine* self, std::string index, RankEngine::GivenParameters parameters) {
            new (self) RankEngine(std::move(index), std::move(parameters));
          },
          "index"_a, "parameters"_a)
      .def(
          "subscribe",
          [](RankEngine& self, nb::handle id, nb::handle words, const nb::tuple& area, double alpha,
             double threshold) {
            self.subscribe(id_from(id), words_from_list(words), box_from(area), {alpha, threshold});
          },
          "id"_a, "words"_a, "area"_a, "alpha"_a, "threshold"_a)
      .def(
          "subscribe_rows",
          [](RankEngine& self, nb::handle ids, nb::handle keywords, const nb::tuple& areas,
             nb::handle alpha, nb::handle threshold, std::size_t rows) {
            const RankSubscriptionColumns columns{
                ids_from(ids),       word_lists_from(keywords), places_from(areas),
                view<double>(alpha), view<double>(threshold),   rows};
            nb::gil_scoped_release unlocked;
            self.subscribe(columns);
          },
          "ids"_a, "keywords"_a, "areas"_a, "alpha"_a, "threshold"_a, "rows"_a)
      .def(
          "unsubscribe", [](RankEngine& self, nb::handle id) { self.unsubscribe(id_from(id)); },
          "id"_a)
      .def(
          "unsubscribe_rows",
          [](RankEngine& self, nb::handle ids) {
            const IdColumn columns = ids_from(ids);
            nb::gil_scoped_release unlocked;
            self.unsubscribe(columns);
          },
          "ids"_a)
      .def(
          "replace_area",
          [](RankEngine& self, nb::handle id, const nb::tuple& area) {
            self.replace_area(id_from(id), box_from(area));
          },
          "id"_a, "area"_a)
      .def(
          "has", [](const RankEngine& self, nb::handle id) { return self.has(id_from(id)); },
          "id"_a)
      .def("start_epoch", &start_rank_epoch, "documents"_a, "words"_a, "counts"_a,
           "Weigh by these numbers of documents from now on.")
      .def("end_epoch", &RankEngine::end_epoch, "Every token counts 1 from now on.")
      .def("rank", &rank, "texts"_a, "is_text"_a, "places"_a, "rows"_a, "is_timed"_a,
           "Rank a batch: (message rows, ids, work, nanoseconds, cpu seconds, scores).")
      .def("rank_one", &rank_one, "words"_a, "place"_a, "Rank one message: (ids, scores).")
      .def(
          "score_pair",
          [](const RankEngine& self, nb::handle id, nb::handle words, const nb::tuple& place) {
            return self.score_pair(id_from(id), words_from_list(words), place_from(place));
          },
          "id"_a, "words"_a, "place"_a)
      .def(
          "tokens_of",
          [](RankEngine& self, nb::handle words, bool is_growing) {
            return to_numpy(self.tokens_of(words_from(words), is_growing));
          },
          "words"_a, "is_growing"_a)
      .def("stats", [](const RankEngine& self) { return to_python(self.stats()); })
      .def("check_invariants", &RankEngine::check_invariants)
      .def_prop_ro("index_name", &RankEngine::index_name)
      .def_prop_ro("vocabulary_size",
                   [](const RankEngine& self) { return self.stats().vocabulary; })
      .def(
          "save",
          [](const RankEngine& self, const std::string& path) {
            nb::gil_scoped_release unlocked;
            save_snapshot(self, path);
          },
          "path"_a);
}

}  // namespace nearcast

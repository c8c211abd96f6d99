
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include "bindings/arrow_export.h"
#include "bindings/bind.h"
#include "bindings/columns.h"
#include "bindings/expressions.h"
#include "bindings/message_batch.h"
#include "bindings/subscription_batch.h"
#include "bindings/turns.h"
#include "nearcast/columns/column_checks.h"
#include "nearcast/columns/reading.h"
#include "nearcast/engine/matcher.h"
#include "nearcast/snapshot/snapshot.h"

using namespace nb::literals;

namespace nearcast {
namespace {

using RankMatcher = Matcher<RankSet>;
using SharedRankMatcher = Guarded<RankMatcher>;

AnswerOut rank(const SharedRankMatcher& self, const MessageBatch& messages, TokenCache& cache,
               std::size_t first_row) {
  const TokenCache::Ready ready = cache.ready(self, messages);
  return answer_of(
      ask_without_gil(
          self, [&](const RankMatcher& matcher) { return matcher.answer(ready.columns, false); }),
      true, first_row, messages.ids());
}

void subscribe_rank_rows(SharedRankMatcher& self, SubscriptionTable& given) {
  const RankSubscriptionColumns columns = given.rank_columns();
  if (!given.has_wheres()) {
    change_without_gil(self, [&](RankMatcher& matcher) { matcher.subscribe(columns); });
    return;
  }
  check_columns(columns);
  std::vector<std::string_view> words;
  std::string letters;
  const auto add = [&](RankSet& set, std::size_t row) {
    read_all_words(columns.keywords, row, letters, words);
    const Rect box{columns.areas.west[row], columns.areas.south[row], columns.areas.east[row],
                   columns.areas.north[row]};
    const RankTerms terms{columns.alpha[row], columns.threshold[row]};
    return set.add(words, box, terms, given.where(row));
  };
  change_without_gil(self, [&](RankMatcher& matcher) {
    matcher.set().check_rows(columns);
    matcher.subscribe_each(columns.ids, columns.rows, add);
  });
}

nb::tuple measure_ranking(const SharedRankMatcher& self, const MessageBatch& messages,
                          TokenCache& cache) {
  const TokenCache::Ready ready = cache.ready(self, messages);
  MatchColumns found = ask_without_gil(
      self, [&](const RankMatcher& matcher) { return matcher.answer(ready.columns, true); });
  return nb::make_tuple(to_python(found.work), to_numpy(std::move(found.nanoseconds)),
                        found.cpu_seconds);
}

nb::tuple rank_one(const SharedRankMatcher& self, nb::handle words, nb::handle place,
                   nb::handle attributes) {
  const auto views = text_from_list(words);
  const auto values = attributes_from(attributes);
  const Place where = place_from(place);
  const MatchColumns found = ask(
      self, [&](const RankMatcher& matcher) { return matcher.answer_one({views, values}, where); });
  nb::list scores;
  for (const double score : found.score) scores.append(score);
  return nb::make_tuple(id_list(found), scores);
}

void start_rank_epoch(SharedRankMatcher& self, std::uint64_t documents, nb::handle df) {
  const GivenEpoch epoch(documents, df);
  const EpochColumns columns = epoch.columns();
  change_without_gil(self, [&](RankMatcher& matcher) { matcher.weigh(&columns); });
}

}  // namespace

void bind_rank_matcher(nb::module_& module) {
  nb::class_<SharedRankMatcher>(module, "RankMatcher", "Rank subscriptions behind one index.")
      .def(
          "__init__",
          [](SharedRankMatcher* self, std::string index, GivenParameters parameters) {
            new (self) SharedRankMatcher(std::move(index), std::move(parameters));
          },
          "index"_a, "parameters"_a)
      .def(
          "subscribe",
          [](SharedRankMatcher& self, nb::handle id, nb::handle words, nb::handle area,
             double alpha, double threshold, nb::handle where, nb::handle replaces) {
            const ExternalId own = id_from(id);
            const auto wanted = words_from_list(words);
            const Rect box = box_from(area, "area");
            const bool is_successor = truth_from(replaces, "replaces");
            Expression comparisons;
            if (!where.is_none()) comparisons = expression_from(where, "where");
            change(self, [&](RankMatcher& matcher) {
              matcher.subscribe(own, is_successor, wanted, box, RankTerms{alpha, threshold},
                                comparisons.empty() ? nullptr : &comparisons);
            });
          },
          "id"_a, "words"_a, "area"_a, "alpha"_a, "threshold"_a, "where"_a = nb::none(),
          "replaces"_a = false)
      .def("subscribe_rows", &subscribe_rank_rows, "table"_a, "Subscribe all rows, or none.")
      .def(
          "unsubscribe",
          [](SharedRankMatcher& self, nb::handle id) {
            const ExternalId own = id_from(id);
            change(self, [&](RankMatcher& matcher) { matcher.unsubscribe(own); });
          },
          "id"_a)
      .def(
          "unsubscribe_rows",
          [](SharedRankMatcher& self, nb::handle ids) {
            const IdTable given(ids);
            change_without_gil(self,
                               [&](RankMatcher& matcher) { matcher.unsubscribe(given.ids()); });
          },
          "ids"_a)
      .def(
          "has",
          [](const SharedRankMatcher& self, nb::handle id) {
            const ExternalId own = id_from(id);
            return ask(self, [&](const RankMatcher& matcher) { return matcher.has(own); });
          },
          "id"_a)
      .def("start_epoch", &start_rank_epoch, "documents"_a, "df"_a,
           "Weigh by these numbers of documents from now on.")
      .def(
          "end_epoch",
          [](SharedRankMatcher& self) {
            change_without_gil(self, [](RankMatcher& matcher) { matcher.weigh(nullptr); });
          },
          "Every token counts 1 from now on.")
      .def("rank", &rank, "messages"_a, "cache"_a, "first_row"_a,
           "Rank a batch: message (row, counted from first_row), subscription and score.")
      .def("measure", &measure_ranking, "messages"_a, "cache"_a,
           "Rank a batch: (work, nanoseconds, cpu seconds).")
      .def("rank_one", &rank_one, "words"_a, "place"_a, "attributes"_a = nb::none(),
           "Rank one message: (ids, scores).")
      .def(
          "score_pair",
          [](const SharedRankMatcher& self, nb::handle id, nb::handle words, nb::handle place) {
            const ExternalId own = id_from(id);
            const auto views = words_from_list(words);
            const Place where = place_from(place);
            return ask(self, [&](const RankMatcher& matcher) {
              return matcher.score_pair(own, views, where);
            });
          },
          "id"_a, "words"_a, "place"_a)
      .def(
          "stats",
          [](const SharedRankMatcher& self) {
            return to_python(ask(self, [](const RankMatcher& matcher) { return matcher.sizes(); }));
          })
      .def("check_invariants",
           [](const SharedRankMatcher& self) {
             ask_at_length(self, [](const RankMatcher& matcher) { matcher.check_invariants(); });
           })
      .def_prop_ro("index_name",
                   [](const SharedRankMatcher& self) {
                     return ask(self,
                                [](const RankMatcher& matcher) { return matcher.index_name(); });
                   })
      .def(
          "save",
          [](const SharedRankMatcher& self, const std::string& path, const std::string& analyzer) {
            ask_at_length(
                self, [&](const RankMatcher& matcher) { save_snapshot(matcher, path, analyzer); });
          },
          "path"_a, "analyzer"_a);
}

}  // namespace nearcast

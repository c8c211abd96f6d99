#include "nearcast/engine/matcher.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>

#include "bindings/arrow_export.h"
#include "bindings/bind.h"
#include "bindings/columns.h"
#include "bindings/expressions.h"
#include "bindings/message_batch.h"
#include "bindings/subscription_batch.h"
#include "bindings/turns.h"
#include "nearcast/columns/column_checks.h"
#include "nearcast/snapshot/snapshot.h"

using namespace nb::literals;

namespace nearcast {
namespace {

using MatchMatcher = Matcher<MatchSet>;
using SharedMatcher = Guarded<MatchMatcher>;

AnswerOut match(const SharedMatcher& self, const MessageBatch& messages, TokenCache& cache,
                std::size_t first_row) {
  const TokenCache::Ready ready = cache.ready(self, messages);
  return answer_of(
      ask_without_gil(
          self, [&](const MatchMatcher& matcher) { return matcher.answer(ready.columns, false); }),
      false, first_row, messages.ids());
}

nb::tuple measure(const SharedMatcher& self, const MessageBatch& messages, TokenCache& cache) {
  const TokenCache::Ready ready = cache.ready(self, messages);
  MatchColumns found = ask_without_gil(
      self, [&](const MatchMatcher& matcher) { return matcher.answer(ready.columns, true); });
  return nb::make_tuple(to_python(found.work), to_numpy(std::move(found.nanoseconds)),
                        found.cpu_seconds);
}

void subscribe_rows(SharedMatcher& self, SubscriptionTable& given) {
  const SubscriptionColumns columns = given.match_columns();
  if (given.is_plain()) {
    change_without_gil(self, [&](MatchMatcher& matcher) { matcher.subscribe(columns); });
    return;
  }
  check_columns(columns);
  for (std::size_t row = 0; row < columns.rows; ++row) given.check_row(columns, row);
  std::vector<std::string_view> words;
  const WishRows rows{columns.ids, columns.rows,
                      [&](std::size_t row) { return given.wish(columns, row, words); },
                      [&](std::size_t row) { return given.area(columns, row); },
                      columns.shapes == nullptr ? columns.areas : PlaceColumns{}};
  change_without_gil(self, [&](MatchMatcher& matcher) { matcher.subscribe_rows(rows); });
}

nb::list match_one(const SharedMatcher& self, nb::handle words, nb::handle place,
                   nb::handle attributes) {
  const auto views = text_from_list(words);
  const auto values = attributes_from(attributes);
  const Place where = place_from(place);
  return id_list(ask(self, [&](const MatchMatcher& matcher) {
    return matcher.answer_one({views, values}, where);
  }));
}

nb::object match_plain(const SharedMatcher& self, nb::handle message, nb::handle at,
                       bool may_split) {
  PlainMessage plain;
  if (!plain.read(message, at, may_split)) return nb::none();
  return id_list(ask_plain(self, plain, [&](const MatchMatcher& matcher) {
    return matcher.answer_one({plain.words(), {}}, plain.place());
  }));
}

}  // namespace

void bind_matcher(nb::module_& module) {
  nb::class_<SharedMatcher>(module, "Matcher", "One index with its words, subscriptions and ids.")
      .def(nb::init<std::string, GivenParameters>(), "index"_a, "parameters"_a)
      .def(
          "subscribe",
          [](SharedMatcher& self, nb::handle id, nb::handle keywords, nb::handle area,
             nb::handle where, nb::handle excluded, nb::handle replaces) {
            const ExternalId own = id_from(id);
            std::vector<std::string_view> plain;
            Expression words, comparisons;
            keywords_from(keywords, plain, words);
            if (!where.is_none()) comparisons = expression_from(where, "where");
            const Area inside = area_from(area);
            const Area outside = area_from(excluded);
            const bool is_successor = truth_from(replaces, "replaces");
            Wish wish{plain};
            if (!words.empty()) wish.keywords = &words;
            if (!comparisons.empty()) wish.where = &comparisons;
            change(self, [&](MatchMatcher& matcher) {
              matcher.subscribe(own, is_successor, wish, inside,
                                excluded.is_none() ? nullptr : &outside);
            });
          },
          "id"_a, "keywords"_a.none(), "area"_a.none(), "where"_a = nb::none(),
          "excluded"_a = nb::none(), "replaces"_a = false,
          "Keywords are a list of words, or an expression as bindings/expressions.h says.")
      .def("subscribe_rows", &subscribe_rows, "table"_a, "Subscribe all rows, or none.")
      .def(
          "unsubscribe",
          [](SharedMatcher& self, nb::handle id) {
            const ExternalId own = id_from(id);
            change(self, [&](MatchMatcher& matcher) { matcher.unsubscribe(own); });
          },
          "id"_a)
      .def(
          "unsubscribe_rows",
          [](SharedMatcher& self, nb::handle ids) {
            const IdTable given(ids);
            change_without_gil(self,
                               [&](MatchMatcher& matcher) { matcher.unsubscribe(given.ids()); });
          },
          "ids"_a)
      .def(
          "has",
          [](const SharedMatcher& self, nb::handle id) {
            const ExternalId own = id_from(id);
            return ask(self, [&](const MatchMatcher& matcher) { return matcher.has(own); });
          },
          "id"_a)
      .def("match", &match, "messages"_a, "cache"_a, "first_row"_a,
           "Match a batch: message (row, counted from first_row) and subscription.")
      .def("measure", &measure, "messages"_a, "cache"_a,
           "Match a batch: (work, nanoseconds, cpu seconds).")
      .def(
          "floor",
          [](const SharedMatcher& self, const MessageBatch& messages, TokenCache& cache,
             nb::handle ends, nb::handle answers) {
            const TokenCache::Ready ready = cache.ready(self, messages);
            const auto known_ends = view<std::int64_t>(ends, "ends");
            const auto known = view<std::int64_t>(answers, "answers");
            MatchColumns taken = ask_without_gil(self, [&](const MatchMatcher& matcher) {
              return matcher.set().floor(ready.columns, known_ends, known);
            });
            return nb::make_tuple(to_python(taken.work), to_numpy(std::move(taken.nanoseconds)),
                                  taken.cpu_seconds);
          },
          "messages"_a, "cache"_a, "ends"_a, "answers"_a,
          "Touch the lists of each message and copy a known answer: (work, nanoseconds, cpu "
          "seconds).")
      .def("match_one", &match_one, "words"_a, "place"_a, "attributes"_a = nb::none(),
           "Match one message: ids.")
      .def("match_plain", &match_plain, "message"_a.none(), "at"_a.none(), "may_split"_a,
           "match_one for a list of words, or a text in ASCII if it may be split, and a tuple of "
           "two "
           "floats; None if it got another thing.")
      .def(
          "learn",
          [](SharedMatcher& self, MessageBatch& messages) {
            const MessageColumns columns = messages.with_words();
            change_without_gil(self, [&](MatchMatcher& matcher) { matcher.learn(columns); });
          },
          "messages"_a)
      .def("stats",
           [](const SharedMatcher& self) {
             return to_python(
                 ask(self, [](const MatchMatcher& matcher) { return matcher.sizes(); }));
           })
      .def("check_invariants",
           [](const SharedMatcher& self) {
             ask_at_length(self, [](const MatchMatcher& matcher) { matcher.check_invariants(); });
           })
      .def_prop_ro("index_name",
                   [](const SharedMatcher& self) {
                     return ask(self,
                                [](const MatchMatcher& matcher) { return matcher.index_name(); });
                   })
      .def(
          "save",
          [](const SharedMatcher& self, const std::string& path, const std::string& analyzer) {
            ask_at_length(
                self, [&](const MatchMatcher& matcher) { save_snapshot(matcher, path, analyzer); });
          },
          "path"_a, "analyzer"_a);
}

}  // namespace nearcast

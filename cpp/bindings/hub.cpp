#include "nearcast/engine/hub.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <numeric>

#include "bindings/arrow_export.h"
#include "bindings/bind.h"
#include "bindings/columns.h"
#include "bindings/event_batch.h"
#include "bindings/event_records.h"
#include "bindings/expressions.h"
#include "bindings/turns.h"
#include "nearcast/engine/shared_hub.h"
#include "nearcast/model/term_words.h"
#include "nearcast/snapshot/snapshot.h"
#include "nearcast/text/splitter.h"

using namespace nb::literals;

namespace nearcast {
namespace {

constexpr std::int64_t kMaxPosition = std::int64_t{1} << 40;

nb::list promises_to_python(const PromiseColumns& promises) {
  nb::list told;
  for (std::size_t i = 0; i < promises.event.size(); ++i) {
    told.append(
        nb::make_tuple(promises.event[i], to_str(promises.subscription[i]), promises.distance[i]));
  }
  return told;
}

nb::tuple changes_to_python(ChangeColumns&& changes, std::span<const std::int64_t> numbers) {
  nb::list rejected;
  for (const auto& [row, error] : changes.rejected)
    rejected.append(nb::make_tuple(row, to_python(error)));
  const nb::list promises = promises_to_python(changes.promises);
  return nb::make_tuple(answer_of(std::move(changes), numbers), promises, rejected);
}

/// The changes of a weights epoch, as event 1.
nb::tuple epoch_changes(ChangeColumns&& changes) {
  constexpr std::int64_t kNumber[1] = {1};
  return changes_to_python(std::move(changes), kNumber);
}

ChangeColumns timed(SharedHub& self, const nb::list& events) {
  std::vector<Event> batch;
  batch.reserve(events.size());
  for (const nb::handle event : events) {
    try {
      batch.push_back(event_from(event));
    } catch (const Error& error) {
      throw Error(error.kind, "event " + std::to_string(batch.size()) + ": " + error.what(),
                  error.got, error.wanted, error.hint);
    }
  }
  nb::gil_scoped_release unlocked;
  return self.apply(batch, /*stops_at_error=*/true, /*is_timed=*/true);
}

nb::tuple apply(SharedHub& self, EventBatch& events, bool stops_at_error) {
  events.check_whole();
  const std::shared_ptr<const EventTable> table = events.closed();
  ChangeColumns changes;
  std::vector<std::int64_t> numbers;
  {
    const nb::gil_scoped_release unlocked;
    numbers = table->numbers();
    changes = self.apply(*table, stops_at_error);
  }
  return changes_to_python(std::move(changes), numbers);
}

/// One event, without columns: ([(subscription, message, kind, reason, score)], promises).
nb::tuple applied_alone(SharedHub& self, const Event& event) {
  ChangeColumns changes;
  {
    const nb::gil_scoped_release unlocked;
    changes = self.apply({&event, 1}, true, false);
  }
  if (!changes.rejected.empty()) throw changes.rejected.front().second;
  nb::list listed;
  for (std::size_t i = 0; i < changes.event.size(); ++i) {
    const double score = changes.score[i];
    listed.append(nb::make_tuple(to_str(changes.subscription[i]), to_str(changes.message[i]),
                                 changes.kind[i], changes.reason[i],
                                 std::isnan(score) ? nb::none() : nb::object(nb::float_(score))));
  }
  return nb::make_tuple(listed, promises_to_python(changes.promises));
}

nb::tuple apply_one(SharedHub& self, nb::handle record) {
  return applied_alone(self, event_from(record));
}

/// A time in seconds as a float, or None.
bool read_plain_moment(nb::handle value, std::optional<double>& moment) {
  if (value.is_none()) return true;
  if (!PyFloat_CheckExact(value.ptr())) return false;
  moment = PyFloat_AS_DOUBLE(value.ptr());
  return std::isfinite(*moment) && *moment < kTimeLimit;
}

nb::object publish_plain(SharedHub& self, nb::handle id, nb::handle text, nb::handle at,
                         nb::handle time, nb::handle expires, nb::handle replaces) {
  const auto is_ascii = [](nb::handle value) {
    return PyUnicode_CheckExact(value.ptr()) && PyUnicode_IS_ASCII(value.ptr());
  };
  Event event;
  event.op = Op::kPublish;
  Point point;
  if (!is_ascii(id) || !is_ascii(text) || PyUnicode_GET_LENGTH(id.ptr()) == 0 ||
      !PyBool_Check(replaces.ptr()) || !read_plain_point(at, point) ||
      !read_plain_moment(time, event.time) || !read_plain_moment(expires, event.expires))
    return nb::none();
  event.id = word_from(id, "id");
  event.replaces = replaces.ptr() == Py_True;
  event.place = Place::at(point);
  std::string letters;
  split_words(word_from(text, "text"), letters,
              [&](std::string_view word) { event.words.push_back(word); });
  return applied_alone(self, event);
}

nb::object match_plain_in_hub(const SharedHub& self, nb::handle message, nb::handle at,
                              bool may_split) {
  PlainMessage plain;
  if (!plain.read(message, at, may_split)) return nb::none();
  return id_list(ask_plain(
      self, plain, [&](const Hub& hub) { return hub.match({plain.words(), {}}, plain.place()); }));
}

nb::tuple measure_events(SharedHub& self, const nb::list& events) {
  ChangeColumns changes = timed(self, events);
  const double seconds = changes.cpu_seconds;
  auto nanoseconds = to_numpy(std::move(changes.nanoseconds));
  std::vector<std::int64_t> numbers(events.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  return nb::make_tuple(changes_to_python(std::move(changes), numbers), nanoseconds, seconds);
}

nb::dict top_stats(const SharedHub& self) {
  nb::dict out;
  const auto [now, bytes] =
      ask(self, [](const Hub& hub) { return std::pair(hub.top_stats(), hub.top_bytes()); });
  if (!now) return out;
  out["subscriptions"] = now->subscriptions;
  out["memory_bytes"] = bytes;
  out["buffer_bytes"] = now->buffer_bytes;
  out["search_bytes"] = now->search_bytes;
  out["mean_buffer"] = now->mean_buffer;
  out["inserts"] = now->expiry.inserts;
  out["departures"] = now->expiry.departures;
  out["evaluations"] = now->expiry.evaluations;
  out["candidates"] = now->arrival.candidates;
  return out;
}

nb::tuple start_epoch(SharedHub& self, std::uint64_t documents, nb::handle df) {
  const GivenEpoch epoch(documents, df);
  const EpochColumns columns = epoch.columns();
  return epoch_changes(change_without_gil(self, [&](Hub& hub) { return hub.weigh(&columns); }));
}

nb::dict hub_stats(const SharedHub& self) {
  const HubSizes now = ask(self, [](const Hub& hub) { return hub.sizes(); });
  nb::dict out = to_python(now);
  out["live_messages"] = now.live_messages;
  out["message_bytes"] = now.message_bytes;
  out["top_bytes"] = now.top_bytes;
  out["other_bytes"] = now.other_bytes;
  out["total_bytes"] = nb::cast<std::size_t>(out["total_bytes"]) + now.message_bytes +
                       now.top_bytes + now.other_bytes;
  return out;
}

/// Words that users know: terms of attributes and prefixes are not UTF-8.
nb::list word_list(std::span<const std::string> words) {
  nb::list list;
  for (const std::string& word : words) {
    if (!is_term(word)) list.append(nb::str(word.data(), word.size()));
  }
  return list;
}

nb::tuple definition_to_python(const Definition& definition) {
  const Terms& terms = definition.terms;
  const nb::object at =
      terms.at ? nb::object(nb::make_tuple(terms.at->lon, terms.at->lat)) : nb::none();
  return nb::make_tuple(word_list(definition.words), area_to_python(definition.area),
                        nb::make_tuple(static_cast<int>(terms.mode), terms.is_live, terms.k,
                                       terms.alpha, terms.threshold, at, terms.expires),
                        definition.excluded ? area_to_python(*definition.excluded) : nb::none(),
                        to_str(definition.said));
}

/// ([(id, what definition returns)], where to go on or None).
nb::tuple definitions(const SharedHub& self, nb::handle first, nb::handle count) {
  const auto start = static_cast<std::size_t>(whole_from(first, "first", 0, kMaxPosition));
  const auto most = static_cast<std::size_t>(whole_from(count, "count", 1, kMaxPosition));
  const Hub::DefinitionPage page =
      ask(self, [&](const Hub& hub) { return hub.definitions(start, most); });
  nb::list found;
  for (const auto& [id, definition] : page.found)
    found.append(nb::make_tuple(nb::str(id.data(), id.size()), definition_to_python(definition)));
  return nb::make_tuple(found, page.next);
}

nb::tuple judge(const SharedHub& self, std::string_view id, nb::handle words, nb::handle place,
                nb::handle attributes) {
  const auto views = text_from_list(words);
  const auto values = attributes_from(attributes);
  const Place where = place_from(place);
  const Verdict verdict =
      ask(self, [&](const Hub& hub) { return hub.explain(id, {views, values}, where); });
  nb::object score = nb::none();
  if (const auto& parts = verdict.score)
    score = nb::make_tuple(parts->spatial, parts->textual, parts->score, parts->needed);
  return nb::make_tuple(definition_to_python(verdict.definition), verdict.is_match,
                        verdict.is_inside, score, verdict.is_excluded);
}

nb::list match_hub(const SharedHub& self, nb::handle words, nb::handle place,
                   nb::handle attributes) {
  const auto views = text_from_list(words);
  const auto values = attributes_from(attributes);
  const Place where = place_from(place);
  return id_list(ask(self, [&](const Hub& hub) { return hub.match({views, values}, where); }));
}

}  // namespace

void bind_hub(nb::module_& module) {
  nb::class_<SharedHub>(module, "Hub", "Events in, signed changes out.")
      .def(
          "__init__",
          [](SharedHub* self, std::string index, GivenParameters parameters,
             std::optional<std::uint64_t> window_count, std::optional<double> window_seconds,
             const nb::tuple& space, std::string arrival, std::string expiry,
             TopTuning::Given top_parameters, bool is_safe) {
            const Rect box = space_from(space);
            new (self) SharedHub(
                std::move(index), std::move(parameters), Window{window_count, window_seconds},
                TopSettings{box, std::move(arrival), std::move(expiry), std::move(top_parameters)},
                is_safe);
          },
          "index"_a, "parameters"_a, "window_count"_a.none(), "window_seconds"_a.none(), "space"_a,
          "arrival"_a, "expiry"_a, "top_parameters"_a, "is_safe"_a)
      .def("apply", &apply, "events"_a, "stops_at_error"_a,
           "Apply a batch of events, which is closed then: (changes, promises, rejected); promises "
           "are (event row, subscription, distance), rejected (event row, error).")
      .def("apply_one", &apply_one, "event"_a,
           "Apply one event or raise: ([(subscription, message, kind, reason, score)], promises).")
      .def(
          "publish_plain", &publish_plain, "id"_a.none(), "text"_a.none(), "at"_a.none(),
          "time"_a.none(), "expires"_a.none(), "replaces"_a.none(),
          "apply_one for a message in ASCII at a tuple of two floats, its text split here; None if "
          "it got another thing.")
      .def("measure", &measure_events, "events"_a,
           "Apply a batch: (what apply returns, nanoseconds per event, processor seconds).")
      .def("start_epoch", &start_epoch, "documents"_a, "df"_a,
           "Weigh words by their df from now on: changes, as from apply.")
      .def(
          "end_epoch",
          [](SharedHub& self) {
            return epoch_changes(
                change_without_gil(self, [](Hub& hub) { return hub.weigh(nullptr); }));
          },
          "Every word counts the same from now on: changes, as from apply.")
      .def("match", &match_hub, "words"_a, "place"_a, "attributes"_a = nb::none(),
           "The ids of the subscriptions that a message would reach now.")
      .def("match_plain", &match_plain_in_hub, "message"_a.none(), "at"_a.none(), "may_split"_a,
           "match for a list of words, or a text in ASCII if it may be split, and a tuple of two "
           "floats; None if it got another thing.")
      .def(
          "mode_of",
          [](const SharedHub& self, std::string_view id) -> std::optional<int> {
            const auto mode = ask(self, [&](const Hub& hub) { return hub.mode_of(id); });
            return mode ? std::optional(static_cast<int>(*mode)) : std::nullopt;
          },
          "subscription"_a, "0 match, 1 rank, 2 top; None: there is none.")
      .def(
          "definition",
          [](const SharedHub& self, std::string_view id) {
            return definition_to_python(
                ask(self, [&](const Hub& hub) { return hub.definition(id); }));
          },
          "subscription"_a,
          "What was subscribed: (words, area, (mode, live, k, alpha, threshold, at, expires), "
          "excluded area, what was said).")
      .def("definitions", &definitions, "first"_a, "count"_a,
           "What was subscribed, by slot, at most so many slots from the first on: ([(id, what "
           "definition returns)], where to go on or None).")
      .def("judge", &judge, "subscription"_a, "words"_a, "place"_a, "attributes"_a = nb::none(),
           "(what definition returns, does the message match, does its place touch the area, None "
           "or the score: (of space, of text, all together, what it must reach or None), does its "
           "place touch the excluded area).")
      .def(
          "results",
          [](const SharedHub& self, std::string_view id) {
            return ask(self, [&](const Hub& hub) { return hub.results(id); });
          },
          "subscription"_a,
          "What it holds: (message, score or None); of a top subscription the best first.")
      .def_prop_ro("stats", &hub_stats,
                   "Sizes of all modes, and of the live messages; bytes by part, and all together.")
      .def_prop_ro("top_stats", &top_stats,
                   "Sizes and work of the top lists; empty: there was no top subscription.")
      .def(
          "safe_distance",
          [](const SharedHub& self, std::string_view id) {
            return ask(self, [&](const Hub& hub) { return hub.safe_distance(id); });
          },
          "subscription"_a,
          "How far it may go before its result can change; None: it was not promised anything.")
      .def_prop_ro(
          "safe_regions",
          [](const SharedHub& self) {
            return ask(self, [](const Hub& hub) { return hub.safe_regions(); });
          },
          "How many subscriptions were promised one.")
      .def("__len__",
           [](const SharedHub& self) {
             return ask(self, [](const Hub& hub) { return hub.size(); });
           })
      .def(
          "is_live",
          [](const SharedHub& self, std::string_view id) {
            return ask(self, [&](const Hub& hub) { return hub.is_live(id); });
          },
          "message"_a)
      .def_prop_ro("clock",
                   [](const SharedHub& self) {
                     return ask(self, [](const Hub& hub) { return hub.clock(); });
                   })
      .def_prop_ro(
          "window",
          [](const SharedHub& self) {
            return ask(self, [](const Hub& hub) {
              return std::pair(hub.window().count, hub.window().seconds);
            });
          },
          "(count, seconds); None: not limited by it.")
      .def_prop_ro(
          "index",
          [](const SharedHub& self) {
            return ask(self, [](const Hub& hub) { return hub.index_name(); });
          },
          "Name of the index kind.")
      .def("check_invariants",
           [](const SharedHub& self) {
             ask_at_length(self, [](const Hub& hub) { hub.check_invariants(); });
           })
      .def(
          "set_slice",
          [](SharedHub& self, std::size_t messages) {
            change_without_gil(self, [&](Hub& hub) { hub.set_slice(messages); });
          },
          "messages"_a,
          "How many messages that wait an index takes in after each event. For tests.")
      .def(
          "save",
          [](const SharedHub& self, const std::string& path, const std::string& analyzer) {
            ask_at_length(self, [&](const Hub& hub) { save_snapshot(hub, path, analyzer); });
          },
          "path"_a, "analyzer"_a);
}

}  // namespace nearcast

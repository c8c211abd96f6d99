#include "nearcast/engine/top_stream.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/variant.h>

#include <thread>

#include "bindings/bind.h"
#include "bindings/columns.h"
#include "bindings/turns.h"

using namespace nb::literals;

namespace nearcast {
namespace {

using SharedTopStream = Guarded<TopStream>;

/// (offsets, tokens, lon, lat)
TokenPoints token_points_from(const nb::tuple& rows) {
  const nb::tuple parts = tuple_from(rows, "rows", 4);
  return {view<std::int64_t>(parts[0], "offsets"), view<std::uint32_t>(parts[1], "tokens"),
          view<double>(parts[2], "lon"), view<double>(parts[3], "lat")};
}

nb::tuple to_python(HeldRows&& held) {
  return nb::make_tuple(to_numpy(std::move(held.ends)), to_numpy(std::move(held.messages)),
                        to_numpy(std::move(held.scores)));
}

nb::tuple publish(SharedTopStream& self, const nb::tuple& messages) {
  const TokenPoints rows = token_points_from(messages);
  StepTimes times =
      change_without_gil(self, [&](TopStream& stream) { return stream.publish(rows); });
  return nb::make_tuple(to_numpy(std::move(times.arrival_ns)), to_numpy(std::move(times.expiry_ns)),
                        times.changes);
}

/// Two locks at once could wait for each other: what cannot be had now is tried again.
void adopt(SharedTopStream& self, const SharedTopStream& other) {
  if (&self == &other) return;
  const nb::gil_scoped_release unlocked;
  bool is_done = false;
  while (!is_done) {
    self.change([&](TopStream& stream) {
      is_done = other.try_ask([&](const TopStream& from) { stream.adopt(from); });
    });
    if (!is_done) std::this_thread::yield();
  }
}

nb::dict stats(const SharedTopStream& self) {
  const auto [now, message_bytes] = ask(self, [](const TopStream& stream) {
    return std::pair(stream.stats(), stream.message_bytes());
  });
  nb::dict out;
  out["subscriptions"] = now.subscriptions;
  out["messages"] = now.messages;
  out["record_bytes"] = now.record_bytes;
  out["buffer_bytes"] = now.buffer_bytes;
  out["holder_bytes"] = now.holder_bytes;
  out["index_bytes"] = now.index_bytes;
  out["search_bytes"] = now.search_bytes;
  out["message_bytes"] = message_bytes;
  out["mean_buffer"] = now.mean_buffer;
  out["nodes"] = now.arrival.nodes_visited;
  out["groups"] = now.arrival.groups;
  out["candidates"] = now.arrival.candidates;
  out["verified"] = now.arrival.verified;
  out["inserts"] = now.expiry.inserts;
  out["departures"] = now.expiry.departures;
  out["evaluations"] = now.expiry.evaluations;
  return out;
}

}  // namespace

void bind_top_stream(nb::module_& module) {
  nb::class_<SharedTopStream>(module, "TopStream",
                              "Top lists over the newest messages: columns in, times out.")
      .def(
          "__init__",
          [](SharedTopStream* self, std::size_t window, const nb::tuple& space,
             const std::string& arrival, const std::string& expiry,
             const TopTuning::Given& parameters) {
            const Rect box = space_from(space);
            new (self) SharedTopStream(window, box, arrival, expiry, TopTuning::from(parameters));
          },
          "window"_a, "space"_a, "arrival"_a, "expiry"_a, "parameters"_a)
      .def(
          "start_epoch",
          [](SharedTopStream& self, std::uint64_t documents, nb::handle df) {
            const auto counts = view<std::int64_t>(df, "df");
            change_without_gil(self,
                               [&](TopStream& stream) { stream.start_epoch(documents, counts); });
          },
          "documents"_a, "df"_a, "Weigh tokens by their df, which is by token; before all else.")
      .def(
          "subscribe",
          [](SharedTopStream& self, const nb::tuple& rows, nb::handle alpha, std::uint32_t k) {
            const TopRows subscriptions{token_points_from(rows), view<double>(alpha, "alpha"), k};
            change_without_gil(self, [&](TopStream& stream) { stream.subscribe(subscriptions); });
          },
          "rows"_a, "alpha"_a, "k"_a, "Rows are (offsets, tokens, lon, lat).")
      .def("adopt", &adopt, "other"_a,
           "Take subscriptions and lists of a stream of the same messages and kind of expiry.")
      .def("publish", &publish, "messages"_a,
           "(offsets, tokens, lon, lat) in; (arrival ns, expiry ns or -1, number of changes).")
      .def(
          "results",
          [](const SharedTopStream& self, nb::handle subscriptions) {
            const auto wanted = view<std::int64_t>(subscriptions, "subscriptions");
            return to_python(ask_without_gil(
                self, [&](const TopStream& stream) { return stream.results(wanted); }));
          },
          "subscriptions"_a, "What they hold, best first: (ends, messages, scores).")
      .def(
          "look_at_all",
          [](SharedTopStream& self, const nb::tuple& rows, nb::handle alpha, std::uint32_t k) {
            const TopRows subscriptions{token_points_from(rows), view<double>(alpha, "alpha"), k};
            return to_python(change_without_gil(
                self, [&](TopStream& stream) { return stream.look_at_all(subscriptions); }));
          },
          "rows"_a, "alpha"_a, "k"_a, "What such subscriptions would hold, by brute force.")
      .def_prop_ro("stats", &stats)
      .def("check_invariants", [](const SharedTopStream& self) {
        ask_at_length(self, [](const TopStream& stream) { stream.check_invariants(); });
      });
}

}  // namespace nearcast

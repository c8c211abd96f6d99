#include "nearcast/engine/ledger.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bindings/bind.h"
#include "bindings/columns.h"
#include "bindings/event_batch.h"
#include "bindings/table_out.h"
#include "bindings/turns.h"
#include "nearcast/snapshot/snapshot.h"

using namespace nb::literals;

namespace nearcast {
namespace {

using SharedLedger = Guarded<Ledger>;

/// What went: the row of the event that caused it, and what it was.
AnswerOut departures_of(LifeColumns& done) {
  TableOut out(done.event.size());
  out.add_whole("row", std::move(done.event));
  out.add_words("id", std::move(done.id));
  out.add_truths("is_message", std::move(done.is_message));
  out.add_truths("is_expired", std::move(done.is_expired));
  return std::move(out).answer();
}

nb::tuple apply_life(SharedLedger& self, EventBatch& events, nb::handle places) {
  const auto bits = view<std::uint8_t>(places, "places");
  const std::shared_ptr<const EventTable> table = events.closed();
  LifeColumns done =
      change_without_gil(self, [&](Ledger& ledger) { return ledger.apply(*table, bits); });
  nb::list rejected;
  for (const auto& [row, error] : done.rejected)
    rejected.append(nb::make_tuple(row, to_python(error)));
  return nb::make_tuple(rejected, to_numpy(std::move(done.clock)),
                        to_numpy(std::move(done.is_kept)), to_numpy(std::move(done.end)),
                        departures_of(done), to_numpy(std::move(done.places)),
                        to_numpy(std::move(done.places_were)), to_numpy(std::move(done.gone_from)));
}

}  // namespace

void bind_ledger(nb::module_& module) {
  nb::class_<SharedLedger>(module, "Ledger",
                           "Which events happen, and what goes because of them; without matching.")
      .def(
          "__init__",
          [](SharedLedger* self, std::optional<std::uint64_t> window_count,
             std::optional<double> window_seconds, nb::handle width) {
            const auto bytes = whole_from(width, "width", 0, kMaxWidth);
            new (self)
                SharedLedger(Window{window_count, window_seconds}, static_cast<std::size_t>(bytes));
          },
          "window_count"_a.none(), "window_seconds"_a.none(), "width"_a)
      .def("apply", &apply_life, "events"_a, "places"_a,
           "Apply a batch of events, which is closed then: (rejected rows with their errors, the "
           "clock after each row, whether each row publishes a message that lives, when that "
           "message goes by itself, and what went: row, id, is_message, is_expired; then, in bytes "
           "that say who holds what, of each row who is told of it and who had what it moves or "
           "replaces, and of each departure who had it).")
      .def(
          "mode_of",
          [](const SharedLedger& self, std::string_view id) -> std::optional<int> {
            const auto found =
                ask(self, [&](const Ledger& ledger) { return ledger.life().find(id); });
            return found ? std::optional(static_cast<int>(found->mode)) : std::nullopt;
          },
          "subscription"_a, "0 match, 1 rank, 2 top; None: there is none.")
      .def(
          "is_live",
          [](const SharedLedger& self, std::string_view id) {
            return ask(self, [&](const Ledger& ledger) {
              return ledger.life().messages().find(id).has_value();
            });
          },
          "message"_a)
      .def_prop_ro("width",
                   [](const SharedLedger& self) {
                     return ask(self, [](const Ledger& ledger) { return ledger.width(); });
                   })
      .def_prop_ro("clock",
                   [](const SharedLedger& self) {
                     return ask(self, [](const Ledger& ledger) { return ledger.life().clock(); });
                   })
      .def(
          "save",
          [](const SharedLedger& self, const std::string& path) {
            ask_at_length(self, [&](const Ledger& ledger) { save_snapshot(ledger, path); });
          },
          "path"_a);
}

}  // namespace nearcast

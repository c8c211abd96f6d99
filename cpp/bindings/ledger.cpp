#include "nearcast/engine/ledger.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bindings/bind.h"
#include "bindings/columns.h"
#include "bindings/subscription_batch.h"
#include "bindings/turns.h"
#include "nearcast/snapshot/snapshot.h"

using namespace nb::literals;

namespace nearcast {
namespace {

using SharedLedger = Guarded<Ledger>;

nb::tuple apply_life(SharedLedger& self, nb::handle op, nb::handle id, nb::handle time,
                     nb::handle expires, nb::handle mode, nb::handle target, nb::handle replaces) {
  const IdTable ids(id);
  const IdColumn column = ids.ids();
  const auto* words = std::get_if<WordColumn>(&column);
  if (words == nullptr) refuse_argument("id", id, "an array of strings");
  const EventColumns events{view<std::uint8_t>(op, "op"),
                            *words,
                            view<double>(time, "time"),
                            view<double>(expires, "expires"),
                            view<std::uint8_t>(mode, "mode"),
                            view<std::uint8_t>(target, "target"),
                            view<std::uint8_t>(replaces, "replaces")};
  LifeColumns done = change_without_gil(self, [&](Ledger& ledger) { return ledger.apply(events); });
  nb::list rejected;
  for (const auto& [row, error] : done.rejected)
    rejected.append(nb::make_tuple(row, to_python(error)));
  nb::list names;
  for (std::size_t i = 0; i < done.event.size(); ++i) names.append(to_str(done.id[i]));
  return nb::make_tuple(rejected, to_numpy(std::move(done.clock)),
                        to_numpy(std::move(done.is_kept)), to_numpy(std::move(done.event)), names,
                        to_numpy(std::move(done.is_message)), to_numpy(std::move(done.is_expired)));
}

}  // namespace

void bind_ledger(nb::module_& module) {
  nb::class_<SharedLedger>(module, "Ledger",
                           "Which events happen, and what goes because of them; without matching.")
      .def(
          "__init__",
          [](SharedLedger* self, std::optional<std::uint64_t> window_count,
             std::optional<double> window_seconds) {
            new (self) SharedLedger(Window{window_count, window_seconds});
          },
          "window_count"_a.none(), "window_seconds"_a.none())
      .def("apply", &apply_life, "op"_a, "id"_a, "time"_a, "expires"_a, "mode"_a, "target"_a,
           "replaces"_a,
           "Apply events in columns: (rejected rows with their errors, the clock after each row, "
           "whether each row publishes a message that lives, and of each departure in order: the "
           "row that caused it, the id, whether it is a message, whether it expired).")
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

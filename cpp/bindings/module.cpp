#include "bindings/bind.h"
#include "nearcast/base/change_steps.h"
#include "nearcast/base/list_room.h"

using namespace nb::literals;

NB_MODULE(_core, module) {
#ifndef _GLIBCXX_ASSERTIONS
  // What a thread or a cache of the user still holds when the process ends is no fault to report.
  nb::set_leak_warnings(false);
#endif
  module.doc() =
      "The per-message inner loop of nearcast. Not for direct use: see nearcast.Matcher and Hub.";
  nearcast::bind_errors(module);
  nearcast::bind_registry(module);
  nearcast::bind_message_batch(module);
  nearcast::bind_subscription_batch(module);
  nearcast::bind_records(module);
  nearcast::bind_event_batch(module);
  nearcast::bind_matcher(module);
  nearcast::bind_rank_matcher(module);
  nearcast::bind_snapshot(module);
  nearcast::bind_hub(module);
  nearcast::bind_ledger(module);
  nearcast::bind_top_stream(module);
  module.def(
      "change_steps", [] { return nearcast::change_steps; },
      "Stored elements that changes on this thread have looked at or moved. For tests.");
  module.def(
      "set_list_limit",
      [](std::size_t elements) { return std::exchange(nearcast::list_limit, elements); },
      "elements"_a,
      "How many elements the lists of one structure may have; returns what it was. For tests.");
}

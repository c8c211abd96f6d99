/// One function per bound class; module.cpp calls them all.
#pragma once

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace nearcast {

struct Error;

nb::object to_python(const Error& error);  ///< the exception of nearcast.errors, not raised

void bind_errors(nb::module_& module);
void bind_registry(nb::module_& module);
void bind_message_batch(nb::module_& module);
void bind_subscription_batch(nb::module_& module);
void bind_records(nb::module_& module);
void bind_event_batch(nb::module_& module);
void bind_matcher(nb::module_& module);
void bind_rank_matcher(nb::module_& module);
void bind_snapshot(nb::module_& module);
void bind_hub(nb::module_& module);
void bind_ledger(nb::module_& module);
void bind_top_stream(nb::module_& module);

}  // namespace nearcast

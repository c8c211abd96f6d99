/// One event as Python makes it for the core: a tuple of plain values (nearcast/records.py).
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "nearcast/life/event.h"

namespace nb = nanobind;

namespace nearcast {

/// (op, id, time, expires, keywords | words, area | place, details, replaces, more): an area is None
/// for anywhere, or for a top subscription. Details of a subscription are None (match, not live) or
/// (mode, live, k, alpha, threshold, at); of a move None or the point. More is None, or wishes of a
/// subscription (see read_wishes), or attributes of a message.
Event event_from(nb::handle record);

/// A finite number, or None.
std::optional<double> moment_from(nb::handle value, const char* name);

}  // namespace nearcast

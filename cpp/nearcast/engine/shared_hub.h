/// A hub that many threads use at once.
///
/// A batch of events is one change, as far as other changes are concerned: no event of another
/// thread comes between its events. Questions are answered in between, at the border of two events,
/// so a long batch keeps none of them waiting for long.
#pragma once

#include <span>

#include "nearcast/engine/event_table.h"
#include "nearcast/engine/guarded.h"
#include "nearcast/engine/hub.h"

namespace nearcast {

class SharedHub : public Guarded<Hub> {
 public:
  using Guarded<Hub>::Guarded;

  /// Apply events in order. With `stops_at_error` the first rejected event is the last one looked
  /// at; with `is_timed` the time of each is taken, if none is rejected.
  ChangeColumns apply(std::span<const Event> events, bool stops_at_error, bool is_timed = false);
  /// The same; rows that are left out are no events.
  ChangeColumns apply(const EventTable& events, bool stops_at_error);

 private:
  template <typename Read>
  ChangeColumns apply_rows(std::size_t rows, Read&& read, bool stops_at_error, bool is_timed);
};

}  // namespace nearcast

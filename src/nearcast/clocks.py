"""What time is it, for an event that does not say? Nothing, the machine's clock, or a function."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from nearcast.errors import InvalidParameterError
from nearcast.times import read_time

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMED: dict[str, Callable[[], float] | None] = {"events": None, "wall": time.time}


def clock_from(clock: object) -> Callable[[], float] | None:
    """Return what tells the time of events that have none; None: they happen at the hub's clock.

    Raises
    ------
    InvalidParameterError
        If it is neither "events" nor "wall" nor a function.
    """
    if isinstance(clock, str) and clock in _NAMED:
        return _NAMED[clock]
    if not callable(clock):
        what = "clock is not a clock"
        wanted = "'events', 'wall' or a function that returns seconds"
        raise InvalidParameterError(what, got=clock, wanted=wanted, field="clock")
    given: Callable[[], object] = clock
    return lambda: read_time(given(), "clock")

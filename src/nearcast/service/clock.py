"""Which time is it for the service? That of the machine, but never an earlier one than before.

A clock that is set back would make messages late that are not. So time goes on at half its pace
until the machine's clock has caught up: intervals stay nearly right, and it does catch up.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Clock:
    """Seconds since the epoch, that never go back.

    Parameters
    ----------
    start
        The latest time that was ever given out, in an earlier life too.
    wall, steady
        The machine's clocks; others in tests.

    Examples
    --------
    >>> walls, steadies = iter([100.0, 40.0]), iter([0.0, 1.0, 5.0])
    >>> clock = Clock(wall=lambda: next(walls), steady=lambda: next(steadies))
    >>> clock.now(), clock.now()
    (100.0, 102.0)
    """

    def __init__(
        self,
        start: float = 0.0,
        *,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wall, self._steady = wall, steady
        self._last = start
        self._seen = steady()

    def now(self) -> float:
        """Return the time."""
        steady = self._steady()
        wall = self._wall()
        if wall >= self._last:
            self._last = wall
        else:
            self._last += max(0.0, steady - self._seen) / 2
        self._seen = steady
        return self._last

    def advance_to(self, moment: float) -> None:
        """Go on from a moment that is known to have been."""
        self._last = max(self._last, moment)

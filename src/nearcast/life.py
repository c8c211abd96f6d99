"""Which events happen, and what goes because of them? Life without matching (DESIGN.md, Life).

A pipeline of many machines has one clock and one window, while each machine sees a part of the
events. `Life` decides for all of them, by the rules and with the errors of a hub: it is the same
code of the core, without subscriptions' keywords and without messages' texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearcast import _core
from nearcast.arguments import checked_path
from nearcast.errors import SnapshotError, Verbatim
from nearcast.event_values import Advance, Move, Publish, Retract, Subscribe
from nearcast.in_process import InProcess
from nearcast.model import MODES, Bbox

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from nearcast.errors import NearcastError
    from nearcast.event_values import Event
    from nearcast.model import Mode, Window

_SUBSCRIBE, _PUBLISH, _MOVE, _RETRACT, _UNSUBSCRIBE, _ADVANCE = range(6)
_NO_ID = "-"  # what an advance of time has in the column; it is not looked at
_NOWHERE, _POINT, _BOX, _OTHER_AREA = range(4)


@dataclass(frozen=True, slots=True)
class Departure:
    """What is there no more."""

    row: int
    """Of the event that caused it."""
    id: str
    is_message: bool
    """Otherwise it is a subscription."""
    is_expired: bool
    """Otherwise it was retracted or unsubscribed, or the event puts another in its place."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a batch of events did."""

    rejected: dict[int, NearcastError]
    """By row; these events changed nothing."""
    clock: np.ndarray
    """After each row."""
    is_kept: np.ndarray
    """By row: whether it publishes a message that lives."""
    departures: list[Departure]
    """In order. What an event lets go because of its time goes before the event itself happens."""


class Life(InProcess):
    """The clock, the ids in use, and when each of them goes.

    Parameters
    ----------
    window
        As of a hub.

    Examples
    --------
    >>> from nearcast.model import Window
    >>> life = Life(Window(seconds=60))
    >>> life.apply([Publish("m1", "Rain", (0.0, 0.0), time=10.0)]).is_kept.tolist()
    [1]
    >>> [gone.id for gone in life.apply([Retract("m2", time=70.0)]).departures]
    ['m1']
    """

    def __init__(self, window: Window | None = None) -> None:
        size = (window.count, window.seconds) if window else (None, None)
        self._core = _core.Ledger(*size)

    @property
    def clock(self) -> float:
        """The largest time seen."""
        return float(self._core.clock)

    def mode(self, id: str) -> Mode | None:
        """Return the mode of a subscription; None: no subscription has this id."""
        found = self._core.mode_of(id)
        return None if found is None else MODES[found]

    def is_live(self, id: str) -> bool:
        """Return whether a live message has this id."""
        return bool(self._core.is_live(id))

    def apply(self, events: Sequence[Event]) -> Outcome:
        """Apply events in order; those that are rejected change nothing."""
        rejected, clock, is_kept, *gone = self._core.apply(
            np.array([_op(event) for event in events], np.uint8),
            pa.array([event.id or _NO_ID for event in events], pa.large_string()),
            np.array([_moment(event.time) for event in events]),
            np.array([_moment(getattr(event, "expires", None)) for event in events]),
            np.array([_mode(event) for event in events], np.uint8),
            np.array([_target(event) for event in events], np.uint8),
            np.array([getattr(event, "replace", False) for event in events], np.uint8),
        )
        rows, names, is_message, is_expired = gone
        departures = [
            Departure(row, name, bool(message), bool(expired))
            for row, name, message, expired in zip(
                rows.tolist(),
                names,
                is_message.tolist(),
                is_expired.tolist(),
                strict=True,
            )
        ]
        return Outcome(dict(rejected), clock, is_kept, departures)

    def save(self, path: str | PathLike[str]) -> None:
        """Write it to a file, whole or not at all."""
        self._core.save(checked_path(path))

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Life:
        """Go on where `save` was called."""
        saved, _ = _core.open_snapshot(checked_path(path), verify=True)
        if not isinstance(saved, _core.Ledger):
            what = f"snapshot {str(path)!r} is of another kind"
            raise SnapshotError(what, got=Verbatim("a matcher or a hub"), wanted="life alone")
        life = cls.__new__(cls)
        life._core = saved
        return life


def _op(event: Event) -> int:
    if isinstance(event, Publish):
        return _PUBLISH
    if isinstance(event, Subscribe):
        return _SUBSCRIBE
    if isinstance(event, Move):
        return _MOVE
    if isinstance(event, Advance):
        return _ADVANCE
    return _RETRACT if isinstance(event, Retract) else _UNSUBSCRIBE


def _moment(time: float | None) -> float:
    return np.nan if time is None else time


def _mode(event: Event) -> int:
    return MODES.index(event.mode) if isinstance(event, Subscribe) else 0


def _target(event: Event) -> int:
    """Return what a move leads to: the core refuses what does not fit the mode."""
    if not isinstance(event, Move):
        return _NOWHERE
    if event.at is not None:
        return _POINT
    return _BOX if isinstance(event.area, Bbox) else _OTHER_AREA

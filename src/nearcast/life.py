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

from nearcast import _core, columns
from nearcast.arguments import checked_path
from nearcast.errors import InvalidParameterError, SnapshotError, Verbatim
from nearcast.event_lines import KINDS
from nearcast.event_table import put_outline
from nearcast.in_process import InProcess
from nearcast.model import MODES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from nearcast.columns import ArrowTable
    from nearcast.errors import NearcastError
    from nearcast.events import Event
    from nearcast.model import Mode, Window


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
    end: np.ndarray
    """By row: when that message goes by itself; infinity: never, NaN: it is not kept."""
    gone: pa.Table
    """What is there no more: row (of the event that caused it), id, is_message, is_expired.

    In order. What an event lets go because of its time goes before the event itself happens.
    """
    places: np.ndarray
    """By row: who is told of it, those included that had what it moves or replaces."""
    places_were: np.ndarray
    """By row: who had what it moves or replaces."""
    gone_from: np.ndarray
    """Of each departure: who had it."""

    @property
    def departures(self) -> list[Departure]:
        """What is there no more, as values."""
        return [Departure(**row) for row in self.gone.to_pylist()]


class Life(InProcess):
    """The clock, the ids in use, and when each of them goes.

    Parameters
    ----------
    window
        As of a hub.
    width
        How many bytes of bits say who holds something, which are remembered: a pipeline has a bit
        for each of its partitions. What moves or is replaced stays with those who have it, too.

    Examples
    --------
    >>> from nearcast.events import Publish, Retract
    >>> from nearcast.model import Window
    >>> life = Life(Window(seconds=60))
    >>> life.apply([Publish("m1", "Rain", (0.0, 0.0), time=10.0)]).is_kept.tolist()
    [1]
    >>> [gone.id for gone in life.apply([Retract("m2", time=70.0)]).departures]
    ['m1']
    """

    def __init__(self, window: Window | None = None, *, width: int = 0) -> None:
        size = (window.count, window.seconds) if window else (None, None)
        self._core = _core.Ledger(*size, width)

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

    def apply(
        self, events: Sequence[Event] | ArrowTable, *, places: np.ndarray | None = None
    ) -> Outcome:
        """Apply events in order; those that are rejected change nothing.

        Parameters
        ----------
        events
            Values; or a table that `nearcast.event_table.read_events` has made, of which the
            columns `event_table.OUTLINE` suffice.
        places
            Who must hear of each event, if bits are remembered: rows of `width` bytes.

        Raises
        ------
        InvalidParameterError
            If a row of a table is no event: these are known when lines are read.
        """
        batch = _core.EventBatch(KINDS, may_split=True)
        if hasattr(events, "__arrow_c_stream__") or hasattr(events, "__arrow_c_array__"):
            self._add_table(batch, events)
        else:
            for row, event in enumerate(events):  # type: ignore[arg-type]
                batch.add(row)
                put_outline(batch, row, event)
        width = self._core.width
        said = np.zeros(len(batch) * width, np.uint8) if places is None else places.reshape(-1)
        rejected, clock, is_kept, end, gone, *held = self._core.apply(batch, said)
        went = pa.Table.from_batches(columns.batches_of(gone))
        shaped = [bits.reshape(-1, width) if width else bits for bits in held]
        return Outcome(dict(rejected), clock, is_kept, end, went, *shaped)

    def _add_table(self, batch: _core.EventBatch, table: ArrowTable) -> None:
        columns.validate_own(table, InvalidParameterError)
        wrong = batch.add_table(table, 0, is_outline=True)
        if wrong:
            what = f"row {wrong[0]} is no event"
            wanted = "op, id, times in seconds, mode of a subscription, target of a move"
            raise InvalidParameterError(what, wanted=wanted)

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

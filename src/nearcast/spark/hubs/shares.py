"""Who is told what, so that many hubs together are one?

A subscription lives in one hub, by its id [Skype §7.3.1]; messages and retractions go to all. What
a subscription holds depends on messages and the clock and on no other subscription, so the changes
of all hubs together are those of a single one, event by event: matched, ranked, live, moving, top.

Two things are not a hub's own business and are decided before anything is distributed, by
`nearcast.life`: whether an event is rejected (its id may be in use elsewhere), and what time it is.
An event that brings the clock forward is told to the other hubs as an advance of time, which lets
go what is due.

Any worker can do any hub (`saves.py`).
"""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np
import pyarrow as pa

from nearcast.errors import KeepsNothingWarning, NearcastError
from nearcast.events import Advance, Publish, Retract, read_event
from nearcast.hub import Hub
from nearcast.spark.saves import KeptHubs
from nearcast.spark.store import read_arrow

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from nearcast.life import Life
    from nearcast.model import Window
    from nearcast.weights import Weights

OPS = pa.schema(
    [
        ("row", pa.int64()),  # of the event in its batch, from 1
        ("owner", pa.int32()),  # null: all hubs
        ("event", pa.string()),
        ("others", pa.string()),  # what hubs but the owner are told; null: nothing
    ]
)
CHANGES = pa.schema(
    [
        ("event", pa.int64()),
        ("subscription", pa.string()),
        ("message", pa.string()),
        ("change", pa.string()),
        ("reason", pa.string()),
        ("score", pa.float64()),
    ]
)
CHANGES_DDL = (
    "event long, subscription string, message string, change string, reason string, score double"
)


class HubSettings(NamedTuple):
    """What all hubs have in common."""

    window: Window | None
    weights: Weights | None


def decide(
    life: Life, lines: Iterable[str], hubs: int
) -> tuple[pa.Table, list[tuple[int, NearcastError]]]:
    """Return what hubs are told of a batch of lines, and which lines are rejected, and why."""
    rows, texts, events, rejected = [], [], [], []
    for row, line in enumerate(lines, 1):
        try:
            events.append(read_event(line))
            rows.append(row)
            texts.append(line)
        except NearcastError as error:  # noqa: PERF203 — one bad line spares the others
            rejected.append((row, error))
    before = life.clock
    outcome = life.apply(events)
    rejected += [(rows[at], error) for at, error in outcome.rejected.items()]
    told = []
    for at, (event, clock) in enumerate(zip(events, outcome.clock.tolist(), strict=True)):
        if at in outcome.rejected:
            continue
        is_for_all = isinstance(event, (Publish, Retract, Advance))
        owner = None if is_for_all else crc32(event.id.encode()) % hubs
        is_later = owner is not None and clock > before
        others = json.dumps({"op": "advance", "time": clock}) if is_later else None
        told.append({"row": rows[at], "owner": owner, "event": texts[at], "others": others})
        before = clock
    return pa.Table.from_pylist(told, OPS), sorted(rejected, key=lambda pair: pair[0])


def recall(life: Life, told: pa.Table) -> None:
    """Bring life to where it was when it decided this."""
    life.apply([read_event(line) for line in told.column("event").to_pylist()])


def ops_file(folder: Path, number: int) -> Path:
    """Return where it is written what hubs are told of a batch."""
    return folder / "told" / f"batch-{number:09}.arrow"


def _step(hub: Hub, folder: Path, number: int, owner: int) -> pa.Table:
    """Do one batch; return its changes."""
    rows, lines = [], []
    for op in read_arrow(ops_file(folder, number)).to_pylist():
        is_mine = op["owner"] is None or op["owner"] == owner
        line = op["event"] if is_mine else op["others"]
        if line is not None:
            rows.append(op["row"])
            lines.append(line)
    with warnings.catch_warnings():  # of a hub without a window, in a worker, where none reads it
        warnings.simplefilter("ignore", KeepsNothingWarning)
        changes = hub.apply(lines).cast(CHANGES)
    numbers = np.array(rows, np.int64)[changes.column("event").to_numpy() - 1]
    return changes.set_column(0, CHANGES.field(0), pa.array(numbers, pa.int64()))


_hubs = KeptHubs(_step)


def do_batch(folder: Path, number: int, owner: int, settings: HubSettings) -> pa.Table:
    """Bring a hub to a batch and return the changes of that batch."""

    def make() -> Hub:
        return Hub(window=settings.window, weights=settings.weights)

    return _hubs.advance(folder, number, owner, make)

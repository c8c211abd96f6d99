"""Who is told what, so that many hubs together are one?

A subscription lives in one hub, by its id [Skype §7.3.1]; messages and retractions go to all. What
a subscription holds depends on messages and the clock and on no other subscription, so the changes
of all hubs together are those of a single one, event by event: matched, ranked, live, moving, top.

Two things are not a hub's own business and are decided before anything is distributed, by the
ledger: whether an event is rejected (its id may be in use elsewhere), and what time it is. An event
that brings the clock forward is told to the other hubs as a retraction of a message that is not
live: it changes nothing but the time, and lets go what is due.

Any worker can do any hub (`saves.py`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np
import pyarrow as pa

from nearcast.errors import NearcastError
from nearcast.events import Publish, Retract, read_event
from nearcast.hub import Hub
from nearcast.spark.ledger import Ledger, Net
from nearcast.spark.saves import KeptHubs
from nearcast.spark.store import read_arrow

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

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
    ledger: Ledger, lines: Iterable[str], hubs: int
) -> tuple[pa.Table, list[tuple[int, NearcastError]]]:
    """Return what hubs are told of a batch of lines, and which lines are rejected, and why."""
    told, rejected = [], []
    for row, line in enumerate(lines, 1):
        before = ledger.clock
        try:
            event = read_event(line)
            ledger.admit(event, Net())
        except NearcastError as error:
            rejected.append((row, error))
            continue
        is_for_all = isinstance(event, (Publish, Retract))
        owner = None if is_for_all else crc32(event.id.encode()) % hubs
        is_later = owner is not None and ledger.clock > before
        others = _tick(ledger) if is_later else None
        told.append({"row": row, "owner": owner, "event": line, "others": others})
    return pa.Table.from_pylist(told, OPS), rejected


def _tick(ledger: Ledger) -> str:
    """Return an event that changes nothing but the time."""
    id_ = "tick"
    while id_ in ledger.messages:
        id_ += "'"
    return json.dumps({"op": "retract", "id": id_, "time": ledger.clock})


def recall(ledger: Ledger, told: pa.Table) -> None:
    """Bring a ledger to where it was when it decided this."""
    for line in told.column("event").to_pylist():
        ledger.admit(read_event(line), Net())


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
    changes = hub.apply(lines).cast(CHANGES)
    numbers = np.array(rows, np.int64)[changes.column("event").to_numpy() - 1]
    return changes.set_column(0, CHANGES.field(0), pa.array(numbers, pa.int64()))


_hubs = KeptHubs(_step)


def do_batch(folder: Path, number: int, owner: int, settings: HubSettings) -> pa.Table:
    """Bring a hub to a batch and return the changes of that batch."""

    def make() -> Hub:
        return Hub(window=settings.window, weights=settings.weights)

    return _hubs.advance(folder, number, owner, make)

"""Who is told what, so that many hubs together are one?

A subscription lives in one hub, by its id [Skype §7.3.1]; messages and retractions go to all. What
a subscription holds depends on messages and the clock and on no other subscription, so the changes
of all hubs together are those of a single one, event by event: matched, ranked, live, moving, top.

Two things are not a hub's own business and are decided before anything is distributed, by the
ledger: whether an event is rejected (its id may be in use elsewhere), and what time it is. An event
that brings the clock forward is told to the other hubs as a retraction of a message that is not
live: it changes nothing but the time, and lets go what is due.

A worker that has a hub brings it forward by the batches that it missed; one that has not opens the
last snapshot, or starts from the first batch. So any worker can do any hub.
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
from nearcast.spark.saves import open_hub, save_hub
from nearcast.spark.store import read_arrow

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from nearcast.model import Window
    from nearcast.weights import Weights

SAVE_EVERY = 64
"""Batches after which a hub is saved: how many a worker without it has to do again at most."""

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


class Settings(NamedTuple):
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


class ShareHub:
    """One of the hubs, and how many batches it has seen."""

    def __init__(self, owner: int, hub: Hub, seen: int = -1) -> None:
        self.owner = owner
        self.seen = seen
        self.hub = hub

    def step(self, folder: Path, number: int) -> pa.Table:
        """Do one batch; return its changes."""
        told = read_arrow(ops_file(folder, number))
        rows, lines = [], []
        for op in told.to_pylist():
            is_mine = op["owner"] is None or op["owner"] == self.owner
            line = op["event"] if is_mine else op["others"]
            if line is not None:
                rows.append(op["row"])
                lines.append(line)
        changes = self.hub.apply(lines).cast(CHANGES)
        numbers = np.array(rows, np.int64)[changes.column("event").to_numpy() - 1]
        self.seen = number
        return changes.set_column(0, CHANGES.field(0), pa.array(numbers, pa.int64()))


_hubs: dict[tuple[str, int], ShareHub] = {}


def do_batch(folder: Path, number: int, owner: int, settings: Settings) -> pa.Table:
    """Bring a hub to a batch and return the changes of that batch."""
    key = (str(folder), owner)
    # Out of the table while it changes: what an error leaves behind is nobody's.
    share = _hubs.pop(key, None)
    if share is None or share.seen >= number:
        share = _opened(folder, number, owner, settings)
    for missed in range(share.seen + 1, number):
        share.step(folder, missed)
    changes = share.step(folder, number)
    save_hub(share.hub, folder, number, owner, SAVE_EVERY)
    _hubs[key] = share
    return changes


def _opened(folder: Path, number: int, owner: int, settings: Settings) -> ShareHub:
    """Return the hub as it was saved last before a batch, or an empty one."""
    saved = open_hub(folder, number, owner, SAVE_EVERY)
    if saved is not None:
        return ShareHub(owner, *saved)
    return ShareHub(owner, Hub(window=settings.window, weights=settings.weights))

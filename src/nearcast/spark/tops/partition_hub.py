"""One partition of the top lists: a hub that is told who comes and who goes.

Every round is a file that names what each partition is told. A worker that has a partition's hub
brings it forward by the rounds that it missed; one that has not opens what was saved last, or
starts from the first file. So any worker can do any partition, and a worker that dies takes nothing
with it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from nearcast.hub import Hub
from nearcast.model import Window
from nearcast.spark.saves import open_hub, save_hub
from nearcast.spark.store import read_arrow, write_arrow
from nearcast.spark.tops.lists import Op, Partial

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from nearcast.weights import Weights

ENDLESS = Window(count=2**31 - 1)
"""The window of a partition: it is told who goes."""

SAVE_EVERY = 64
"""Rounds after which a hub is saved: how many a worker without it has to do again at most."""

OPS = pa.schema([("partition", pa.int32()), ("event", pa.string())])


class Settings(NamedTuple):
    """What hubs of all partitions have in common."""

    weights: Weights | None
    space: tuple[float, float, float, float]
    topk: str


class PartitionHub:
    """The hub of one partition, and which rounds it has seen."""

    def __init__(self, partition: int, hub: Hub, seen: int = -1) -> None:
        self.partition = partition
        self.seen = seen
        self.hub = hub

    def step(self, number: int, events: list[dict[str, object]]) -> list[Partial]:
        """Apply one round; return the lists that it changed."""
        changes = self.hub.apply(events)
        self.seen = number
        touched = dict.fromkeys(changes.column("subscription").to_pylist())
        partials = []
        for id_ in touched:
            if id_ in self.hub:
                found = self.hub.results(id_)
                messages, scores = [m for m, _ in found], [score or 0.0 for _, score in found]
                partials.append(Partial(self.partition, id_, messages, scores))
        return partials


def round_file(folder: Path, number: int) -> Path:
    """Return where a round is written."""
    return folder / f"round-{number:09}.arrow"


def write_round(folder: Path, number: int, ops: Iterable[Op]) -> None:
    """Write what partitions are told in a round."""
    told = list(ops)
    partitions = pa.array([op.partition for op in told], pa.int32())
    lines = pa.array([json.dumps(op.event, ensure_ascii=False) for op in told], pa.string())
    folder.mkdir(parents=True, exist_ok=True)
    write_arrow(round_file(folder, number), pa.table([partitions, lines], schema=OPS))


def read_round(folder: Path, number: int, partition: int) -> list[dict[str, object]]:
    """Return what one partition is told in a round."""
    table = read_arrow(round_file(folder, number))
    mine = table.filter(pa.compute.equal(table.column("partition"), partition))
    return [json.loads(line) for line in mine.column("event").to_pylist()]


_hubs: dict[tuple[str, int], PartitionHub] = {}


def do_round(folder: Path, number: int, partition: int, settings: Settings) -> list[Partial]:
    """Bring a partition to a round and return the lists that this round changed."""
    key = (str(folder), partition)
    # Out of the table while it changes: what an error leaves behind is nobody's.
    hub = _hubs.pop(key, None)
    if hub is None or hub.seen >= number:
        hub = _opened(folder, number, partition, settings)
    for missed in range(hub.seen + 1, number):
        hub.step(missed, read_round(folder, missed, partition))
        save_hub(hub.hub, folder, missed, partition, SAVE_EVERY)  # nobody was asked about it
    partials = hub.step(number, read_round(folder, number, partition))
    save_hub(hub.hub, folder, number, partition, SAVE_EVERY)
    _hubs[key] = hub
    return partials


def _opened(folder: Path, number: int, partition: int, settings: Settings) -> PartitionHub:
    """Return the hub as it was saved last before a round, or an empty one."""
    saved = open_hub(folder, number, partition, SAVE_EVERY)
    if saved is not None:
        return PartitionHub(partition, *saved)
    weights, space, topk = settings
    return PartitionHub(partition, Hub(window=ENDLESS, weights=weights, space=space, topk=topk))

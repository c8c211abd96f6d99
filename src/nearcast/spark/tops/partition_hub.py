"""One partition of the top lists: a hub that is told what comes and what leaves.

Every round is a file that names what each partition is told, so any worker can do any partition
(`saves.py`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from nearcast.hub import Hub
from nearcast.model import Window
from nearcast.spark.saves import KeptHubs
from nearcast.spark.store import read_arrow, write_arrow
from nearcast.spark.tops.lists import Op, Partial

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from nearcast.weights import Weights

ENDLESS = Window(count=2**31 - 1)
"""The window of a partition: it is told which messages leave."""

OPS = pa.schema([("partition", pa.int32()), ("event", pa.string())])


class PartitionSettings(NamedTuple):
    """What hubs of all partitions have in common."""

    weights: Weights | None
    space: tuple[float, float, float, float]
    topk: str


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


def _step(hub: Hub, folder: Path, number: int, partition: int) -> list[Partial]:
    """Apply one round; return the lists that it changed."""
    changes = hub.apply(read_round(folder, number, partition))
    touched = dict.fromkeys(changes.column("subscription").to_pylist())
    partials = []
    for id_ in touched:
        if id_ in hub:
            found = hub.results(id_)
            messages, scores = [m for m, _ in found], [score or 0.0 for _, score in found]
            partials.append(Partial(partition, id_, messages, scores))
    return partials


_hubs = KeptHubs(_step)


def do_round(
    folder: Path, number: int, partition: int, settings: PartitionSettings
) -> list[Partial]:
    """Bring a partition to a round and return the lists that this round changed."""

    def make() -> Hub:
        weights, space, topk = settings
        return Hub(window=ENDLESS, weights=weights, space=space, topk=topk)

    return _hubs.advance(folder, number, partition, make)

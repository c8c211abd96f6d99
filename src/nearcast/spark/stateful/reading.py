"""From lines to rows: read, checked and routed once, in a worker.

What is heavy of an event (its text, its words, its shape) goes to a file of the log, where the
partitions that need it find it. What life decides by is returned in narrow columns, for the driver.

A file of the log has a record batch for each partition, after one for all of them: of what has no
content of its own, of what goes to everyone, and of what must also reach those who hold another
version, which only the driver knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.event_table import OUTLINE, read_events
from nearcast.events import read_event
from nearcast.spark.stateful.routes import has_bit
from nearcast.spark.stateful.texts import token_lists

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearcast.errors import NearcastError
    from nearcast.spark.stateful.routes import Routes

_SIDES = ("west", "south", "east", "north")


class Part(NamedTuple):
    """Lines that were read together."""

    lines: int
    narrow: pa.Table
    """A row for each event: its line, from 1, what life looks at, and who must hear of it."""
    refused: list[tuple[int, str]]
    """Lines that are no events, and why."""
    groups: list[pa.RecordBatch]
    """What goes to all partitions, and then to each of them."""


def read_part(lines: Sequence[str] | pa.Array, routes: Routes) -> Part:
    """Read lines that follow each other."""
    refused: list[tuple[int, str]] = []

    def refuse(line: int, error: NearcastError) -> None:
        refused.append((line, str(error)))

    table = read_events(lines, on_error=refuse)
    table = _of_modes(table, routes, refused).combine_chunks()
    places = _places(table, routes)
    kind = pa.binary(routes.width)
    bits = pa.FixedSizeBinaryArray.from_buffers(kind, len(table), [None, pa.py_buffer(places)])
    narrow = table.select(["event", *OUTLINE]).append_column("places", bits)
    return Part(len(lines), narrow, sorted(refused), _groups(table, places, routes))


def _of_modes(table: pa.Table, routes: Routes, refused: list[tuple[int, str]]) -> pa.Table:
    """Refuse subscriptions of modes that messages are not routed for."""
    known = pc.is_in(table.column("mode"), pa.array([*routes.modes, None], pa.string()))
    if pc.all(known).as_py() is not False:
        return table
    wrong = table.filter(pc.invert(known)).select(["event", "id", "mode"]).to_pylist()
    refused += [(row["event"], str(routes.wrong_mode(row["id"], row["mode"]))) for row in wrong]
    return table.filter(known)


def _places(table: pa.Table, routes: Routes) -> np.ndarray:
    """Return who must hear of each event, as far as the event itself says."""
    places = np.zeros((len(table), routes.width), np.uint8)
    op = table.column("op")
    rows = _rows(pc.equal(op, "publish"))
    if len(rows):
        said = table.take(pa.array(rows)) if len(rows) < len(table) else table
        places[rows] = routes.of_messages(message_table(said, has_words=routes.has_words))
    rows = _rows(pc.equal(op, "subscribe"))
    if len(rows):
        said = table.column("line").take(pa.array(rows)).to_pylist()
        places[rows] = routes.of_subscriptions([read_event(line) for line in said])  # type: ignore[misc]
    rows = _rows(pc.and_(pc.equal(op, "move"), pc.not_equal(table.column("target"), "point")))
    if len(rows) and routes.plan.leaves.size:
        places[rows] = routes.of_areas(_areas(table.take(pa.array(rows))))
    return places


def _rows(chosen: pa.ChunkedArray) -> np.ndarray:
    return np.flatnonzero(pc.fill_null(chosen, False).to_numpy(zero_copy_only=False))


def message_table(table: pa.Table, *, has_words: bool = True) -> pa.Table:
    """Return publish events as a plan routes them, with their words if it looks at these."""
    sides = {side: table.column(side) for side in _SIDES}
    return pa.table({"tokens": token_lists(table.column("text")), **sides} if has_words else sides)


def _areas(moves: pa.Table) -> np.ndarray:
    """Return boxes around what subscriptions move to."""
    from nearcast.partition.bounds import area_bounds

    boxes = np.column_stack([moves.column(side).to_numpy(zero_copy_only=False) for side in _SIDES])
    for row in _rows(pc.equal(moves.column("target"), "shape")).tolist():
        boxes[row] = area_bounds(read_event(moves.column("line")[row].as_py()).area)  # type: ignore[union-attr]
    return boxes


def _groups(table: pa.Table, places: np.ndarray, routes: Routes) -> list[pa.RecordBatch]:
    op = table.column("op")
    has_content = pc.is_in(op, pa.array(["publish", "subscribe"]))
    is_for_all = pc.or_(pc.invert(has_content), pc.fill_null(table.column("replace"), False))
    partitions = routes.plan.partitions
    everyone = np.packbits(np.ones(partitions, bool))
    for_all = is_for_all.to_numpy(zero_copy_only=False) | (places == everyone).all(axis=1)
    empty = [name for name in table.column_names if table.column(name).null_count == len(table)]
    kept = [name for name in table.column_names if name not in empty or name in ("event", "op")]
    batches = table.select(kept).to_batches()
    whole = batches[0] if batches else pa.RecordBatch.from_pylist([], table.select(kept).schema)
    if for_all.all():
        return [whole] + [whole.slice(0, 0)] * partitions
    chosen = [for_all, *(has_bit(places, one) & ~for_all for one in range(partitions))]
    return [whole.filter(pa.array(rows)) for rows in chosen]

"""Subscriptions that move to partitions which do not have them: what is known of them, as lines.

A move says where a subscription goes and not what it is. Where space is cut, a partition that has
not held it is given its definition, by one that has, or out of the log of the same batch.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.event_table import EVENTS
from nearcast.events import read_event
from nearcast.model import Areas, Bbox, Circle, Polygon
from nearcast.spark.stateful.routes import has_bit
from nearcast.spark.stateful.telling import Numbering, Told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearcast.definition import Definition
    from nearcast.hub import Hub
    from nearcast.model import Area
    from nearcast.spark.stateful.sequencing import Decision

COPIES = pa.schema([("row", pa.int64()), ("line", pa.string())])
"""The row of a move, and the subscription that moves."""


class Wanted(NamedTuple):
    """A definition that others need."""

    row: int
    """Of the move."""
    id: str
    since: int
    """The row that subscribed it in this batch; 0: it was there before."""


def has_wanted(decision: Decision) -> bool:
    """Whether a subscription moves to a partition that has not held it."""
    return bool(len(_moves(decision)))


def _moves(decision: Decision) -> np.ndarray:
    is_move = pc.equal(decision.batch.narrow.column("op"), "move").to_numpy(zero_copy_only=False)
    moves = np.flatnonzero(is_move)
    gained = decision.bits("places")[moves] & ~decision.bits("places_were")[moves]
    return np.asarray(moves[gained.any(axis=1)])


def wanted_definitions(decision: Decision) -> dict[int, list[Wanted]]:
    """Return by partition the definitions that it must give: it has them, or gets them now."""
    narrow = decision.batch.narrow
    rows, ids, ops = (narrow.column(name) for name in ("event", "id", "op"))
    places, were = decision.bits("places"), decision.bits("places_were")
    subscribed: dict[str, list[int]] = {}
    is_new = pc.equal(ops, "subscribe").to_numpy(zero_copy_only=False) & places.any(axis=1)
    for at in np.flatnonzero(is_new).tolist():
        subscribed.setdefault(ids[at].as_py(), []).append(at)
    found: dict[int, list[Wanted]] = {}
    for at in _moves(decision).tolist():
        id_ = ids[at].as_py()
        since = max((each for each in subscribed.get(id_, ()) if each < at), default=-1)
        holders = were[at] if since < 0 else places[since]
        first = int(np.flatnonzero(np.unpackbits(holders))[0])
        row = 0 if since < 0 else rows[since].as_py()
        found.setdefault(first, []).append(Wanted(rows[at].as_py(), id_, row))
    return found


def lines_by_row(
    decision: Decision, contents: Sequence[pa.Table], wanted: set[int]
) -> dict[int, str]:
    """Return the lines of subscribe events of a batch."""
    numbering, found = Numbering(decision), {}
    for file, table in enumerate(contents):
        if "line" in table.column_names:
            rows = numbering.rows_of(file, table.column("event").to_numpy())
            for at, row in enumerate(rows.tolist()):
                if row in wanted:
                    found[row] = table.column("line")[at].as_py()
    return found


def copies_of(hub: Hub, wanted: Sequence[Wanted], lines: dict[int, str]) -> pa.RecordBatch:
    """Return definitions: out of a hub, or by row out of lines."""
    said = [
        lines[one.since] if one.since else json.dumps(fields_of(hub.subscription(one.id)))
        for one in wanted
    ]
    rows = pa.array([one.row for one in wanted], pa.int64())
    return pa.record_batch([rows, pa.array(said, pa.string())], schema=COPIES)


def with_definitions(told: Told, definitions: pa.Table, decision: Decision, partition: int) -> Told:
    """Return what a partition is told, in which what it has not held is subscribed, not moved."""
    rows = decision.batch.narrow.column("event").to_numpy()
    had = has_bit(decision.bits("places_were"), partition)
    new: list[dict[str, Any]] = []
    where = np.arange(len(told.table))
    for row, line in zip(*(column.to_pylist() for column in definitions.columns), strict=True):
        at = told.position.get(row)
        is_told = at is not None and told.ops[at] == "move"  # not only that time has passed
        if is_told and not had[np.searchsorted(rows, row)]:
            where[at] = len(told.table) + len(new)
            new.append(_subscribed(told.table.slice(at, 1).to_pylist()[0], line))
    if not new:
        return told
    added = pa.Table.from_pylist(new, pa.schema([EVENTS.field(name) for name in new[0]]))
    table = pa.concat_tables([told.table, added], promote_options="permissive")
    return Told(table.take(pa.array(where)), told.gone)


def _subscribed(move: dict[str, Any], line: str) -> dict[str, Any]:
    """Return a row that subscribes what moves, where it moves to."""
    fields = json.loads(line)
    if move["target"] == "shape":
        fields["area"] = json.loads(move["line"])["area"]
    else:
        fields["area"] = [move[side] for side in ("west", "south", "east", "north")]
    event = read_event(line)
    said = {"op": "subscribe", "expires": event.expires, "replace": False}  # type: ignore[union-attr]
    own = {"mode": event.mode, "live": event.live, "line": json.dumps(fields)}  # type: ignore[union-attr]
    names = ("event", "id", "time", "surplus")
    kept: dict[str, Any] = {name: move[name] for name in names if name in move}
    return {**kept, **said, **own}


def fields_of(definition: Definition) -> dict[str, Any]:
    """Return a definition as the fields of its subscribe event."""
    said: dict[str, Any] = {"op": "subscribe", "id": definition.id, "mode": definition.mode}
    if definition.live:
        said["live"] = True
    for name in ("keywords", "where", "at", "k", "alpha", "threshold", "expires"):
        if getattr(definition, name) is not None:
            said[name] = getattr(definition, name)
    for name, area in (("area", definition.area), ("except", definition.except_)):
        if area is not None:
            said[name] = _said(area)
    return said


def _said(area: Area) -> Any:  # noqa: ANN401 — JSON
    if isinstance(area, Bbox):
        return [area.west, area.south, area.east, area.north]
    if isinstance(area, Circle):
        return {"type": "Circle", "center": area.center, "radius_m": area.radius_m}
    if isinstance(area, Areas):
        return [_said(part) for part in area.parts]
    if isinstance(area, Polygon):
        return {"type": "Polygon", "coordinates": area.rings}
    return {"type": "MultiPolygon", "coordinates": [one.rings for one in area.polygons]}

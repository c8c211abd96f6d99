"""The table of subscriptions that an index is built from, and single ones out of it.

A plain subscription, all of its keywords required and a box or none, is columns: `id`, `keywords`,
`west`, `south`, `east`, `north`, and to rank `alpha` and `threshold`. Any other is its subscribe
event as a line in the column `event`, and the other columns are null.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.errors import InvalidSubscriptionError
from nearcast.events import event_from, read_event
from nearcast.expressions import plain_tokens
from nearcast.model import Bbox
from nearcast.partition import Plan, Wants, wants_of_events, wants_of_table
from nearcast.spark.geometries import read_geometry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nearcast.events import Subscribe
    from nearcast.matcher import Matcher
    from nearcast.partition.wants import Mode

_ARGUMENTS = {"except": "except_"}  # a word of Python
SIDES = ("west", "south", "east", "north")
TERMS = ("alpha", "threshold")
MORE = ("expression", "where", "lon", "lat", "radius_m", "geometry")
"""Columns that a frame of subscriptions may have, and that become events."""
CIRCLE = frozenset({"lon", "lat", "radius_m"})


def schema_of(mode: str, id_type: pa.DataType) -> pa.Schema:
    """Return the columns of a table of subscriptions."""
    numbers = SIDES + (TERMS if mode == "rank" else ())
    return pa.schema(
        [
            ("id", id_type),
            ("keywords", pa.list_(pa.string())),
            *((name, pa.float64()) for name in numbers),
            ("event", pa.string()),
        ]
    )


def conform(table: pa.Table, mode: str) -> pa.Table:
    """Return a table with exactly the columns of `schema_of`; what is absent is null."""
    id_type = pa.int64() if pa.types.is_integer(table.schema.field("id").type) else pa.string()
    schema = schema_of(mode, id_type)
    columns = [
        table.column(field.name).cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def with_events(batch: pa.RecordBatch, mode: str) -> pa.RecordBatch:
    """Return rows in which expressions, `where`, circles and geometries have become events."""
    schema = schema_of(mode, batch.schema.field("id").type)
    rows = [_with_event(row, mode) for row in batch.to_pylist()]
    return pa.RecordBatch.from_pylist(rows, schema)


def _with_event(row: dict[str, Any], mode: str) -> dict[str, Any]:
    asked = {name: row[name] for name in MORE if row.get(name) is not None}
    if not asked:
        return row
    plain = {name: row.get(name) for name in ("keywords", *SIDES, *TERMS, "event")}
    fields = fields_of_row({"id": row["id"], **plain}, mode)
    conflicts = (("expression", "keywords"), ("radius_m", "area"), ("geometry", "area"))
    for name, conflicting in conflicts:
        if name in asked and conflicting in fields:
            what = f"subscription {row['id']!r} has {name} and {conflicting}"
            raise InvalidSubscriptionError(what, wanted="one of the two")
    if "expression" in asked:
        fields["keywords"] = asked["expression"]
    if "where" in asked:
        fields["where"] = asked["where"]
    if CIRCLE & asked.keys():
        center = [asked.get("lon"), asked.get("lat")]
        fields["area"] = {"type": "Circle", "center": center, "radius_m": asked.get("radius_m")}
    if "geometry" in asked:
        if "area" in fields:
            what = f"subscription {row['id']!r} has geometry and a circle"
            raise InvalidSubscriptionError(what, wanted="one of the two")
        fields["area"] = read_geometry(asked["geometry"])
    return {**row_of_event(fields, _subscribe(fields)), "id": row["id"]}


def split_plain(table: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that are columns, and those that are events."""
    is_plain = pc.is_null(table.column("event")).to_numpy(zero_copy_only=False)
    return np.flatnonzero(is_plain), np.flatnonzero(~is_plain)


def place_rows(plan: Plan, table: pa.Table, mode: Mode) -> np.ndarray:
    """Return which partitions hold which row, shape (rows, partitions)."""
    placed = np.zeros((table.num_rows, plan.partitions), bool)
    for rows, wants in wants_of_rows(table, mode):
        if len(rows):
            placed[rows] = plan.place(wants, table.column("id").take(pa.array(rows)))
    return placed


def wants_of_rows(table: pa.Table, mode: Mode) -> list[tuple[np.ndarray, Wants]]:
    """Return what routing must know: of the plain rows, and of the events."""
    plain, others = split_plain(table)
    read = [read_event(line) for line in table.column("event").take(pa.array(others)).to_pylist()]
    events = [event for event in read if not isinstance(event, str)]
    return [
        (plain, wants_of_table(table.take(pa.array(plain)), mode)),
        (others, wants_of_events(events, mode)),  # type: ignore[arg-type]
    ]


def all_wants(table: pa.Table, mode: Mode) -> Wants:
    """Return what a planner must know of all rows; events come last."""
    (_, plain), (rows, others) = wants_of_rows(table, mode)
    if not len(rows):
        return plain
    words = pa.concat_arrays([_plain_words(plain.words), _plain_words(others.words)])
    return Wants(
        plain.mode,
        np.concatenate([plain.group_rows, others.group_rows + len(plain)]),
        np.concatenate([plain.offsets, others.offsets[1:] + plain.offsets[-1]]),
        words,
        np.concatenate([plain.shares, others.shares]),
        np.concatenate([plain.boxes, others.boxes]),
        np.concatenate([plain.is_open, others.is_open]),
        np.concatenate([plain.is_local, others.is_local]),
    )


def _plain_words(words: pa.Array) -> pa.Array:
    return words.cast(pa.string())


def subscribe_rows(matcher: Matcher, table: pa.Table, first: int = 0) -> None:
    """Subscribe all rows; the id is the place in the table, counted from `first`."""
    plain, others = split_plain(table)
    if len(plain):
        rows = table.take(pa.array(plain)).drop_columns(["id", "event"])
        ids = pa.array(plain.astype(np.int64) + first)
        matcher.subscribe_table(rows.append_column("id", ids))
    for row, line in zip(
        others, table.column("event").take(pa.array(others)).to_pylist(), strict=True
    ):
        matcher.subscribe(int(row) + first, **_asked(json.loads(line)))


def _asked(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an event that a matcher takes."""
    taken = ("keywords", "area", "where", "except", *TERMS)
    return {_ARGUMENTS.get(name, name): fields[name] for name in taken if name in fields}


def row_of_event(fields: Mapping[str, Any], event: Subscribe) -> dict[str, Any]:
    """Return a subscribe event as a row: in columns if it is plain, else as a line."""
    words = None if event.keywords is None else plain_tokens(event.keywords)
    is_box = event.area is None or isinstance(event.area, Bbox)
    if words is None or not is_box or event.where is not None or event.except_ is not None:
        return {"id": event.id, "event": json.dumps(dict(fields), ensure_ascii=False)}
    row: dict[str, Any] = {"id": event.id, "keywords": sorted(words)}
    if isinstance(event.area, Bbox):
        row.update({side: getattr(event.area, side) for side in SIDES})
    if event.mode == "rank":
        row.update(alpha=event.alpha, threshold=event.threshold)
    return row


def fields_of_row(row: Mapping[str, Any], mode: str) -> dict[str, Any]:
    """Return a row as the fields of its subscribe event."""
    if row["event"] is not None:
        return dict(json.loads(row["event"]))
    fields: dict[str, Any] = {"op": "subscribe", "id": str(row["id"])}
    if row["keywords"] is not None:
        fields["keywords"] = list(row["keywords"])
    if row["west"] is not None:
        fields["area"] = [row[side] for side in SIDES]
    if mode == "rank":
        fields.update(mode="rank", alpha=row["alpha"], threshold=row["threshold"])
    return fields


def table_of_events(lines: Sequence[Mapping[str, Any]], mode: str) -> pa.Table:
    """Return subscribe events as a table of subscriptions."""
    rows = [row_of_event(fields, _subscribe(fields)) for fields in lines]
    return pa.Table.from_pylist(rows, schema_of(mode, pa.string()))


def _subscribe(fields: Mapping[str, Any]) -> Subscribe:
    return event_from(fields)  # type: ignore[return-value]

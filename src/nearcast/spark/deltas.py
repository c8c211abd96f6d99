"""Changes of subscriptions as a new version: subscribe, unsubscribe, move.

A delta is one small table. A row either removes an id or adds a subscription, with the partitions
that hold it and the words that messages must be routed by; a move is both. So a worker needs
nothing but the rows of its own partition, in their order.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.errors import DuplicateIdError, InvalidEventError, UnknownIdError, UnsupportedError
from nearcast.events import Move, Subscribe, Unsubscribe, event_from
from nearcast.partition import wants_of_events
from nearcast.partition.covers import word_groups
from nearcast.partition.plan import pack
from nearcast.spark.bases import Stored, base_at, open_table, rows_of, save_table
from nearcast.spark.definitions import conform, fields_of_row, table_of_events
from nearcast.spark.store import Delta

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow.dataset as ds

    from nearcast.partition import Plan
    from nearcast.spark.store import Index, Manifest

Fields = dict[str, Any]
_OF_EVENTS = ("time", "replace")  # fields that are not the subscription's

DELTA = pa.schema(
    [
        ("id", pa.string()),
        ("event", pa.string()),  # null: only removed
        ("is_new", pa.bool_()),  # nothing of this id is there to be removed first
        ("partitions", pa.binary()),
        ("words", pa.list_(pa.string())),
    ]
)


def append_delta(index: Index, changes: Iterable[Mapping[str, Any]]) -> Manifest:
    """Apply subscribe, unsubscribe and move events; all of them or, on an error, none.

    Returns
    -------
    Manifest
        The version from which on they count.

    Raises
    ------
    DuplicateIdError, UnknownIdError, InvalidEventError
        And no version was made.
    SnapshotError
        Another writer made a version meanwhile; try again.
    """
    manifest = index.latest()
    events = [(dict(fields), event_from(fields)) for fields in changes]
    current = definitions(index, manifest, [event.id for _, event in events])
    before = set(current)
    for fields, event in events:
        _apply(current, fields, event, manifest.mode)
    touched = list(dict.fromkeys(event.id for _, event in events))
    table = _delta_table(index.plan(manifest), touched, current, before, manifest.mode)
    name = f"delta-{uuid4().hex[:12]}.arrow"
    stored = Stored(name, save_table(index.folder, name, table))
    version = manifest.version + 1
    deltas = (*manifest.deltas, Delta(version, stored))
    return index.commit(replace(manifest, version=version, deltas=deltas))


def definitions(index: Index, manifest: Manifest, ids: list[str]) -> dict[str, Fields]:
    """Return the subscribe events of those of these ids that a version has."""
    base = base_rows(index, manifest)
    type_ = base.schema.field("id").type
    wanted = pa.array([_typed(id_, type_) for id_ in ids], type_)
    rows = base.to_table(filter=pc.field("id").isin(wanted)).to_pylist()
    found = {str(row["id"]): fields_of_row(row, manifest.mode) for row in rows}
    asked = set(ids)
    for _, stored in manifest.deltas:
        for row in open_table(index.folder, stored).to_pylist():
            if row["event"] is None:
                found.pop(row["id"], None)
            elif row["id"] in asked:
                found[row["id"]] = json.loads(row["event"])
    return found


def base_rows(index: Index, manifest: Manifest) -> ds.Dataset:
    """Return the subscriptions that a version's base was built from."""
    base = index.base(manifest)
    return rows_of(base, base_at(base.address).rows)


def learned_plan(index: Index, manifest: Manifest) -> Plan:
    """Return the plan of a version: messages follow the words that deltas brought."""
    plan = index.plan(manifest)
    words = [
        open_table(index.folder, stored).column("words").combine_chunks().flatten()
        for _, stored in manifest.deltas
    ]
    return plan.learn(pa.concat_arrays(words)) if words else plan


def current_rows(store: Index, manifest: Manifest) -> pa.Table:
    """Return the table of subscriptions at a version."""
    rows = conform(base_rows(store, manifest).to_table(), manifest.mode)
    for _, stored in manifest.deltas:
        delta = open_table(store.folder, stored)
        type_ = rows.schema.field("id").type
        touched = delta.column("id").cast(type_)
        kept = rows.filter(pc.invert(pc.is_in(rows.column("id"), value_set=touched)))
        lines = [line for line in delta.column("event").to_pylist() if line is not None]
        added = table_of_events([json.loads(line) for line in lines], manifest.mode)
        place = added.schema.get_field_index("id")
        added = added.set_column(place, "id", added.column("id").cast(type_))
        rows = pa.concat_tables([kept, added])
    return rows


def _typed(id_: str, type_: pa.DataType) -> int | str | None:
    if not pa.types.is_integer(type_):
        return id_
    return int(id_) if id_.lstrip("-").isdigit() else None


def _apply(current: dict[str, Fields], fields: Fields, event: object, mode: str) -> None:
    if isinstance(event, Subscribe):
        if event.mode != mode or event.live or event.expires is not None:
            what = f"subscription {event.id!r} does not fit into this index"
            wanted = f"mode {mode!r}, without live and expires"
            raise UnsupportedError(what, got=fields, wanted=wanted)
        if event.id in current and not event.replace:
            what = f"subscription {event.id!r}"
            raise DuplicateIdError(what, wanted="an id that is not in use")
        current[event.id] = {name: fields[name] for name in fields if name not in _OF_EVENTS}
        return
    if not isinstance(event, (Unsubscribe, Move)):
        what = "event does not change a subscription"
        raise InvalidEventError(what, got=fields, wanted="subscribe, unsubscribe or move")
    if event.id not in current:
        what = f"subscription {event.id!r}"
        raise UnknownIdError(what, wanted="an id in use")
    if isinstance(event, Unsubscribe):
        del current[event.id]
        return
    moved = {**current[event.id], "area": fields.get("area")}
    event_from(moved)  # what the mode needs
    current[event.id] = moved


def _delta_table(
    plan: Plan, touched: list[str], current: dict[str, Fields], before: set[str], mode: str
) -> pa.Table:
    held = [id_ for id_ in touched if id_ in current]
    events = [event_from(current[id_]) for id_ in held]
    wants = wants_of_events([e for e in events if isinstance(e, Subscribe)], mode)  # type: ignore[arg-type]
    bits = pack(plan.place(wants, pa.array(held, pa.string()))) if held else np.zeros((0, 0))
    places = dict(zip(held, bits, strict=True))
    words = {
        event.id: sorted({w for group in word_groups(event.keywords) or () for w in group})
        for event in events
        if isinstance(event, Subscribe)
    }
    rows = [
        {
            "id": id_,
            "event": json.dumps(current[id_], ensure_ascii=False) if id_ in current else None,
            "is_new": id_ not in before,
            "partitions": places[id_].tobytes() if id_ in places else None,
            "words": words.get(id_, []),
        }
        for id_ in touched
    ]
    return pa.Table.from_pylist(rows, DELTA)

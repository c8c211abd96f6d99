"""Raw rows to clean ones, with the library's own analyzer; what cannot be used says why.

Ordinary functions of Arrow batches; `prepare` runs them on Spark.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nearcast.errors import InvalidEventError, InvalidParameterError, NearcastError
from nearcast.events import Publish, Subscribe, event_from
from nearcast.spark.definitions import SIDES, TERMS, row_of_event, schema_of
from nearcast.text import DEFAULT_ANALYZER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nearcast.text import Analyzer

POINT = ("lon", "lat")
REASON = ("reason", pa.string())
RAW = ("raw", pa.string())

MESSAGE_FIELDS = ("id", "text", *POINT, *SIDES, "attributes", "time", "expires")
SUBSCRIPTION_FIELDS = ("id", "keywords", "where", "area", "except", *SIDES, *TERMS)


def message_schema(place: tuple[str, ...]) -> pa.Schema:
    """Return the columns of clean messages; `reason` and `raw` are those of refused rows."""
    return pa.schema(
        [
            ("id", pa.string()),
            ("text", pa.string()),
            ("tokens", pa.list_(pa.string())),
            *((side, pa.float64()) for side in place),
            ("attributes", pa.string()),  # JSON, as values are of many types
            ("time", pa.float64()),
            ("expires", pa.float64()),
            REASON,
            RAW,
        ]
    )


def subscription_schema(mode: str) -> pa.Schema:
    """Return the columns of clean subscriptions; `reason` and `raw` are those of refused rows."""
    return pa.schema([*schema_of(mode, pa.string()), REASON, RAW])


def check_mapping(columns: Mapping[str, str], known: tuple[str, ...], there: list[str]) -> None:
    """Refuse a mapping of fields that do not exist to columns that do not."""
    for field, column in columns.items():
        if field not in known:
            what = "field cannot be mapped"
            raise InvalidParameterError(what, got=field, wanted="one of " + ", ".join(known))
        if column not in there:
            what = f"column of {field} is not there"
            raise InvalidParameterError(what, got=column, wanted="one of " + ", ".join(there))


def clean_messages(
    batch: pa.RecordBatch,
    columns: Mapping[str, str],
    place: tuple[str, ...],
    analyzer: Analyzer = DEFAULT_ANALYZER,
) -> pa.RecordBatch:
    """Return a row for each raw message: clean, or with the reason why it is refused.

    Without columns it has whole publish events as lines in `event` or `value`.
    """
    rows = [_clean_message(row, columns, place, analyzer) for row in batch.to_pylist()]
    return pa.RecordBatch.from_pylist(rows, message_schema(place))


def _clean_message(
    row: dict[str, Any], columns: Mapping[str, str], place: tuple[str, ...], analyzer: Analyzer
) -> dict[str, Any]:
    try:
        event = event_from(_publish_fields(row, columns, place) if columns else _event(row))
        if not isinstance(event, Publish):
            what = "row is not a message"
            raise InvalidEventError(what, got=row, wanted="op publish")
    except NearcastError as error:
        return _refused(row, error)
    at = event.place
    names = POINT if isinstance(at, tuple) else SIDES
    sides = at if isinstance(at, tuple) else [getattr(at, side) for side in SIDES]
    return {
        "id": event.id,
        "text": event.text,
        "tokens": analyzer.analyze(event.text),
        **dict(zip(names, sides, strict=True)),
        "attributes": json.dumps(event.attributes, ensure_ascii=False)
        if event.attributes
        else None,
        "time": event.time,
        "expires": event.expires,
    }


def _publish_fields(
    row: dict[str, Any], columns: Mapping[str, str], place: tuple[str, ...]
) -> dict[str, Any]:
    given = {field: row[column] for field, column in columns.items()}
    sides = [_number(given.get(side), side) for side in place]
    fields: dict[str, Any] = {"op": "publish", "id": _id(given.get("id"))}
    fields["text"] = given.get("text")
    fields["at" if place == POINT else "bbox"] = sides
    fields.update(time=_time(given.get("time")), expires=_time(given.get("expires")))
    fields["attributes"] = _attributes(given.get("attributes"))
    return {name: value for name, value in fields.items() if value is not None}


def _attributes(value: object) -> object:
    """Return attributes of a struct, a map or text as an object; null: the message has none."""
    read = _json(value, "attributes")
    if isinstance(read, list) and all(isinstance(pair, tuple) for pair in read):  # a map
        read = dict(read)
    if isinstance(read, dict):
        return {name: each for name, each in read.items() if each is not None} or None
    return read


def clean_subscriptions(
    batch: pa.RecordBatch, columns: Mapping[str, str], *, mode: str
) -> pa.RecordBatch:
    """Return a row for each raw subscription: clean, or with the reason why it is refused.

    `keywords` is an expression or a list; `area` and `except` GeoJSON as text; or the four sides of
    a box. A column `event` has whole subscribe events as lines instead.
    """
    rows = [_clean_subscription(row, columns, mode) for row in batch.to_pylist()]
    return pa.RecordBatch.from_pylist(rows, subscription_schema(mode))


def _clean_subscription(
    row: dict[str, Any], columns: Mapping[str, str], mode: str
) -> dict[str, Any]:
    try:
        fields = _subscribe_fields(row, columns, mode)
        event = event_from(fields)
        if not isinstance(event, Subscribe) or event.mode != mode:
            what = f"row is not a subscription of mode {mode!r}"
            raise InvalidEventError(what, got=fields)
        if event.live or event.expires is not None:
            what = "subscription has a life of its own, which tables have not"
            raise InvalidEventError(what, got=fields, wanted="no live, no expires")
    except NearcastError as error:
        return _refused(row, error)
    return row_of_event(fields, event)


def _subscribe_fields(row: dict[str, Any], columns: Mapping[str, str], mode: str) -> dict[str, Any]:
    if not columns:
        return _event(row)
    given = {field: row[column] for field, column in columns.items()}
    fields: dict[str, Any] = {"op": "subscribe", "id": _id(given.get("id")), "mode": mode}
    fields.update(keywords=given.get("keywords"), where=given.get("where"))
    fields["except"] = _json(given.get("except"), "except")
    if given.get("area") is not None:
        fields["area"] = _json(given["area"], "area")
    elif given.get("west") is not None:
        fields["area"] = [_number(given.get(side), side) for side in SIDES]
    fields.update({name: _number(given[name], name) for name in TERMS if name in given})
    return {name: value for name, value in fields.items() if value is not None}


def _refused(row: Mapping[str, Any], error: NearcastError) -> dict[str, Any]:
    return {"reason": str(error), "raw": json.dumps(row, default=str, ensure_ascii=False)}


def _id(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _number(value: object, name: str) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        what = f"{name} is not a number"
        raise InvalidEventError(what, got=value, wanted="a number", field=name) from None


def _time(value: object) -> object:
    """Return seconds as a number: files without types have them as text, others as timestamps."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.timestamp()
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return value


def _event(row: Mapping[str, Any]) -> dict[str, Any]:
    line = row.get("event") or row.get("value")
    read = _json(line, "event")
    if not isinstance(read, dict):
        what = "event is not an object"
        raise InvalidEventError(what, got=line, wanted="a line of the event format")
    return read


def _json(value: object, name: str) -> Any:  # noqa: ANN401 — whatever it says is checked later
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        what = f"{name} is not JSON"
        raise InvalidEventError(what, got=value, wanted="JSON", field=name) from None

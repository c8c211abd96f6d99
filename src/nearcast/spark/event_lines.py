"""Messages that come as lines of the event format: from text files, from a topic of Kafka.

A line that cannot be read, or is no publish event, is set aside with its reason; the others go on.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nearcast.errors import InvalidEventError, NearcastError
from nearcast.events import Publish, read_event
from nearcast.text import DEFAULT_ANALYZER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

PLACE = ("lon", "lat", "west", "south", "east", "north")
MESSAGES = pa.schema(
    [
        ("id", pa.string()),
        ("tokens", pa.list_(pa.string())),
        *((name, pa.float64()) for name in PLACE),
        ("attributes", pa.string()),  # JSON, as values are of many types
        ("value", pa.string()),  # the line, if it was refused
        ("reason", pa.string()),
    ]
)
_DDL = (
    "id string, tokens array<string>, lon double, lat double, "
    "west double, south double, east double, north double, attributes string, "
    "value string, reason string"
)


def read_lines(lines: DataFrame) -> DataFrame:
    """Read the column `value`; rows that were refused have a `reason`, and the others none."""
    return lines.selectExpr("cast(value as string) as value").mapInArrow(read_batches, _DDL)


def read_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Read batches of lines; called once per task."""
    for batch in batches:
        rows = [_row(line) for line in batch.column("value").to_pylist()]
        yield pa.RecordBatch.from_pylist([row for row in rows if row], schema=MESSAGES)


def _row(line: str | None) -> dict[str, Any]:
    if line is None or not line.strip():
        return {}
    try:
        event = read_event(line)
        if not isinstance(event, Publish):
            what = "event does not publish a message"
            raise InvalidEventError(what, wanted="op publish")
    except NearcastError as error:
        return {"value": line, "reason": str(error)}
    place = event.place
    names = PLACE[:2] if isinstance(place, tuple) else PLACE[2:]
    sides = place if isinstance(place, tuple) else [getattr(place, name) for name in names]
    row: dict[str, Any] = dict(zip(names, sides, strict=True))
    if event.attributes:
        row["attributes"] = json.dumps(event.attributes, ensure_ascii=False)
    return {"id": event.id, "tokens": DEFAULT_ANALYZER.analyze(event.text), **row}

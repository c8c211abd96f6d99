"""What happens, in which order, and who hears of it? The part that one place must decide.

A window counts the whole stream, an id may be in use anywhere, and time passes for everyone, while
a partition sees parts of it. So the driver decides, in columns and by the core's life: which events
are rejected, what time it is at each of them, which messages live, what goes because of what, and,
by the places that workers proposed and those it remembers, who hears of it. It sees no text, no
words and no shape.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from nearcast.event_table import OUTLINE
from nearcast.spark.stamps import Stamp

if TYPE_CHECKING:
    from nearcast.life import Life
    from nearcast.spark.stateful.tables import Named

RUNS = pa.schema(
    [("file", pa.int32()), ("line", pa.int32()), ("count", pa.int32()), ("row", pa.int64())]
)
"""Lines of a file of the log that follow each other, and the row of the first; both from 1."""


class Batch(NamedTuple):
    """A batch as it was read, in order."""

    narrow: pa.Table
    """Of `reading.Part`, with rows of the batch, from 1, as `event`."""
    refused: list[tuple[int, str]]
    runs: pa.Table
    files: list[Named]
    """Files of the log."""


class Decision(NamedTuple):
    """A batch, in sequence."""

    batch: Batch
    rows: pa.Table
    """Of each event: clock, end, places, places_were."""
    gone: pa.Table
    """What expires, in order: row, id, is_message, places."""
    rejected: list[tuple[int, str]]

    def bits(self, name: str) -> np.ndarray:
        """Return a column of `rows` that says who."""
        return bits_of(self.rows.column(name))


def decide(life: Life, batch: Batch) -> Decision:
    """Put a batch into sequence; life is brought forward."""
    narrow = batch.narrow
    done = life.apply(narrow.select(list(OUTLINE)), places=bits_of(narrow.column("places")))
    numbers = narrow.column("event").to_numpy()
    rejected = [(int(numbers[row]), str(error)) for row, error in done.rejected.items()]
    rows = pa.table(
        {
            "clock": pa.array(done.clock),
            "end": pa.array(done.end),
            "places": column_of(done.places),
            "places_were": column_of(done.places_were),
        }
    )
    expired = np.flatnonzero(done.gone.column("is_expired").to_numpy(zero_copy_only=False))
    gone = done.gone.take(pa.array(expired))
    gone = pa.table(
        {
            "row": pa.array(numbers[gone.column("row").to_numpy()]),
            "id": gone.column("id").cast(pa.string()),
            "is_message": gone.column("is_message"),
            "places": column_of(done.gone_from[expired]),
        }
    )
    return Decision(batch, rows, gone, sorted([*batch.refused, *rejected]))


def column_of(bits: np.ndarray) -> pa.Array:
    """Return rows of bytes as a column."""
    count, width = bits.shape
    held = [None, pa.py_buffer(np.ascontiguousarray(bits))]
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), count, held)


def bits_of(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Return a column of bits as rows of bytes."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    width = column.type.byte_width
    found = [np.zeros((0, width), np.uint8)]
    for chunk in chunks:
        if len(chunk):
            held = np.frombuffer(chunk.buffers()[1], np.uint8)
            found.append(held[chunk.offset * width :][: len(chunk) * width].reshape(-1, width))
    return found[-1] if len(found) <= 2 else np.concatenate(found)


def to_bytes(decision: Decision) -> bytes:
    """Return a decision as one object."""
    batch = decision.batch
    facts = {"files": batch.files, "refused": batch.refused, "rejected": decision.rejected}
    tables = (decision.rows, decision.gone, batch.runs, batch.narrow)
    blobs = [pa.array([_written(table)], pa.large_binary()) for table in tables]
    whole = pa.table(dict(zip(("rows", "gone", "runs", "narrow"), blobs, strict=True)))
    whole = whole.replace_schema_metadata({"nearcast.batch": json.dumps(facts)})
    return bytes(_written(whole))


def from_bytes(content: bytes) -> Decision:
    """Read what `to_bytes` wrote."""
    whole = pa.ipc.open_file(pa.py_buffer(content)).read_all()
    facts = json.loads(whole.schema.metadata[b"nearcast.batch"])
    rows, gone, runs, narrow = (
        pa.ipc.open_file(column[0].as_buffer()).read_all() for column in whole.columns
    )
    files = [(name, Stamp(*stamp)) for name, stamp in facts["files"]]
    refused, rejected = ([(row, text) for row, text in facts[n]] for n in ("refused", "rejected"))
    return Decision(Batch(narrow, refused, runs, files), rows, gone, rejected)


def _written(table: pa.Table) -> memoryview:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    return memoryview(sink.getvalue())

"""The pipeline on Structured Streaming: a frame of events in, changes out, each exactly once.

A batch is two jobs of Spark and one more for lists with copies: the lines are read by the workers
that have them, and each partition is a task. Between them go narrow columns, to the driver, and
files of the log, from worker to worker.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa

from nearcast.spark.event_files import BLOCK, FILE, known_order, refuse_late
from nearcast.spark.folders import folder_at
from nearcast.spark.sessions import refuse_connect
from nearcast.spark.stamps import Stamp
from nearcast.spark.stateful.assembling import Read, files_of, in_order
from nearcast.spark.stateful.work import read_lines
from nearcast.spark.streaming import start_query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

    from nearcast.spark.folders import Address
    from nearcast.spark.stateful.pipeline import Pipeline, Tasks
    from nearcast.spark.stateful.sequencing import Batch
    from nearcast.spark.stateful.work import Job

_READ = "task int, part int, facts string, narrow binary, keys binary"
_SCHEMA = pa.schema(
    [
        ("task", pa.int32()),
        ("part", pa.int32()),
        ("facts", pa.string()),
        ("narrow", pa.binary()),
        ("keys", pa.binary()),
    ]
)


def stream_changes(
    events: DataFrame,
    pipeline: Pipeline,
    *,
    checkpoint: Address,
    sink: Callable[[DataFrame, int], object] | None = None,
    order: str | list[str] | None = None,
    accept_late: bool = False,
    trigger_seconds: float = 0.0,
    until_empty: bool = False,
) -> StreamingQuery:
    """Apply a stream of events; return the running query.

    Parameters
    ----------
    events
        A streaming DataFrame whose column `value` has lines of the event format.
    pipeline
        Where subscriptions and messages are kept; changes appear in its folder.
    checkpoint
        Folder where Spark keeps how far it is.
    sink
        Gets the changes of each batch as a DataFrame, and its number, and writes them anywhere. A
        batch comes again if something dies before Spark knows that it is done: the same changes
        with the same number.
    order
        The columns that say in which order events of a batch happened. Without them events of
        files happen by the names of the files (`event_files.py`), those of a topic by partition and
        offset; any other stream is refused.
    accept_late
        Of files: one whose name is not after those of earlier batches happens when it comes.
        Without it such a file is an error, because it would have happened earlier.
    trigger_seconds, until_empty
        As of `stream_matches`.
    """
    place = folder_at(checkpoint)
    refuse_connect(events.sparkSession, "stream_changes", "run it where the driver is")
    rows, keys = known_order(events, order)
    named = keys or [FILE, BLOCK]

    def write(batch: DataFrame, number: int) -> None:
        spark = batch.sparkSession

        def read() -> Batch:
            parts = read_frame(batch, pipeline.job, named)
            if not keys and not accept_late:
                refuse_late([unquote(file) for file in files_of(parts)], number, place)
            return in_order(parts, is_of_files=not keys)

        target = pipeline.run_batch(number, read, on_spark(spark))
        if sink is not None:
            sink(spark.read.parquet(f"{pipeline.folder.address}/{target}"), number)

    name = f"nearcast changes of {pipeline.folder}"
    return start_query(rows, write, checkpoint, trigger_seconds, name=name, until_empty=until_empty)


def read_frame(frame: DataFrame, job: Job, keys: list[str]) -> list[Read]:
    """Have the lines of a frame read by the workers that have them."""
    rows = frame.select("value", *keys).mapInArrow(partial(read_batches, job, keys), _READ)
    parts = []
    for row in rows.collect():
        (name, stamp), lines, refused = json.loads(row.facts)
        narrow, found = _table(row.narrow), _table(row.keys)
        why = [(line, text) for line, text in refused]
        parts.append(Read(row.task, row.part, (name, Stamp(*stamp)), lines, narrow, why, found))
    return parts


def read_batches(
    job: Job, keys: list[str], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Read the lines of one task."""
    from pyspark import TaskContext

    context = TaskContext.get()
    task = context.partitionId() if context is not None else 0
    for part, batch in enumerate(batches):
        named, read = read_lines(job, batch.column("value"))
        facts = json.dumps([named, read.lines, read.refused])
        blobs = _blob(read.narrow), _blob(pa.Table.from_batches([batch.select(keys)]))
        row = [[value] for value in (task, part, facts, *blobs)]
        yield pa.RecordBatch.from_pydict(dict(zip(_SCHEMA.names, row, strict=True)), _SCHEMA)


def on_spark(spark: SparkSession) -> Tasks:
    """Return what runs tasks on Spark."""

    def run(function: Callable[[int], str], count: int) -> list[str]:
        def do(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch.column("id").to_pylist():
                    yield pa.RecordBatch.from_pydict({"facts": [function(number)]})

        tasks = spark.range(count, numPartitions=count)
        return [row.facts for row in tasks.mapInArrow(do, "facts string").collect()]

    return run


def _blob(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(memoryview(sink.getvalue()))


def _table(blob: bytes) -> pa.Table:
    return pa.ipc.open_stream(pa.py_buffer(blob)).read_all()

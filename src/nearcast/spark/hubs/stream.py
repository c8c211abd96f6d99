"""Hubs on Structured Streaming: events in, changes out, batch by batch, each exactly once.

What hubs are told of a batch is written down before they are, and the changes of a batch appear as
one folder. A batch that is replayed after a failure finds what was decided then, and one whose
changes are there is not done again.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from nearcast.errors import InvalidParameterError
from nearcast.life import Life
from nearcast.spark.hubs.shares import (
    CHANGES_DDL,
    HubSettings,
    decide,
    do_batch,
    ops_file,
    recall,
)
from nearcast.spark.sinks import publish_folder, write_once
from nearcast.spark.store import read_arrow, write_arrow
from nearcast.spark.streaming import stream_events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery
    from typing_extensions import Unpack

    from nearcast.model import Window
    from nearcast.spark.streaming import EventOptions
    from nearcast.weights import Weights


class HubStream:
    """Subscriptions and messages that survive in a folder.

    Parameters
    ----------
    hubs
        Among how many hubs subscriptions are divided; the folder keeps to its first answer.
    folder
        `batch=N` has the changes of batch N; what is there is read again.
    window, weights
        As of a hub.
    """

    def __init__(
        self,
        hubs: int,
        folder: str | PathLike[str],
        *,
        window: Window | None = None,
        weights: Weights | None = None,
    ) -> None:
        if hubs < 1:
            what = "hubs are too few"
            raise InvalidParameterError(what, got=hubs, wanted="at least 1")
        self.folder = Path(folder).absolute()
        self.hubs = int(write_once(self.folder / "hubs.json", str(hubs)))
        self.settings = HubSettings(window, weights)
        self.life = Life(window)
        self._decided = 0
        while ops_file(self.folder, self._decided).is_file():
            recall(self.life, read_arrow(ops_file(self.folder, self._decided)))
            self._decided += 1

    def run_batch(self, number: int, lines: list[str], answer: Callable[[int, Path], None]) -> Path:
        """Apply the lines of one batch; return the folder of its changes.

        Parameters
        ----------
        number
            Of the batch, from 0 and without gaps; one that is done is not done again.
        lines
            Of the event format, in order. A batch that was tried before keeps those of then.
        answer
            Runs a batch on all hubs and writes the changes to a folder.
        """
        target = self.folder / f"batch={number}"
        if target.is_dir():
            return target
        if number >= self._decided:
            self._decide(number, lines)
        unfinished = self.folder / f"_unfinished-{uuid4().hex}"
        try:
            answer(number, unfinished)
            publish_folder(unfinished, target)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        return target

    def _decide(self, number: int, lines: list[str]) -> None:
        told, rejected = decide(self.life, lines, self.hubs)
        if rejected:
            listed = json.dumps([[row, str(error)] for row, error in rejected])
            write_once(self.folder / "rejected" / f"{number}.json", listed)
        path = ops_file(self.folder, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_arrow(path, told)
        self._decided = number + 1


def stream_hubs(
    events: DataFrame, stream: HubStream, **options: Unpack[EventOptions]
) -> StreamingQuery:
    """Apply a stream of events to many hubs; return the running query.

    Parameters
    ----------
    events
        A streaming DataFrame whose column `value` has lines of the event format.
    stream
        Where subscriptions and messages are kept.
    options
        As of `stream_events`.
    """

    def run(spark: SparkSession, number: int, lines: list[str]) -> None:
        stream.run_batch(number, lines, on_spark(spark, stream))

    return stream_events(events, run, **options)


def on_spark(spark: SparkSession, stream: HubStream) -> Callable[[int, Path], None]:
    """Return what runs a batch on Spark, a task for each hub."""
    folder, settings, hubs = stream.folder, stream.settings, stream.hubs

    def answer(number: int, target: Path) -> None:
        def do(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for owner in batch.column("id").to_pylist():
                    yield from do_batch(folder, number, owner, settings).to_batches()

        tasks = spark.range(hubs, numPartitions=hubs)
        tasks.mapInArrow(do, CHANGES_DDL).write.parquet(str(target))

    return answer


def in_process(stream: HubStream) -> Callable[[int, Path], None]:
    """Return what runs a batch here, one hub after the other."""

    def answer(number: int, target: Path) -> None:
        found = [
            do_batch(stream.folder, number, owner, stream.settings) for owner in range(stream.hubs)
        ]
        target.mkdir(parents=True)
        pq.write_table(pa.concat_tables(found), target / "part-0.parquet")

    return answer

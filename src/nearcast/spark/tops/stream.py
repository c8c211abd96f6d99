"""Top lists on Structured Streaming: events in, changes of lists out, batch by batch.

A batch is written down before anything is done with it, then each of its rounds, then what the
partitions answered, then its changes; every file appears whole, once. A stream that starts again
reads these files and is where the other stopped: a batch that is replayed gives the same changes,
and one that is done is not done again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nearcast.partition.bounds import WORLD
from nearcast.spark.sinks import write_once
from nearcast.spark.store import read_arrow, write_arrow
from nearcast.spark.streaming import stream_events
from nearcast.spark.tops.lists import MergedTops, Partial
from nearcast.spark.tops.partition_hub import PartitionSettings, do_round, round_file, write_round

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery
    from typing_extensions import Unpack

    from nearcast.model import Window
    from nearcast.partition import Plan
    from nearcast.spark.streaming import EventOptions
    from nearcast.spark.tops.lists import ListChange, Op

CHANGES = pa.schema(
    [
        ("subscription", pa.string()),
        ("message", pa.string()),
        ("change", pa.string()),
        ("reason", pa.string()),
        ("score", pa.float64()),
    ]
)
PARTIALS = pa.schema(
    [
        ("partition", pa.int32()),
        ("subscription", pa.string()),
        ("messages", pa.list_(pa.string())),
        ("scores", pa.list_(pa.float64())),
    ]
)
_PARTIALS_DDL = "partition int, subscription string, messages array<string>, scores array<double>"


class PartitionedTops:
    """Top lists that survive in a folder.

    Parameters
    ----------
    plan, window
        As of `MergedTops`.
    folder
        Where rounds, answers and changes are; what is there is read again.
    space, topk
        As of a hub.
    """

    def __init__(
        self,
        plan: Plan,
        window: Window | None,
        folder: str | PathLike[str],
        *,
        space: tuple[float, float, float, float] = WORLD,
        topk: str = "",
    ) -> None:
        self.folder = Path(folder).absolute()
        self.lists = MergedTops(plan, window)
        self.settings = PartitionSettings(plan.weights, space, topk)
        self.done = -1
        self._rounds = 0
        while self._events_file(self.done + 1).is_file():
            number = self.done + 1
            if not self._changes_file(number).is_file():
                break
            self._do(number, _never)

    def run_batch(
        self, number: int, events: list[str], answer: Callable[[int], list[Partial]]
    ) -> Path:
        """Apply the lines of one batch; return the file of its changes.

        Parameters
        ----------
        number
            Of the batch, from 0; one that is done is not done again.
        events
            Lines of the event format, in order. A batch that was tried before keeps those of then.
        answer
            Runs a round on all partitions.
        """
        if number > self.done:
            write_once(self._events_file(number), json.dumps(events))
            self._do(number, answer)
        return self._changes_file(number)

    def _do(self, number: int, answer: Callable[[int], list[Partial]]) -> None:
        lines = json.loads(self._events_file(number).read_text(encoding="utf-8"))
        read = [(row, _fields(line)) for row, line in enumerate(lines, 1)]
        before = self.lists.published, self.lists.communication
        partials = self._round(self.lists.begin(number, read), answer)
        partials = self._round(self.lists.grow(partials), answer)
        rejected = [[row, str(error)] for row, error in self.lists.rejected()]
        changes = self.lists.end(partials)
        if rejected:
            write_once(self.folder / "rejected" / f"{number}.json", json.dumps(rejected))
        self._write_changes(number, changes)
        self._write_costs(number, *before)
        self.done = number

    def _round(self, ops: list[Op], answer: Callable[[int], list[Partial]]) -> list[Partial]:
        """Run one round on the partitions, or read what they answered before."""
        number = self._rounds
        self._rounds += 1
        answers = self.folder / "answers" / f"{number}.arrow"
        if not answers.is_file():
            rounds = self.folder / "rounds"
            if not round_file(rounds, number).is_file():
                write_round(rounds, number, ops)
            found = answer(number) if ops else []
            answers.parent.mkdir(parents=True, exist_ok=True)
            rows = [partial._asdict() for partial in found]
            write_arrow(answers, pa.Table.from_pylist(rows, PARTIALS))
        return [Partial(**row) for row in read_arrow(answers).to_pylist()]

    def _write_changes(self, number: int, changes: list[ListChange]) -> None:
        target = self._changes_file(number)
        if not target.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            write_arrow(
                target, pa.Table.from_pylist([change._asdict() for change in changes], CHANGES)
            )

    def _write_costs(self, number: int, published: int, communication: int) -> None:
        """Write what the plan cost in a batch, given what was there before it."""
        came = self.lists.published - published
        facts = {"replication": self.lists.replication()}
        if came:
            facts["communication"] = (self.lists.communication - communication) / came
        file = self.folder / "_metrics" / f"{number}.json"
        write_once(file, json.dumps(facts), is_durable=False)

    def _events_file(self, number: int) -> Path:
        return self.folder / "events" / f"{number}.json"

    def _changes_file(self, number: int) -> Path:
        return self.folder / "changes" / f"batch-{number:09}.arrow"


def stream_tops(
    events: DataFrame, stream: PartitionedTops, **options: Unpack[EventOptions]
) -> StreamingQuery:
    """Keep top lists over a stream of events; return the running query.

    Parameters
    ----------
    events
        A streaming DataFrame whose column `value` has lines of the event format.
    stream
        Where the lists are kept.
    options
        As of `stream_events`.
    """

    def run(spark: SparkSession, number: int, lines: list[str]) -> None:
        stream.run_batch(number, lines, on_spark(spark, stream))

    return stream_events(events, run, **options)


def on_spark(spark: SparkSession, stream: PartitionedTops) -> Callable[[int], list[Partial]]:
    """Return what runs a round on Spark, a task for each partition."""
    rounds, settings = stream.folder / "rounds", stream.settings
    partitions = stream.lists.plan.partitions

    def answer(number: int) -> list[Partial]:
        def do(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for partition in batch.column("id").to_pylist():
                    found = do_round(rounds, number, partition, settings)
                    rows = [partial._asdict() for partial in found]
                    yield pa.RecordBatch.from_pylist(rows, PARTIALS)

        tasks = spark.range(partitions, numPartitions=partitions)
        found = tasks.mapInArrow(do, _PARTIALS_DDL).toArrow()
        return [Partial(**row) for row in found.to_pylist()]

    return answer


def in_process(stream: PartitionedTops) -> Callable[[int], list[Partial]]:
    """Return what runs a round here, one partition after the other."""
    rounds = stream.folder / "rounds"

    def answer(number: int) -> list[Partial]:
        return [
            partial
            for partition in range(stream.lists.plan.partitions)
            for partial in do_round(rounds, number, partition, stream.settings)
        ]

    return answer


def _fields(line: str) -> dict[str, Any]:
    """Return the fields of a line; what is not JSON is rejected like any other bad event."""
    try:
        read = json.loads(line)
    except ValueError:
        return {"op": line}
    return read if isinstance(read, dict) else {"op": line}


def _never(_: int) -> list[Partial]:
    msg = "a round of a batch that is done has no answer"
    raise RuntimeError(msg)

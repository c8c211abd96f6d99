"""Where do the pairs of a batch go, and how is it known that they are there?

A folder has each batch as a folder of its own, which is published once: every pair is there exactly
once, whatever dies. A topic of Kafka cannot take a batch as a whole: it is sent and then marked as
sent. Who dies in between sends it again, the same pairs with the same batch number, so a reader
that knows the last batch it has finished can tell.

What is remembered of a batch is needed until the next is done. It is kept for longer, for people
and for measurements, and then removed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

import pyarrow as pa

from nearcast.spark.bases import write_parquet
from nearcast.spark.kafka import Topic, write_topic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame

    from nearcast.spark.folders import Folder
    from nearcast.spark.matching import Answers

PARTS = "file string"
"""What a task says of the pairs that it wrote."""


class Sink(Protocol):
    """Takes the pairs of batches."""

    @property
    def state(self) -> Folder:
        """Folder of what is remembered about batches."""

    def has(self, number: int) -> bool:
        """Whether the pairs of a batch are there."""

    def put(self, pairs: Answers, number: int) -> None:
        """Write the pairs of a batch."""


class FolderSink:
    """Parquet files in `batch=N`."""

    def __init__(self, folder: Folder) -> None:
        self.state = folder

    def has(self, number: int) -> bool:
        """Whether the folder of a batch is there."""
        return self.state.has_published(f"batch={number}")

    def put(self, pairs: Answers, number: int) -> None:
        """Write the folder of a batch.

        By the workers that find the pairs: through Java, and by its way of writing a small file,
        it takes longer than all the rest of a batch.
        """
        folder = self.state
        rows = pairs.map(lambda batches: write_part(batches, folder, number), PARTS).collect()
        publish_parts(folder, number, [row["file"] for row in rows], pairs.columns)


class TopicSink:
    """Lines of JSON in a topic."""

    def __init__(self, topic: Topic, state: Folder) -> None:
        self.topic = topic
        self.state = state

    def has(self, number: int) -> bool:
        """Whether a batch was sent and marked."""
        return self.state.has(f"_sent/{number}")

    def put(self, pairs: Answers, number: int) -> None:
        """Send a batch, then mark it."""
        write_topic(pairs.frame(), self.topic, number)
        self.state.create(f"_sent/{number}", b"")


def put_rows(rows: DataFrame, folder: Folder, number: int) -> None:
    """Write rows as the folder of a batch."""
    parts = rows.mapInArrow(lambda batches: write_part(batches, folder, number), PARTS)
    publish_parts(folder, number, [row["file"] for row in parts.collect()], "")


def write_part(
    batches: Iterator[pa.RecordBatch], folder: Folder, number: int
) -> Iterator[pa.RecordBatch]:
    """Write the pairs of one task where no reader looks; yield the name, if there are any."""
    names = write_parquet(batches, folder / _parts(number))
    if names:
        yield pa.RecordBatch.from_pydict({"file": names})


def publish_parts(folder: Folder, number: int, names: list[str], columns: str) -> None:
    """Publish what tasks say they wrote; without pairs, say what columns are.

    A worker whose executor is gone may still be writing: of that nothing must ever be seen.
    """
    if not names:
        from pyspark.sql.pandas.types import to_arrow_schema
        from pyspark.sql.types import StructType

        schema = to_arrow_schema(StructType.fromDDL(columns))
        names = write_parquet(iter(()), folder / _parts(number), schema)
    folder.publish(f"batch={number}", [f"{_parts(number)}/{name}" for name in names])
    folder.delete_folder(_parts(number))


def forget_batch(state: Folder, number: int) -> None:
    """Remove what is remembered of a batch that was so long ago that none asks for it."""
    if number >= 0:
        for name in (f"_versions/{number}.json", f"_metrics/{number}.json", f"_sent/{number}"):
            state.delete(name)
        state.delete(f"_published/batch={number}.json")


def _parts(number: int) -> str:
    return f"_parts/{number}"


def write_once(path: Path, content: str, *, is_durable: bool = True) -> str:
    """Write a file unless it is there; return what it holds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{uuid4().hex}")
    with unfinished.open("w", encoding="utf-8") as file:
        file.write(content)
        if is_durable:  # else it may be gone when the machine, not just a process, fails
            file.flush()
            os.fsync(file.fileno())
    try:
        os.link(unfinished, path)
    except FileExistsError:
        return path.read_text(encoding="utf-8")
    finally:
        unfinished.unlink()
    return content


def publish_folder(unfinished: Path, target: Path) -> None:
    """Make a folder visible under its name at once; a second caller changes nothing."""
    try:
        unfinished.rename(target)
    except OSError:
        if not target.is_dir():
            raise

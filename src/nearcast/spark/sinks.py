"""Where do the pairs of a batch go, and how is it known that they are there?

A folder has each batch as a folder of its own that appears as a whole: every pair is there exactly
once, whatever dies. A topic of Kafka cannot take a batch as a whole: it is sent and then marked as
sent. Who dies in between sends it again, the same pairs with the same batch number, so a reader
that knows the last batch it has finished can tell.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from nearcast.spark.kafka import Topic, write_topic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame

    from nearcast.spark.matching import Answers

PARTS = "file string"
"""What a task says of the pairs that it wrote."""


class Sink(Protocol):
    """Takes the pairs of batches."""

    @property
    def state(self) -> Path:
        """Folder of what is remembered about batches."""

    def has(self, number: int) -> bool:
        """Whether the pairs of a batch are there."""

    def put(self, pairs: Answers, number: int) -> None:
        """Write the pairs of a batch."""


class FolderSink:
    """Parquet files in `batch=N`."""

    def __init__(self, folder: Path) -> None:
        self.state = folder

    def has(self, number: int) -> bool:
        """Whether the folder of a batch is there."""
        return (self.state / f"batch={number}").is_dir()

    def put(self, pairs: Answers, number: int) -> None:
        """Write the folder of a batch, whole or not at all.

        By the workers that find the pairs: through Java, and by its way of writing a small file,
        it takes longer than all the rest of a batch.
        """
        with _unfinished(self.state) as written, _unfinished(self.state) as whole:
            rows = pairs.map(lambda batches: write_part(batches, written), PARTS).collect()
            take_parts(written, whole, [row["file"] for row in rows], pairs.columns)
            publish_folder(whole, self.state / f"batch={number}")


class TopicSink:
    """Lines of JSON in a topic."""

    def __init__(self, topic: Topic, state: Path) -> None:
        self.topic = topic
        self.state = state

    def has(self, number: int) -> bool:
        """Whether a batch was sent and marked."""
        return (self.state / "_sent" / str(number)).is_file()

    def put(self, pairs: Answers, number: int) -> None:
        """Send a batch, then mark it."""
        write_topic(pairs.frame(), self.topic, number)
        write_once(self.state / "_sent" / str(number), "")


def put_folder(rows: DataFrame, folder: Path, number: int) -> None:
    """Write rows as the folder of a batch, whole or not at all."""
    with _unfinished(folder) as unfinished:
        unfinished.rmdir()  # Spark makes it
        rows.write.parquet(str(unfinished))
        publish_folder(unfinished, folder / f"batch={number}")


@contextmanager
def _unfinished(folder: Path) -> Iterator[Path]:
    """Make a folder that is gone afterwards, if it still has its name."""
    unfinished = folder / f"_unfinished-{uuid4().hex}"
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def write_part(batches: Iterator[pa.RecordBatch], folder: Path) -> Iterator[pa.RecordBatch]:
    """Write the pairs of one task, if there are any; yield the name of the file."""
    file = folder / f"part-{uuid4().hex}.parquet"
    writer = None
    for batch in batches:
        if batch.num_rows:
            if writer is None:
                writer = pq.ParquetWriter(file, batch.schema)
            writer.write_batch(batch)
    if writer is not None:
        writer.close()
        yield pa.RecordBatch.from_pydict({"file": [file.name]})


def take_parts(written: Path, whole: Path, names: list[str], columns: str) -> None:
    """Move what tasks say they wrote to where no task writes; without pairs, say what columns are.

    A worker whose executor is gone may still be writing: of that nothing must ever be seen.
    """
    for name in names:
        (written / name).rename(whole / name)
    if not names:
        from pyspark.sql.pandas.types import to_arrow_schema
        from pyspark.sql.types import StructType

        schema = to_arrow_schema(StructType.fromDDL(columns))
        pq.write_table(schema.empty_table(), whole / "part-0.parquet")


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

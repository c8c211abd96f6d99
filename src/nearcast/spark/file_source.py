"""Spark's view of files that are taken by name: a streaming source of lines, from any store.

Spark's own source of files takes those with the oldest modification times first, and reaches
stores by connectors of its own. This one takes them by name and reads them by Arrow. Needs Spark
4.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from nearcast.spark.event_files import BLOCK, FILE
from nearcast.spark.folders import folder_at
from nearcast.spark.named_files import NamedFiles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

    from nearcast.spark.folders import Address
    from nearcast.spark.named_files import Offset

NAME = "nearcast_files"
_SCHEMA = pa.schema([("value", pa.string()), (FILE, pa.string()), (BLOCK, pa.int64())])
_LINES_PER_BATCH = 65_536


def read_by_name(spark: SparkSession, address: Address, per_batch: int | None = None) -> DataFrame:
    """Return a stream of the lines of a folder's files, which are taken by name.

    Parameters
    ----------
    spark
        Gets to know the source.
    address
        Of the folder; files in it may be compressed (`.gz`, `.zst`).
    per_batch
        How many files a batch has at most.
    """
    spark.dataSource.register(FilesByName)
    reader = spark.readStream.format(NAME).option("address", str(folder_at(address)))
    return (reader.option("filesPerBatch", per_batch) if per_batch else reader).load()


class FilesByName(DataSource):  # type: ignore[misc]
    """The source, as Spark finds it."""

    @classmethod
    def name(cls) -> str:
        """Return what `format` is given."""
        return NAME

    def schema(self) -> str:
        """Return the columns: a line, its file, and 0, as a file is read by one task."""
        return f"value string, {FILE} string, {BLOCK} long"

    def streamReader(self, schema: object) -> _Reader:
        """Return what reads a stream."""
        return _Reader(self.options["address"], self.options.get("filesPerBatch"))


class _Reader(DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]
    def __init__(self, address: str, per_batch: str | None) -> None:
        self._address = address
        self._per_batch = int(per_batch) if per_batch else None
        self._files: NamedFiles | None = None
        self._last: str | None = None

    def _named(self) -> NamedFiles:
        if self._files is None:  # in the process that asks; a reader is sent to workers too
            self._files = NamedFiles(folder_at(self._address))
        return self._files

    def initialOffset(self) -> Offset:
        return self._named().start()

    def latestOffset(self, start: Offset, limit: object) -> Offset:
        count = limit.max_files if isinstance(limit, ReadMaxFiles) else None
        return self._named().next(start, count, self._last)

    def getDefaultReadLimit(self) -> Any:  # noqa: ANN401 — Spark's
        return ReadMaxFiles(self._per_batch) if self._per_batch else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        names = self._named().names()
        self._last = names[-1] if names else ""

    def partitions(self, start: Offset, end: Offset) -> list[InputPartition]:
        return [InputPartition(name) for name in self._named().between(start, end)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        folder, name = folder_at(self._address), partition.value
        with folder.files.open_input_stream(f"{folder.path}/{name}") as stream:
            lines = stream.readall().splitlines()
        for first in range(0, len(lines), _LINES_PER_BATCH):
            some = [line.decode(errors="replace") for line in lines[first:][:_LINES_PER_BATCH]]
            count = len(some)
            columns = [some, [name] * count, [0] * count]
            yield pa.RecordBatch.from_arrays(
                [pa.array(c, f.type) for c, f in zip(columns, _SCHEMA, strict=True)], schema=_SCHEMA
            )

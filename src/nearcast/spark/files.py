"""Messages in Parquet files, read by the workers themselves: columns from the file to the matcher.

Spark reads a file into rows, writes these as columns again and sends them to Python; for a list of
words that takes longer than matching does. A worker that is told which part of which file is its
own reads the columns as they lie there. A frame that is nothing but the columns of such files is
taken for the files (`scans.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from nearcast.errors import InvalidParameterError
from nearcast.spark.scans import scan_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from os import PathLike

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

PIECES_PER_CORE = 4
ROWS_PER_BATCH = 131_072
"""Many at once are matched with fewer cache misses; of more, what was read has left the cache."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Row groups of files."""

    parts: tuple[tuple[str, int], ...]
    columns: Mapping[str, str]
    """What is read of them: names in the files, by the names under which they are wanted."""

    @classmethod
    def of_frame(cls, frame: DataFrame) -> Pieces | None:
        """Return what a frame reads; None if it is more than columns of Parquet files."""
        scan = scan_of(frame)
        return cls(_row_groups(scan.files), scan.columns) if scan else None

    def map(
        self,
        function: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
        schema: str | StructType,
        spark: SparkSession,
    ) -> DataFrame:
        """Return what a function makes of the rows."""
        parts, columns = self.parts, dict(self.columns)
        tasks = min(len(parts), PIECES_PER_CORE * spark.sparkContext.defaultParallelism)

        def read(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in numbers:
                for number in batch.column("id").to_pylist():
                    file, group = parts[number]
                    yield from read_piece(file, group, columns)

        numbers = spark.range(len(parts), numPartitions=max(tasks, 1))
        return numbers.mapInArrow(lambda batches: function(read(batches)), schema)


def read_folder(folder: str | PathLike[str]) -> DataFrame:
    """Return the rows of a folder's Parquet files, or of one file."""
    path = Path(folder).absolute()
    # Spark's own rule: what begins with a dot or an underscore is not there.
    inside = (file for file in sorted(path.rglob("*.parquet")) if file.name[0] not in "._")
    files = [path] if path.is_file() else list(inside)
    if not files:
        what = f"no Parquet file is in {str(path)!r}"
        raise InvalidParameterError(what, wanted="a folder with messages")
    return _session().read.parquet(*map(str, files))


def read_piece(file: str, group: int, columns: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one row group; keys of `columns` are their new names."""
    wanted = list(columns.values())
    opened = pq.ParquetFile(file, memory_map=True)
    # Not as a dictionary: writers give up on one of many words, and making one anew is slow.
    for batch in opened.iter_batches(
        ROWS_PER_BATCH, row_groups=[group], columns=wanted, use_threads=False
    ):
        yield batch.select(wanted).rename_columns(list(columns))


def _row_groups(files: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    counts = [(file, pq.read_metadata(file).num_row_groups) for file in files]
    return tuple((file, group) for file, count in counts for group in range(count))


def _session() -> SparkSession:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        what = "no Spark session is active"
        raise InvalidParameterError(what, wanted="SparkSession.builder.getOrCreate() before")
    return session

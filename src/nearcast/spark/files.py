"""Messages in Parquet files, read by the workers themselves: columns from the file to the matcher.

Spark reads a file into rows, writes these as columns again and sends them to Python; for a list of
words that takes longer than matching does. A worker that is told which part of which file is its
own reads the columns as they lie there, words as a dictionary, and looks each word up once.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from nearcast.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from os import PathLike

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

PIECES_PER_CORE = 4


@dataclass(frozen=True, slots=True)
class Pieces:
    """Row groups of files."""

    parts: tuple[tuple[str, int], ...]

    @classmethod
    def of_folder(cls, folder: str | PathLike[str]) -> Pieces:
        """Return all row groups of a folder's files, or of one file."""
        path = Path(folder).absolute()
        # Spark's own rule: what begins with a dot or an underscore is not there.
        inside = (file for file in sorted(path.rglob("*.parquet")) if file.name[0] not in "._")
        files = [path] if path.is_file() else list(inside)
        if not files:
            what = f"no Parquet file is in {str(path)!r}"
            raise InvalidParameterError(what, wanted="a folder with messages")
        counts = [(str(file), pq.read_metadata(file).num_row_groups) for file in files]
        return cls(tuple((file, group) for file, count in counts for group in range(count)))

    def frame(self) -> DataFrame:
        """Return the same rows as Spark sees them; what their columns are is known from it."""
        return _session().read.parquet(*dict.fromkeys(file for file, _ in self.parts))

    def map(
        self,
        function: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
        schema: str | StructType,
        columns: Mapping[str, str],
    ) -> DataFrame:
        """Return what a function makes of the rows, `columns` of them; keys are their new names."""
        spark, parts = _session(), self.parts
        tasks = min(len(parts), PIECES_PER_CORE * spark.sparkContext.defaultParallelism)

        def read(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in numbers:
                for number in batch.column("id").to_pylist():
                    file, group = parts[number]
                    yield from read_piece(file, group, columns)

        numbers = spark.range(len(parts), numPartitions=max(tasks, 1))
        return numbers.mapInArrow(lambda batches: function(read(batches)), schema)


def read_piece(file: str, group: int, columns: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one row group; words come as codes of a dictionary."""
    leaves = pq.read_metadata(file).schema
    paths = [leaves.column(i).path for i in range(len(leaves))]
    words = [path for path in paths if path.startswith("tokens.")]
    opened = pq.ParquetFile(file, read_dictionary=words, memory_map=True)
    table = opened.read_row_group(group, columns=list(columns.values()), use_threads=False)
    named = table.select(list(columns.values())).rename_columns(list(columns))
    yield from named.combine_chunks().to_batches()


def _session() -> SparkSession:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        what = "no Spark session is active"
        raise InvalidParameterError(what, wanted="SparkSession.builder.getOrCreate() before")
    return session

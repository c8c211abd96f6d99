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
from pyarrow import fs

from nearcast.errors import InvalidParameterError
from nearcast.spark.folders import LocalFolder, folder_at, is_remote
from nearcast.spark.scans import scan_of
from nearcast.spark.sessions import cores_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from os import PathLike

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from nearcast.spark.folders import Folder

PIECES_PER_CORE = 4
ROWS_PER_BATCH = 131_072
"""Many at once are matched with fewer cache misses; of more, what was read has left the cache."""
_DISK = LocalFolder(Path("/"))


@dataclass(frozen=True, slots=True)
class Pieces:
    """Row groups of files."""

    parts: tuple[tuple[str, int], ...]
    columns: Mapping[str, str]
    """What is read of them: names in the files, by the names under which they are wanted."""
    store: Folder = _DISK
    """A folder of the store that has the files."""

    @classmethod
    def of_frame(cls, frame: DataFrame) -> Pieces | None:
        """Return what a frame reads; None if it is more than columns of Parquet files."""
        scan = scan_of(frame)
        return cls(_row_groups(scan.files, _DISK.files), scan.columns) if scan else None

    @classmethod
    def of_files(cls, files: Iterable[str], store: Folder, columns: Mapping[str, str]) -> Pieces:
        """Return all row groups of Parquet files of a store."""
        return cls(_row_groups(tuple(files), store.files), columns, store)

    def map(
        self,
        function: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
        schema: str | StructType,
        spark: SparkSession,
    ) -> DataFrame:
        """Return what a function makes of the rows."""
        parts, columns, store = self.parts, dict(self.columns), self.store
        tasks = min(len(parts), PIECES_PER_CORE * cores_of(spark))

        def read(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in numbers:
                for number in batch.column("id").to_pylist():
                    file, group = parts[number]
                    yield from read_piece(file, group, columns, store.files)

        numbers = spark.range(len(parts), numPartitions=max(tasks, 1))
        return numbers.mapInArrow(lambda batches: function(read(batches)), schema)


def read_folder(address: str | PathLike[str]) -> DataFrame:
    """Return the rows of a folder's Parquet files, or of one file.

    Spark itself may know nothing of a store that is not mounted: then the frame has the columns
    only, and `Pieces.of_files` the rows.
    """
    files = parquet_files(address)
    if not is_remote(address):
        return _session().read.parquet(*files)
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = pq.read_schema(files[0], filesystem=folder_at(address).files)
    return _session().createDataFrame([], from_arrow_schema(schema))


def read_table(spark: SparkSession, address: str) -> DataFrame:
    """Return the rows of a folder's Parquet files as a frame, read by Spark if it is mounted."""
    if not is_remote(address):
        return spark.read.parquet(address)
    from pyspark.sql.pandas.types import from_arrow_schema

    files, store = parquet_files(address), folder_at(address)
    schema = pq.read_schema(files[0], filesystem=store.files)
    pieces = Pieces.of_files(files, store, {name: name for name in schema.names})
    return pieces.map(lambda batches: batches, from_arrow_schema(schema), spark)


def parquet_files(address: str | PathLike[str]) -> list[str]:
    """Return a folder's Parquet files, or the one file, as the store names them; in order."""
    folder = folder_at(address)
    found = folder.files.get_file_info(folder.path)
    if found.is_file:
        return [found.path]
    everything = folder.files.get_file_info(
        fs.FileSelector(folder.path, recursive=True, allow_not_found=True)
    )
    files = sorted(info.path for info in everything if info.is_file and _is_shown(info.base_name))
    if not files:
        what = f"no Parquet file is in {str(folder)!r}"
        raise InvalidParameterError(what, wanted="a folder with messages")
    return files


def _is_shown(name: str) -> bool:
    """Whether Spark would read a file: not what begins with a dot or an underscore."""
    return name.endswith(".parquet") and name[0] not in "._"


def read_piece(
    file: str, group: int, columns: Mapping[str, str], files: fs.FileSystem
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one row group; keys of `columns` are their new names."""
    wanted = list(columns.values())
    opened = pq.ParquetFile(file, filesystem=files)
    # Not as a dictionary: writers give up on one of many words, and making one anew is slow.
    for batch in opened.iter_batches(
        ROWS_PER_BATCH, row_groups=[group], columns=wanted, use_threads=False
    ):
        yield batch.select(wanted).rename_columns(list(columns))


def _row_groups(names: tuple[str, ...], files: fs.FileSystem) -> tuple[tuple[str, int], ...]:
    counts = [(name, pq.read_metadata(name, filesystem=files).num_row_groups) for name in names]
    return tuple((file, group) for file, count in counts for group in range(count))


def _session() -> SparkSession:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        what = "no Spark session is active"
        raise InvalidParameterError(what, wanted="SparkSession.builder.getOrCreate() before")
    return session

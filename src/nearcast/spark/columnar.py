"""Columns between Spark's tasks: rows to their partitions, and batches by partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.columns import BOX, POINT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


def routed_schema(columns: StructType) -> StructType:
    """Return the columns of rows that know their partition and all that have them."""
    from pyspark.sql.types import StructType

    # A copy: `add` would change what the frame believes its own columns are.
    return StructType(list(columns)).add("partition", "integer").add("partitions", "binary")


def spread(rows: DataFrame, partitions: int) -> DataFrame:
    """Bring rows to the task of their `partition`; a task may get several, or none."""
    if hasattr(rows, "repartitionById"):  # Spark 4.1: no hashing, so no two share a task
        return rows.repartitionById(partitions, "partition")
    return rows.repartition(partitions, "partition")


def by_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.Table]]:
    """Yield all rows of each partition at once."""
    kept = list(batches)
    if not kept:
        return
    table = pa.Table.from_batches(kept)
    numbers = table.column("partition").to_numpy()
    for partition in np.unique(numbers).tolist():
        yield partition, table.filter(pa.array(numbers == partition))


def split_batch(batch: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the rows of each partition in one batch; nearly always there is one."""
    numbers = batch.column("partition").to_numpy()
    unique = np.unique(numbers)
    for partition in unique.tolist():
        yield partition, batch if len(unique) == 1 else batch.filter(pa.array(numbers == partition))


def by_place(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield messages at points and messages with boxes; columns of the other kind are gone."""
    names = set(batch.schema.names)
    if not names.issuperset(POINT) or not names.issuperset(BOX):
        yield batch
        return
    is_point = batch.column(POINT[0]).is_valid()
    for rows, others in ((is_point, BOX), (pc.invert(is_point), POINT)):
        part = batch.filter(rows)
        if part.num_rows:
            yield part.drop_columns(list(others))

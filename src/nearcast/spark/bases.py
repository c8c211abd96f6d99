"""A base: the subscriptions of a version, its plan, and for each partition a snapshot and ids.

Objects of a base have names that are used once, as two tasks may build the same partition; which
ones count is in `contents.json`, which is written last. A reader that knows the base by its
manifest finds all of it, and it never changes.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from nearcast.errors import SnapshotError
from nearcast.partition import Plan
from nearcast.spark.folders import folder_at
from nearcast.spark.stamps import Stamp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nearcast.spark.folders import Folder

CONTENTS, PLAN, ROWS = "contents.json", "plan.arrow", "subscriptions"


class Stored(NamedTuple):
    """An object of a folder."""

    name: str
    stamp: Stamp


class Part(NamedTuple):
    """One partition: how many subscriptions, and the objects that have them."""

    partition: int
    subscriptions: int
    snapshot: Stored
    ids: Stored

    def to_json(self) -> str:
        """Return it as a line."""
        return json.dumps(self)

    @classmethod
    def from_json(cls, line: str) -> Part:
        """Read a line."""
        return cls.of(*json.loads(line))

    @classmethod
    def of(cls, partition: int, subscriptions: int, *objects: tuple[str, list[object]]) -> Part:
        """Return it from the lists that JSON keeps."""
        snapshot, ids = (Stored(name, Stamp(*stamp)) for name, stamp in objects)  # type: ignore[arg-type]
        return cls(partition, subscriptions, snapshot, ids)


@dataclass(frozen=True, slots=True)
class Base:
    """What is in a base."""

    rows: tuple[str, ...]
    """Parquet files of the subscriptions."""
    parts: tuple[Part, ...]
    """Partitions, in order."""

    def write(self, folder: Folder) -> None:
        """Write what is in a base, when all of it is there."""
        folder.write(CONTENTS, json.dumps(asdict(self)).encode())


@lru_cache(maxsize=64)
def base_at(address: str) -> Base:
    """Return what is in a base; it never changes."""
    try:
        fields = json.loads(folder_at(address).read(CONTENTS))
    except FileNotFoundError:
        what = f"{address!r} is not a base of an index"
        hint = "build the index again: it is of an earlier version of nearcast, or was vacuumed"
        raise SnapshotError(what, wanted=CONTENTS, hint=hint) from None
    return Base(tuple(fields["rows"]), tuple(Part.of(*part) for part in fields["parts"]))


def read_plan(base: Folder) -> Plan:
    """Return the plan of a base."""
    return Plan.from_buffer(base.read(PLAN))


def write_plan(base: Folder, plan: Plan) -> Plan:
    """Write the plan of a base."""
    base.write(PLAN, plan.to_buffer().to_pybytes())
    return plan


def rows_of(base: Folder, names: tuple[str, ...]) -> ds.Dataset:
    """Return the subscriptions of a base."""
    rows = base / ROWS
    files = [f"{rows.path}/{name}" for name in names]
    return ds.dataset(files, format="parquet", filesystem=rows.files)


def write_rows(base: Folder, rows: pa.Table) -> tuple[str, ...]:
    """Write the subscriptions of a base as one file."""
    return tuple(write_parquet(iter(rows.to_batches()), base / ROWS, rows.schema))


def write_parquet(
    batches: Iterator[pa.RecordBatch], folder: Folder, schema: pa.Schema | None = None
) -> list[str]:
    """Write rows as a file with a name of its own and return that; none if there are no rows.

    With a schema there is a file in any case.
    """
    name, writer = f"part-{uuid4().hex}.parquet", None
    file = None
    try:
        for batch in batches:
            if batch.num_rows and writer is None:
                file = folder.writer(name)
                writer = pq.ParquetWriter(file, batch.schema)
            if writer is not None:
                writer.write_batch(batch)
        if writer is None and schema is not None:
            file = folder.writer(name)
            writer = pq.ParquetWriter(file, schema)
    finally:
        for opened in (writer, file):
            if opened is not None:
                opened.close()
    return [] if writer is None else [name]


def save_table(folder: Folder, name: str, table: pa.Table) -> Stamp:
    """Write a table as an object that can be mapped."""

    def save(path: Path) -> None:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table.combine_chunks())

    return folder.save(name, save)


def open_table(folder: Folder, stored: Stored) -> pa.Table:
    """Map a table that `save_table` wrote."""
    return folder.open(stored.name, stored.stamp, _map_table)


def _map_table(path: Path) -> pa.Table:
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()

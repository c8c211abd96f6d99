"""Tables as objects of a folder: whole, or a record batch for each of those who read it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa

from nearcast.spark.stamps import Stamp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nearcast.spark.folders import Folder

Named = tuple[str, Stamp]
"""An object and what it is known by."""


def write_groups(folder: Folder, groups: Sequence[pa.RecordBatch]) -> Named:
    """Write record batches as an object with a name of its own."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, groups[0].schema) as writer:
        for group in groups:
            writer.write_batch(group)
    name = f"{uuid4().hex}.arrow"
    return name, folder.write(name, sink.getvalue().to_pybytes())


def read_groups(folder: Folder, named: Named, wanted: Sequence[int]) -> pa.Table:
    """Read some of the record batches of an object."""

    def read(path: Path) -> pa.Table:
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
        return pa.Table.from_batches([reader.get_batch(group) for group in wanted])

    name, stamp = named
    return folder.open(name, Stamp(*stamp), read)


def write_whole(folder: Folder, table: pa.Table) -> Named:
    """Write a table as an object with a name of its own."""
    batches = table.combine_chunks().to_batches()
    return write_groups(folder, batches or [pa.RecordBatch.from_pylist([], table.schema)])


def read_whole(folder: Folder, named: Named) -> pa.Table:
    """Read what `write_whole` wrote."""
    return read_groups(folder, named, [0])

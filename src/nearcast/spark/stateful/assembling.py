"""In which order do the lines of a batch happen that several workers have read?

By the columns that the caller names; otherwise those of files by the names of the files and the
places in them (`event_files.py`), and others as Spark has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from nearcast.spark.event_files import name_key
from nearcast.spark.stateful.sequencing import RUNS, Batch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearcast.spark.stateful.tables import Named


class Read(NamedTuple):
    """Lines that one worker has read together."""

    task: int
    part: int
    """Of this part, among those of the task."""
    named: Named
    """The file of the log."""
    lines: int
    narrow: pa.Table
    refused: list[tuple[int, str]]
    keys: pa.Table
    """What says when lines happened: a row for each line, or no column at all."""


def in_order(parts: Sequence[Read], *, is_of_files: bool = False) -> Batch:
    """Return a batch: all that was read, in order."""
    parts = sorted(parts, key=lambda part: part[:2])
    pieces = [
        (number, begin, count)
        for number, part in enumerate(parts)
        for begin, count in _runs(part.keys, part.lines)
    ]
    if is_of_files:
        pieces.sort(key=lambda piece: _place(parts[piece[0]].keys, piece[1]))
    elif parts and parts[0].keys.num_columns:
        pieces = _sorted(parts)
    narrow, refused, runs, row = [], [], [], 1
    for number, begin, count in pieces:
        part = parts[number]
        lines = part.narrow.column("event").to_numpy()
        low, high = np.searchsorted(lines, [begin + 1, begin + count + 1]).tolist()
        rows = pa.array(lines[low:high] + (row - 1 - begin))
        narrow.append(part.narrow.slice(low, high - low).set_column(0, "event", rows))
        refused += [
            (line + row - 1 - begin, why)
            for line, why in part.refused
            if begin < line <= begin + count
        ]
        runs.append((number, begin + 1, count, row))
        row += count
    columns = list(zip(*runs, strict=True)) if runs else [()] * len(RUNS)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, RUNS, strict=True)]
    table = pa.Table.from_arrays(arrays, schema=RUNS)
    whole = pa.concat_tables(narrow).combine_chunks()
    return Batch(whole, refused, table, [part.named for part in parts])


def files_of(parts: Sequence[Read]) -> list[str]:
    """Return the files that lines are from, in the order of their names."""
    found = {name for part in parts for name in part.keys.column(0).unique().to_pylist()}
    return sorted(found, key=name_key)


def _runs(keys: pa.Table, count: int) -> list[tuple[int, int]]:
    """Return where lines begin that are of one place, and how many they are."""
    if not keys.num_columns or not count:
        return [(0, count)] if count else []
    is_other = np.zeros(count, bool)
    is_other[0] = True
    for column in keys.columns:
        codes = column.combine_chunks().dictionary_encode().indices.to_numpy()
        is_other[1:] |= codes[1:] != codes[:-1]
    starts = np.flatnonzero(is_other)
    return list(zip(starts.tolist(), np.diff(starts, append=count).tolist(), strict=True))


def _place(keys: pa.Table, row: int) -> tuple[object, ...]:
    file, block = (column[row].as_py() for column in keys.columns)
    return name_key(file), block


def _sorted(parts: Sequence[Read]) -> list[tuple[int, int, int]]:
    """Return runs in the order of the keys; equal ones stay as they were read."""
    keys = pa.concat_tables([part.keys for part in parts])
    counts = [part.keys.num_rows for part in parts]
    number = np.repeat(np.arange(len(parts)), counts)
    at = np.concatenate([np.arange(count) for count in counts])
    placed = keys.append_column("nearcast_line", pa.array(np.arange(len(at))))
    order = [(name, "ascending") for name in placed.column_names]
    found = placed.sort_by(order).column("nearcast_line").to_numpy()
    number, at = number[found], at[found]
    is_new = np.ones(len(at), bool)
    is_new[1:] = (number[1:] != number[:-1]) | (at[1:] != at[:-1] + 1)
    starts = np.flatnonzero(is_new)
    lengths = np.diff(starts, append=len(at))
    return list(zip(number[starts].tolist(), at[starts].tolist(), lengths.tolist(), strict=True))

"""What happens to lists that several partitions have parts of, as rows between workers."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

RAW = pa.schema(
    [
        ("row", pa.int64()),
        ("kind", pa.string()),
        ("subscription", pa.string()),
        ("k", pa.int32()),
        ("message", pa.string()),
        ("score", pa.float64()),
        ("number", pa.int64()),
        ("reason", pa.string()),
        ("partition", pa.int32()),
    ]
)
"""Kinds are those of changes; `before` and `after`: all that is held when a subscription moves or
is replaced; `ended`: it is there no more. Numbers grow with publication."""


class Scored(NamedTuple):
    """A message in a list."""

    message: str
    score: float | None
    number: int


class Raws:
    """Rows of one partition."""

    def __init__(self, partition: int) -> None:
        self._partition = partition
        self._rows: list[tuple[object, ...]] = []

    def add(
        self, row: int, kind: str, subscription: str, k: int, item: Scored | None, reason: str
    ) -> None:
        """Add one; without a message there is none."""
        message, score, number = item if item is not None else (None, None, None)
        self._rows.append(
            (row, kind, subscription, k, message, score, number, reason, self._partition)
        )

    def table(self) -> pa.Table:
        """Return all of them."""
        columns = list(zip(*self._rows, strict=True)) if self._rows else [()] * len(RAW)
        arrays = [pa.array(values, field.type) for values, field in zip(columns, RAW, strict=True)]
        return pa.Table.from_arrays(arrays, schema=RAW)

"""What is a partition told of a batch? Rows of the log that concern it, with what was decided.

Its hub has no window. The time of a row is that of the whole stream, and a message has the end that
was decided for it; so what is due goes by itself, at the row that lets it go: where that row is not
for this partition, it is told that time has passed. A message that goes because there is one too
many is named.
"""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.errors import KeepsNothingWarning, NearcastError
from nearcast.spark.stateful.routes import has_bit
from nearcast.spark.stateful.sequencing import bits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearcast.hub import Hub
    from nearcast.spark.stateful.sequencing import Decision

CHANGES = pa.schema(
    [
        ("event", pa.int64()),
        ("subscription", pa.string()),
        ("message", pa.string()),
        ("change", pa.string()),
        ("reason", pa.string()),
        ("score", pa.float64()),
    ]
)


class Told:
    """Events of one partition, in order.

    Parameters
    ----------
    table
        As a hub takes it; `event` is the row in the batch.
    gone
        What expires of what this partition has, in order: rows, ids, and whether they are messages.
    """

    def __init__(self, table: pa.Table, gone: tuple[np.ndarray, list[str], np.ndarray]) -> None:
        self.table = table
        self.gone = gone

    @cached_property
    def rows(self) -> np.ndarray:
        """The row of each event."""
        return np.asarray(self.table.column("event").to_numpy())

    @cached_property
    def ops(self) -> list[str]:
        """What each event does."""
        return list(self.table.column("op").to_pylist())

    @cached_property
    def ids(self) -> list[str]:
        """Of what."""
        return list(self.table.column("id").to_pylist())

    @cached_property
    def position(self) -> dict[int, int]:
        """Where the event of a row is."""
        return {row: at for at, row in enumerate(self.rows.tolist())}


class Numbering:
    """Where the lines of the log are in a batch."""

    def __init__(self, decision: Decision) -> None:
        self._runs = decision.batch.runs.to_pylist()
        self.rows = decision.batch.narrow.column("event").to_numpy()
        last = int(self.rows[-1]) if len(self.rows) else 0
        self._index = np.full(last + 2, -1, np.int64)
        self._index[self.rows] = np.arange(len(self.rows))

    def rows_of(self, file: int, lines: np.ndarray) -> np.ndarray:
        """Return the rows of lines of a file."""
        rows = np.zeros(len(lines), np.int64)
        for run in self._runs:
            if run["file"] == file:
                inside = (lines >= run["line"]) & (lines < run["line"] + run["count"])
                rows[inside] = lines[inside] - run["line"] + run["row"]
        return rows

    def index_of(self, rows: np.ndarray) -> np.ndarray:
        """Return where rows are among the events; -1: a row is none."""
        return np.asarray(self._index[rows])


def told_of(decision: Decision, contents: Sequence[pa.Table], partition: int) -> Told:
    """Return what a partition is told; `contents` are its rows of the log, file by file."""
    numbering = Numbering(decision)
    is_mine = has_bit(decision.bits("places"), partition)
    tables, indexes = [], []
    for file, table in enumerate(contents):
        rows = numbering.rows_of(file, table.column("event").to_numpy())
        index = numbering.index_of(rows)
        chosen = np.flatnonzero(is_mine[index])
        tables.append(table if len(chosen) == len(table) else table.take(pa.array(chosen)))
        indexes.append(index[chosen])
    index = np.concatenate(indexes)
    table = pa.concat_tables(tables, promote_options="default")
    gone = decision.gone.filter(
        pa.array(has_bit(bits_of(decision.gone.column("places")), partition))
    )
    gone_rows = gone.column("row").to_numpy()
    is_message = gone.column("is_message").to_numpy(zero_copy_only=False).astype(bool)
    ticks = np.setdiff1d(gone_rows, numbering.rows[index])
    if len(ticks):
        op = pa.array(["advance"] * len(ticks), table.schema.field("op").type)
        table = pa.concat_tables([table, pa.table({"op": op})], promote_options="default")
        index = np.concatenate([index, numbering.index_of(ticks)])
    if not (np.diff(index) > 0).all():
        order = np.argsort(index, kind="stable")
        table, index = table.take(pa.array(order)), index[order]
    table = _decided(table, decision, index, numbering.rows[index])
    surplus = _surplus(decision, partition)
    if surplus:
        named = [surplus.get(row) for row in numbering.rows[index].tolist()]
        table = table.append_column("surplus", pa.array(named, pa.string()))
    return Told(table, (gone_rows, gone.column("id").to_pylist(), is_message))


def _decided(table: pa.Table, decision: Decision, index: np.ndarray, rows: np.ndarray) -> pa.Table:
    """Return rows with the times that were decided."""
    clock, end = (decision.rows.column(name).to_numpy()[index] for name in ("clock", "end"))
    is_message = pc.equal(table.column("op"), "publish")
    said = pa.scalar(None, pa.float64())
    if "expires" in table.column_names:
        said = table.column("expires")
        table = table.drop_columns(["expires"])
    expires = pc.if_else(is_message, pa.array(end, from_pandas=True), said)
    kept = [name for name in table.column_names if name not in ("event", "time")]
    table = table.select(kept).append_column("event", pa.array(rows))
    return table.append_column("time", pa.array(clock)).append_column("expires", expires)


def _surplus(decision: Decision, partition: int) -> dict[int, str]:
    """Return the messages that a window of so many lets go, by row.

    In each row it is the last that goes; others are due by then and go by themselves, as it does
    if it is one of them. If the message that comes has its id, it was due: a window lets go the
    oldest.
    """
    gone = decision.gone
    is_message = gone.column("is_message").to_numpy(zero_copy_only=False).astype(bool)
    rows = gone.column("row").to_numpy()
    chosen = np.flatnonzero(is_message)
    if not len(chosen):
        return {}
    last = chosen[np.flatnonzero(np.append(np.diff(rows[chosen]) != 0, True))]
    mine = has_bit(bits_of(gone.column("places")), partition)
    last = last[mine[last]]
    ids = gone.column("id").take(pa.array(last)).to_pylist()
    narrow = decision.batch.narrow
    causes = np.searchsorted(narrow.column("event").to_numpy(), rows[last])
    own = narrow.column("id").take(pa.array(causes)).to_pylist()
    named = zip(rows[last].tolist(), ids, own, strict=True)
    return {row: id_ for row, id_, cause in named if id_ != cause}


def apply_told(hub: Hub, table: pa.Table) -> pa.Table:
    """Let a hub hear of events; return what changed."""
    refused: list[tuple[int, NearcastError]] = []
    with warnings.catch_warnings():  # of a hub without a window, which it needs not have here
        warnings.simplefilter("ignore", KeepsNothingWarning)
        changes = hub.apply(table, on_error=lambda row, error: refused.append((row, error)))
    if refused:
        row, error = refused[0]
        msg = f"row {row} was accepted, and a partition refuses it: {error}"
        raise RuntimeError(msg)
    return changes.cast(CHANGES)

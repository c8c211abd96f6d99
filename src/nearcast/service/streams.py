"""What comes next in a subscriber's stream? Recent commits in memory, older ones in segments.

The tail holds the newest commits, `retention.tail_changes` changes at most. What leaves it is
written to the database by bucket of subscribers: a commit has something for many, a segment
has much for few, so a subscriber that was away for long reads little that is not its own. Until
then it stands in the log, so nothing is lost with the memory.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any
from zlib import crc32

import msgspec
import numpy as np
import pyarrow as pa
from sqlalchemy import select

from nearcast.service.batches import (
    STORED,
    Batch,
    batch_of,
    integers,
    last_numbers,
    owners_of,
    pack,
    publication,
    render,
    unpack,
)
from nearcast.service.numbers import Numbers
from nearcast.service.schema import META, SEGMENTS, STREAMS
from nearcast.service.store import Records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearcast.service.batches import Entry
    from nearcast.service.store import Store

BUCKETS = 64
_CACHED_ROWS = 64


class Gap(msgspec.Struct, frozen=True):
    """Deliveries that are no longer kept: a reader has to begin with the current set."""

    first_kept: int


class Streams:
    """Numbers of all subscribers, and the tail."""

    def __init__(self, tail_changes: int) -> None:
        self.numbers = Numbers()
        self.tail: deque[Batch] = deque()
        self.changes = 0
        self.flushed = 0
        self.pending: Batch | None = None
        """What is being committed: it has numbers already, and nothing of it may be delivered."""
        self._most = max(2, tail_changes)

    def add(self, batch: Batch) -> None:
        """Take in what was committed."""
        self.pending = None
        if batch.changes.num_rows or batch.extras:
            self.tail.append(batch)
            self.changes += batch.changes.num_rows + len(batch.extras)

    def last(self, owner: str) -> int:
        """Return the last number of a subscriber that is durable."""
        if self.pending is not None and self.pending.span(owner)[0]:
            return self.pending.span(owner)[0] - 1
        return self.numbers.get(owner)

    def recent(self, owner: str, after: int, limit: int) -> tuple[list[Entry], bool]:
        """Return the next deliveries after a number that memory has, and whether none is missing.

        So many more than `limit` may come as one commit has; a reader that is far behind costs no
        more than what it is given.
        """
        if self.last(owner) <= after:
            return [], True
        wanted: list[Batch] = []
        lowest: int | None = None
        for batch in reversed(self.tail):
            first, last = batch.span(owner)
            if last > after:
                wanted.append(batch)
                lowest = first
            if last and first <= after + 1:
                break
        entries: list[Entry] = []
        while wanted and len(entries) <= limit:
            entries += wanted.pop().entries(owner, after)
        return entries, lowest is not None and lowest <= after + 1

    # ---- leaving memory ---------------------------------------------------------------------

    def leaving(self, moment: float, number: int) -> list[Batch]:
        """Return what should leave memory: all that is too old, and half of what is too much."""
        leaving, left = [], self.changes
        is_full = self.changes > self._most
        for batch in self.tail:
            is_old = batch.at < moment or batch.last <= number
            if not is_old and not (is_full and left > self._most // 2):
                break
            leaving.append(batch)
            left -= batch.changes.num_rows + len(batch.extras)
        return leaving

    def forget(self, leaving: Sequence[Batch]) -> None:
        """Drop what was flushed."""
        for batch in leaving:
            gone = self.tail.popleft()
            self.changes -= gone.changes.num_rows + len(gone.extras)
            self.flushed = batch.last


def bucket_of(owner: str) -> int:
    """Return the bucket of a subscriber."""
    return crc32(owner.encode()) % BUCKETS


def flush_records(leaving: Sequence[Batch]) -> Records:
    """Return what to write when commits leave memory: segments, numbers, and how far it goes."""
    records = Records()
    table = pa.concat_tables([_segment_rows(batch) for batch in leaving])
    owners, codes = owners_of(table["subscription"])
    buckets = np.array([bucket_of(owner) for owner in owners], np.int64)[codes]
    order = np.lexsort((codes, buckets))  # stable: numbers of one owner stay in order
    table, codes, buckets = table.take(order), codes[order], buckets[order]
    numbers = integers(table["number"])
    last, at = leaving[-1].last, leaving[-1].at
    borders = np.flatnonzero(np.diff(buckets, prepend=-1, append=-1))
    for start, end in pairwise(borders.tolist()):
        ends = np.flatnonzero(np.diff(codes[start:end], prepend=-1, append=-1)) + start
        spans = {
            owners[codes[a]]: (int(numbers[a]), int(numbers[b - 1]))
            for a, b in pairwise(ends.tolist())
        }
        for owner, (_, number) in spans.items():
            records.put(STREAMS, {"owner": owner, "number": number})
        records.put(
            SEGMENTS,
            {
                "bucket": int(buckets[start]),
                "last": last,
                "at": at,
                "owners": msgspec.json.encode(spans),
                "content": pack(table.slice(start, end - start)),
            },
        )
    records.put(META, {"name": "flushed", "value": str(last)})
    return records


_SEGMENT = STORED.append(pa.field("at", pa.float64())).append(pa.field("body", pa.binary()))


def _segment_rows(batch: Batch) -> pa.Table:
    """Return what a commit delivers, single changes and the rest, in the order of numbers."""
    changes = batch.changes
    size = changes.num_rows
    columns = [*changes.columns, pa.array(np.full(size, batch.at)), pa.nulls(size, pa.binary())]
    table = pa.table(columns, schema=_SEGMENT)
    table = table.filter(pa.compute.greater(table["number"], 0))
    if not batch.extras:
        return table
    rows: list[dict[str, Any]] = [
        {
            "event": batch.last,
            "subscription": f"{extra.owner}/",
            "message": "",
            "number": extra.number,
            "at": batch.at,
            "body": bytes(extra.body),
        }
        for extra in batch.extras
    ]
    both = pa.concat_tables([table, pa.Table.from_pylist(rows, schema=_SEGMENT)])
    return both.sort_by("number")


# ---- reading back -------------------------------------------------------------------------------


class Archive:
    """What left memory, read in the order of numbers. Its methods block."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lines: OrderedDict[int, tuple[int, list[bytes]]] = OrderedDict()
        self._lock = Lock()

    def entries(self, owner: str, after: int, limit: int) -> tuple[list[Entry], int | None]:
        """Return deliveries after a number, and the smallest number that is kept (None: none)."""
        found: list[Entry] = []
        wanted, lowest = self._segments(owner, after)
        for last in wanted:
            content = self._store.rows(
                select(SEGMENTS.c.content).where(
                    SEGMENTS.c.bucket == bucket_of(owner), SEGMENTS.c.last == last
                )
            )
            if not content:  # trimmed meanwhile
                continue
            found += self._rendered(unpack(content[0][0]), owner, after, limit - len(found))
            if len(found) >= limit:
                break
        return found, lowest

    def _segments(self, owner: str, after: int) -> tuple[list[int], int | None]:
        """Return the segments to read, oldest first: indexes alone are read to find them."""
        columns = select(SEGMENTS.c.last, SEGMENTS.c.owners)
        where = columns.where(SEGMENTS.c.bucket == bucket_of(owner))
        wanted: list[int] = []
        lowest = None
        with self._store.reading() as connection:
            rows = connection.execute(where.order_by(SEGMENTS.c.last.desc()))
            for last, spans in rows:
                span = msgspec.json.decode(spans).get(owner)
                if span is None:
                    continue
                lowest = span[0]
                if span[1] > after:
                    wanted.append(last)
                if lowest <= after + 1:
                    break
        return wanted[::-1], lowest

    def _rendered(self, table: pa.Table, owner: str, after: int, limit: int) -> list[Entry]:
        owners, codes = owners_of(table["subscription"])
        if owner not in owners:
            return []
        table = table.take(np.flatnonzero(codes == owners.index(owner)))
        table = table.filter(pa.compute.greater(table["number"], after)).slice(0, limit)
        bodies = table["body"].to_pylist()
        plain = table.select(STORED.names)
        entries = render(plain, owner, table["at"].to_pylist(), after, self._published)
        return [
            (number, rendered if body is None else body)
            for (number, rendered), body in zip(entries, bodies, strict=True)
        ]

    def _published(self, number: int) -> bytes:
        """Return the publication that an event was; commits that were looked at are kept a while.

        A change with the reason "published" has it in the log as long as the change itself.
        """
        with self._lock:
            for first, lines in reversed(self._lines.values()):
                if first <= number < first + len(lines):
                    return publication(lines, number - first)
        row = self._store.log_row_of(number)
        if row is None:
            return b""
        lines = row.events.split(b"\n")
        with self._lock:
            self._lines[row.last] = (row.first, lines)
            if len(self._lines) > _CACHED_ROWS:
                self._lines.popitem(last=False)
        return publication(lines, number - row.first)


def load_streams(store: Store, tail_changes: int) -> Streams:
    """Return the streams as they were when the last commit was made."""
    streams = Streams(tail_changes)
    streams.numbers.update((owner, number) for owner, number in store.rows(select(STREAMS)))
    streams.flushed = last = int(store.meta().get("flushed", "0"))
    while rows := store.log_after(last):
        for row in rows:
            batch = batch_of(row)
            streams.numbers.update(last_numbers(batch).items())
            streams.add(batch)
        last = rows[-1].last
    return streams

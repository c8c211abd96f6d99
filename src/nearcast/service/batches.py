"""Which change of a commit is which delivery? Numbers per subscriber, a commit at a time.

A subscription is known to the hub as ``owner/id``: whose stream a change belongs to stands in the
change itself, and no table of owners has to be kept in memory. The changes of a commit stay in
columns; what is turned into Python is what a listener gets.
"""

from __future__ import annotations

from itertools import repeat
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np
import pyarrow as pa

from nearcast.changes import CHANGES
from nearcast.service.lines import PUBLISHES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from nearcast.service.numbers import Numbers
    from nearcast.service.store import LogRow

SEPARATOR = "/"
Entry: TypeAlias = tuple[int, bytes]
"""A number in a subscriber's stream, and what is delivered, as JSON."""

STORED = CHANGES.append(pa.field("number", pa.int64()))


def hub_id(owner: str, id: str) -> str:
    """Return the name of a subscription in the hub."""
    return f"{owner}{SEPARATOR}{id}"


def split_id(name: str) -> tuple[str, str]:
    """Return owner and id of a name in the hub.

    Examples
    --------
    >>> split_id("acme/flats/1")
    ('acme', 'flats/1')
    """
    owner, _, id = name.partition(SEPARATOR)
    return owner, id


class Extra(msgspec.Struct, frozen=True):
    """A delivery that is not a single change: a digest, an end."""

    owner: str
    number: int
    body: msgspec.Raw


class Batch:
    """The changes of one commit, by subscriber.

    Parameters
    ----------
    first, last, at
        Numbers of its events, and when it was committed.
    lines
        Its events, as they stand in the log.
    changes
        Table of changes, with their `number`; 0: it waits for a digest, or was not wanted.
    extras
        What else it delivers.
    """

    __slots__ = (
        "_codes",
        "_groups",
        "_numbers",
        "at",
        "changes",
        "extras",
        "first",
        "last",
        "lines",
    )

    def __init__(
        self,
        first: int,
        last: int,
        at: float,
        lines: Sequence[bytes],
        changes: pa.Table,
        extras: Sequence[Extra] = (),
        groups: Groups | None = None,
    ) -> None:
        self.first, self.last, self.at = first, last, at
        self.lines = lines
        self.changes = changes
        self.extras = tuple(extras)
        self._groups = groups or Groups(changes["subscription"])
        self._numbers: NDArray[np.int64] = integers(changes["number"])
        self._codes: dict[str, int] | None = None

    @property
    def owners(self) -> set[str]:
        """Subscribers that it may have something for."""
        return set(self._groups.owners) | {extra.owner for extra in self.extras}

    def __contains__(self, owner: str) -> bool:
        """Whether it may have something for a subscriber."""
        return owner in self._by_owner or any(extra.owner == owner for extra in self.extras)

    @property
    def _by_owner(self) -> dict[str, int]:
        """The place of each owner; made when it is first read, which not every commit does."""
        if self._codes is None:
            self._codes = {owner: code for code, owner in enumerate(self._groups.owners)}
        return self._codes

    def rows_of(self, owner: str) -> NDArray[np.int64]:
        """Return the rows of a subscriber's changes, in order."""
        code = self._by_owner.get(owner)
        if code is None:
            return np.empty(0, np.int64)
        groups = self._groups
        start = groups.starts[code]
        return groups.order[start : start + groups.counts[code]]

    def span(self, owner: str) -> tuple[int, int]:
        """Return the first and the last number that a subscriber has in it; zeros: none."""
        rows = self.rows_of(owner)
        numbers: list[int] = []
        if len(rows):
            column = self._numbers[rows]
            numbers = column[column > 0].tolist()
        if self.extras:
            numbers += [extra.number for extra in self.extras if extra.owner == owner]
        return (min(numbers), max(numbers)) if numbers else (0, 0)

    def entries(self, owner: str, after: int = 0) -> list[Entry]:
        """Return what a subscriber gets of it, in the order of numbers greater than `after`."""
        rows = self.rows_of(owner)
        found: list[Entry] = []
        if len(rows):
            found = render(self.changes.take(rows), owner, self.at, after, self._published)
        return self._with_extras(owner, found, after)

    def entries_of(self, owners: Collection[str]) -> Iterator[tuple[str, list[Entry]]]:
        """Yield what each of these subscribers gets, whose rows become Python all at once."""
        rows = [self.rows_of(owner) for owner in owners]
        picked = self.changes.take(np.concatenate([np.empty(0, np.int64), *rows]))
        columns = [_values(picked[name]) for name in STORED.names]
        start = 0
        for owner, mine in zip(owners, rows, strict=True):
            end = start + len(mine)
            some = [column[start:end] for column in columns]
            start = end
            found = render_values(some, owner, repeat(self.at), 0, self._published)
            yield owner, self._with_extras(owner, found, 0)

    def _with_extras(self, owner: str, found: list[Entry], after: int) -> list[Entry]:
        if not self.extras:
            return found
        extra = [(e.number, bytes(e.body)) for e in self.extras if e.owner == owner]
        return sorted(found + [pair for pair in extra if pair[0] > after])

    def _published(self, number: int) -> bytes:
        return publication(self.lines, number - self.first)


def publication(lines: Sequence[bytes], place: int) -> bytes:
    """Return a line if it is there and publishes something."""
    line = lines[place] if 0 <= place < len(lines) else b""
    return line if line.startswith(PUBLISHES) else b""


def integers(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """Return a column of integers without copying it; `to_numpy` would import pandas first."""
    if len(column) == 0:
        return np.empty(0, np.int64)
    array = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    return np.from_dlpack(array)  # type: ignore[return-value]


def owners_of(subscriptions: pa.ChunkedArray) -> tuple[list[str], NDArray[np.int64]]:
    """Return the owners in a column of names, and the place of each row's owner among them.

    In Python: Arrow's kernels are faster alone, but not in between all that a commit does.
    """
    places: dict[str, int] = {}
    place_of = places.setdefault
    names = subscriptions.to_pylist()
    codes = [place_of(name.partition(SEPARATOR)[0], len(places)) for name in names]
    return list(places), np.array(codes, np.int64)


class Groups:
    """Rows of a table by owner: `owners`, for each row its owner's place there, rows in order."""

    __slots__ = ("codes", "counts", "order", "owners", "starts")

    def __init__(self, subscriptions: pa.ChunkedArray) -> None:
        self.owners, self.codes = owners_of(subscriptions)
        # Of 16 bits: numpy sorts these by radix, several times faster.
        few = self.codes.astype(np.uint16) if len(self.owners) < 65_536 else self.codes
        self.order = np.argsort(few, kind="stable")
        self.counts = np.bincount(self.codes, minlength=len(self.owners))
        self.starts = np.cumsum(self.counts) - self.counts


def number_changes(
    changes: pa.Table, last: Numbers, held: NDArray[np.bool_] | None, groups: Groups
) -> pa.Table:
    """Give every change the next number in its subscriber's stream, but not to those held."""
    if held is not None and held.any():
        numbers = _numbered_some(groups, last, held)
    else:
        before = last.advance(groups.owners, groups.counts)
        # Sorted by owner, numbers count up from the last one of each.
        ranks = np.arange(1, len(groups.codes) + 1) - np.repeat(groups.starts, groups.counts)
        numbers = np.empty(len(groups.codes), np.int64)
        numbers[groups.order] = np.repeat(before, groups.counts) + ranks
    column = pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(numbers)])
    return changes.append_column(STORED.field("number"), column)


def _numbered_some(groups: Groups, last: Numbers, held: NDArray[np.bool_]) -> NDArray[np.int64]:
    numbers = np.zeros(len(groups.codes), np.int64)
    for code, owner in enumerate(groups.owners):
        mine = groups.order[groups.starts[code] : groups.starts[code] + groups.counts[code]]
        mine = mine[~held[mine]]
        before = last.get(owner)
        numbers[mine] = before + np.arange(1, len(mine) + 1)
        last.set(owner, before + len(mine))
    return numbers


def render(
    changes: pa.Table,
    owner: str,
    at: float | Sequence[float],
    after: int,
    published: Callable[[int], bytes],
) -> list[Entry]:
    """Return rows of a table as deliveries of one subscriber.

    Parameters
    ----------
    changes
        As `STORED`, of that subscriber alone.
    owner
        The subscriber.
    at
        When they became durable: all of them, or each.
    after
        Rows with this number or a smaller one are left out.
    published
        From the number of an event to its line; b"" if it is not a publication.
    """
    columns = [_values(changes[name]) for name in STORED.names]
    moments = repeat(at) if isinstance(at, float) else at
    return render_values(columns, owner, moments, after, published)


def render_values(
    columns: list[list[Any]],
    owner: str,
    moments: Iterable[float],
    after: int,
    published: Callable[[int], bytes],
) -> list[Entry]:
    """Do the same with columns in Python."""
    skipped = len(owner) + 1
    entries = []
    for row, moment in zip(zip(*columns, strict=True), moments, strict=False):
        event, name, message, change, reason, score, number = row
        if number <= after:
            continue
        text = (
            f'{{"id":"{owner}-{number}","number":{number},"type":"change","owner":"{owner}"'
            f',"subscription":{encode_basestring_ascii(name[skipped:])}'
            f',"message":{encode_basestring_ascii(message)}'
            f',"change":"{change}","reason":"{reason}","event":{event},"at":{moment}'
        )
        if score is not None:
            text += f',"score":{score!r}'
        line = published(event) if change != "removed" and reason in _BY_PUBLISHING else b""
        if line:
            entries.append((number, b'%s,"published":%s}' % (text.encode(), line)))
        else:
            entries.append((number, f"{text}}}".encode()))
    return entries


def _values(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_integer(column.type):
        numbers: list[Any] = integers(column).tolist()
        return numbers
    if pa.types.is_dictionary(column.type):
        column = column.cast(pa.string())
    if column.null_count == len(column):
        return [None] * len(column)
    values: list[Any] = column.to_pylist()
    return values


_BY_PUBLISHING = frozenset({"published", "changed"})
"""Reasons of changes whose event has the message itself."""


MANY_ROWS = 1_000
"""Of so many changes compressing takes less time than writing what it saves."""
_FEW = pa.ipc.IpcWriteOptions(use_threads=False)
_MANY = pa.ipc.IpcWriteOptions(
    compression="lz4" if pa.Codec.is_available("lz4") else None, use_threads=False
)


def pack(changes: pa.Table) -> bytes | None:
    """Return changes as they are stored; None: there are none."""
    if changes.num_rows == 0:
        return None
    sink = pa.BufferOutputStream()
    options = _MANY if changes.num_rows >= MANY_ROWS else _FEW
    with pa.ipc.new_stream(sink, changes.schema, options=options) as writer:
        writer.write_table(changes)
    return bytes(sink.getvalue())


def unpack(content: bytes | None) -> pa.Table:
    """Return stored changes as a table."""
    if content is None:
        return pa.Table.from_batches([], schema=STORED)
    return pa.ipc.open_stream(content).read_all()


def batch_of(row: LogRow) -> Batch:
    """Return a commit of the log as a batch."""
    extras = [] if row.extra is None else msgspec.json.decode(row.extra, type=list[Extra])
    lines = row.events.split(b"\n") if row.events else []
    return Batch(row.first, row.last, row.at, lines, unpack(row.changes), extras)


def last_numbers(batch: Batch) -> Mapping[str, int]:
    """Return the last number that each subscriber has in a batch."""
    spans = {owner: batch.span(owner) for owner in batch.owners}
    return {owner: last for owner, (_, last) in spans.items() if last}  # otherwise all waits

"""One partition: a hub that hears of what concerns it.

What it answers is what one hub for everything would answer, for the pairs of subscriptions and
messages that are here.

**Copies.** A pair that several partitions have is told by the first of them. All know all places of
what they hold, so none has to ask. When a subscription moves or is replaced, or a message gets
another version, those who had the old one also get the new one, and the first of *them* tells: only
they know what was before.

**Lists with copies.** Of a top subscription that lives in several partitions each has a list of
its own; what happens to it is told as raw rows, of which `merging` makes the changes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.spark.stateful.definitions import with_definitions
from nearcast.spark.stateful.raw import RAW, Raws, Scored
from nearcast.spark.stateful.routes import bit_of
from nearcast.spark.stateful.telling import CHANGES, Told, apply_told, told_of
from nearcast.spark.stateful.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nearcast.hub import Hub
    from nearcast.spark.stateful.sequencing import Decision


@dataclass
class Holding:
    """What a partition has."""

    hub: Hub
    copies: dict[str, bytes] = field(default_factory=dict)
    """The places of subscriptions that live in several partitions."""
    tops: dict[str, int] = field(default_factory=dict)
    """How long the lists of those are that are top subscriptions."""
    messages: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    """The places of live messages, and numbers that grow with publication."""


class Carried(NamedTuple):
    """What a batch changed here."""

    changes: pa.Table
    raw: pa.Table


def carry_out(
    holding: Holding,
    number: int,
    partition: int,
    decision: Decision,
    contents: Sequence[pa.Table],
    definitions: pa.Table | None = None,
    *,
    has_copies: bool,
) -> Carried:
    """Do a batch.

    Parameters
    ----------
    holding
        It is brought forward.
    number, partition
        Of the batch, and of the partition.
    decision, contents
        The batch in sequence; rows of the log for this partition, file by file.
    definitions
        Of subscriptions that move, as `definitions.copies_of` returns them.
    has_copies
        Whether subscriptions can live in several partitions.
    """
    told = told_of(decision, contents, partition)
    if not has_copies:
        return Carried(apply_told(holding.hub, told.table), RAW.empty_table())
    if definitions is not None:
        told = with_definitions(told, definitions, decision, partition)
    return _Copying(holding, number, partition, decision, told).run()


class _Copying:
    """A batch in which others may have the same."""

    def __init__(
        self, holding: Holding, number: int, partition: int, decision: Decision, told: Told
    ) -> None:
        self._hub = holding.hub
        self._partition, self._told = partition, told
        self._byte, self._mask = bit_of(partition)
        self._first = number << 32
        self._copies = Timeline(holding.copies)
        self._tops = Timeline(holding.tops)
        self._messages = Timeline(holding.messages)
        rows = decision.batch.narrow.column("event").to_numpy()
        index = np.searchsorted(rows, told.rows)
        self._places = decision.bits("places")[index]
        self._were = decision.bits("places_were")[index]
        self._had: np.ndarray = np.asarray(self._were.any(axis=1))
        self._is_kept = ~np.isnan(decision.rows.column("end").to_numpy()[index])
        is_message = pc.equal(told.table.column("op"), "publish")
        self._is_message = np.asarray(is_message.to_numpy(zero_copy_only=False))
        self._narrow, self._index = decision.batch.narrow, index
        self._raws = Raws(partition)
        self._resets: set[tuple[int, str]] = set()

    def run(self) -> Carried:
        tables = [apply_told(self._hub, piece) for piece in self._pieces()]
        changes = pa.concat_tables(tables) if tables else CHANGES.empty_table()
        kept = self._answered(changes)
        for timeline in (self._copies, self._tops, self._messages):
            timeline.settle()
        return Carried(kept, self._raws.table())

    # ---- what is told -----------------------------------------------------------------------

    def _pieces(self) -> Iterator[pa.Table]:
        """Yield what happens, in pieces between which lists are looked at."""
        told, begin = self._told, 0
        going = iter(zip(*(list(column) for column in told.gone), strict=True))
        gone = next(going, None)
        for at in self._notable().tolist():
            row = int(told.rows[at])
            expired = set()
            while gone is not None and gone[0] == row:
                expired.add(gone[1])
                self._leave(gone[1], row, is_message=bool(gone[2]))
                gone = next(going, None)
            if not self._is_reset(at, row):
                self._come(at, row)
                continue
            if at > begin:
                yield told.table.slice(begin, at - begin)
            id_, own = told.ids[at], "moved" if told.ops[at] == "move" else "changed"
            self._look(row, "before", id_, self._tops.at(id_, row - 1) or 0, expired, own)
            self._come(at, row)
            yield told.table.slice(at, 1)
            begin = at + 1
            self._look(row, "after", id_, self._tops.at(id_, row) or 0, set(), own)
            self._resets.add((row, id_))
        if begin < len(told.rows):
            yield told.table.slice(begin)

    def _notable(self) -> np.ndarray:
        """Return the events after which more is known: not those of messages that do not stay."""
        return np.flatnonzero(
            ~self._is_message | self._is_kept | np.isin(self._told.rows, self._told.gone[0])
        )

    def _is_reset(self, at: int, row: int) -> bool:
        """Whether a list with copies, or what becomes one, is defined anew."""
        op = self._told.ops[at]
        if op not in ("subscribe", "move") or not self._had[at]:
            return False
        is_one = bool(self._tops.at(self._told.ids[at], row - 1))
        return is_one or (op == "subscribe" and self._is_list(at))

    def _is_list(self, at: int) -> bool:
        mode = self._told.table.column("mode")[at].as_py()
        return mode == "top" and _is_several(self._places[at])

    def _look(self, row: int, kind: str, id_: str, k: int, expired: set[str], reason: str) -> None:
        mode = self._hub.mode(id_)
        is_set = mode == "top" or (mode is not None and self._hub.subscription(id_).live)
        held = self._hub.results(id_) if is_set else []
        if kind == "before" and k == 0 and mode == "top":
            k = len(held) or 1
        for message, score in held:
            why = "expired" if message in expired else reason
            known = self._messages.at(message, row - 1 if kind == "before" else row)
            item = Scored(message, score, 0 if known is None else known[1])
            self._raws.add(row, kind, id_, k, item, why)
        if not held:
            self._raws.add(row, kind, id_, k, None, reason)

    def _leave(self, id_: str, row: int, *, is_message: bool) -> None:
        if is_message:
            self._messages.set(id_, row - 0.5, None)
        else:
            self._end(id_, row, row - 0.5)

    def _end(self, id_: str, row: int, since: float) -> None:
        if self._tops.at(id_, since):
            self._raws.add(row, "ended", id_, 0, None, "")
            self._tops.set(id_, since, None)
        self._copies.set(id_, since, None)

    def _come(self, at: int, row: int) -> None:
        op, id_, places = self._told.ops[at], self._told.ids[at], self._places[at]
        if op == "publish":
            known = (places.tobytes(), self._first + row) if self._is_kept[at] else None
            self._messages.set(id_, row, known)
        elif op == "retract":
            self._messages.set(id_, row, None)
        elif op == "unsubscribe":
            self._end(id_, row, row)
        elif op in ("subscribe", "move"):
            self._copies.set(id_, row, places.tobytes() if _is_several(places) else b"")
            if op == "subscribe":
                is_list = self._is_list(at)
                self._tops.set(id_, row, self._k(at) if is_list else None)

    def _k(self, at: int) -> int:
        return int(json.loads(self._told.table.column("line")[at].as_py())["k"])

    # ---- what is answered -------------------------------------------------------------------

    def _answered(self, changes: pa.Table) -> pa.Table:
        """Return the changes that this partition tells; lists with copies become raw rows."""
        causes = np.searchsorted(self._told.rows, changes.column("event").to_numpy())
        chosen = self._doubtful(changes, causes)
        if not len(chosen):
            return changes
        keep = np.ones(len(changes), bool)
        reasons = np.array(changes.column("reason").to_pylist(), object)
        names = ("event", "subscription", "message", "change", "score")
        few = changes.select(names).take(pa.array(chosen))
        columns = [few.column(name).to_pylist() for name in names]
        for at, cause, row, subscription, message, change, score in zip(
            chosen.tolist(), causes[chosen].tolist(), *columns, strict=True
        ):
            if (row, subscription) in self._resets:
                keep[at] = False
                continue
            if self._had[cause] and not self._were[cause, self._byte] & self._mask:
                reasons[at] = self._reason(cause, subscription, message, reasons[at])
            k = self._tops.at(subscription, row)
            if k:
                number = self._known(cause, message, change)[1]
                item = Scored(message, score, number)
                self._raws.add(row, change, subscription, k, item, reasons[at])
                keep[at] = False
            else:
                keep[at] = self._tells(cause, subscription, message, change)
        table = changes.set_column(4, CHANGES.field(4), pa.array(reasons, pa.string()))
        return table.filter(pa.array(keep))

    def _doubtful(self, changes: pa.Table, causes: np.ndarray) -> np.ndarray:
        """Return the changes that others may tell, too, or tell otherwise.

        Not those of subscriptions that only live here, and not those that a message causes which
        only came here: unless it is another version, or the list has copies.
        """
        encoded = changes.column("subscription").combine_chunks().dictionary_encode()
        ids = encoded.dictionary.to_pylist()
        is_copied = np.array([id_ in self._copies for id_ in ids], bool)
        is_list = np.array([id_ in self._tops for id_ in ids], bool)
        codes = encoded.indices.to_numpy()
        is_alone = np.unpackbits(self._places, axis=1).sum(axis=1) == 1
        ids_told = self._told.table.column("id").take(pa.array(causes))
        is_own = pc.equal(changes.column("message"), ids_told).to_numpy(zero_copy_only=False)
        comes = pc.not_equal(changes.column("change"), "removed").to_numpy(zero_copy_only=False)
        is_plain = is_own.astype(bool) & comes & (self._is_message & is_alone)[causes]
        doubts = is_list[codes] | (is_copied[codes] & ~is_plain) | self._had[causes]
        return np.flatnonzero(doubts)

    def _reason(self, cause: int, subscription: str, message: str, reason: str) -> str:
        """Return the reason for a change by an event whose old version this partition had not."""
        op, id_ = self._op(cause), self._told.ids[cause]
        if subscription == id_ and reason == "subscribed":
            return "moved" if op == "move" else "changed"
        is_version = op == "publish" and message == id_ and bool(self._is_kept[cause])
        return "changed" if is_version and reason == "published" else reason

    def _op(self, cause: int) -> str:
        """Return what an event was before a move became a subscription here."""
        return str(self._narrow.column("op")[int(self._index[cause])].as_py())

    def _known(self, cause: int, message: str, change: str) -> tuple[bytes, int]:
        """Return places and number of a message that an event adds or removes."""
        row = int(self._told.rows[cause])
        if change != "removed" and self._is_message[cause] and self._told.ids[cause] == message:
            return self._places[cause].tobytes(), self._first + row
        rows = (row - 1, row) if change == "removed" else (row, row - 1)
        found = self._messages.at(message, rows[0]) or self._messages.at(message, rows[1])
        if found is None:
            msg = f"message {message!r} is not known here"
            raise RuntimeError(msg)
        return found

    def _tells(self, cause: int, subscription: str, message: str, change: str) -> bool:
        row = int(self._told.rows[cause])
        lives = self._copies.at(subscription, row)
        if lives is None:  # it has ended in this row
            lives = self._copies.at(subscription, row - 1)
        if not lives:
            return True
        seen = self._known(cause, message, change)[0]
        if self._had[cause]:
            were, places = self._were[cause].tobytes(), self._places[cause].tobytes()
            op, id_ = self._told.ops[cause], self._told.ids[cause]
            if op == "publish" and message == id_:
                seen = _older(lives, were, places)
            elif op != "publish" and subscription == id_:
                lives = _older(seen, were, places)
        return _first_of(lives, seen) == self._partition


def _older(other: bytes, were: bytes, places: bytes) -> bytes:
    """Return who knows most of a pair: those who had the old version, if they have the other."""
    return were if any(a & b for a, b in zip(other, were, strict=True)) else places


def _first_of(one: bytes, other: bytes) -> int:
    for byte, (a, b) in enumerate(zip(one, other, strict=True)):
        if a & b:
            return byte * 8 + 8 - (a & b).bit_length()
    return -1


def _is_several(places: np.ndarray) -> bool:
    return int(np.unpackbits(places).sum()) > 1

"""Where does everything live, and what are the lists? The part of DSkype that decides [Skype §7.2].

Each partition keeps, with a hub of its own, the messages that it is sent and the copies of
subscriptions that live there; a copy's list is the best of *those* messages. The list of a
subscription is the best of its copies' lists.

The loop of the paper, from a subscription bolt to the message bolts and back, becomes two rounds of
every batch. Round one: what ends leaves, and new subscriptions come. Each partition evaluates its
copies anew over its own part of the window. Now the k-th score of every list is known, and with it
the words that its prefix needs: where a prefix has grown, round two first brings a copy to the
further partitions, which hold the messages with those words. Then messages arrive. Arrivals only
raise a k-th score, so prefixes that were right before them stay right: there is no round three.

Why one round suffices to grow: the k-th score over some partitions is at most the true one, so its
prefix is at least what is needed, and further copies only raise it. The order of events within a
batch does not matter to what stands at its end. A prefix that shrinks may wait, and does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from nearcast.expressions import plain_tokens
from nearcast.partition import wants_of_events
from nearcast.partition.wants import text_share
from nearcast.spark.ledger import Ledger
from nearcast.text import DEFAULT_ANALYZER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nearcast.errors import NearcastError
    from nearcast.events import Publish, Subscribe
    from nearcast.model import Window
    from nearcast.partition import Plan
    from nearcast.spark.ledger import Net

SHRINK_EVERY = 16
"""Batches after which prefixes that became shorter give copies back."""


class Op(NamedTuple):
    """What a partition is told: an event of its hub, without time."""

    partition: int
    event: dict[str, Any]


class Partial(NamedTuple):
    """The list of one copy, best first."""

    partition: int
    subscription: str
    messages: list[str]
    scores: list[float]


class ListChange(NamedTuple):
    """A list gained or lost a message between the ends of two batches."""

    subscription: str
    message: str
    change: str
    reason: str
    score: float


@dataclass
class _Batch:
    """A batch between its rounds."""

    number: int
    net: Net
    affected: set[str]


class MergedTops:
    """All top lists of a stream.

    Parameters
    ----------
    plan
        Of mode "top".
    window
        As of a hub.
    """

    def __init__(self, plan: Plan, window: Window | None) -> None:
        self.plan = plan
        self.ledger = Ledger(window)
        self._message_places: dict[str, list[int]] = {}
        self._places: dict[str, set[int]] = {}
        self._partials: dict[str, dict[int, list[tuple[int, str, float]]]] = {}
        self._lists: dict[str, list[tuple[int, str, float]]] = {}  # number, id, score
        self._batch: _Batch | None = None
        self.published = 0
        """Messages that came and stayed to the end of their batch."""
        self.communication = 0
        """Copies of them that partitions were sent."""

    # ---- a batch in two rounds --------------------------------------------------------------

    def begin(self, number: int, events: Iterable[tuple[int, Mapping[str, Any]]]) -> list[Op]:
        """Round one: return what leaves which partition, and which subscriptions come."""
        net = self.ledger.apply(events)
        ops = [
            Op(partition, {"op": "retract", "id": id_})
            for id_ in net.left
            for partition in self._message_places.pop(id_)
        ]
        redefined = (net.moved | net.redefined) - net.began
        for id_ in sorted(net.ended | redefined):
            ops += [Op(p, {"op": "unsubscribe", "id": id_}) for p in sorted(self._places.pop(id_))]
            del self._partials[id_]
            if id_ in net.ended:
                del self._lists[id_]
        fresh = sorted(net.began | redefined)
        ops += self._come(fresh, np.full(len(fresh), -np.inf))
        self._batch = _Batch(number, net, set(fresh))
        return ops

    def grow(self, partials: Iterable[Partial]) -> list[Op]:
        """Round two: take the lists of round one; return where prefixes grow, and new messages."""
        batch = self._current()
        self._take(partials)
        affected = sorted(batch.affected)
        ops = self._reallocate(affected, batch) if self.plan.homes.size else []
        return ops + self._publish(list(batch.net.published.values()))

    def end(self, partials: Iterable[Partial]) -> list[ListChange]:
        """Take the lists of round two; return what changed since the batch before."""
        batch = self._current()
        self._take(partials)
        changes = []
        for id_ in sorted(batch.affected):
            new = self._merged(id_)
            changes += _differences(id_, self._lists.get(id_), new, batch.net)
            self._lists[id_] = new
        self._batch = None
        return changes

    def rejected(self) -> list[tuple[int, NearcastError]]:
        """Return the events of this batch that were rejected."""
        return self._current().net.rejected

    def results(self, id_: str) -> list[tuple[str, float]]:
        """Return the list of a subscription at the end of the last batch, best first."""
        return [(message, score) for _, message, score in self._lists[id_]]

    def replication(self) -> float:
        """Return the copies per subscription."""
        copies = sum(len(places) for places in self._places.values())
        return copies / max(len(self._places), 1)

    # ---- parts ------------------------------------------------------------------------------

    def _current(self) -> _Batch:
        if self._batch is None:
            msg = "a batch begins with begin()"
            raise RuntimeError(msg)
        return self._batch

    def _come(self, ids: list[str], kth: np.ndarray) -> list[Op]:
        """Place subscriptions by what their lists need; return what partitions are told."""
        ops = []
        for id_, wanted in zip(ids, self._wanted(ids, kth), strict=True):
            places = self._places.setdefault(id_, set())
            lists = self._partials.setdefault(id_, {})
            event = subscribe_fields(self.ledger.subscriptions[id_])
            for partition in np.flatnonzero(wanted).tolist():
                if partition not in places:
                    places.add(partition)
                    lists[partition] = []
                    ops.append(Op(partition, event))
        return ops

    def _wanted(self, ids: Sequence[str], kth: np.ndarray) -> np.ndarray:
        events = [self.ledger.subscriptions[id_] for id_ in ids]
        wants = wants_of_events(events, "top")
        alpha = np.array([event.alpha or 0.0 for event in events])
        # A top subscription has one group of words, so shares of groups are those of rows.
        wants = wants.with_shares(text_share(alpha, kth))
        return self.plan.place(wants, pa.array(ids, pa.string()))

    def _reallocate(self, ids: list[str], batch: _Batch) -> list[Op]:
        if not ids:
            return []
        kth = np.array([self._kth_score(id_) for id_ in ids])
        ops = self._come(ids, kth)
        shrinks = batch.number % SHRINK_EVERY == 0
        for id_, wanted in zip(ids, self._wanted(ids, kth), strict=True):
            if shrinks or id_ in batch.net.began:
                spare = self._places[id_] - set(np.flatnonzero(wanted).tolist())
                self._places[id_] -= spare
                for partition in sorted(spare):
                    del self._partials[id_][partition]
                    ops.append(Op(partition, {"op": "unsubscribe", "id": id_}))
        return ops

    def _kth_score(self, id_: str) -> float:
        k = self.ledger.subscriptions[id_].k or 1
        merged = self._merged(id_)
        return merged[k - 1][2] if len(merged) >= k else -np.inf

    def _publish(self, messages: list[Publish]) -> list[Op]:
        if not messages:
            return []
        ops = []
        self.published += len(messages)
        for message, seen in zip(messages, self.plan.route(message_table(messages)), strict=True):
            places = np.flatnonzero(seen).tolist()
            self._message_places[message.id] = places
            self.communication += len(places)
            event = publish_fields(message)
            ops += [Op(partition, event) for partition in places]
        return ops

    def _take(self, partials: Iterable[Partial]) -> None:
        batch = self._current()
        live = self.ledger.messages
        for partition, id_, messages, scores in partials:
            if partition in self._partials.get(id_, {}):
                batch.affected.add(id_)
                self._partials[id_][partition] = [
                    (live[message], message, score)
                    for message, score in zip(messages, scores, strict=True)
                ]

    def _merged(self, id_: str) -> list[tuple[int, str, float]]:
        """Return the best of all copies: a message that several have counts once."""
        found = {entry[0]: entry for part in self._partials[id_].values() for entry in part}
        ordered = sorted(found.values(), key=lambda entry: (-round(entry[2] * 1e9), -entry[0]))
        return ordered[: self.ledger.subscriptions[id_].k or 1]


def _differences(
    id_: str,
    old: list[tuple[int, str, float]] | None,
    new: list[tuple[int, str, float]],
    net: Net,
) -> list[ListChange]:
    before, after = ({entry[0]: entry for entry in entries or ()} for entries in (old, new))
    gone = dict(net.left.values())
    replaced = {message for message, (_, reason) in net.left.items() if reason == "changed"}
    own = "changed" if id_ in net.redefined else "moved" if id_ in net.moved else None
    kept = {message for n, message, _ in old or () if gone.get(n) == "changed"}
    kept &= {message for _, message, _ in new}
    changes = []
    for n, message, score in old or ():
        if n not in after and message not in kept:
            reason = gone.get(n, own or "displaced")
            changes.append(ListChange(id_, message, "removed", reason, score))
    for n, message, score in new:
        if n in before:
            continue
        if message in kept:
            changes.append(ListChange(id_, message, "updated", "changed", score))
            continue
        reason = own or "refilled"
        if message in net.published:
            reason = "changed" if message in replaced else "published"
        reason = "subscribed" if old is None else reason
        changes.append(ListChange(id_, message, "added", reason, score))
    return changes


def subscribe_fields(event: Subscribe) -> dict[str, Any]:
    """Return a top subscription as an event without time or end."""
    words = sorted((event.keywords and plain_tokens(event.keywords)) or ())
    at = list(event.at or ())
    fields = {"op": "subscribe", "id": event.id, "mode": "top", "keywords": words, "at": at}
    where = {} if event.said_where is None else {"where": event.said_where}
    return {**fields, "k": event.k, "alpha": event.alpha, **where}


def publish_fields(event: Publish) -> dict[str, Any]:
    """Return a message as an event without time or end."""
    place = event.place
    fields: dict[str, Any] = {"op": "publish", "id": event.id, "text": event.text}
    if event.attributes:
        fields["attributes"] = dict(event.attributes)
    if isinstance(place, tuple):
        return {**fields, "at": list(place)}
    return {**fields, "bbox": [place.west, place.south, place.east, place.north]}


def message_table(messages: Sequence[Publish]) -> pa.Table:
    """Return messages as a plan routes them."""
    boxes = []
    for message in messages:
        p = message.place
        boxes.append((*p, *p) if isinstance(p, tuple) else (p.west, p.south, p.east, p.north))
    tokens = [DEFAULT_ANALYZER.analyze(message.text) for message in messages]
    sides = zip(("west", "south", "east", "north"), zip(*boxes, strict=True), strict=True)
    columns = {side: pa.array(values, pa.float64()) for side, values in sides}
    return pa.table({"tokens": pa.array(tokens, pa.list_(pa.string())), **columns})

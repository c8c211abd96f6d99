"""A log of alerts: what `log.mixed_events` has, with all that subscriptions and messages may say.

It begins with its subscriptions. Then of twenty events fourteen publish, two take the place of a
message that may still be live, at a lower price, one subscribes, one replaces and one ends a
subscription, and one only moves the clock. Messages live `LIFE` seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from nearcast.bench.workloads.alerts import KEYWORDS, alerts, attributes
from nearcast.bench.workloads.log import publish_events
from nearcast.bench.workloads.streams import Stream, random_stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from nearcast.bench.workloads.groups import Group
    from nearcast.bench.workloads.scenario import Source

Event = dict[str, object]

LIFE = 500
_SHARES = {
    "publish": 0.7,
    "reprice": 0.1,
    "subscribe": 0.05,
    "replace": 0.05,
    "unsubscribe": 0.05,
    "advance": 0.05,
}
_ROWS = 1_024


def alert_events(source: Source, group: Group, subscriptions: int, count: int) -> Iterator[Event]:
    """Yield `subscriptions` subscribe events, then `count` events of all kinds."""
    log = _Log(
        random_stream(source.seed, Stream.EVENTS),
        alert_subscriptions(source, None),
        alert_messages(source, group, None),
    )
    kinds = log.rng.choice(list(_SHARES), count, p=list(_SHARES.values())).tolist()
    for time, kind in enumerate(chain(["subscribe"] * subscriptions, kinds)):
        yield from ({**event, "time": time} for event in log.make(kind, time))


def alert_messages(
    source: Source, group: Group, count: int | None, first: int = 0
) -> Iterator[Event]:
    """Yield publish events with attributes; without a count, endlessly."""
    for start, rows in _slices(first, count):
        events = publish_events(source.messages(rows, group, first=start), start)
        for event, values in zip(events, attributes(source.seed, start, rows), strict=True):
            yield {**event, "attributes": values}


def alert_subscriptions(source: Source, count: int | None, first: int = 0) -> Iterator[Event]:
    """Yield subscribe events with all that alerts may say; without a count, endlessly."""
    for start, rows in _slices(first, count):
        table = source.subscriptions(rows, KEYWORDS, first=start).to_pylist()
        for number, fields in enumerate(alerts(table, source.seed, start), start):
            yield {"op": "subscribe", "id": f"s{number}", **fields}


def _slices(first: int, count: int | None) -> Iterator[tuple[int, int]]:
    end = None if count is None else first + count
    while end is None or first < end:
        rows = _ROWS if end is None else min(_ROWS, end - first)
        yield first, rows
        first += rows


@dataclass(slots=True)
class _Log:
    """What there is so far, and what comes next."""

    rng: np.random.Generator
    subscriptions: Iterator[Event]
    messages: Iterator[Event]
    present: list[str] = field(default_factory=list)
    recent: list[dict[str, Any]] = field(default_factory=list)

    def make(self, kind: str, time: int) -> Iterator[Event]:
        """Yield an event of a kind; nothing if there is none to replace or to end."""
        if kind == "advance":
            yield {"op": "advance"}
        elif kind == "publish":
            message = {**next(self.messages), "expires": time + LIFE}
            self.recent = [*self.recent[-99:], message]
            yield message
        elif kind == "reprice" and self.recent:
            yield self._repriced(time)
        elif kind == "subscribe":
            event = next(self.subscriptions)
            self.present.append(str(event["id"]))
            yield event
        elif kind == "replace" and self.present:
            yield {**next(self.subscriptions), "id": self._pick(), "replace": True}
        elif kind == "unsubscribe" and self.present:
            self._pick()
            yield {"op": "unsubscribe", "id": self.present.pop()}

    def _pick(self) -> str:
        """Return one of those present, which is the last of them then."""
        place = int(self.rng.integers(len(self.present)))
        self.present[place], self.present[-1] = self.present[-1], self.present[place]
        return self.present[-1]

    def _repriced(self, time: int) -> Event:
        place = int(self.rng.integers(len(self.recent)))
        old = self.recent[place]
        said = old["attributes"]
        lower = {**said, "price": round(said["price"] * 0.9, 2)}
        new = {**old, "attributes": lower, "expires": time + LIFE, "replace": True}
        self.recent[place] = new
        return new

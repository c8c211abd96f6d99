"""What does an event cost from its line to its changes, and what does a single call?

Every way of saying the same messages takes its turn, round after round, in one process; times are
of the processor, for one thread. Beside them: the bare matcher on the same texts, which is what is
left if everything around it costs nothing.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from time import thread_time
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nearcast.bench.results import Spread
from nearcast.event_table import OUTLINE, read_events
from nearcast.events import read_event
from nearcast.hub import Hub
from nearcast.life import Life
from nearcast.matcher import Matcher
from nearcast.model import Window

if TYPE_CHECKING:
    from collections.abc import Callable

    from nearcast.bench.workloads.scenario import Scenario

CALLS = 2_000
"""Messages that are said one by one in a round."""
LINES_ALONE = 2_000
"""Lines that are read one by one in a round."""
KEPT = 10_000
"""Messages in the window of the hub that keeps them."""


@dataclass(frozen=True, slots=True)
class EventCosts:
    """Processor microseconds per event, by the way in which it comes."""

    source: str
    subscriptions: int
    messages: int
    subscribe_us: float
    """A subscription, from its line; once."""
    changes_per_message: float
    cpu_us: dict[str, Spread]


def measure_events(scenario: Scenario, repetitions: int) -> EventCosts:
    """Measure all ways on one scenario."""
    subscriptions = _subscription_lines(scenario.subscriptions)
    hub, keeping = Hub(), Hub(window=Window(count=KEPT))
    start = thread_time()
    hub.apply(subscriptions)
    subscribed = thread_time() - start
    keeping.apply(subscriptions)
    matcher = Matcher()
    matcher.subscribe_table(scenario.subscriptions)
    said = _Messages(scenario.messages)
    changes = hub.apply(said.ndjson()).num_rows
    ways = _bulk_ways(hub, keeping, matcher, said) | _single_ways(hub, keeping, matcher, said)
    rounds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(repetitions):
        for name, way in ways.items():
            rounds[name].append(way() * 1e6)
    return EventCosts(
        source=scenario.source.name,
        subscriptions=len(subscriptions),
        messages=len(said.texts),
        subscribe_us=round(subscribed * 1e6 / len(subscriptions), 3),
        changes_per_message=round(changes / len(said.texts), 4),
        cpu_us={name: Spread.over(values) for name, values in rounds.items()},
    )


def as_json(costs: EventCosts) -> dict[str, object]:
    """Return the numbers under their names."""
    return asdict(costs)


class _Messages:
    """The same messages in every form, with ids that are new each time."""

    def __init__(self, table: pa.Table) -> None:
        self.tokens = table.column("tokens").cast(pa.list_(pa.string())).to_pylist()
        self.texts = [" ".join(words) for words in self.tokens]
        self.points = list(
            zip(*(table.column(name).to_pylist() for name in ("lon", "lat")), strict=True)
        )
        self._count = 0

    def ids(self, count: int) -> list[str]:
        first, self._count = self._count, self._count + count
        return [f"m{number}" for number in range(first, first + count)]

    def lines(self, count: int | None = None) -> list[bytes]:
        texts = self.texts[:count]
        rows = zip(self.ids(len(texts)), texts, self.points, strict=False)
        return [
            json.dumps({"op": "publish", "id": id_, "text": text, "at": list(at)}).encode()
            for id_, text, at in rows
        ]

    def ndjson(self) -> bytes:
        return b"\n".join(self.lines())

    def table(self) -> pa.Table:
        lon, lat = (pa.array(column) for column in zip(*self.points, strict=True))
        return pa.table({"text": self.texts, "lon": lon, "lat": lat})


def _bulk_ways(
    hub: Hub, keeping: Hub, matcher: Matcher, said: _Messages
) -> dict[str, Callable[[], float]]:
    """Return ways of many messages at once: each gives the seconds of one message."""
    texts = said.table()
    return {
        "bare matcher": lambda: _seconds(matcher.match_table, texts, len(texts)),
        "ndjson": lambda: _seconds(hub.apply, said.ndjson(), len(texts)),
        "lines": lambda: _seconds(hub.apply, said.lines(), len(texts)),
        "table": lambda: _seconds(hub.apply, read_events(said.ndjson()), len(texts)),
        "values": lambda: _seconds(hub.apply, [*map(read_event, said.lines())], len(texts)),
        "ndjson, kept": lambda: _seconds(keeping.apply, said.ndjson(), len(texts)),
        "reading alone": lambda: _seconds(read_events, said.ndjson(), len(texts)),
        "life alone": lambda: _seconds(
            Life(Window(count=KEPT)).apply, read_events(said.ndjson()).select(OUTLINE), len(texts)
        ),
        "line by line, read": lambda: _seconds(
            lambda lines: [*map(read_event, lines)], said.lines(LINES_ALONE), LINES_ALONE
        ),
    }


def _single_ways(
    hub: Hub, keeping: Hub, matcher: Matcher, said: _Messages
) -> dict[str, Callable[[], float]]:
    """Return ways of a call per message: each gives the seconds of one message."""
    calls = min(CALLS, len(said.texts))
    few = said.table().slice(0, calls)
    tokens = list(zip(said.tokens[:calls], said.points, strict=False))
    texts = list(zip(said.texts[:calls], said.points, strict=False))

    def matched(match: Callable[..., Any], messages: list[tuple[Any, Any]]) -> float:
        start = thread_time()
        for message, at in messages:
            match(message, at=at)
        return (thread_time() - start) / len(messages)

    def published(to: Hub) -> float:
        messages = [(id_, *each) for id_, each in zip(said.ids(calls), texts, strict=True)]
        start = thread_time()
        for id_, text, at in messages:
            to.publish(id_, text, at=at)
        return (thread_time() - start) / len(messages)

    return {
        "bare matcher, of the calls": lambda: _seconds(matcher.match_table, few, calls),
        "Matcher.match(tokens)": lambda: matched(matcher.match, tokens),
        "Matcher.match(text)": lambda: matched(matcher.match, texts),
        "Hub.match(tokens)": lambda: matched(hub.match, tokens),
        "Hub.match(text)": lambda: matched(hub.match, texts),
        "Hub.publish": lambda: published(hub),
        "Hub.publish, kept": lambda: published(keeping),
    }


def _seconds(call: Callable[[Any], object], argument: object, count: int) -> float:
    start = thread_time()
    call(argument)
    return (thread_time() - start) / count


def _subscription_lines(table: pa.Table) -> list[bytes]:
    rows = table.set_column(
        table.schema.get_field_index("keywords"),
        "keywords",
        table.column("keywords").cast(pa.list_(pa.string())),
    )
    return [
        json.dumps(
            {
                "op": "subscribe",
                "id": str(row["id"]),
                "keywords": row["keywords"],
                "area": [row["west"], row["south"], row["east"], row["north"]],
            }
        ).encode()
        for row in rows.to_pylist()
    ]

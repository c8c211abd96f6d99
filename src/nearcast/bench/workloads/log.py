"""Workloads as event logs: lines that `nearcast replay` reads.

A log begins with its subscriptions. Then eight of ten events publish a message, one subscribes and
one unsubscribes a subscription that is there [Rt §7.5]; each happens a second after the one before.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from nearcast.bench.workloads.streams import Stream, random_stream
from nearcast.bench.workloads.tables import BOX_COLUMNS, POINT_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa

    from nearcast.bench.workloads.groups import Group
    from nearcast.bench.workloads.scenario import Source

BATCH_ROWS = 10_000
PUBLISH, SUBSCRIBE, UNSUBSCRIBE = range(3)
SHARES = (0.8, 0.1, 0.1)


def publish_events(messages: pa.Table, first: int = 0) -> Iterator[dict[str, object]]:
    """Yield a publish event for each message; ids count from `m{first}`."""
    for number, row in enumerate(_rows(messages), first):
        yield {"op": "publish", "id": f"m{number}", "text": " ".join(row["tokens"]), **_place(row)}


def subscribe_events(subscriptions: pa.Table) -> Iterator[dict[str, object]]:
    """Yield a subscribe event for each subscription, with keywords or an expression."""
    column = "keywords" if "keywords" in subscriptions.column_names else "expression"
    for row in _rows(subscriptions):
        area = [row[name] for name in BOX_COLUMNS]
        yield {"op": "subscribe", "id": f"s{row['id']}", "keywords": row[column], "area": area}


def mixed_events(
    source: Source, group: Group, subscriptions: int, count: int
) -> Iterator[dict[str, object]]:
    """Yield `subscriptions` subscribe events, then `count` events of all kinds."""
    yield from _timed(subscribe_events(source.subscriptions(subscriptions)), 0)
    rng = random_stream(source.seed, Stream.EVENTS)
    kinds = rng.choice(len(SHARES), count, p=SHARES)
    published, subscribed, _ = np.bincount(kinds, minlength=len(SHARES)).tolist()
    publish = publish_events(source.messages(published, group))
    subscribe = subscribe_events(source.subscriptions(subscribed, first=subscriptions))
    yield from _timed(_weave(kinds.tolist(), publish, subscribe, subscriptions, rng), subscriptions)


def to_line(event: Mapping[str, object]) -> str:
    """Return an event as a line of JSON, without its end."""
    return json.dumps(event)


def _weave(
    kinds: list[int],
    publish: Iterator[dict[str, object]],
    subscribe: Iterator[dict[str, object]],
    subscriptions: int,
    rng: np.random.Generator,
) -> Iterator[dict[str, object]]:
    """Yield events of the given kinds; when no subscription is left, none is unsubscribed."""
    present = [f"s{number}" for number in range(subscriptions)]
    for kind in kinds:
        if kind == PUBLISH:
            yield next(publish)
        elif kind == SUBSCRIBE:
            event = next(subscribe)
            present.append(str(event["id"]))
            yield event
        elif present:
            place = int(rng.integers(len(present)))
            present[place], present[-1] = present[-1], present[place]
            yield {"op": "unsubscribe", "id": present.pop()}


def _timed(events: Iterator[dict[str, object]], start: int) -> Iterator[dict[str, object]]:
    return ({**event, "time": time} for time, event in enumerate(events, start))


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=BATCH_ROWS):
        yield from batch.to_pylist()


def _place(row: Mapping[str, object]) -> dict[str, object]:
    if POINT_COLUMNS[0] in row:
        return {"at": [row[name] for name in POINT_COLUMNS]}
    return {"bbox": [row[name] for name in BOX_COLUMNS]}

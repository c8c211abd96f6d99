"""Tables of moving subscriptions and of messages, as events that a hub's core takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearcast.bench.workloads.tables import BOX_COLUMNS, POINT_COLUMNS
from nearcast.events import Move, Publish, Subscribe
from nearcast.expressions import Word
from nearcast.model import Bbox
from nearcast.records import core_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from nearcast.events import Event
    from nearcast.records import Record


def _records(events: Iterable[Event]) -> Iterator[Record]:
    return map(core_record, events)


def _boxes(table: pa.Table) -> Iterator[Bbox]:
    columns = (table.column(name).to_pylist() for name in BOX_COLUMNS)
    return (Bbox(*box) for box in zip(*columns, strict=True))


def subscribe_records(table: pa.Table) -> Iterator[Record]:
    """Return live subscriptions: `id`, `keywords` and boxes."""
    ids, words = (table.column(name).to_pylist() for name in ("id", "keywords"))
    return _records(
        Subscribe(f"s{id}", "match", Word(tuple(keywords)), box, live=True, time=0.0)
        for id, keywords, box in zip(ids, words, _boxes(table), strict=True)
    )


def move_records(table: pa.Table, time: float) -> Iterator[Record]:
    """Return moves: `id` and boxes, all at one time."""
    ids = table.column("id").to_pylist()
    return _records(
        Move(id=f"s{id}", area=box, time=time) for id, box in zip(ids, _boxes(table), strict=True)
    )


def publish_records(
    table: pa.Table,
    first: int,
    times: NDArray[np.float64],
    expiries: NDArray[np.float64] | None,
) -> Iterator[Record]:
    """Return messages: `tokens`, `lon`, `lat`, numbered from `first`; kept if they expire."""
    lons, lats = (table.column(name).to_pylist() for name in POINT_COLUMNS)
    texts = table.column("tokens").to_pylist()
    ends = [None] * len(times) if expiries is None else expiries.tolist()
    rows = zip(texts, lons, lats, times.tolist(), ends, strict=True)
    return _records(
        Publish(id=f"m{first + i}", text=" ".join(words), place=(lon, lat), time=t, expires=end)
        for i, (words, lon, lat, t, end) in enumerate(rows)
    )

"""Moving workloads as event logs: lines that `nearcast replay` reads.

A log begins with all subscriptions, then come the messages that live. At each step messages are
published, then objects move. Moves are the bulk of a log, so their lines are made by columns.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.bench.workloads.log import publish_events, subscribe_events, to_line
from nearcast.bench.workloads.tables import BOX_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nearcast.bench.workloads.moving.workload import MovingStep, MovingWorkload

MOVE_ROWS = 50_000
DECIMALS = 6
"""Of the coordinates in a move: a tenth of a metre."""


def opening_lines(workload: MovingWorkload, *, live: bool = True) -> Iterator[bytes]:
    """Yield the lines before the first step; all happen at time 0.

    Without `live` a move changes only what a subscription will get, not what it has.
    """
    mode = {"live": True} if live else {}
    subscribed = subscribe_events(workload.subscriptions())
    yield from _lines({**event, **mode, "time": 0.0} for event in subscribed)
    yield from _publish_lines(workload.messages(), 0, 0.0)


def step_lines(step: MovingStep) -> Iterator[bytes]:
    """Yield the lines of a step, in blocks."""
    yield from _publish_lines(step.published, step.first_message, step.time)
    for batch in step.moved.to_batches(max_chunksize=MOVE_ROWS):
        yield _move_block(batch, step.time)


def _publish_lines(messages: pa.Table, first: int, time: float) -> Iterator[bytes]:
    expiries = messages.column("expires").to_pylist()
    events = publish_events(messages.drop_columns("expires"), first)
    yield from _lines(
        {**event, "time": time, "expires": expires}
        for event, expires in zip(events, expiries, strict=True)
    )


def _lines(events: Iterable[dict[str, object]]) -> Iterator[bytes]:
    for event in events:
        yield f"{to_line(event)}\n".encode()


def _move_block(moved: pa.RecordBatch, time: float) -> bytes:
    """Return move events, as `to_line` would write them."""
    sides = [
        pa.array(np.round(moved.column(name).to_numpy(), DECIMALS)).cast(pa.string())
        for name in BOX_COLUMNS
    ]
    lines = pc.binary_join_element_wise(
        '{"op": "move", "id": "s',
        moved.column("id").cast(pa.string()),
        '", "area": [',
        pc.binary_join_element_wise(*sides, ", "),
        f'], "time": {json.dumps(time)}}}\n',
        "",
    )
    # All strings of an array lie in a row: that is the block, without a string object per line.
    _, offsets, text = lines.buffers()
    return bytes(text.slice(0, np.frombuffer(offsets, np.int32)[len(lines)]))

"""The mixed load: 80 % messages, 10 % inserts and 10 % deletes of subscriptions [Rt §7.5].

Operations reach a contender in batches, messages before inserts before deletes, because a call per
operation would measure the call. Deletes take subscriptions of the first build at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from nearcast.bench.results import MixedCost, Spread
from nearcast.bench.workloads.streams import Stream, random_stream
from nearcast.bench.workloads.tables import compact

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from nearcast.bench.contenders import Contender
    from nearcast.bench.workloads.scenario import Scenario

BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Batch:
    """Operations of each kind that reach a contender together."""

    messages: pa.Table
    inserts: pa.Table
    deletes: NDArray[np.int64]

    def operations(self) -> int:
        """Return the number of operations."""
        return int(self.messages.num_rows + self.inserts.num_rows + len(self.deletes))


@dataclass(frozen=True, slots=True)
class SegmentTimes:
    """Seconds that one contender took for one segment, by kind of operation."""

    messages: float
    inserts: float
    deletes: float


def plan_segments(
    scenario: Scenario, operations: int, segments: int, batch: int = BATCH
) -> list[list[Batch]]:
    """Draw all operations and cut them into segments of batches.

    Raises
    ------
    ValueError
        If there are more deletes than subscriptions, or too few operations for the segments.
    """
    per_segment = operations // (segments * batch)
    if per_segment == 0:
        msg = f"mixed load is too small: got {operations}, wanted {segments * batch} or more"
        raise ValueError(msg)
    changes, count = batch // 10, per_segment * segments
    held = scenario.subscriptions.num_rows
    if changes * count > held:
        msg = f"mixed load deletes {changes * count} subscriptions, but there are only {held}"
        raise ValueError(msg)
    batches = _draw_batches(scenario, count, changes, batch - 2 * changes)
    return [batches[i : i + per_segment] for i in range(0, count, per_segment)]


def run_segment(contender: Contender, segment: Sequence[Batch]) -> SegmentTimes:
    """Put one segment through a contender."""
    seconds = np.zeros(3)
    for batch in segment:
        start = perf_counter()
        contender.match(batch.messages)
        matched = perf_counter()
        contender.subscribe(batch.inserts)
        inserted = perf_counter()
        contender.unsubscribe(batch.deletes)
        seconds += (matched - start, inserted - matched, perf_counter() - inserted)
    return SegmentTimes(*seconds.tolist())


def apply_changes(contender: Contender, segments: Sequence[Sequence[Batch]]) -> None:
    """Put only the inserts and deletes through a contender, to compare its answers afterwards."""
    for segment in segments:
        for batch in segment:
            contender.subscribe(batch.inserts)
            contender.unsubscribe(batch.deletes)


def summarise(segments: Sequence[Sequence[Batch]], times: Sequence[SegmentTimes]) -> MixedCost:
    """Turn the times of all segments into costs per operation."""
    first = segments[0][0]
    batches = len(segments[0])
    operations = sum(batch.operations() for batch in segments[0])
    totals = [t.messages + t.inserts + t.deletes for t in times]
    return MixedCost(
        operations=operations * len(segments),
        batch=first.operations(),
        operations_per_second=Spread.over([operations / total for total in totals]),
        message_us=_per_operation([t.messages for t in times], batches * first.messages.num_rows),
        insert_us=_per_operation([t.inserts for t in times], batches * first.inserts.num_rows),
        delete_us=_per_operation([t.deletes for t in times], batches * len(first.deletes)),
    )


def _per_operation(seconds: Sequence[float], operations: int) -> Spread:
    return Spread.over([value * 1e6 / operations for value in seconds])


def _draw_batches(scenario: Scenario, count: int, changes: int, messages: int) -> list[Batch]:
    source, held = scenario.source, scenario.subscriptions.num_rows
    published = source.messages(
        count * messages,
        scenario.group,
        first=scenario.history.num_rows + scenario.messages.num_rows,
    )
    inserts = source.subscriptions(count * changes, first=held)
    rng = random_stream(source.seed, Stream.HARNESS, 1)
    deletes = rng.choice(held, count * changes, replace=False).astype(np.int64)
    return [
        Batch(
            compact(published.slice(i * messages, messages), "tokens"),
            _inserts(inserts.slice(i * changes, changes)),
            deletes[i * changes : (i + 1) * changes],
        )
        for i in range(count)
    ]


def _inserts(table: pa.Table) -> pa.Table:
    return compact(table, "keywords") if "keywords" in table.schema.names else table

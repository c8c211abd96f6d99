"""Measures location updates: live subscriptions that move on roads among messages that stay.

Contenders are hubs with different indexes, fed the same events. First everything subscribes and as
many messages are kept as shall live; then each repetition publishes messages that are not kept,
messages that are, and messages at whose time one of those expires that lived so far, and moves a
fixed part of the objects one step. The changes that a batch causes are compared between the
contenders; with `compare_small` also with brute force, on a small workload of the same kind.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearcast.bench.checks import WrongAnswerError
from nearcast.bench.contenders import BRUTE_FORCE, ContenderSpec
from nearcast.bench.measuring import measure_events
from nearcast.bench.moving_records import move_records, publish_records, subscribe_records
from nearcast.bench.results import Spread
from nearcast.bench.workloads.moving.workload import MovingPlan, MovingWorkload
from nearcast.bench.workloads.streams import Stream, random_stream
from nearcast.hub import Hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from nearcast.records import Record

CHUNK = 20_000
SMALL = 1_500
"""Objects and messages where brute force takes part."""
PASS, KEEP, MOVE = "publish, not kept", "publish, kept", "move"
EXPIRE = "publish, not kept, while one expires"
OPERATIONS = (PASS, KEEP, EXPIRE, MOVE)
COMPARED = ("event", "subscription", "message", "change", "reason")
COMPARED_SCHEMA = pa.schema([(COMPARED[0], pa.int64()), *((n, pa.string()) for n in COMPARED[1:])])


@dataclass(frozen=True, slots=True)
class MovingSizes:
    """What one repetition does, and how many there are."""

    moves: int = 20_000
    publishes: int = 2_000
    repetitions: int = 5


@dataclass(frozen=True, slots=True)
class OperationCost:
    """Times of one kind of operation over all repetitions, changes included."""

    cpu_us: Spread
    mean_us: Spread
    p50_us: float
    p99_us: float
    p999_us: float
    worst_us: float
    changes: float
    """Per operation."""


@dataclass(frozen=True, slots=True)
class MovingResult:
    """All numbers of one contender."""

    name: str
    kind: str
    parameters: Mapping[str, int | float | str | bool]
    subscribe_us: float
    first_keep_us: float
    bytes_per_subscription: float
    bytes_per_message: float
    operations: dict[str, OperationCost]


@dataclass(slots=True)
class _Entrant:
    spec: ContenderSpec
    hub: Hub
    subscribe_us: float = 0.0
    keep_us: float = 0.0
    subscription_bytes: int = 0
    message_bytes: int = 0
    laps: dict[str, list[NDArray[np.float64]]] = field(default_factory=dict)
    cpu: dict[str, list[float]] = field(default_factory=dict)
    changes: dict[str, int] = field(default_factory=dict)

    def run(self, records: list[Record]) -> tuple[pa.Table, NDArray[np.float64], float]:
        """Apply, and return changes, microseconds of each, processor microseconds of all."""
        changes, nanoseconds, seconds = measure_events(self.hub, records)
        return changes, nanoseconds / 1e3, seconds * 1e6

    def bytes(self) -> int:
        stats = self.hub.stats()
        parts = ("memory_bytes", "message_bytes", "message_index_bytes")
        return sum(stats[part] for part in parts)


def measure_moving(
    workload: MovingWorkload,
    specs: Sequence[ContenderSpec],
    sizes: MovingSizes,
    step: Callable[[str], None],
) -> list[MovingResult]:
    """Measure contenders on a workload; `step` is told what is about to happen.

    Raises
    ------
    WrongAnswerError
        If two contenders disagree.
    """
    entrants = [
        _Entrant(spec, Hub(index=spec.kind, index_parameters=spec.parameters)) for spec in specs
    ]
    _open(entrants, workload, step)
    for number, batches in enumerate(_repetitions(workload, sizes)):
        step(f"repetition {number + 1}")
        for turn, (operation, records) in enumerate(batches):
            _run_batch(entrants, operation, records, first=number + turn)
    return [_result(entrant, workload.plan) for entrant in entrants]


def compare_small(
    workload: MovingWorkload, specs: Sequence[ContenderSpec], size: int = SMALL
) -> None:
    """Run contenders and brute force on a small workload like this one.

    Parameters
    ----------
    workload, specs
        What would be measured.
    size
        Objects and messages.

    Raises
    ------
    WrongAnswerError
        If one of them is wrong.
    """
    share = min(workload.plan.area_share * 30, 1.0)
    plan = replace(workload.plan, objects=size, messages=size, steps=3, area_share=share)
    small = MovingWorkload(workload.source, workload.network, plan, workload.space)
    oracle = ContenderSpec(BRUTE_FORCE, {})
    measure_moving(small, [oracle, *specs], MovingSizes(size, size // 5, 3), lambda _: None)


# ---- events -----------------------------------------------------------------------------------


def _open(
    entrants: Sequence[_Entrant], workload: MovingWorkload, step: Callable[[str], None]
) -> None:
    step("subscribe")
    for records in _chunks(subscribe_records(workload.subscriptions())):
        for entrant in entrants:
            _, _, cpu = entrant.run(records)
            entrant.subscribe_us += cpu
    for entrant in entrants:
        entrant.subscription_bytes = entrant.bytes()
    step("publish what lives")
    life = _life_seconds(workload.plan)
    count = workload.plan.messages
    expiries = life * np.arange(1, count + 1) / max(count, 1)
    opening = workload.messages().drop_columns("expires")
    for records in _chunks(publish_records(opening, 0, np.zeros(count), expiries)):
        tables = []
        for entrant in entrants:
            changes, _, cpu = entrant.run(records)
            entrant.keep_us += cpu
            tables.append(changes)
        _require_same(entrants, tables)
    for entrant in entrants:
        entrant.message_bytes = entrant.bytes() - entrant.subscription_bytes


def _repetitions(
    workload: MovingWorkload, sizes: MovingSizes
) -> Iterator[list[tuple[str, list[Record]]]]:
    """Yield the batches of each repetition, each of one kind of operation."""
    plan = workload.plan
    life, pause = _life_seconds(plan), _life_seconds(plan) / max(plan.messages, 1)
    rng = random_stream(workload.source.seed, Stream.HARNESS, 3)
    movers = np.sort(rng.choice(plan.objects, min(sizes.moves, plan.objects), replace=False))
    now, first = 0.0, plan.messages
    for step in islice(workload.steps(), sizes.repetitions):
        count = sizes.publishes
        fresh = workload.later_messages(first, 3 * count)
        passing, kept, last = (fresh.slice(part * count, count) for part in range(3))
        times = np.float64(now) + pause * np.arange(1.0, count + 1)
        still = np.full(count, now)
        now = float(times[-1])
        yield [
            (PASS, [*publish_records(passing, first, still, None)]),
            (KEEP, [*publish_records(kept, first + count, still, times + life)]),
            (EXPIRE, [*publish_records(last, first + 2 * count, times, None)]),
            (MOVE, [*move_records(step.moved.take(movers), now)]),
        ]
        first += 3 * count


def _life_seconds(plan: MovingPlan) -> float:
    return plan.life_steps * plan.step_seconds


def _chunks(records: Iterator[Record]) -> Iterator[list[Record]]:
    while chunk := list(islice(records, CHUNK)):
        yield chunk


# ---- numbers ----------------------------------------------------------------------------------


def _run_batch(
    entrants: Sequence[_Entrant], operation: str, records: list[Record], first: int
) -> None:
    order = [entrants[(first + i) % len(entrants)] for i in range(len(entrants))]
    tables = []
    for entrant in order:
        changes, laps, cpu = entrant.run(records)
        entrant.laps.setdefault(operation, []).append(laps)
        entrant.cpu.setdefault(operation, []).append(cpu / len(records))
        entrant.changes[operation] = entrant.changes.get(operation, 0) + changes.num_rows
        tables.append(changes)
    _require_same(order, tables)


def _require_same(entrants: Sequence[_Entrant], tables: Sequence[pa.Table]) -> None:
    first = _sorted(tables[0])
    for entrant, table in zip(entrants[1:], tables[1:], strict=True):
        if _sorted(table).equals(first):
            continue
        what = f"{entrant.spec.name} and {entrants[0].spec.name} disagree about a batch of events"
        got, wanted = f"{table.num_rows} changes", f"the {first.num_rows} of the other"
        raise WrongAnswerError(what, got=got, wanted=wanted)


def _sorted(changes: pa.Table) -> pa.Table:
    """Return everything but scores, in an order that does not depend on how it was found."""
    plain = changes.select(list(COMPARED)).cast(COMPARED_SCHEMA)
    return plain.sort_by([(name, "ascending") for name in COMPARED])


def _result(entrant: _Entrant, plan: MovingPlan) -> MovingResult:
    return MovingResult(
        name=entrant.spec.name,
        kind=entrant.spec.kind,
        parameters=dict(entrant.spec.parameters),
        subscribe_us=round(entrant.subscribe_us / max(plan.objects, 1), 3),
        first_keep_us=round(entrant.keep_us / max(plan.messages, 1), 3),
        bytes_per_subscription=round(entrant.subscription_bytes / max(plan.objects, 1), 1),
        bytes_per_message=round(entrant.message_bytes / max(plan.messages, 1), 1),
        operations={name: _cost(entrant, name) for name in OPERATIONS},
    )


def _cost(entrant: _Entrant, operation: str) -> OperationCost:
    laps = entrant.laps[operation]
    every = np.concatenate(laps)
    p50, p99, p999 = (round(float(np.percentile(every, p)), 3) for p in (50, 99, 99.9))
    return OperationCost(
        cpu_us=Spread.over(entrant.cpu[operation]),
        mean_us=Spread.over([float(lap.mean()) for lap in laps]),
        p50_us=p50,
        p99_us=p99,
        p999_us=p999,
        worst_us=round(float(every.max()), 3),
        changes=round(entrant.changes[operation] / len(every), 4),
    )

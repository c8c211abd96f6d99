"""Subscriptions that report every step, against those that report when they leave a safe region.

Communication is counted: reports of subscribers, and promises that a hub shortens between reports.
At the end both hold the same messages, or the run ends. Elaps, the paper's competitor, stands in
another paper and is not here.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearcast.bench.checks import WrongAnswerError
from nearcast.bench.contenders import parse_contender
from nearcast.bench.measuring import measure_promises
from nearcast.bench.moving_records import move_records, publish_records, subscribe_records
from nearcast.bench.paper.experiment import Moving, Safety
from nearcast.bench.paper.kinds.moving import moving_workload
from nearcast.bench.paper.kinds.study import along
from nearcast.bench.paper.outcome import values_of
from nearcast.bench.workloads.tables import BOX_COLUMNS
from nearcast.hub import Hub

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nearcast.bench.paper.experiment import Study
    from nearcast.bench.paper.kinds.study import Facts, Found, Lab, Numbers, Steps
    from nearcast.bench.workloads.moving.workload import MovingWorkload
    from nearcast.records import Record

SAFE = "-safe"
"""At the end of a contender's name: with safe regions."""
STEPS = 5
CHECKED = 200
AREA_SHARE = 1e-3


def run_safety(study: Study, lab: Lab) -> Found:
    """Measure a study of safe regions."""

    def measure(
        setup: Safety, names: Sequence[str], steps: Steps
    ) -> tuple[Mapping[str, Numbers], Facts]:
        return _measure(setup, names, lab, steps)

    return along(study, lab, Safety, measure)


def _measure(
    setup: Safety, names: Sequence[str], lab: Lab, steps: Steps
) -> tuple[Mapping[str, Numbers], Facts]:
    moving = Moving(setup.data, setup.objects, setup.messages, AREA_SHARE, 1.0)
    workload = moving_workload(moving, lab, steps=STEPS)
    fleets = [_Fleet(name, workload) for name in names]
    for fleet in fleets:
        steps.step(f"subscribe, {fleet.name}")
        fleet.open(workload)
    first = setup.messages
    for step in workload.steps():
        steps.step(f"step {step.number}")
        fresh = workload.later_messages(first, setup.arrivals)
        expiries = np.full(setup.arrivals, step.time + 10 * workload.plan.step_seconds)
        times = np.full(setup.arrivals, step.time)
        records = [*publish_records(fresh, first, times, expiries)]
        first += setup.arrivals
        turn = step.number % len(fleets)
        for fleet in (*fleets[turn:], *fleets[:turn]):
            fleet.go(step.moved, records, step.time)
    _check(fleets, setup.objects)
    numbers = {
        fleet.name: {
            "step_ms": values_of([1e3 * seconds for seconds in fleet.seconds]),
            "step_reports": values_of(fleet.sent),
        }
        for fleet in fleets
    }
    facts = {"source": workload.source.name, **asdict(setup), "compared_results": CHECKED}
    return numbers, facts


class _Fleet:
    """All subscribers of one hub, and what they know."""

    def __init__(self, name: str, workload: MovingWorkload) -> None:
        self.name = name
        self.is_safe = name.endswith(SAFE)
        spec = parse_contender(name.removesuffix(SAFE))
        self.hub = Hub(index=spec.kind, index_parameters=spec.parameters, safe_region=self.is_safe)
        self.reported: NDArray[np.float64] = np.empty((0, 4))
        self.promised = np.full(workload.plan.objects, 0.0)
        self.seconds: list[float] = []
        self.sent: list[float] = []

    def open(self, workload: MovingWorkload) -> None:
        """Subscribe all, and publish what lives."""
        table = workload.subscriptions()
        self.reported = boxes_of(table)
        self._hear(measure_promises(self.hub, [*subscribe_records(table)])[0])
        opening = workload.messages()
        expiries = opening.column("expires").to_numpy()
        times = np.zeros(opening.num_rows)
        self._hear(measure_promises(self.hub, [*publish_records(opening, 0, times, expiries)])[0])

    def go(self, moved: pa.Table, records: list[Record], time: float) -> None:
        """Move all one step, then let messages come."""
        now = boxes_of(moved)
        seconds, sent = self._report(now, moved, time)
        told, taken = measure_promises(self.hub, records)
        self._hear(told)
        more, again = self._report(now, moved, time) if self.is_safe else (0.0, 0)
        self.seconds.append(seconds + taken + more)
        self.sent.append(float(sent + len(told) + again))

    def _report(self, now: NDArray[np.float64], moved: pa.Table, time: float) -> tuple[float, int]:
        """Report where it may matter; return seconds and how many did."""
        rows = np.arange(len(now))
        if self.is_safe:
            rows = np.flatnonzero(np.abs(now - self.reported).max(axis=1) >= self.promised)
        moves = [*move_records(moved.take(pa.array(rows)), time)]
        told, seconds = measure_promises(self.hub, moves)
        self.reported[rows] = now[rows]
        self._hear(told)
        return seconds, len(rows)

    def _hear(self, told: Mapping[str, float]) -> None:
        for id, distance in told.items():
            self.promised[int(id[1:])] = distance


def boxes_of(table: pa.Table) -> NDArray[np.float64]:
    """Return boxes as rows of four."""
    return np.column_stack([table.column(name).to_numpy() for name in BOX_COLUMNS])


def _check(fleets: list[_Fleet], objects: int) -> None:
    """Compare what subscriptions of all hubs hold."""
    for number in np.linspace(0, objects - 1, min(CHECKED, objects)).astype(int).tolist():
        held = [sorted(m for m, _ in fleet.hub.results(f"s{number}")) for fleet in fleets]
        if any(one != held[0] for one in held):
            what = f"hubs disagree about subscription s{number}"
            raise WrongAnswerError(what, got=held[1][:5], wanted=str(held[0][:5]))

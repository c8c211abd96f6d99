"""Location updates among live messages, along an axis."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from nearcast.bench.contenders import parse_contender
from nearcast.bench.moving import (
    EXPIRE,
    KEEP,
    MOVE,
    PASS,
    SMALL,
    MovingSizes,
    compare_small,
    measure_moving,
)
from nearcast.bench.paper.experiment import Moving
from nearcast.bench.paper.kinds.study import along, single
from nearcast.bench.paper.outcome import values_of
from nearcast.bench.workloads.moving.workload import MovingPlan, MovingWorkload

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nearcast.bench.moving import MovingResult
    from nearcast.bench.paper.experiment import Study
    from nearcast.bench.paper.kinds.study import Facts, Found, Lab, Numbers, Steps

PUBLISHES_SHARE = 20
"""Messages of a kind in a repetition: one of so many that live."""


def run_moving(study: Study, lab: Lab) -> Found:
    """Measure a study of moving subscriptions; brute force takes part at the first point."""
    compared: list[str] = []

    def measure(
        setup: Moving, names: Sequence[str], steps: Steps
    ) -> tuple[Mapping[str, Numbers], Facts]:
        specs = [parse_contender(name) for name in names]
        steps.step("read texts and roads")
        workload = moving_workload(setup, lab)
        if not compared:
            steps.step("compare with brute force")
            compare_small(workload, specs, min(SMALL, setup.objects))
            compared.extend(names)
        sizes = MovingSizes(
            moves=max(round(setup.objects * setup.mobility), 1),
            publishes=max(setup.messages // PUBLISHES_SHARE, 1),
            repetitions=lab.scale.repetitions,
        )
        results = measure_moving(workload, specs, sizes, steps.step)
        numbers = [_numbers(result, sizes.moves) for result in results]
        facts = {"source": workload.source.name, **asdict(setup)}
        return dict(zip(names, numbers, strict=True)), facts

    return along(study, lab, Moving, measure)


def moving_workload(setup: Moving, lab: Lab, steps: int | None = None) -> MovingWorkload:
    """Return texts and roads of a setup; `data` names both, as `TWEETS-ODB`."""
    texts, _, roads = setup.data.partition("-")
    _, network = lab.shelf.roads(roads)
    plan = MovingPlan(
        objects=setup.objects,
        messages=setup.messages,
        steps=steps or lab.scale.repetitions,
        area_share=setup.area,
        speed=setup.speed,
        destinations=lab.scale.destinations,
    )
    return MovingWorkload(lab.shelf.source(texts), network, plan)


def _numbers(result: MovingResult, moves: int) -> Numbers:
    cost = {name: result.operations[name].cpu_us for name in (PASS, KEEP, EXPIRE, MOVE)}
    kept, passed = cost[KEEP].values, cost[PASS].values
    return {
        "publish_us": values_of(kept),
        "pass_us": values_of(passed),
        "keep_us": values_of([max(a - b, 0.0) for a, b in zip(kept, passed, strict=True)]),
        "move_us": values_of(cost[MOVE].values),
        "step_ms": values_of([value * moves / 1e3 for value in cost[MOVE].values]),
        "bytes": single(result.bytes_per_subscription + result.bytes_per_message),
    }

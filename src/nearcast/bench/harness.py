"""Measures contenders on one workload, so that the numbers can be compared.

All contenders are built on the same subscriptions and stay in memory. Before anything is timed, a
sample of messages is compared with brute force; a wrong answer ends the run. Then each repetition
takes every contender once, beginning with another one each time, so that a busy moment of the
machine does not fall on the same contender always.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Protocol

import numpy as np

from nearcast.bench import results
from nearcast.bench.checks import (
    require_equal,
    require_equal_counts,
    sample_messages,
    sorted_pairs,
)
from nearcast.bench.contenders import BRUTE_FORCE, ContenderSpec, make_contender
from nearcast.bench.mixed import apply_changes, plan_segments, run_segment, summarise
from nearcast.bench.results import Spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from nearcast.bench.contenders import Contender, Measurement
    from nearcast.bench.mixed import SegmentTimes
    from nearcast.bench.workloads.scenario import Scenario


class Progress(Protocol):
    """Told what is about to happen."""

    def step(self, description: str) -> None:
        """One more step begins."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How to measure: repetitions, messages to check, operations of the mixed load (0: none)."""

    repetitions: int = 5
    checked_messages: int = 200
    mixed_operations: int = 0

    def steps(self, contenders: int) -> int:
        """Return how often `Progress.step` will be called."""
        rounds = self.repetitions * (2 if self.mixed_operations else 1)
        return contenders * (1 + rounds) + (1 if self.checked_messages else 0)


class _Entrant:
    """A contender with what has been measured of it so far."""

    def __init__(self, spec: ContenderSpec, contender: Contender, scenario: Scenario) -> None:
        self.spec = spec
        self.contender = contender
        self.build = _build(self.contender, scenario)
        held = self.contender.memory()
        count = max(held.subscriptions, 1)
        self.memory = results.MemoryUse(
            bytes_per_subscription=round(held.total_bytes / count, 2),
            index_bytes_per_subscription=round(held.index_bytes / count, 2),
            vocabulary_bytes=held.vocabulary_bytes,
        )
        self.measurements: list[Measurement] = []
        self.segments: list[SegmentTimes] = []

    def result(self, mixed: results.MixedCost | None) -> results.ContenderResult:
        """Summarise the repetitions."""
        return results.ContenderResult(
            name=self.spec.name,
            kind=self.spec.kind,
            parameters=dict(self.spec.parameters),
            build=self.build,
            match=_match_cost(self.measurements),
            work_per_message=_work(self.measurements[0]),
            memory=self.memory,
            mixed=mixed,
        )


def run_match(
    scenario: Scenario,
    specs: Sequence[ContenderSpec],
    plan: Plan,
    progress: Progress,
    make: Callable[[ContenderSpec], Contender] = make_contender,
) -> results.Run:
    """Measure contenders, which `make` makes, on a scenario.

    Raises
    ------
    WrongAnswerError
        If a contender disagrees with brute force or with another contender.
    """
    entrants = []
    for spec in specs:
        progress.step(f"build {spec.name}")
        entrants.append(_Entrant(spec, make(spec), scenario))
    oracle = None
    if plan.checked_messages:
        progress.step("check against brute force")
        oracle = make(ContenderSpec(BRUTE_FORCE, {}))
        _build(oracle, scenario)
        _check(entrants, oracle, scenario, plan)
    for entrant in _interleave(entrants, plan.repetitions):
        progress.step(f"match {entrant.spec.name}")
        entrant.measurements.append(entrant.contender.measure(scenario.messages))
    require_equal_counts({e.spec.name: e.measurements[0].matches for e in entrants})
    mixed = _run_mixed(entrants, oracle, scenario, plan, progress)
    return results.Run(
        workload=_facts(scenario, plan),
        contenders=tuple(e.result(cost) for e, cost in zip(entrants, mixed, strict=True)),
    )


def _build(contender: Contender, scenario: Scenario) -> results.BuildCost:
    start = perf_counter()
    contender.learn(scenario.history)
    learned, cpu_before = perf_counter(), thread_time()
    contender.subscribe(scenario.subscriptions)
    return results.BuildCost(
        learn_wall_seconds=round(learned - start, 6),
        wall_seconds=round(perf_counter() - learned, 6),
        cpu_seconds=round(thread_time() - cpu_before, 6),
    )


def _interleave(entrants: Sequence[_Entrant], repetitions: int) -> Iterator[_Entrant]:
    for repetition in range(repetitions):
        for place in range(len(entrants)):
            yield entrants[(repetition + place) % len(entrants)]


def _check(entrants: Sequence[_Entrant], oracle: Contender, scenario: Scenario, plan: Plan) -> None:
    sample = sample_messages(scenario.messages, plan.checked_messages, scenario.source.seed)
    truth = sorted_pairs(oracle, sample)
    for entrant in entrants:
        require_equal(entrant.spec.name, sorted_pairs(entrant.contender, sample), truth)


def _run_mixed(
    entrants: Sequence[_Entrant],
    oracle: Contender | None,
    scenario: Scenario,
    plan: Plan,
    progress: Progress,
) -> list[results.MixedCost | None]:
    """Run the mixed load, one segment per repetition, and check the answers again afterwards."""
    if plan.mixed_operations == 0:
        return [None] * len(entrants)
    segments = plan_segments(scenario, plan.mixed_operations, plan.repetitions)
    for entrant in _interleave(entrants, plan.repetitions):
        progress.step(f"mixed load {entrant.spec.name}")
        entrant.segments.append(run_segment(entrant.contender, segments[len(entrant.segments)]))
    if oracle is not None:
        apply_changes(oracle, segments)
        _check(entrants, oracle, scenario, plan)
    return [summarise(segments, entrant.segments) for entrant in entrants]


def _match_cost(measurements: Sequence[Measurement]) -> results.MatchCost:
    times = [m.nanoseconds / 1e3 for m in measurements]
    return results.MatchCost(
        mean_us=Spread.over([float(t.mean()) for t in times]),
        p50_us=Spread.over([float(np.percentile(t, 50)) for t in times]),
        p99_us=Spread.over([float(np.percentile(t, 99)) for t in times]),
        cpu_us=Spread.over([m.cpu_seconds * 1e6 / len(m.nanoseconds) for m in measurements]),
    )


def _work(measurement: Measurement) -> results.WorkPerMessage:
    count = len(measurement.nanoseconds)
    return results.WorkPerMessage(
        nodes_visited=round(measurement.nodes_visited / count, 4),
        candidates=round(measurement.candidates / count, 4),
        matches=round(measurement.matches / count, 4),
    )


def _facts(scenario: Scenario, plan: Plan) -> results.WorkloadFacts:
    messages, subscriptions = scenario.messages, scenario.subscriptions
    tokens = sum(len(chunk.flatten()) for chunk in messages.column("tokens").chunks)
    keywords = _keywords(subscriptions)
    return results.WorkloadFacts(
        source=scenario.source.name,
        group=scenario.group.name,
        seed=scenario.source.seed,
        subscriptions=subscriptions.num_rows,
        messages=messages.num_rows,
        tokens_per_message=round(tokens / messages.num_rows, 3),
        keywords_per_subscription=round(keywords / subscriptions.num_rows, 3),
        checked_messages=min(plan.checked_messages, messages.num_rows),
        alpha=scenario.alpha,
        threshold=scenario.threshold,
    )


def _keywords(subscriptions: pa.Table) -> int:
    if "expression" in subscriptions.schema.names:
        texts = subscriptions.column("expression").to_pylist()
        return sum(1 for text in texts for word in text.split() if word not in ("AND", "OR"))
    return sum(len(chunk.flatten()) for chunk in subscriptions.column("keywords").chunks)

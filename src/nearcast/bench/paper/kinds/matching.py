"""Matching and ranking along an axis, and inserts after an index was built."""

from __future__ import annotations

from dataclasses import asdict
from time import thread_time
from typing import TYPE_CHECKING

import numpy as np

from nearcast.bench.checks import require_equal, sample_messages, sorted_pairs
from nearcast.bench.contenders import BRUTE_FORCE, make_contender, parse_contender
from nearcast.bench.harness import Plan, run_match
from nearcast.bench.paper.experiment import Matching
from nearcast.bench.paper.kinds.study import along, single
from nearcast.bench.paper.outcome import values_of
from nearcast.bench.ranking import RankedSource, rank_contenders
from nearcast.bench.workloads.groups import Group
from nearcast.bench.workloads.scenario import Scenario, history_size
from nearcast.bench.workloads.tables import compact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from nearcast.bench.contenders import Contender
    from nearcast.bench.paper.experiment import Study
    from nearcast.bench.paper.kinds.study import Facts, Found, Lab, Numbers, Steps
    from nearcast.bench.results import ContenderResult, Run

MIXED_BATCH = 1_000
INSERT_BATCH = 64
LEAST_MESSAGES = 50


def run_matching(study: Study, lab: Lab) -> Found:
    """Measure a study of subscriptions that match or rank."""

    def measure(
        setup: Matching, names: Sequence[str], steps: Steps
    ) -> tuple[Mapping[str, Numbers], Facts]:
        scenario = _scenario(setup, lab)
        if setup.built < 1:
            return _inserts(scenario, setup.built, names, lab, steps)
        scale = lab.scale
        mixed = MIXED_BATCH * scale.repetitions if setup.mixed else 0
        plan = Plan(scale.repetitions, scale.checked, mixed)
        make = make_contender if setup.alpha is None else rank_contenders(idf=False)
        run = run_match(scenario, [parse_contender(name) for name in names], plan, steps, make)
        return dict(zip(names, map(_numbers, run.contenders), strict=True)), _facts(run)

    return along(study, lab, Matching, measure)


def _scenario(setup: Matching, lab: Lab) -> Scenario:
    source = lab.shelf.for_matching(setup)
    subscriptions = lab.shelf.subscriptions(setup)
    if setup.alpha is not None:
        source = RankedSource(source, setup.alpha, setup.threshold)
        subscriptions = source.with_terms(subscriptions)
    group = Group(extent=setup.extent, exact=setup.words)
    count = lab.scale.messages
    history = history_size(count)
    if setup.words is not None:
        # Long messages take long to draw and to match, and nothing learns from them here.
        count = max(count // (1 + setup.words // 100), min(count, LEAST_MESSAGES))
        history = 0
    return Scenario(
        source=source,
        group=group,
        subscriptions=subscriptions,
        messages=lab.shelf.messages(setup.data, group, count, first=history),
        history=lab.shelf.messages(setup.data, group, history),
    )


def _facts(run: Run) -> Facts:
    kept = ("source", "group", "subscriptions", "messages", "tokens_per_message")
    told = asdict(run.workload)
    return {name: told[name] for name in (*kept, "keywords_per_subscription", "checked_messages")}


def _numbers(result: ContenderResult) -> Numbers:
    match, work = result.match, result.work_per_message
    numbers = {
        "match_us": values_of(match.cpu_us.values),
        "p99_us": values_of(match.p99_us.values),
        "candidates": single(work.candidates),
        "matches": single(work.matches),
        "build_s": single(result.build.cpu_seconds),
        "bytes": single(result.memory.bytes_per_subscription),
        "index_bytes": single(result.memory.index_bytes_per_subscription),
    }
    if result.mixed is not None:
        numbers["operations_per_s"] = values_of(result.mixed.operations_per_second.values)
    return numbers


# ---- inserts ----------------------------------------------------------------------------------


def _inserts(
    scenario: Scenario, built: float, names: Sequence[str], lab: Lab, steps: Steps
) -> tuple[Mapping[str, Numbers], Facts]:
    """Build on a share of the subscriptions, insert the others, then match [AP §5.1.3]."""
    scale = lab.scale
    at_first = round(scenario.subscriptions.num_rows * built)
    base = compact(scenario.subscriptions.slice(0, at_first), "keywords")
    rest = scenario.subscriptions.slice(at_first)
    batches = [
        compact(rest.slice(start, INSERT_BATCH), "keywords")
        for start in range(0, rest.num_rows, INSERT_BATCH)
    ]
    sample = sample_messages(scenario.messages, scale.checked, scenario.source.seed)
    oracle = make_contender(parse_contender(BRUTE_FORCE))
    oracle.subscribe(scenario.subscriptions)
    truth = sorted_pairs(oracle, sample)
    contenders: dict[str, Contender] = {}
    inserted: dict[str, float] = {}
    for name in names:
        steps.step(f"build and insert into {name}")
        contender = make_contender(parse_contender(name))
        contender.learn(scenario.history)
        contender.subscribe(base)
        start = thread_time()
        for batch in batches:
            contender.subscribe(batch)
        inserted[name] = (thread_time() - start) * 1e6 / max(rest.num_rows, 1)
        require_equal(name, sorted_pairs(contender, sample), truth)
        contenders[name] = contender
    times = _in_turns(contenders, scenario.messages, scale.repetitions, steps)
    numbers = {
        name: {"match_us": values_of(times[name]), "insert_us": single(inserted[name])}
        for name in contenders
    }
    facts = {
        "source": scenario.source.name,
        "subscriptions": scenario.subscriptions.num_rows,
        "built": at_first,
        "messages": scenario.messages.num_rows,
        "checked_messages": sample.num_rows,
    }
    return numbers, facts


def _in_turns(
    contenders: Mapping[str, Contender], messages: pa.Table, repetitions: int, steps: Steps
) -> dict[str, list[float]]:
    names = [*contenders]
    times: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(repetitions):
        for name in np.roll(names, -turn).tolist():
            steps.step(f"match {name}")
            measured = contenders[name].measure(messages)
            times[name].append(measured.cpu_seconds * 1e6 / messages.num_rows)
    return times

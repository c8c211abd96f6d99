"""Top lists over a full window, along an axis: arrival, expiry, buffers."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from nearcast.bench.paper.experiment import Tops
from nearcast.bench.paper.kinds.study import along, single
from nearcast.bench.paper.outcome import values_of
from nearcast.bench.topk import read_contender, run_topk
from nearcast.bench.workloads.tops import TopSizes, top_scenario_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nearcast.bench.paper.experiment import Study
    from nearcast.bench.paper.kinds.study import Facts, Found, Lab, Numbers, Steps
    from nearcast.bench.topk_results import TopCost
    from nearcast.bench.workloads.tops import TopScenario

MOST_SETTLING = 50_000
"""Messages before the measured ones: half a window, at most so many."""
MESSAGES = 4
"""So many times as many messages as for matching: a step is quick."""


def run_tops(study: Study, lab: Lab) -> Found:
    """Measure a study of top lists."""

    def measure(
        setup: Tops, names: Sequence[str], steps: Steps
    ) -> tuple[Mapping[str, Numbers], Facts]:
        run = run_topk(
            top_scenario(setup, lab),
            [read_contender(name) for name in names],
            steps,
            checked=lab.scale.checked,
            segments=2 * lab.scale.repetitions,
        )
        told = asdict(run.workload)
        kept = ("source", "keywords", "subscriptions", "window", "settling", "messages", "k")
        facts = {name: told[name] for name in (*kept, "tokens_per_message", "checked_lists")}
        return dict(zip(names, map(_numbers, run.contenders), strict=True)), facts

    return along(study, lab, Tops, measure)


def top_scenario(setup: Tops, lab: Lab) -> TopScenario:
    """Draw messages and subscriptions of a setup."""
    source = lab.shelf.source(setup.data)
    pool = lab.shelf.zipf_pool(setup.data) if setup.law == "zipf" else source
    sizes = TopSizes(
        subscriptions=setup.subscriptions,
        window=setup.window,
        messages=lab.scale.messages * MESSAGES,
        k=setup.k,
        settling=min(setup.window // 2, MOST_SETTLING),
    )
    return top_scenario_of(source, pool, sizes, setup.law, setup.keywords)


def _numbers(cost: TopCost) -> Numbers:
    return {
        "arrival_us": single(cost.arrival_us.mean),
        "expiry_us": single(cost.expiry_us.mean),
        "step_us": values_of(cost.cpu_us.values),
        "buffer": single(cost.memory.mean_buffer),
        "bytes": single(cost.memory.bytes_per_subscription),
        "index_bytes": single(cost.memory.index),
    }

"""Matching in partitions, projected: each partition is run by itself, as if it had a core.

`nearcast.partition` says which partitions hold a subscription and which see a message. Messages a
second are those of the slowest partition; reading, sending and writing are not in these numbers.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearcast.bench.checks import WrongAnswerError
from nearcast.bench.contenders import MatcherContender
from nearcast.bench.paper.experiment import Matching, Spread
from nearcast.bench.paper.kinds.study import along, single
from nearcast.bench.paper.outcome import values_of
from nearcast.bench.workloads.groups import Group
from nearcast.bench.workloads.tables import compact
from nearcast.partition import MECHANISMS, make_plan, wants_of_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nearcast.bench.paper.experiment import Study
    from nearcast.bench.paper.kinds.study import Facts, Found, Lab, Numbers, Steps

SAMPLE = 2_000
"""Messages that a plan is made from."""


def run_spread(study: Study, lab: Lab) -> Found:
    """Measure a study of matching in partitions."""

    def measure(
        setup: Spread, names: Sequence[str], steps: Steps
    ) -> tuple[Mapping[str, Numbers], Facts]:
        source = lab.shelf.source(setup.data)
        steps.step("draw")
        load = (
            lab.shelf.subscriptions(Matching(setup.data, subscriptions=setup.subscriptions)),
            lab.shelf.messages(setup.data, Group(), lab.scale.messages, first=SAMPLE),
            lab.shelf.messages(setup.data, Group(), SAMPLE),
        )
        found = {}
        for name in names:
            steps.step(name)
            found[name] = _measure(name, setup.partitions, load, lab.scale.repetitions)
        _check(found)
        return found, {"source": source.name, **asdict(setup)}

    return along(study, lab, Spread, measure)


def _measure(
    name: str, partitions: int, load: tuple[pa.Table, pa.Table, pa.Table], repetitions: int
) -> Numbers:
    subscriptions, messages, sample = load
    wants = wants_of_table(subscriptions)
    chosen = [mechanism for mechanism in MECHANISMS if mechanism == name]
    plan = make_plan(chosen[0], partitions, wants, sample)
    placed = plan.place(wants, subscriptions.column("id"))
    routed = plan.route(messages)
    times, pairs = np.zeros((partitions, repetitions)), set[tuple[int, int]]()
    for part in range(partitions):
        seconds, found = _run_partition(load, placed[:, part], routed[:, part], repetitions)
        times[part] = seconds
        pairs |= found
    rates = messages.num_rows / np.maximum(times.max(axis=0), 1e-9)
    return {
        "messages_per_s": values_of(rates.tolist()),
        "communication": single(float(routed.sum(axis=1).mean())),
        "replication": single(float(placed.sum(axis=1).mean())),
        "matches": single(len(pairs)),
    }


def _run_partition(
    load: tuple[pa.Table, pa.Table, pa.Table],
    is_held: NDArray[np.bool_],
    is_seen: NDArray[np.bool_],
    repetitions: int,
) -> tuple[list[float], set[tuple[int, int]]]:
    """Return the processor seconds of each repetition, and the pairs that were found."""
    held, seen = np.flatnonzero(is_held), np.flatnonzero(is_seen)
    if not len(held) or not len(seen):
        return [0.0] * repetitions, set()
    contender = MatcherContender("auto", {})
    contender.subscribe(compact(load[0].take(pa.array(held)), "keywords"))
    messages = compact(load[1].take(pa.array(seen)), "tokens")
    seconds = [contender.measure(messages).cpu_seconds for _ in range(repetitions)]
    found = contender.match(messages)
    rows = seen[found.column("message").to_numpy()].tolist()
    return seconds, {*zip(rows, found.column("subscription").to_pylist(), strict=True)}


def _check(found: dict[str, Numbers]) -> None:
    """Compare how many pairs the mechanisms found, each counted once."""
    counts = {name: numbers["matches"] for name, numbers in found.items()}
    if len(set(counts.values())) > 1:
        what = "mechanisms disagree about the number of matches"
        raise WrongAnswerError(what, got=counts, wanted="the same number from each")

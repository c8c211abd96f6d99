"""Top lists in partitions, projected: each partition is run by itself, as if it had a core.

A mechanism says which partitions hold a subscription, by its k-th score over the full window, and
which see a message; `nearcast.partition` has both. A partition then keeps the lists of its own
subscriptions over the messages that it sees. Messages a second are those of the slowest partition.
What a real cluster adds (the network, merging of lists) is not in these numbers; copies and
messages are counted, which no machine can change.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from time import thread_time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearcast.bench.checks import WrongAnswerError
from nearcast.bench.paper.experiment import Parted
from nearcast.bench.paper.kinds.study import along, single
from nearcast.bench.paper.outcome import values_of
from nearcast.bench.ranking import count_documents
from nearcast.bench.top_stream import TopStream
from nearcast.bench.workloads.groups import Group
from nearcast.bench.workloads.tops import TopSizes, top_scenario_of
from nearcast.partition import MECHANISMS, make_plan, wants_of_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nearcast.bench.paper.experiment import Study
    from nearcast.bench.paper.kinds.study import Facts, Found, Lab, Numbers, Steps
    from nearcast.bench.top_stream import TokenRows
    from nearcast.bench.workloads.tops import TopScenario
    from nearcast.partition import Plan, Wants

CENTRAL = "one machine"
"""A contender: everything in one partition."""
HYBRIDS = ("location-prefix", "prefix-location")
ARRIVAL, EXPIRY = "igpt", "cskyband"
"""What runs in a partition, as in the paper."""
SAMPLE = 2_000
"""Messages that a plan is made from."""
SEGMENTS = 5
CHECKED = 5
"""Lists of a partition that are compared with brute force."""


def run_parted(study: Study, lab: Lab) -> Found:
    """Measure a study of distribution mechanisms."""
    drawn: dict[tuple[object, ...], _Load] = {}

    def measure(
        setup: Parted, names: Sequence[str], steps: Steps
    ) -> tuple[Mapping[str, Numbers], Facts]:
        key = (setup.data, setup.subscriptions, setup.window, setup.k)
        if key not in drawn:
            steps.step("fill the window")
            drawn.clear()
            drawn[key] = _load(setup, lab)
        load = drawn[key]
        found = {}
        for name in names:
            steps.step(name)
            found[name] = _measured(name, setup, load)
        return found, {"source": load.scenario.preset, **asdict(setup), "checked": CHECKED}

    return along(study, lab, Parted, measure)


@dataclass(frozen=True, slots=True)
class _Load:
    """What is distributed: rows as numbers for streams, and as words for plans."""

    scenario: TopScenario
    published: pa.Table
    sample: pa.Table
    ids: pa.Array
    at_first: Wants
    """As far as a plan knows subscriptions: nothing of their scores."""
    full: Wants
    """When the window is full."""
    known: dict[tuple[str, int], Numbers]
    """What was measured of mechanisms that know no levels."""


def _load(setup: Parted, lab: Lab) -> _Load:
    source = lab.shelf.source(setup.data)
    sizes = TopSizes(setup.subscriptions, setup.window, lab.scale.messages, setup.k)
    scenario = top_scenario_of(source, source, sizes)
    count = sizes.window + sizes.messages
    published = source.messages(count, Group())
    wanted = source.subscriptions(sizes.subscriptions)
    table = pa.table(
        {
            "keywords": wanted.column("keywords"),
            "lon": scenario.subscriptions.lon,
            "lat": scenario.subscriptions.lat,
            "alpha": scenario.alpha,
        }
    )
    return _Load(
        scenario,
        published,
        source.messages(SAMPLE, Group(), first=count),
        pa.array(np.arange(sizes.subscriptions)),
        wants_of_table(table, "top"),
        wants_of_table(table, "top", _kth_scores(scenario)),
        {},
    )


def _kth_scores(scenario: TopScenario) -> NDArray[np.float64]:
    """Return the score of the last of each subscription's k messages; −inf with fewer."""
    stream = _stream(scenario, scenario.sizes.window, "auto", "")
    stream.publish(scenario.window)
    stream.subscribe(scenario.subscriptions, scenario.alpha, scenario.sizes.k)
    count = scenario.sizes.subscriptions
    ends, _, scores = stream.results(np.arange(count, dtype=np.int64))
    held = np.diff(ends, prepend=0)
    kth = np.full(count, -np.inf)
    is_full = held >= scenario.sizes.k
    kth[is_full] = scores[ends[is_full] - 1]
    return kth


def _stream(scenario: TopScenario, window: int, topk: str, expiry: str) -> TopStream:
    stream = TopStream(window=window, space=scenario.space, topk=topk, expiry=expiry)
    stream.weigh(scenario.sizes.window, scenario.df)
    return stream


def _measured(name: str, setup: Parted, load: _Load) -> Numbers:
    """Return what a mechanism costs; one without levels is measured once for all levels."""
    key = (name, setup.partitions)
    if name in HYBRIDS:
        return _measure(name, setup, load)
    if key not in load.known:
        load.known[key] = _measure(name, setup, load)
    return load.known[key]


def _measure(name: str, setup: Parted, load: _Load) -> Numbers:
    plan = _plan(name, setup, load)
    placed = plan.place(load.full, load.ids)
    routed = plan.route(load.published)
    window = setup.window
    times = np.array(
        [_run_partition(load, placed[:, part], routed[:, part]) for part in range(plan.partitions)]
    )
    in_a_segment = (len(routed) - window) / SEGMENTS
    rates = in_a_segment / np.maximum(times.max(axis=0), 1e-9)
    return {
        "messages_per_s": values_of(rates.tolist()),
        "communication": single(float(routed[window:].sum(axis=1).mean())),
        "replication": single(float(placed.sum(axis=1).mean())),
    }


def _plan(name: str, setup: Parted, load: _Load) -> Plan:
    chosen = [mechanism for mechanism in MECHANISMS if mechanism == name]
    return make_plan(
        chosen[0] if chosen else "hash",
        1 if name == CENTRAL else setup.partitions,
        load.at_first,
        load.sample,
        weights=count_documents(load.published.slice(0, setup.window)),
        first_level=setup.first_level,
    )


def _run_partition(
    load: _Load, is_held: NDArray[np.bool_], is_seen: NDArray[np.bool_]
) -> list[float]:
    """Return the processor seconds of each segment of messages."""
    scenario = load.scenario
    window = scenario.sizes.window
    held = np.flatnonzero(is_held)
    seen_before = np.flatnonzero(is_seen[:window])
    if not len(held) or not len(seen_before):
        return [0.0] * SEGMENTS
    stream = _stream(scenario, len(seen_before), ARRIVAL, EXPIRY)
    stream.publish(scenario.window.take(seen_before))
    wanted, alpha = scenario.subscriptions.take(held), scenario.alpha[held]
    stream.subscribe(wanted, alpha, scenario.sizes.k)
    borders = np.linspace(0, len(scenario.messages), SEGMENTS + 1).astype(int)
    seconds = []
    for first, end in pairwise(borders.tolist()):
        rows = first + np.flatnonzero(is_seen[window + first : window + end])
        part = scenario.messages.take(rows)
        start = thread_time()
        if len(rows):
            stream.publish(part)
        seconds.append(thread_time() - start)
    _check(stream, wanted, alpha, scenario.sizes.k)
    return seconds


def _check(stream: TopStream, wanted: TokenRows, alpha: NDArray[np.float64], k: int) -> None:
    some = np.unique(np.linspace(0, len(wanted) - 1, CHECKED).astype(np.int64))
    found = stream.results(some)
    truth = stream.look_at_all(wanted.take(some), alpha[some], k)
    if not all(np.array_equal(a, b) for a, b in zip(found[:2], truth[:2], strict=True)):
        what = "a partition gives a wrong list"
        raise WrongAnswerError(what, got=found[1].tolist()[:5], wanted="that of brute force")

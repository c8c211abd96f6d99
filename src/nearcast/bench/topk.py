"""Measures ways to keep top lists on one stream, so that the numbers can be compared.

Every contender has the same full window before it gets its subscriptions. The lists of the first
window are searched once for each kind of expiry and taken over by the other contenders of that
kind. Then all go through the same messages, a segment at a time, each beginning with another one,
so that a busy moment of the machine does not fall on one contender only. Before the first and after
the last segment the lists of some subscriptions are compared with brute force; a wrong one ends the
run.

What expiry costs shows only when lists have lived for a while: fresh from a search they have enough
messages for a good part of a window. Messages that settle go before the measured ones.
"""

from __future__ import annotations

from itertools import pairwise
from time import perf_counter, thread_time
from typing import TYPE_CHECKING

import numpy as np

from nearcast.bench.checks import WrongAnswerError
from nearcast.bench.contenders import ContenderSpec, parse_contender
from nearcast.bench.results import Spread
from nearcast.bench.top_stream import TopStream
from nearcast.bench.topk_results import (
    Distribution,
    TopCost,
    TopFacts,
    TopMemory,
    TopRun,
    TopWork,
    ratios_of,
)
from nearcast.bench.workloads.streams import Stream, random_stream
from nearcast.hub import expiry_kinds, topk_kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from nearcast.bench.harness import Progress
    from nearcast.bench.top_stream import Held, StepTimes
    from nearcast.bench.workloads.tops import TopScenario

OURS = "auto"
BRUTE_FORCE = "brute-force"
PAPER_EXPIRY = "cskyband"


def default_contenders() -> list[str]:
    """Return our own, the papers' arrivals with their expiry, and the first with the others."""
    arrivals = _others({kind.name: kind.stands_for for kind in topk_kinds()}, BRUTE_FORCE)
    expiries = _others({kind.name: kind.stands_for for kind in expiry_kinds()}, PAPER_EXPIRY)
    first = arrivals[0] if arrivals else OURS
    pairs = [f"{arrival}+{PAPER_EXPIRY}" for arrival in arrivals or [OURS]]
    return [OURS, *pairs, *(f"{first}+{expiry}" for expiry in expiries if expiry != "naive")]


def _others(kinds: Mapping[str, str], left_out: str) -> list[str]:
    """Return the kinds that are neither our own nor left out; given is what names stand for."""
    return [name for name in kinds if name not in {OURS, *kinds.values(), left_out}]


def read_contender(text: str) -> ContenderSpec:
    """Read `arrival`, `arrival+expiry` or either with `:parameter=value`.

    Raises
    ------
    ValueError
        If there is no such kind.
    """
    spec = parse_contender(text)
    arrival, _, expiry = spec.kind.partition("+")
    _require("arrival", arrival, [kind.name for kind in topk_kinds()])
    if expiry:
        _require("expiry", expiry, [kind.name for kind in expiry_kinds()])
    return spec


def _require(part: str, name: str, known: list[str]) -> None:
    if name not in known:
        msg = f"no {part} is called {name!r}; there are {', '.join(known)}"
        raise ValueError(msg)


def kinds_of(spec: ContenderSpec) -> tuple[str, str]:
    """Return the names of arrival and expiry."""
    arrival, _, expiry = spec.kind.partition("+")
    standard = {kind.name: kind.expiry for kind in topk_kinds()}
    return arrival, expiry or standard[arrival]


class _Entrant:
    """A contender with what has been measured of it so far."""

    def __init__(self, spec: ContenderSpec, scenario: TopScenario, stream: TopStream) -> None:
        self.spec = spec
        self.arrival, self.expiry = kinds_of(spec)
        self.stream = stream
        self.start_seconds: float | None = None
        self.times: list[StepTimes] = []
        self.cpu_us: list[float] = []
        stream.weigh(scenario.sizes.window, scenario.df)
        start = perf_counter()
        stream.publish(scenario.window)
        self.window_seconds = perf_counter() - start

    def fill(self, scenario: TopScenario, filled: Sequence[_Entrant]) -> None:
        """Give it the subscriptions; their lists are taken over from one that has them."""
        twin = next((other for other in filled if self._keeps_the_same_as(other)), None)
        if twin is not None:
            self.stream.adopt(twin.stream)
        else:
            start = perf_counter()
            self.stream.subscribe(scenario.subscriptions, scenario.alpha, scenario.sizes.k)
            self.start_seconds = perf_counter() - start

    def settle(self, scenario: TopScenario) -> None:
        """Publish what is not measured."""
        self.stream.publish(scenario.messages.part(0, scenario.sizes.settling))
        self.before = self.stream.stats()

    def _keeps_the_same_as(self, other: _Entrant) -> bool:
        """Whether buffers are the same.

        How messages are searched changes them only where a cost model knows what searches cost.
        """
        mine, theirs = (dict(each.spec.parameters) for each in (self, other))
        if self.expiry != PAPER_EXPIRY:
            for parameters in (mine, theirs):
                parameters.pop("search", None)
        return self.expiry == other.expiry and mine == theirs

    def run(self, scenario: TopScenario, first: int, end: int) -> None:
        start = thread_time()
        self.times.append(self.stream.publish(scenario.messages.part(first, end)))
        self.cpu_us.append((thread_time() - start) * 1e6 / (end - first))

    def result(self, scenario: TopScenario) -> TopCost:
        now = self.stream.stats()
        sizes = scenario.sizes
        arrival = np.concatenate([times.arrival for times in self.times]) / 1e3
        expiry = np.concatenate([times.expiry for times in self.times]) / 1e3
        return TopCost(
            name=self.spec.name,
            arrival=self.arrival,
            expiry=self.expiry,
            parameters=dict(self.spec.parameters),
            window_seconds=round(self.window_seconds, 3),
            start_seconds=None if self.start_seconds is None else round(self.start_seconds, 3),
            cpu_us=Spread.over(self.cpu_us),
            arrival_us=Distribution.of(arrival),
            expiry_us=Distribution.of(expiry),
            step_us=Distribution.of(arrival + expiry),
            memory=_memory(now, sizes.subscriptions, sizes.window),
            work=_work(now, self.before, sizes.messages, sum(t.changes for t in self.times)),
        )


def _memory(now: dict[str, float], subscriptions: int, window: int) -> TopMemory:
    parts = {
        name: round(now[f"{name}_bytes"] / subscriptions, 1)
        for name in ("record", "buffer", "holder", "index")
    }
    return TopMemory(
        bytes_per_subscription=round(sum(parts.values()), 1),
        **parts,
        bytes_per_message=round((now["search_bytes"] + now["message_bytes"]) / window, 1),
        mean_buffer=round(now["mean_buffer"], 2),
    )


def _work(now: dict[str, float], before: dict[str, float], messages: int, changes: int) -> TopWork:
    def grown(name: str) -> float:
        return round((now[name] - before[name]) / messages, 4)

    return TopWork(
        nodes=grown("nodes"),
        groups=grown("groups"),
        candidates=grown("candidates"),
        verified=grown("verified"),
        inserts=grown("inserts"),
        departures=grown("departures"),
        evaluations=grown("evaluations"),
        changes=round(changes / messages, 4),
    )


def make_stream(spec: ContenderSpec, scenario: TopScenario) -> TopStream:
    """Return an empty contender."""
    arrival, expiry = kinds_of(spec)
    parameters = {
        name: float(value) if isinstance(value, (int, float)) else value
        for name, value in spec.parameters.items()
    }
    return TopStream(
        window=scenario.sizes.window,
        space=scenario.space,
        topk=arrival,
        expiry=expiry,
        topk_parameters=parameters,
    )


def run_topk(
    scenario: TopScenario,
    specs: Sequence[ContenderSpec],
    progress: Progress,
    *,
    checked: int = 200,
    segments: int = 10,
    make: Callable[[ContenderSpec, TopScenario], TopStream] = make_stream,
) -> TopRun:
    """Measure contenders, which `make` makes, on a scenario.

    Raises
    ------
    WrongAnswerError
        If a list differs from brute force.
    """
    entrants: list[_Entrant] = []
    for spec in specs:
        progress.step(f"fill {spec.name}")
        entrant = _Entrant(spec, scenario, make(spec, scenario))
        entrant.fill(scenario, entrants)
        entrants.append(entrant)
    progress.step("check the first window against brute force")
    sample = _sample(scenario, checked)
    _check(entrants, scenario, sample)
    for entrant in entrants:
        progress.step(f"settle {entrant.spec.name}")
        entrant.settle(scenario)
    borders = np.linspace(scenario.sizes.settling, len(scenario.messages), segments + 1).astype(int)
    for turn, (first, end) in enumerate(pairwise(borders)):
        if first == end:
            continue
        for place in range(len(entrants)):
            entrant = entrants[(turn + place) % len(entrants)]
            progress.step(f"segment {turn + 1} of {entrant.spec.name}")
            entrant.run(scenario, int(first), int(end))
    progress.step("check the last window against brute force")
    _check(entrants, scenario, sample)
    costs = tuple(entrant.result(scenario) for entrant in entrants)
    return TopRun(TopFacts.of(scenario, 2 * len(sample)), costs, ratios_of(costs))


def steps_of(contenders: int, segments: int = 10) -> int:
    """Return how often `Progress.step` will be called."""
    return contenders * (2 + segments) + 2


def _sample(scenario: TopScenario, count: int) -> NDArray[np.int64]:
    rng = random_stream(scenario.seed, Stream.HARNESS, 4)
    total = scenario.sizes.subscriptions
    return np.sort(rng.choice(total, min(count, total), replace=False)).astype(np.int64)


def _check(entrants: Sequence[_Entrant], scenario: TopScenario, sample: NDArray[np.int64]) -> None:
    if not len(sample):
        return
    wanted, alpha = scenario.subscriptions.take(sample), scenario.alpha[sample]
    truth = entrants[0].stream.look_at_all(wanted, alpha, scenario.sizes.k)
    for entrant in entrants:
        _require_equal(entrant.spec.name, sample, entrant.stream.results(sample), truth)


def _require_equal(name: str, sample: NDArray[np.int64], found: Held, truth: Held) -> None:
    for place, subscription in enumerate(sample.tolist()):
        got, wanted = _list_at(found, place), _list_at(truth, place)
        if got != wanted:
            what = f"{name} gives a wrong list for subscription {subscription}"
            raise WrongAnswerError(what, got=got[:5], wanted=f"{wanted[:5]}, the best first")


def _list_at(held: Held, place: int) -> list[tuple[int, int]]:
    """Return messages with their scores in the units in which they are compared."""
    ends, messages, scores = held
    rows = slice(int(ends[place - 1]) if place else 0, int(ends[place]))
    units = np.rint(scores[rows] * 1e9).astype(np.int64)
    return list(zip(messages[rows].tolist(), units.tolist(), strict=True))

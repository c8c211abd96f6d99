"""What a benchmark of top lists found, as values that become JSON, and as a table."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table

from nearcast.bench.results import FORMAT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nearcast.bench.results import Provenance, Spread
    from nearcast.bench.top_stream import TokenRows
    from nearcast.bench.workloads.tops import TopScenario

    Parameters = Mapping[str, int | float | str | bool]

OURS = {"auto", "bounded-lists", "slack"}
"""Names of our own kinds, of arrival and of expiry."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """One quantity over all messages."""

    mean: float
    p50: float
    p99: float
    worst: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Distribution:
        """Summarise."""
        marks = (values.mean(), *np.percentile(values, [50, 99]), values.max())
        return cls(*(round(float(mark), 3) for mark in marks))


@dataclass(frozen=True, slots=True)
class TopMemory:
    """Bytes per subscription, with their parts; what is kept per live message; messages held."""

    bytes_per_subscription: float
    record: float
    buffer: float
    holder: float
    index: float
    bytes_per_message: float
    mean_buffer: float


@dataclass(frozen=True, slots=True)
class TopWork:
    """What a step, a message that comes and one that goes, costs on any machine."""

    nodes: float
    """Cells and lists that a newcomer looked at."""
    groups: float
    """Groups of entries that were tested as one."""
    candidates: float
    """Entries that were tested one by one."""
    verified: float
    """Of these, scored in full."""
    inserts: float
    departures: float
    evaluations: float
    changes: float


@dataclass(frozen=True, slots=True)
class TopCost:
    """All numbers of one contender in one run."""

    name: str
    arrival: str
    expiry: str
    parameters: Parameters
    window_seconds: float
    """To publish the first window, without subscriptions."""
    start_seconds: float | None
    """To subscribe all over the full window; None: lists were taken over."""
    cpu_us: Spread
    """Processor time of a step, over the segments."""
    arrival_us: Distribution
    expiry_us: Distribution
    step_us: Distribution
    memory: TopMemory
    work: TopWork


@dataclass(frozen=True, slots=True)
class TopFacts:
    """What was measured; with the seed enough to make it again."""

    source: str
    keywords: str
    seed: int
    subscriptions: int
    window: int
    settling: int
    messages: int
    k: int
    space: tuple[float, float, float, float]
    keywords_per_subscription: float
    tokens_per_message: float
    checked_lists: int

    @classmethod
    def of(cls, scenario: TopScenario, checked: int) -> TopFacts:
        """Describe a scenario."""
        sizes = scenario.sizes
        return cls(
            source=scenario.preset,
            keywords=scenario.keywords,
            seed=scenario.seed,
            subscriptions=sizes.subscriptions,
            window=sizes.window,
            settling=sizes.settling,
            messages=sizes.messages,
            k=sizes.k,
            space=scenario.space,
            keywords_per_subscription=_mean_length(scenario.subscriptions),
            tokens_per_message=_mean_length(scenario.window),
            checked_lists=checked,
        )


def _mean_length(rows: TokenRows) -> float:
    return round(float(np.diff(rows.offsets).mean()), 3)


@dataclass(frozen=True, slots=True)
class TopRun:
    """One workload, all contenders; `ratios` say how many times cheaper one is than another."""

    workload: TopFacts
    contenders: tuple[TopCost, ...]
    ratios: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class TopResult:
    """One call of `nearcast bench topk`."""

    provenance: Provenance
    runs: tuple[TopRun, ...]
    command: str = "topk"
    format: int = FORMAT

    def to_json(self) -> str:
        """Return the result as indented JSON."""
        return json.dumps(asdict(self), indent=2)


def ratios_of(costs: Sequence[TopCost]) -> dict[str, float]:
    """Return those of the ratios people ask for that these contenders can give.

    They are between kinds as they are. Contenders with parameters are compared among those that
    have the same ones.
    """
    plain = [cost for cost in costs if not cost.parameters]
    found = {**_ratios_to_ours(plain), **_ratios_of_arrivals(plain), **_ratio_of_expiries(plain)}
    for parameters in _distinct([cost.parameters for cost in costs if cost.parameters]):
        alike = [cost for cost in costs if cost.parameters == parameters]
        given = ", ".join(f"{name}={value}" for name, value in parameters.items())
        both = {**_ratios_of_arrivals(alike), **_ratio_of_expiries(alike)}
        found |= {f"{name}, {given}": ratio for name, ratio in both.items()}
    return {name: round(ratio, 2) for name, ratio in found.items()}


def _distinct(all_given: list[Parameters]) -> list[Parameters]:
    return [given for place, given in enumerate(all_given) if given not in all_given[:place]]


def _ratios_to_ours(costs: Sequence[TopCost]) -> dict[str, float]:
    ours = next((cost for cost in costs if cost.name == "auto"), None)
    if ours is None:
        return {}
    found: dict[str, float] = {}
    others = [cost for cost in costs if not OURS & {cost.arrival, cost.expiry}]
    arrival = _arrivals(others)
    if "term-at-a-time" in arrival:
        found["arrival: term-at-a-time / auto"] = arrival["term-at-a-time"] / ours.arrival_us.mean
    papers = [cost for cost in others if cost.arrival in ("igpt", "ipt", "ciq")]
    if papers:
        best = min(papers, key=lambda cost: cost.step_us.mean)
        found[f"step: {best.name}, the best of the papers / auto"] = (
            best.step_us.mean / ours.step_us.mean
        )
    return found


def _arrivals(costs: Sequence[TopCost]) -> dict[str, float]:
    return {cost.arrival: cost.arrival_us.mean for cost in costs if cost.expiry == "cskyband"}


def _ratios_of_arrivals(costs: Sequence[TopCost]) -> dict[str, float]:
    arrival = _arrivals(costs)
    return {
        f"arrival: {other} / igpt": arrival[other] / arrival["igpt"]
        for other in ("ciq", "ipt")
        if {"igpt", other} <= arrival.keys()
    }


def _ratio_of_expiries(costs: Sequence[TopCost]) -> dict[str, float]:
    for arrival in ("igpt", "auto"):
        expiry = {cost.expiry: cost.expiry_us.mean for cost in costs if cost.arrival == arrival}
        if {"cskyband", "kmax", "skyband"} <= expiry.keys():
            better = min(("kmax", "skyband"), key=expiry.__getitem__)
            return {f"expiry: {better} / cskyband": expiry[better] / expiry["cskyband"]}
    return {}


COLUMNS = (
    *("arrival µs", "expiry µs", "step µs", "p50", "p99", "worst", "cpu µs", "bytes/sub"),
    *("buffer", "entries", "searches", "start s"),
)


def table_of(run: TopRun) -> Table:
    """Return the numbers of a run for people."""
    facts = run.workload
    title = (
        f"{facts.source}, keywords of {facts.keywords}: {facts.subscriptions:,} subscriptions, "
        f"window {facts.window:,}, k {facts.k}, {facts.messages:,} messages, seed {facts.seed}"
    )
    table = Table(title=title, title_justify="left", caption_justify="left", box=SIMPLE_HEAD)
    table.add_column("arrival+expiry", no_wrap=True)
    for column in COLUMNS:
        table.add_column(column, justify="right", no_wrap=True)
    for cost in run.contenders:
        table.add_row(cost.name, *_cells(cost))
    table.caption = "\n".join(f"{name}: {ratio:.3g}×" for name, ratio in run.ratios.items())
    return table


def _cells(cost: TopCost) -> list[str]:
    step = cost.step_us
    times = (cost.arrival_us.mean, cost.expiry_us.mean, step.mean, step.p50, step.p99, step.worst)
    numbers = (
        *(*times, cost.cpu_us.median, cost.memory.bytes_per_subscription),
        *(cost.memory.mean_buffer, cost.work.inserts, cost.work.evaluations),
    )
    start = "" if cost.start_seconds is None else _number(cost.start_seconds)
    return [*map(_number, numbers), start]


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"

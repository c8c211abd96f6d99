"""What does the stateful pipeline cost? Beside one plain hub that is fed the same lines.

Partitions run one after the other in this process, and CPU time is taken: of the driver, of reading
(which as many workers share as there are partitions), of each partition, and of merging. What Spark
itself adds is not in it. The projected speed-up is the plain hub's time by that of the driver, of
the slowest partition, of the slowest merging worker and of a worker's share of reading.

This is also the comparison of [Skype §8.2]: copies of subscriptions, copies of messages, balance.
"""

from __future__ import annotations

import gc
import json
import shutil
import tempfile
import time
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from nearcast.bench.workloads.generate import messages, subscriptions
from nearcast.bench.workloads.groups import Group
from nearcast.bench.workloads.log import publish_events, subscribe_events
from nearcast.hub import Hub
from nearcast.model import Window
from nearcast.partition import make_plan, wants_of_table
from nearcast.spark.stateful import work
from nearcast.spark.stateful.pipeline import Pipeline, in_process, read_here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from nearcast.bench.workloads.presets import Preset
    from nearcast.partition.plan import Mechanism

BATCHES = 5
"""Of each time the median counts, over so many batches."""
LINES = 50_000
"""Lines that are applied at once before anything is measured."""
K = 20
"""Messages in a list, as in [Skype §8.1]."""


@dataclass(frozen=True, slots=True)
class StateSizes:
    """How much there is."""

    mode: Literal["match", "top"]
    subscriptions: int
    window: int
    messages: int
    """That are measured."""
    seed: int = 1


@dataclass(frozen=True, slots=True)
class StateCost:
    """What a mechanism costs; times are CPU microseconds per message."""

    mechanism: str
    partitions: int
    plain_us: float
    driver_us: float
    reading_us: float
    slowest_us: float
    partitions_us: float
    """Of all of them together."""
    merging_us: float
    """Of the slowest merging worker."""
    communication: float
    """Partitions that see a message."""
    replication: float
    """Copies of a subscription."""
    balance: float
    messages_per_s: float
    """Of the slowest partition."""
    speed_up: float
    """Projected, against the plain hub."""


def compare_state(
    preset: Preset,
    sizes: StateSizes,
    mechanisms: Iterable[Mechanism],
    partitions: Iterable[int],
    step: Callable[[str], None],
) -> list[StateCost]:
    """Measure mechanisms with numbers of partitions, and a plain hub once."""
    load = Workload(preset, sizes)
    step("one plain hub")
    plain = load.plain_us()
    costs = []
    for count in partitions:
        for mechanism in mechanisms:
            step(f"{mechanism}, {count} partitions")
            costs.append(load.measure(mechanism, count, plain))
    return costs


class Workload:
    """Lines that fill a hub or a pipeline, and lines that are measured."""

    def __init__(self, preset: Preset, sizes: StateSizes) -> None:
        self.sizes = sizes
        self.table = _wished(preset, sizes)
        self._sample = messages(preset, 20_000, sizes.seed)
        first = self._sample.num_rows
        old = messages(preset, sizes.window, sizes.seed, Group(), first=first)
        new = messages(preset, sizes.messages, sizes.seed, Group(), first=first + sizes.window)
        self._old, self._new = old, new
        self.window = Window(count=sizes.window) if sizes.window else None

    def filling(self) -> Iterator[list[str]]:
        """Yield what is there before: messages first, lists are found in full windows."""
        yield from _pieces(publish_events(self._old))
        wishes = subscribe_events(self.table) if self.sizes.mode == "match" else _tops(self.table)
        yield from _pieces(wishes)

    def measured(self) -> list[list[str]]:
        """Return the batches that are measured."""
        lines = list(map(json.dumps, publish_events(self._new, self.sizes.window)))
        size = -(-len(lines) // BATCHES)
        return [lines[start : start + size] for start in range(0, len(lines), size)]

    def plain_us(self) -> float:
        """Return what a message costs one hub, in microseconds."""
        hub = Hub(window=self.window)
        for lines in self.filling():
            hub.apply("\n".join(lines))
        times = []
        for lines in self.measured():
            text = "\n".join(lines).encode()
            start = time.process_time()
            hub.apply(text)
            times.append((time.process_time() - start) / len(lines))
        return float(np.median(times)) * 1e6

    def measure(self, mechanism: Mechanism, partitions: int, plain_us: float) -> StateCost:
        """Run a pipeline in this process."""
        wants = wants_of_table(self.table, self.sizes.mode)
        plan = make_plan(mechanism, partitions, wants, self._sample)
        folder = Path(tempfile.mkdtemp(prefix="nearcast-state-"))
        work.holdings.clear()  # those of other pipelines
        gc.collect()
        try:
            pipeline = Pipeline(folder, plan, window=self.window, modes=[self.sizes.mode])
            number = -1
            for number, lines in enumerate(self.filling()):
                _run(pipeline, number, lines, in_process)
            timed = [
                _timed_batch(pipeline, number + 1 + at, lines)
                for at, lines in enumerate(self.measured())
            ]
            copies = sum(len(state.hub) for state, _ in work.holdings.states())
            seen = communication(pipeline, number + len(timed))
        finally:
            work.holdings.clear()
            work.merged.clear()
            shutil.rmtree(folder, ignore_errors=True)
        return _cost(plan.mechanism, plan.partitions, plain_us, timed, seen, copies / len(wants))


def communication(pipeline: Pipeline, number: int) -> float:
    """Return how many partitions hear of an event of a batch."""
    places = pipeline.decision(number).bits("places")
    return float(np.unpackbits(places).sum() / max(len(places), 1))


def _cost(
    mechanism: str,
    partitions: int,
    plain_us: float,
    timed: list[dict[str, Any]],
    seen: float,
    copies: float,
) -> StateCost:
    def middle(name: str) -> float:
        return float(np.median([one[name] for one in timed])) * 1e6

    each = np.median([one["partitions"] for one in timed], axis=0) * 1e6
    merging = np.median([one["merging"] for one in timed], axis=0) * 1e6
    slowest, slowest_merging = float(each.max()), float(merging.max())
    driver, reading = middle("driver"), middle("reading")
    whole = driver + slowest + slowest_merging + reading / partitions
    numbers = (plain_us, driver, reading, slowest, float(each.sum()), slowest_merging, seen, copies)
    balance = slowest * partitions / float(each.sum())
    ends = (balance, 1e6 / slowest, plain_us / whole)
    rounded = [round(value, 3) for value in (*numbers, *ends)]
    return StateCost(mechanism, partitions, *rounded)


def _timed_batch(pipeline: Pipeline, number: int, lines: list[str]) -> dict[str, Any]:
    """Run a batch; return CPU seconds per line."""
    partitions = pipeline.job.routes.plan.partitions
    times = {"partitions": np.zeros(partitions), "merging": np.zeros(partitions)}
    jobs = iter(list(times.values()))
    column = pa.array(lines)  # as Spark has them

    def tasks(function: Callable[[int], str], count: int) -> list[str]:
        found, own = [], next(jobs)
        for at in range(count):
            begin = time.process_time()
            found.append(function(at))
            own[at] = time.process_time() - begin
        return found

    def read() -> Any:  # noqa: ANN401
        begin = time.process_time()
        batch = read_here(pipeline.job, column)
        times["reading"] = np.array([time.process_time() - begin])
        return batch

    gc.disable()  # what is collected here is of all partitions
    start = time.process_time()
    pipeline.run_batch(number, read, tasks)
    whole = time.process_time() - start
    gc.enable()
    spent = sum(float(own.sum()) for own in times.values())
    count = len(lines)
    return {
        "driver": (whole - spent) / count,
        "reading": float(times["reading"][0]) / count,
        "partitions": times["partitions"] / count,
        "merging": times["merging"] / count,
    }


def _run(pipeline: Pipeline, number: int, lines: list[str], tasks: Any) -> None:  # noqa: ANN401
    pipeline.run_batch(number, lambda: read_here(pipeline.job, lines), tasks)


def _pieces(events: Iterable[Any]) -> Iterator[list[str]]:
    waiting = iter(events)
    while piece := [json.dumps(event) for event in islice(waiting, LINES)]:
        yield piece


def _wished(preset: Preset, sizes: StateSizes) -> pa.Table:
    """Return subscriptions; of mode top at the middle of their areas, alpha uniform."""
    boxes = subscriptions(preset, sizes.subscriptions, sizes.seed)
    if sizes.mode == "match":
        return boxes
    middle = [
        (boxes.column(a).to_numpy() + boxes.column(b).to_numpy()) / 2
        for a, b in (("west", "east"), ("south", "north"))
    ]
    alpha = np.random.default_rng(sizes.seed).random(sizes.subscriptions)
    columns = {"id": boxes.column("id"), "keywords": boxes.column("keywords")}
    return pa.table({**columns, "lon": middle[0], "lat": middle[1], "alpha": alpha})


def _tops(table: pa.Table) -> Iterator[dict[str, object]]:
    for row in table.to_pylist():
        top = {"op": "subscribe", "id": f"s{row['id']}", "mode": "top", "k": K}
        place = {"at": [row["lon"], row["lat"]], "alpha": row["alpha"]}
        yield {**top, **place, "keywords": row["keywords"]}


def as_rows(costs: list[StateCost]) -> list[dict[str, object]]:
    """Return costs as a file has them."""
    return [asdict(cost) for cost in costs]

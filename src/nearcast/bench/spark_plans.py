"""What do the distribution mechanisms cost? The comparison of [Skype §8.2], without a cluster.

Copies and messages are counted, which no machine can change. Throughput is that of the slowest
partition: each partition is timed by itself, as if it had a core of its own.
"""

from __future__ import annotations

import gc
import json
import shutil
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearcast.bench.workloads.generate import messages, subscriptions
from nearcast.bench.workloads.groups import Group
from nearcast.bench.workloads.log import publish_events
from nearcast.model import Window
from nearcast.partition import MECHANISMS, held_out, make_plan, measure_plan, wants_of_table
from nearcast.spark.tops.partition_hub import do_round
from nearcast.spark.tops.stream import PartitionedTops, in_process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nearcast.bench.workloads.presets import Preset
    from nearcast.partition import Plan
    from nearcast.spark.tops.lists import Partial

BATCHES = 5
"""Of a partition's times the median counts, over so many batches."""
K = 20
"""Messages in a list, as in [Skype §8.1]."""


@dataclass(frozen=True, slots=True)
class PlanCost:
    """What one mechanism costs with a full window."""

    mechanism: str
    partitions: int
    predicted_communication: float
    communication: float
    """Partitions that see a message."""
    replication: float
    """Copies of a top subscription, when the window is full."""
    balance: float
    messages_per_s: float
    """Of the slowest partition."""


@dataclass(frozen=True, slots=True)
class PlanSizes:
    """How much is distributed."""

    subscriptions: int
    window: int
    messages: int
    seed: int = 1


def compare_plans(
    preset: Preset, sizes: PlanSizes, partitions: list[int], step: Callable[[str], None]
) -> list[PlanCost]:
    """Measure all mechanisms with all numbers of partitions."""
    table = top_subscriptions(preset, sizes)
    sample = messages(preset, max(2_000, sizes.messages), sizes.seed)
    costs = []
    for count in partitions:
        for mechanism in MECHANISMS:
            step(f"{mechanism}, {count} partitions")
            wants = wants_of_table(table, "top")
            plan = make_plan(mechanism, count, wants, sample)
            costs.append(_measure(plan, preset, table, sizes, sample))
    return costs


def top_subscriptions(preset: Preset, sizes: PlanSizes) -> pa.Table:
    """Return subscriptions with one to five keywords at the points of messages, alpha uniform."""
    boxes = subscriptions(preset, sizes.subscriptions, sizes.seed)
    middle = [
        (boxes.column(a).to_numpy() + boxes.column(b).to_numpy()) / 2
        for a, b in (("west", "east"), ("south", "north"))
    ]
    alpha = np.random.default_rng(sizes.seed).random(sizes.subscriptions)
    ids = pa.array([f"s{number}" for number in range(sizes.subscriptions)])
    columns = {"id": ids, "keywords": boxes.column("keywords")}
    return pa.table({**columns, "lon": middle[0], "lat": middle[1], "alpha": alpha})


def _measure(
    plan: Plan, preset: Preset, table: pa.Table, sizes: PlanSizes, sample: pa.Table
) -> PlanCost:
    wants = wants_of_table(table, "top")
    predicted = measure_plan(plan, wants, table.column("id"), held_out(sample))
    folder = Path(tempfile.mkdtemp(prefix="nearcast-plans-"))
    try:
        stream = PartitionedTops(plan, Window(count=sizes.window), folder)
        first = sample.num_rows
        old = messages(preset, sizes.window, sizes.seed, Group(), first=first)
        new = messages(preset, sizes.messages, sizes.seed, Group(), first=first + sizes.window)
        # The window first: a subscription that comes to a full one knows at once which words it
        # needs; lists that are not full need all.
        stream.run_batch(0, list(map(json.dumps, publish_events(old))), in_process(stream))
        stream.run_batch(1, list(map(json.dumps, _subscribes(table))), in_process(stream))
        before = stream.lists.communication
        lines = list(map(json.dumps, publish_events(new, sizes.window)))
        step, times = -(-len(lines) // BATCHES), []
        for start in range(0, len(lines), step):
            times.append(np.zeros(plan.partitions))
            batch = lines[start : start + step]
            stream.run_batch(stream.done + 1, batch, _timed(stream, times[-1]))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return PlanCost(
        plan.mechanism,
        plan.partitions,
        round(predicted.communication, 3),
        round((stream.lists.communication - before) / sizes.messages, 3),
        round(stream.lists.replication(), 3),
        round(predicted.balance, 3),
        round(float(step / np.median(times, axis=0).max()), 1),
    )


def _timed(stream: PartitionedTops, times: np.ndarray) -> Callable[[int], list[Partial]]:
    rounds = stream.folder / "rounds"

    def answer(number: int) -> list[Partial]:
        found: list[Partial] = []
        gc.disable()  # what is collected here is the driver's, which a worker does not have
        for partition in range(len(times)):
            start = time.process_time()
            found += do_round(rounds, number, partition, stream.settings)
            times[partition] += time.process_time() - start
        gc.enable()
        return found

    return answer


def _subscribes(table: pa.Table) -> Iterator[dict[str, object]]:
    for row in table.to_pylist():
        top = {"op": "subscribe", "id": row["id"], "mode": "top", "keywords": row["keywords"]}
        yield {**top, "at": [row["lon"], row["lat"]], "k": K, "alpha": row["alpha"]}


def as_rows(costs: list[PlanCost]) -> list[dict[str, object]]:
    """Return costs as a file has them."""
    return [asdict(cost) for cost in costs]

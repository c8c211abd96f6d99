"""Measures the constants of LFilter's cost models and writes them down.

The models count steps; how long a step takes in one structure compared with the other is for this
program to find out. It matches messages of several groups with a range of values for each constant
and keeps the value with the least time, over all groups alike: the mean of the logarithms of the
times, so that long messages do not drown the short ones. [LFilter §5.3]

    python tools/calibrate_costs.py            # measure and write costs.h, then build again
    python tools/calibrate_costs.py --dry-run  # measure only
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from nearcast.bench.contenders import ContenderSpec, make_contender
from nearcast.bench.workloads.groups import find_group
from nearcast.bench.workloads.presets import find_preset
from nearcast.bench.workloads.scenario import PresetSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

ROOT = Path(__file__).parent.parent
HEADER = ROOT / "cpp" / "nearcast" / "index" / "lfilter" / "costs.h"

GROUPS = ("short-point", "short-range", "medium-point", "medium-range", "long-point", "long-range")
CELL_COSTS = (0.125, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0, 8.0)
PRUNE_COSTS = (0.25, 1.0, 4.0, 16.0, 64.0, 256.0)
FIRST_CELL_COST = 1.0
PASSES = 7

TEXT = """\
/// What the steps of LFilter cost, relative to each other, as tools/calibrate_costs.py measured it.
/// Written by that program: change it by running it.
#pragma once

namespace nearcast {{

/// A step of the quadtree's filter, in steps of the trie's.
constexpr double kCellCost = {cell};
/// A step of pruning a list, in steps of verifying it.
constexpr double kPruneCost = {prune};

}}  // namespace nearcast
"""


class Workload:
    """Subscriptions, and messages of each group."""

    def __init__(self, preset: str, subscriptions: int, messages: int) -> None:
        source = PresetSource(find_preset(preset), seed=1)
        self.name = preset
        self.subscriptions = source.subscriptions(subscriptions)
        self.messages: dict[str, pa.Table] = {}
        for name in GROUPS:
            count = max(1, messages // 10) if name.startswith("long") else messages
            self.messages[name] = source.messages(count, find_group(name))


def microseconds(
    workload: Workload, candidates: Sequence[dict[str, float | str]]
) -> list[list[float]]:
    """Return processor time per message, for each candidate and group the least of all passes.

    Passes go round: a busy moment of the machine does not fall on one candidate only.
    """
    contenders = [make_contender(ContenderSpec("lfilter", c)) for c in candidates]
    for contender in contenders:
        contender.subscribe(workload.subscriptions)
    least = [[math.inf] * len(workload.messages) for _ in contenders]
    for _ in range(PASSES):
        for g, messages in enumerate(workload.messages.values()):
            for c, contender in enumerate(contenders):
                time = contender.measure(messages).cpu_seconds * 1e6 / messages.num_rows
                least[c][g] = min(least[c][g], time)
    return least


def choose(
    workloads: Sequence[Workload],
    name: str,
    values: Sequence[float],
    fixed: dict[str, float | str],
) -> float:
    """Return the value of a constant with the least mean logarithm of the times."""
    times: list[list[float]] = [[] for _ in values]
    for workload in workloads:
        measured = microseconds(workload, [{**fixed, name: value} for value in values])
        for all_times, more in zip(times, measured, strict=True):
            all_times += more
    scores = {}
    print(name, *(f"{w.name}/{g}" for w in workloads for g in w.messages))
    for value, own in zip(values, times, strict=True):
        scores[value] = math.exp(sum(map(math.log, own)) / len(own))
        print(f"{value:g}: {scores[value]:.2f} µs =", *(f"{t:.1f}" for t in own), flush=True)
    return min(scores, key=lambda value: scores[value])


def main() -> int:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", nargs="+", default=["tweets", "places"])
    parser.add_argument("--subscriptions", type=int, default=200_000)
    parser.add_argument("--messages", type=int, default=500)
    parser.add_argument("--dry-run", action="store_true", help="measure and write nothing")
    args = parser.parse_args()
    workloads = [Workload(name, args.subscriptions, args.messages) for name in args.preset]
    # Pruning only matters where the quadtree filters.
    quadtree: dict[str, float | str] = {"filter": "quadtree", "cell_cost": FIRST_CELL_COST}
    prune = choose(workloads, "prune_cost", PRUNE_COSTS, quadtree)
    cell = choose(workloads, "cell_cost", CELL_COSTS, {"prune_cost": prune})
    print(f"cell_cost {cell}, prune_cost {prune}")
    if not args.dry_run:
        HEADER.write_text(TEXT.format(cell=cell, prune=prune))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

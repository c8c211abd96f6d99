"""`nearcast bench moving`: what a location update costs, and a message that stays alive."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from nearcast.bench.checks import WrongAnswerError
from nearcast.bench.contenders import check_kind, index_kinds, parse_contender
from nearcast.bench.moving import (
    OPERATIONS,
    MovingSizes,
    compare_small,
    measure_moving,
)
from nearcast.bench.provenance import find_provenance
from nearcast.bench.results import FORMAT
from nearcast.bench.workloads.moving.files import TOWN, find_network, read_network
from nearcast.bench.workloads.moving.workload import MovingPlan, MovingWorkload
from nearcast.bench.workloads.presets import PRESETS, find_preset
from nearcast.bench.workloads.scenario import PresetSource
from nearcast.cli.option_types import at_least_one, at_least_zero, zero_to_one
from nearcast.matcher import DEFAULT_INDEX

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from nearcast.bench.moving import MovingResult

COLUMNS = ("index", "operation", "cpu µs", "times auto", "p50", "p99", "p99.9", "worst", "changes")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `moving`."""
    parser = commands.add_parser(
        "moving",
        help="location updates among live messages, and messages that are kept or not",
        description="Subscriptions move on roads among messages that stay alive. All contenders "
        "get the same events; their changes are compared, on a small workload with brute force.",
    )
    add = parser.add_argument
    add("--preset", default="tweets", choices=list(PRESETS), help="of keywords and texts")
    add("--nodes", type=Path, metavar="FILE", help="Parquet or CSV: node_id; lon, lat or x, y")
    add("--edges", type=Path, metavar="FILE", help="Parquet or CSV: src, dst; length, edge_class")
    add("--objects", type=at_least_one, default=100_000, metavar="N", help="moving subscriptions")
    add("--messages", type=at_least_one, default=100_000, metavar="N", help="that live at any time")
    add("--area-share", type=zero_to_one, default=1e-4, metavar="P", help="of an area in the space")
    add("--moves", type=at_least_one, default=20_000, metavar="N", help="in a repetition")
    add(
        "--publishes",
        type=at_least_one,
        default=2_000,
        metavar="N",
        help="of each kind in a repetition",
    )
    add("--repeat", type=at_least_one, default=5, metavar="R")
    add("--index", metavar="A,B", help="index kinds (default: auto and those made for moving)")
    add("--seed", type=at_least_zero, default=1, metavar="S")
    add("--out", type=Path, metavar="FILE", help="where the JSON goes (default: stdout)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measure, write JSON to stdout or a file, and a table to stderr."""
    console = Console(stderr=True, width=120)
    names = args.index.split(",") if args.index else [DEFAULT_INDEX, *index_kinds("moving")]
    try:
        specs = [parse_contender(name.strip()) for name in names]
        for spec in specs:
            check_kind(spec)
        workload = _workload(args)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    sizes = MovingSizes(args.moves, args.publishes, args.repeat)

    def step(what: str) -> None:
        if console.is_terminal:
            console.print(f"[dim]{what}")

    try:
        step("compare with brute force")
        compare_small(workload, specs)
        results = measure_moving(workload, specs, sizes, step)
    except WrongAnswerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    text = json.dumps(_result(args, results), indent=2)
    if args.out is None:
        print(text)
    else:
        args.out.write_text(text + "\n")
    console.print(_table(results))
    return 0


def _workload(args: argparse.Namespace) -> MovingWorkload:
    if (args.nodes is None) != (args.edges is None):
        msg = "--nodes and --edges belong together: got one, wanted both or none"
        raise ValueError(msg)
    has_files = args.nodes is not None
    network = (
        read_network(args.nodes, args.edges) if has_files else find_network(TOWN, None, args.seed)
    )
    plan = MovingPlan(args.objects, args.messages, steps=args.repeat, area_share=args.area_share)
    return MovingWorkload(PresetSource(find_preset(args.preset), args.seed), network, plan)


def _result(args: argparse.Namespace, results: Sequence[MovingResult]) -> dict[str, object]:
    workload = {
        "source": args.preset,
        "seed": args.seed,
        "objects": args.objects,
        "messages": args.messages,
        "area_share": args.area_share,
        "moves": args.moves,
        "publishes": args.publishes,
    }
    return {
        "provenance": asdict(find_provenance()),
        "repetitions": args.repeat,
        "runs": [{"workload": workload, "contenders": [asdict(result) for result in results]}],
        "command": "moving",
        "format": FORMAT,
    }


def _table(results: Sequence[MovingResult]) -> Table:
    table = Table(*COLUMNS, box=None)
    own = next((result for result in results if result.kind == "auto"), results[0])
    for operation in OPERATIONS:
        for result in results:
            cost = result.operations[operation]
            ratio = cost.cpu_us.median / own.operations[operation].cpu_us.median
            numbers = (cost.p50_us, cost.p99_us, cost.p999_us, cost.worst_us, cost.changes)
            table.add_row(
                *(result.name, operation, f"{cost.cpu_us.median:.3g}", f"{ratio:.3g}"),
                *(f"{number:.3g}" for number in numbers),
            )
    return table

"""`nearcast bench limits`: what one index costs beside matching in bulk."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from nearcast.bench.limits import as_json, measure_limits
from nearcast.bench.provenance import find_provenance
from nearcast.bench.results import FORMAT
from nearcast.bench.workloads.groups import find_group
from nearcast.bench.workloads.presets import PRESETS, find_preset
from nearcast.bench.workloads.scenario import PresetSource, make_scenario
from nearcast.cli.option_types import at_least_one, at_least_zero
from nearcast.cli.replay import add_index_option

if TYPE_CHECKING:
    import argparse


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `limits`."""
    parser = commands.add_parser(
        "limits",
        help="building, single calls, strings, threads, changes, churn and snapshots of one index",
    )
    add = parser.add_argument
    add("--preset", default="tweets", choices=list(PRESETS))
    add("--subscriptions", nargs="+", type=at_least_one, default=[100_000], metavar="N")
    add("--messages", type=at_least_one, default=10_000, metavar="N")
    add_index_option(parser)
    add("--seed", type=at_least_zero, default=1, metavar="S")
    add(
        "--repeat",
        type=at_least_one,
        default=5,
        metavar="R",
        help="repetitions; the best one counts",
    )
    add("--out", type=Path, metavar="FILE", help="where the JSON goes (default: stdout)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measure, and write JSON."""
    source = PresetSource(find_preset(args.preset), args.seed)
    runs = []
    for size in args.subscriptions:
        scenario = make_scenario(source, find_group("short-point"), size, args.messages)
        runs.append(as_json(measure_limits(scenario, args.index, args.repeat)))
    result = {
        "provenance": asdict(find_provenance()),
        "repetitions": args.repeat,
        "runs": runs,
        "command": "limits",
        "format": FORMAT,
    }
    text = json.dumps(result, indent=2)
    if args.out is None:
        print(text)
    else:
        args.out.write_text(text + "\n")
    return 0

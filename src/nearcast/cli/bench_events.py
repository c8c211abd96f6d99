"""`nearcast bench events`: what an event costs from its line to its changes."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from nearcast.bench.events import as_json, measure_events
from nearcast.bench.provenance import find_provenance
from nearcast.bench.results import FORMAT
from nearcast.bench.workloads.groups import find_group
from nearcast.bench.workloads.presets import PRESETS, find_preset
from nearcast.bench.workloads.scenario import PresetSource, make_scenario
from nearcast.cli.option_types import at_least_one, at_least_zero

if TYPE_CHECKING:
    import argparse


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `events`."""
    parser = commands.add_parser(
        "events",
        help="an event as a line, in a table, as a value or as a call, from reading to changes",
    )
    add = parser.add_argument
    add("--preset", default="tweets", choices=list(PRESETS))
    add("--subscriptions", nargs="+", type=at_least_one, default=[50_000], metavar="N")
    add("--messages", type=at_least_one, default=20_000, metavar="N")
    add("--seed", type=at_least_zero, default=1, metavar="S")
    add(
        "--repeat", type=at_least_one, default=7, metavar="R", help="rounds in which all take turns"
    )
    add("--out", type=Path, metavar="FILE", help="where the JSON goes (default: stdout)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measure, and write JSON."""
    source = PresetSource(find_preset(args.preset), args.seed)
    runs = []
    for size in args.subscriptions:
        scenario = make_scenario(source, find_group("short-point"), size, args.messages)
        runs.append(as_json(measure_events(scenario, args.repeat)))
    result = {
        "provenance": asdict(find_provenance()),
        "repetitions": args.repeat,
        "runs": runs,
        "command": "events",
        "format": FORMAT,
    }
    text = json.dumps(result, indent=2)
    if args.out is None:
        print(text)
    else:
        args.out.write_text(text + "\n")
    return 0

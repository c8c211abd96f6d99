"""`nearcast bench topk`: what do top lists over a sliding window cost?"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from nearcast.bench.checks import WrongAnswerError
from nearcast.bench.provenance import find_provenance
from nearcast.bench.topk import default_contenders, read_contender, run_topk, steps_of
from nearcast.bench.topk_results import TopResult, table_of
from nearcast.bench.workloads.presets import PRESETS, find_preset
from nearcast.bench.workloads.tops import TopSizes, make_top_scenario
from nearcast.cli.option_types import at_least_one, at_least_zero
from nearcast.cli.progress import named_steps
from nearcast.errors import InvalidParameterError

if TYPE_CHECKING:
    import argparse

    from nearcast.bench.contenders import ContenderSpec
    from nearcast.bench.topk_results import TopRun
    from nearcast.bench.workloads.tops import Keywords

SEGMENTS = 10
MIN_WIDTH = 170
"""Columns that a table needs; a narrower terminal wraps lines rather than losing digits."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `topk`."""
    parser = commands.add_parser(
        "topk",
        help="time and memory of top lists over a sliding window",
        description="Fill a window, subscribe, and go on publishing; all contenders in turns on the"
        " same messages, checked against brute force.",
    )
    add = parser.add_argument
    add(
        "--preset",
        nargs="+",
        default=["tweets"],
        choices=list(PRESETS),
        metavar="NAME",
        help=f"any of {', '.join(PRESETS)}",
    )
    add(
        "--keywords",
        nargs="+",
        default=["messages"],
        choices=("messages", "zipf"),
        help="where keywords come from: messages of the preset, or Zipf's law",
    )
    add("--subscriptions", type=at_least_one, default=1_000_000, metavar="N")
    add("--window", type=at_least_one, default=1_000_000, metavar="N", help="live messages")
    add(
        "--messages",
        type=at_least_one,
        default=10_000,
        metavar="N",
        help="published after the window",
    )
    add(
        "--settling",
        type=at_least_zero,
        default=0,
        metavar="N",
        help="published before those that are measured, so that lists are not fresh from a search",
    )
    add("--k", type=at_least_one, default=20, metavar="K")
    add("--seed", type=at_least_zero, default=1, metavar="S")
    add(
        "--kinds",
        metavar="A,B",
        help="arrival or arrival+expiry, with parameters as kind:name=value "
        f"(default: {','.join(default_contenders())})",
    )
    add(
        "--check",
        type=at_least_zero,
        default=200,
        metavar="N",
        help="lists to check, twice; 0 for none",
    )
    add("--out", type=Path, metavar="FILE", help="where the JSON goes (default: stdout)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measure; JSON to stdout or a file, tables to stderr."""
    console = Console(stderr=True)
    try:
        result = TopResult(find_provenance(), tuple(_runs(args, console)))
    except (ValueError, InvalidParameterError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except WrongAnswerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if args.out is None:
        print(result.to_json())
    else:
        args.out.write_text(result.to_json() + "\n")
    console.width = max(console.width, MIN_WIDTH)
    for each in result.runs:
        console.print(table_of(each), crop=False)
    return 0


def _runs(args: argparse.Namespace, console: Console) -> list[TopRun]:
    names = args.kinds.split(",") if args.kinds else default_contenders()
    specs = [read_contender(name.strip()) for name in names]
    return [
        _run_one(args, preset, keywords, specs, console)
        for preset, keywords in product(args.preset, args.keywords)
    ]


def _run_one(
    args: argparse.Namespace,
    preset: str,
    keywords: Keywords,
    specs: list[ContenderSpec],
    console: Console,
) -> TopRun:
    sizes = TopSizes(args.subscriptions, args.window, args.messages, args.k, args.settling)
    scenario = make_top_scenario(find_preset(preset), keywords, args.seed, sizes)
    with named_steps(console, steps_of(len(specs), SEGMENTS)) as progress:
        return run_topk(scenario, specs, progress, checked=args.check, segments=SEGMENTS)

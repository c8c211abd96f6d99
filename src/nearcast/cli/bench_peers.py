"""`nearcast bench peers`: the same workload through what people would use instead."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from nearcast.bench.peers.comparing import PEERS, run_peers
from nearcast.bench.provenance import find_provenance
from nearcast.bench.results import FORMAT
from nearcast.bench.workloads.groups import find_group
from nearcast.bench.workloads.presets import PRESETS, find_preset
from nearcast.bench.workloads.scenario import PresetSource, make_scenario
from nearcast.cli.option_types import at_least_one, at_least_zero
from nearcast.cli.progress import named_steps
from nearcast.cli.usage import UsageError

if TYPE_CHECKING:
    import argparse

    from nearcast.bench.peers.comparing import PeerRun


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `peers`."""
    parser = commands.add_parser(
        "peers",
        help="Lucene Monitor, PostgreSQL and a dictionary on the same workload",
        description="The same subscriptions and messages through nearcast and through what people "
        "would use instead, as far as it is on this machine; servers are started and ended. All "
        "answers are compared, and one that differs ends the run.",
    )
    add = parser.add_argument
    listed = f"any of {', '.join(PEERS)} (default: all that can run)"
    add("--peers", default=",".join(PEERS), metavar="A,B", help=listed)
    add("--preset", default="tweets", choices=list(PRESETS))
    add("--subscriptions", nargs="+", type=at_least_one, default=[10_000, 100_000], metavar="N")
    add("--messages", type=at_least_one, default=2_000, metavar="N")
    add("--seed", type=at_least_zero, default=1, metavar="S")
    add("--repeat", type=at_least_one, default=3, metavar="R", help="repetitions of each message")
    add("--out", type=Path, metavar="FILE", help="where the JSON goes (default: stdout)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measure, write JSON, and say on stderr what was missing."""
    names = [name.strip() for name in args.peers.split(",")]
    unknown = [name for name in names if name not in PEERS]
    if unknown:
        what = "no such peer"
        raise UsageError(what, got=unknown[0], wanted=", ".join(PEERS))
    console = Console(stderr=True)
    source, group = PresetSource(find_preset(args.preset), args.seed), find_group("short-point")
    runs: list[PeerRun] = []
    for size in args.subscriptions:
        scenario = make_scenario(source, group, size, args.messages)
        with named_steps(console, len(names)) as progress:
            runs.append(run_peers(scenario, names, args.repeat, progress))
    for name, reason in {k: v for run in runs for k, v in run.missing.items()}.items():
        print(f"left out: {name}: {reason}", file=sys.stderr)
    result = {
        "command": "peers",
        "format": FORMAT,
        "repetitions": args.repeat,
        "provenance": asdict(find_provenance()),
        "runs": [asdict(run) for run in runs],
    }
    text = json.dumps(result, indent=2, ensure_ascii=False)
    if args.out is None:
        print(text)
    else:
        args.out.write_text(text + "\n", encoding="utf-8")
    return 0

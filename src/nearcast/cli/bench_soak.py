"""`nearcast bench soak`: does a hub stay as large as what lives in it, however long it runs?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from nearcast.bench.soak import ALL, Soak, SoakPlan, until
from nearcast.cli.option_types import at_least_one, at_least_zero, not_below_zero
from nearcast.cli.replay import add_index_option
from nearcast.errors import NearcastError

if TYPE_CHECKING:
    import argparse

_KIB = 1_024


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `soak`."""
    parser = commands.add_parser(
        "soak",
        help="does anything grow while everything is replaced by something else, for hours?",
        description="Subscriptions of all modes, messages and words come and go; now and then the "
        "hub gets other weights, and is saved and opened. Prints bytes by part as it goes, and "
        "ends with 1 if a part or resident memory grows after the warm-up.",
    )
    add = parser.add_argument
    add(
        "--seconds",
        type=not_below_zero,
        metavar="S",
        help="how long (default: 60 without --events)",
    )
    add("--hours", type=not_below_zero, metavar="H")
    add("--events", type=at_least_one, metavar="N", help="so many at least")
    add_index_option(parser)
    add("--topk", default="auto", metavar="NAME", help="kind of top-k arrival")
    add("--expiry", default="", metavar="NAME", help="kind of top-k expiry")
    add(
        "--subscriptions",
        type=at_least_one,
        default=2_000,
        metavar="N",
        help="that live at any time",
    )
    add(
        "--window",
        type=at_least_one,
        default=2_000,
        metavar="N",
        help="messages that live at any time",
    )
    add("--step", type=at_least_one, default=2_000, metavar="N", help="events between two rows")
    add("--seed", type=at_least_zero, default=1, metavar="S")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run, print a table, and say what grew."""
    plan = SoakPlan(
        index=args.index,
        topk=args.topk,
        expiry=args.expiry,
        subscriptions=args.subscriptions,
        window=args.window,
        seed=args.seed,
        step_events=args.step,
    )
    try:
        soak = Soak(plan)
    except NearcastError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(" ".join(f"{name:>14}" for name in ("events", *map(_short, ALL))))

    def report(now: dict[str, int]) -> None:
        row = " ".join(f"{now[name] / _KIB:14.1f}" for name in ALL)
        print(f"{soak.events:14} {row}", flush=True)

    soak.run(until(_seconds(args), args.events, soak), report)
    grown = soak.growing()
    for part, (before, after) in grown.items():
        print(f"error: {_short(part)} grew from {before} to {after} bytes", file=sys.stderr)
    return 1 if grown else 0


def _short(name: str) -> str:
    return name.removesuffix("_bytes").replace("_", " ") + " KiB"


def _seconds(args: argparse.Namespace) -> float | None:
    if args.seconds is None and args.hours is None:
        return None if args.events is not None else 60.0
    return (args.seconds or 0) + 3_600 * (args.hours or 0)

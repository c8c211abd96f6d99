"""`nearcast generate`: workloads as files, for replay, for Spark, for other systems."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from nearcast.bench.workloads.alert_log import alert_events, alert_messages, alert_subscriptions
from nearcast.bench.workloads.expressions import expressions
from nearcast.bench.workloads.groups import GROUPS, find_group
from nearcast.bench.workloads.log import mixed_events, publish_events, subscribe_events, to_line
from nearcast.bench.workloads.presets import PRESETS, find_preset
from nearcast.bench.workloads.scenario import PresetSource
from nearcast.cli import generate_moving
from nearcast.cli.option_types import at_least_zero

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    import pyarrow as pa

_TABLES = {
    "messages": "messages of a preset",
    "subscriptions": "subscriptions of a preset",
    "events": "a log of subscriptions and messages",
}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `generate` and what it writes."""
    parser = subparsers.add_parser(
        "generate",
        help="write a generated workload",
        description="Write messages, subscriptions or logs, the same for the same seed.",
    )
    kinds = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    for what, text in _TABLES.items():
        _add_options(kinds.add_parser(what, help=text, description=f"Write {text}."))
    generate_moving.add_parser(kinds)


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--preset", default="tweets", choices=list(PRESETS))
    add("--count", type=at_least_zero, default=1_000, metavar="N", help="how many")
    add("--seed", type=at_least_zero, default=1, metavar="S")
    add("--group", default="short-point", choices=list(GROUPS), help="of messages")
    add(
        "--first",
        type=at_least_zero,
        default=0,
        metavar="N",
        help="rows of the sequence to leave out",
    )
    add("--expressions", action="store_true", help="subscriptions with AND and OR")
    add(
        "--alerts",
        action="store_true",
        help="attributes, where, phrases, prefixes, several areas, except; events: replace too",
    )
    add(
        "--subscriptions",
        type=at_least_zero,
        metavar="N",
        help="events: how many subscribe before the first message (default: as many as --count)",
    )
    add("--out", type=Path, metavar="FILE", help="where it goes (default: stdout)")
    add("--format", choices=["ndjson", "parquet"], default="ndjson")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the workload; NDJSON may go to stdout, Parquet needs a file."""
    try:
        _check(args)
        if args.what == "events":
            _write_lines(_mixed(args), args.out)
        elif args.format == "parquet":
            pq.write_table(_table(args), args.out)
        else:
            _write_lines(map(to_line, _events(args)), args.out)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.format == "parquet" and args.what == "events":
        msg = "events have no table: got --format parquet, wanted ndjson"
        raise ValueError(msg)
    if args.alerts and (args.format == "parquet" or args.expressions):
        msg = "--alerts are events of their own: got --format parquet or --expressions"
        raise ValueError(msg)
    if args.format == "parquet" and args.out is None:
        msg = "--format parquet needs --out FILE"
        raise ValueError(msg)


def _table(args: argparse.Namespace) -> pa.Table:
    preset = find_preset(args.preset)
    source = PresetSource(preset, args.seed)
    if args.what == "messages":
        return source.messages(args.count, find_group(args.group), first=args.first)
    if args.expressions:
        return expressions(preset, args.count, args.seed, first=args.first)
    return source.subscriptions(args.count, first=args.first)


def _events(args: argparse.Namespace) -> Iterable[dict[str, object]]:
    if not args.alerts:
        to_events = publish_events if args.what == "messages" else subscribe_events
        return to_events(_table(args))
    source = PresetSource(find_preset(args.preset), args.seed)
    if args.what == "messages":
        return alert_messages(source, find_group(args.group), args.count, args.first)
    return alert_subscriptions(source, args.count, args.first)


def _mixed(args: argparse.Namespace) -> Iterable[str]:
    source = PresetSource(find_preset(args.preset), args.seed)
    subscriptions = args.count if args.subscriptions is None else args.subscriptions
    events = alert_events if args.alerts else mixed_events
    return map(to_line, events(source, find_group(args.group), subscriptions, args.count))


def _write_lines(lines: Iterable[str], out: Path | None) -> None:
    if out is None:
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return
    with out.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)

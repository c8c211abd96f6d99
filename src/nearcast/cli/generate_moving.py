"""`nearcast generate moving`: subscriptions that move on roads, as events or as positions."""

from __future__ import annotations

import sys
from argparse import BooleanOptionalAction
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from nearcast.bench.workloads.moving.files import TOWN, find_network, read_network
from nearcast.bench.workloads.moving.fleet import MIXED, SPEEDS
from nearcast.bench.workloads.moving.log import opening_lines, step_lines
from nearcast.bench.workloads.moving.routes import DEFAULT_DESTINATIONS
from nearcast.bench.workloads.moving.workload import POSITIONS, MovingPlan, MovingWorkload
from nearcast.bench.workloads.presets import PRESETS, find_preset
from nearcast.bench.workloads.scenario import PresetSource
from nearcast.cli.option_types import above_zero, at_least_one, at_least_zero, zero_to_one
from nearcast.cli.progress import step_progress
from nearcast.cli.space import space_from

if TYPE_CHECKING:
    import argparse
    from typing import IO

    from nearcast.bench.workloads.moving.fleet import Speed
    from nearcast.bench.workloads.moving.network import Network


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `moving` with its options."""
    parser = subparsers.add_parser(
        "moving",
        help="subscriptions that move on a road network",
        description="Write a log of subscriptions that move on roads among messages that stay "
        "alive for a while, or only the positions.",
    )
    _add_roads(parser)
    _add_sizes(parser)
    add = parser.add_argument
    add("--preset", default="tweets", choices=list(PRESETS), help="of keywords and texts")
    add(
        "--live",
        action=BooleanOptionalAction,
        default=True,
        help="subscriptions hold what they match, and lose it again",
    )
    add("--seed", type=at_least_zero, default=1, metavar="S")
    add("--out", type=Path, metavar="FILE", help="where it goes (default: stdout)")
    add("--format", choices=["ndjson", "arrow"], default="ndjson", help="events, or positions")
    parser.set_defaults(run=run)


def _add_roads(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--nodes", type=Path, metavar="FILE", help="Parquet or CSV: node_id; lon, lat or x, y")
    add("--edges", type=Path, metavar="FILE", help="Parquet or CSV: src, dst; length, edge_class")
    add(
        "--space",
        metavar="W,S,E,N",
        help="where the network comes to lie (default: the world, or where its lon, lat are)",
    )
    add(
        "--destinations",
        type=at_least_one,
        default=DEFAULT_DESTINATIONS,
        metavar="N",
        help="to drive to",
    )


def _add_sizes(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--objects", type=at_least_zero, default=1_000, metavar="N", help="moving subscriptions")
    add(
        "--messages",
        type=at_least_zero,
        metavar="N",
        help="messages that live at any time (default: as many as --objects)",
    )
    add("--life-steps", type=at_least_one, default=10, metavar="K", help="how long a message lives")
    add("--steps", type=at_least_zero, default=100, metavar="K")
    add("--step-seconds", type=above_zero, default=30.0, metavar="T")
    add(
        "--speed",
        type=speed,
        default="medium",
        metavar="CLASS",
        help=f"{', '.join(SPEEDS)}, {MIXED}, or a multiple of medium",
    )
    add(
        "--mobility",
        type=zero_to_one,
        default=1.0,
        metavar="P",
        help="share that reports at a step",
    )
    add("--area-share", type=zero_to_one, default=1e-4, metavar="P", help="of an area in the space")


def run(args: argparse.Namespace) -> int:
    """Write events, which may go to stdout, or positions, which need a file."""
    try:
        plan = _plan(args)
        space = None if args.space is None else space_from(args.space)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    network = _network(args)
    if network.left_out:
        parts = f"{network.left_out} edges are not connected with the others: left out"
        print(f"warning: {parts}", file=sys.stderr)
    source = PresetSource(find_preset(args.preset), args.seed)
    box = None if space is None else (space.west, space.south, space.east, space.north)
    workload = MovingWorkload(source, network, plan, box)
    if args.format == "arrow":
        _write_positions(workload, args.out)
    else:
        _write_events(workload, args.out, live=args.live)
    return 0


def speed(text: str) -> Speed:
    """Read a class or a number; the name of this function is part of argparse's message."""
    return text if text in (*SPEEDS, MIXED) else float(text)  # type: ignore[return-value]


def _plan(args: argparse.Namespace) -> MovingPlan:
    if (args.nodes is None) != (args.edges is None):
        msg = "a network needs both --nodes FILE and --edges FILE"
        raise ValueError(msg)
    if args.format == "arrow" and args.out is None:
        msg = "--format arrow needs --out FILE"
        raise ValueError(msg)
    return MovingPlan(
        objects=args.objects,
        messages=args.objects if args.messages is None else args.messages,
        steps=args.steps,
        step_seconds=args.step_seconds,
        life_steps=args.life_steps,
        area_share=args.area_share,
        mobility=args.mobility,
        speed=args.speed,
        destinations=args.destinations,
    )


def _network(args: argparse.Namespace) -> Network:
    if args.nodes is None:
        return find_network(TOWN, None, args.seed)
    return read_network(args.nodes, args.edges)


def _write_events(workload: MovingWorkload, path: Path | None, *, live: bool) -> None:
    with ExitStack() as stack:
        out: IO[bytes] = stack.enter_context(path.open("wb")) if path else sys.stdout.buffer
        advance = stack.enter_context(step_progress("generate", workload.plan.steps))
        out.writelines(opening_lines(workload, live=live))
        for step in workload.steps():
            out.writelines(step_lines(step))
            advance(1)


def _write_positions(workload: MovingWorkload, path: Path) -> None:
    with (
        pa.OSFile(str(path), "wb") as out,
        pa.ipc.new_file(out, POSITIONS) as writer,
        step_progress("generate", workload.plan.steps + 1) as advance,
    ):
        for batch in workload.positions():
            writer.write_batch(batch)
            advance(1)

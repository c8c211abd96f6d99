"""`nearcast bench areas`: what polygons cost, against their bounding boxes."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from nearcast.bench.areas import measure_polygon, measure_shared
from nearcast.bench.provenance import find_provenance
from nearcast.bench.results import FORMAT
from nearcast.bench.workloads.groups import find_group
from nearcast.bench.workloads.presets import PRESETS, find_preset
from nearcast.bench.workloads.scenario import PresetSource, make_scenario
from nearcast.cli.option_types import at_least_one, at_least_zero, zero_to_one

if TYPE_CHECKING:
    import argparse


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `areas`."""
    parser = commands.add_parser(
        "areas",
        help="points in polygons of many corners, and polygons that subscriptions share",
        description="One subscription to a polygon, and many that share a few polygons, each "
        "against the same with the polygons' bounding boxes, in turns.",
    )
    add = parser.add_argument
    add("--corners", nargs="+", type=at_least_one, default=[50, 500, 5_000, 20_000], metavar="N")
    add("--noise", nargs="+", type=zero_to_one, default=[0.0, 0.02, 0.3], metavar="SHARE")
    add("--preset", default="tweets", choices=list(PRESETS), help="keywords of the shared ones")
    add("--subscriptions", type=at_least_one, default=10_000, metavar="N")
    add("--shapes", type=at_least_one, default=100, metavar="N", help="that they share")
    add("--shape-corners", type=at_least_one, default=500, metavar="N")
    add("--messages", type=at_least_one, default=20_000, metavar="N")
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
    polygons = [
        asdict(measure_polygon(corners, noise, args.seed, args.repeat))
        for noise in args.noise
        for corners in args.corners
    ]
    source = PresetSource(find_preset(args.preset), args.seed)
    scenario = make_scenario(source, find_group("short-point"), args.subscriptions, args.messages)
    shared = measure_shared(scenario, args.shapes, args.shape_corners, args.repeat)
    result = {
        "provenance": asdict(find_provenance()),
        "repetitions": args.repeat,
        "polygons": polygons,
        "shared": asdict(shared),
        "command": "areas",
        "format": FORMAT,
    }
    text = json.dumps(result, indent=2)
    if args.out is None:
        print(text)
    else:
        args.out.write_text(text + "\n")
    return 0

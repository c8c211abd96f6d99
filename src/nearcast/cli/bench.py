"""`nearcast bench`: what does it cost to match or to rank, on which workload, with which index."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from nearcast.bench import report
from nearcast.bench.checks import WrongAnswerError
from nearcast.bench.contenders import (
    BRUTE_FORCE,
    check_kind,
    index_kinds,
    make_contender,
    parse_contender,
    register,
)
from nearcast.bench.floor import FLOOR, FloorContender
from nearcast.bench.harness import Plan, run_match
from nearcast.bench.provenance import find_provenance
from nearcast.bench.ranking import RankedSource, rank_contenders
from nearcast.bench.results import Result
from nearcast.bench.workloads.expressions import ExpressionSource
from nearcast.bench.workloads.groups import GROUPS, find_group
from nearcast.bench.workloads.presets import PRESETS, find_preset
from nearcast.bench.workloads.ranges import FrequentRangeSource, NumberedSource, RangeSource
from nearcast.bench.workloads.real import DATASETS, open_source
from nearcast.bench.workloads.scenario import PresetSource, make_scenario
from nearcast.cli import (
    bench_areas,
    bench_events,
    bench_limits,
    bench_moving,
    bench_paper,
    bench_peers,
    bench_report,
    bench_serve,
    bench_soak,
    bench_topk,
)
from nearcast.cli.option_types import at_least_one, at_least_zero, part_of_one, zero_to_one
from nearcast.cli.progress import named_steps
from nearcast.cli.usage import UsageError
from nearcast.partition import MECHANISMS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from nearcast.bench.contenders import Contender, ContenderSpec
    from nearcast.bench.results import Run
    from nearcast.bench.workloads.scenario import Scenario, Source

MIXED_OPERATIONS = 100_000
PARTS = ("plans", "batch", "stream", "soak")
ATTRIBUTE_SOURCES: dict[str, Callable[[Source], Source]] = {
    "none": lambda source: source,
    "numbers": NumberedSource,
    "ranges": RangeSource,
    "frequent-ranges": FrequentRangeSource,
}

register(FLOOR, FloorContender)


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `bench` and what can be measured."""
    bench = subparsers.add_parser("bench", help="measure index kinds on a workload")
    commands = bench.add_subparsers(dest="measure", required=True, metavar="WHAT")
    match = commands.add_parser(
        "match",
        help="time and memory of matching messages with subscriptions",
        description="Build index kinds on the same subscriptions, check a sample of messages "
        "against brute force, time all messages, and write the numbers as JSON.",
    )
    _add_workload_options(match)
    match.add_argument(
        "--expressions",
        action="store_true",
        help="boolean expressions of 3 to 7 keywords in place of 1 to 5 plain ones",
    )
    match.add_argument(
        "--attributes",
        nargs="+",
        default=["none"],
        choices=list(ATTRIBUTE_SOURCES),
        help="one workload for each: none; messages with numbers; subscriptions that have a range "
        "of one of them, too; or that have a narrow one, one frequent keyword and no area",
    )
    _add_measuring_options(match)
    match.set_defaults(run=run)
    rank = commands.add_parser(
        "rank",
        help="time and memory of ranking messages for subscriptions",
        description="As `match`, in rank mode, for each alpha and threshold.",
    )
    _add_workload_options(rank)
    _add_rank_options(rank)
    _add_measuring_options(rank)
    rank.set_defaults(run=run)
    _add_spark(commands)
    bench_areas.add_parser(commands)
    bench_events.add_parser(commands)
    bench_limits.add_parser(commands)
    bench_moving.add_parser(commands)
    bench_peers.add_parser(commands)
    bench_paper.add_parser(commands)
    bench_report.add_parser(commands)
    bench_serve.add_parser(commands)
    bench_soak.add_parser(commands)
    bench_topk.add_parser(commands)


def _add_spark(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    spark = commands.add_parser(
        "spark",
        help="distribution mechanisms, and what Spark adds to matching",
        description="plans: the stateful pipeline with a full window, by mechanisms, beside one "
        "hub, without Spark. batch: against one bare matcher. stream: latency of files that arrive "
        "at a rate. soak: what is kept after many batches, without Spark.",
    )
    add = spark.add_argument
    add("parts", nargs="*", default=PARTS, metavar="PART", help=" ".join(PARTS))
    add("--preset", default="places", choices=list(PRESETS))
    add("--subscriptions", type=at_least_one, default=1_000_000, metavar="N", help="batch, stream")
    add("--messages", type=at_least_one, default=4_000_000, metavar="N", help="batch")
    add(
        "--repeat",
        type=at_least_one,
        default=3,
        metavar="R",
        help="batch: the best of so many counts",
    )
    add("--rate", type=at_least_one, default=5_000, metavar="N", help="stream: messages per second")
    add("--warm-up", type=at_least_zero, default=20, metavar="S", help="stream: not counted")
    add("--seconds", type=at_least_one, default=60, metavar="S", help="stream")
    add(
        "--partitions",
        nargs="+",
        type=at_least_one,
        default=[4, 8, 16, 32],
        metavar="P",
        help="plans",
    )
    add("--top-subscriptions", type=at_least_one, default=2_000, metavar="N", help="plans")
    add("--window", type=at_least_one, default=20_000, metavar="N", help="plans: live messages")
    add("--top-messages", type=at_least_one, default=1_000, metavar="N", help="plans")
    add("--mode", choices=["match", "top"], default="top", help="plans: of subscriptions")
    add("--mechanisms", nargs="+", choices=list(MECHANISMS), default=list(MECHANISMS), help="plans")
    add("--batches", type=at_least_one, default=1_000, metavar="N", help="soak")
    add("--seed", type=at_least_zero, default=1, metavar="S")
    add("--master", default="local[2]", metavar="URL")
    add("--out", type=Path, metavar="FILE", help="where the JSON goes (default: stdout)")
    spark.set_defaults(run=_run_spark)


def _run_spark(args: argparse.Namespace) -> int:
    unknown = sorted(set(args.parts) - set(PARTS))
    if unknown:
        what = "no such part"
        raise UsageError(what, got=unknown[0], wanted=", ".join(PARTS))
    from nearcast.cli import bench_spark

    return bench_spark.run(args)


def _add_workload_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    presets, datasets = list(PRESETS), list(DATASETS)
    add("--preset", nargs="+", choices=presets, metavar="NAME", help=f"any of {', '.join(presets)}")
    listed = f"real texts: {', '.join(datasets)}"
    add("--dataset", nargs="+", choices=datasets, metavar="NAME", help=listed)
    add("--data", type=Path, metavar="DIR", help="folder of the data sets (or NEARCAST_DATA)")
    add("--subscriptions", nargs="+", type=at_least_one, default=[100_000], metavar="N")
    add("--messages", type=at_least_one, default=10_000, metavar="N")
    add("--group", default="short-point", metavar="A,B", help=f"any of {', '.join(GROUPS)}")
    add("--seed", type=at_least_zero, default=1, metavar="S")


def _add_rank_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--alpha", nargs="+", type=zero_to_one, default=[0.1, 0.3, 0.5], metavar="A")
    add("--threshold", nargs="+", type=part_of_one, default=[0.6, 0.8], metavar="T")
    add("--idf", action="store_true", help="weigh words by the messages before the measured ones")


def _add_measuring_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--index",
        metavar="A,B",
        help="index kinds, with parameters as kind:name=value (default: all but brute-force)",
    )
    add(
        "--repeat",
        type=at_least_one,
        default=5,
        metavar="R",
        help="repetitions of each measurement",
    )
    add(
        "--check",
        type=at_least_zero,
        default=200,
        metavar="N",
        help="messages to check; 0 for none",
    )
    add(
        "--mixed",
        nargs="?",
        type=at_least_zero,
        const=MIXED_OPERATIONS,
        default=0,
        metavar="N",
        help="also N operations, 80 %% messages, 10 %% inserts, 10 %% deletes",
    )
    add("--baseline", default=report.DEFAULT_BASELINE, metavar="NAME", help="for the ratios")
    add("--out", type=Path, metavar="FILE", help="where the JSON goes (default: stdout)")


def run(args: argparse.Namespace) -> int:
    """Measure, write JSON to stdout or a file, and a table to stderr."""
    console = Console(stderr=True)
    try:
        result = _measure(args, console)
    except (ValueError, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except WrongAnswerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if args.out is None:
        print(result.to_json())
    else:
        args.out.write_text(result.to_json() + "\n")
    console.width = max(console.width, report.MIN_WIDTH)
    for table in report.tables(result, args.baseline):
        console.print(table, crop=False)
    return 0


def _measure(args: argparse.Namespace, console: Console) -> Result:
    ranks = args.measure == "rank"
    specs = _contenders(args.index, "rank" if ranks else "match")
    make = rank_contenders(idf=args.idf) if ranks else make_contender
    plan = Plan(args.repeat, args.check, args.mixed)
    runs = tuple(_run_one(scenario, specs, plan, make, console) for scenario in _scenarios(args))
    return Result(find_provenance(), plan.repetitions, runs, command=args.measure)


def _contenders(names: str | None, capability: str) -> list[ContenderSpec]:
    able = [kind for kind in index_kinds(capability) if kind != BRUTE_FORCE]
    chosen = names.split(",") if names else able
    specs = [parse_contender(name.strip()) for name in chosen]
    for spec in specs:
        check_kind(spec)
    return specs


def _scenarios(args: argparse.Namespace) -> Iterator[Scenario]:
    """Yield the scenarios one by one: each may need most of the memory."""
    groups = [find_group(name.strip()) for name in args.group.split(",")]
    for source in _sources(args):
        for size in args.subscriptions:
            for group in groups:
                yield make_scenario(source, group, size, args.messages)


def _sources(args: argparse.Namespace) -> Iterator[Source]:
    for source in _plain_sources(args):
        if args.measure == "rank":
            for alpha, threshold in product(args.alpha, args.threshold):
                yield RankedSource(source, alpha, threshold)
        else:
            chosen = ExpressionSource(source) if args.expressions else source
            yield from (ATTRIBUTE_SOURCES[name](chosen) for name in args.attributes)


def _plain_sources(args: argparse.Namespace) -> Iterator[Source]:
    names = args.preset or ([] if args.dataset else ["tweets"])
    yield from [PresetSource(find_preset(name), args.seed) for name in names]
    for name in args.dataset or []:
        yield open_source(name, args.data, args.seed)


def _run_one(
    scenario: Scenario,
    specs: list[ContenderSpec],
    plan: Plan,
    make: Callable[[ContenderSpec], Contender],
    console: Console,
) -> Run:
    with named_steps(console, plan.steps(len(specs))) as progress:
        return run_match(scenario, specs, plan, progress, make)

"""`nearcast spark`: prepare data, build an index in versions, match streams with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearcast.bench.workloads.presets import PRESETS
from nearcast.cli.option_types import above_zero, at_least_one, at_least_zero, not_below_zero
from nearcast.partition import MECHANISMS
from nearcast.partition.wants import MODES

if TYPE_CHECKING:
    import argparse


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `spark` with its commands."""
    spark = subparsers.add_parser("spark", help="prepare, index and match with Spark")
    spark.add_argument("--master", metavar="URL", help="of a cluster (default: local[*])")
    commands = spark.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_prepare(commands)
    _add_index_commands(commands)
    _add_run(commands)
    _add_apply(commands)


def _add_prepare(commands: Any) -> None:  # noqa: ANN401 — argparse has no public name for it
    prepare = commands.add_parser("prepare", help="raw files to clean, versioned tables")
    add = prepare.add_argument
    add("what", choices=["messages", "subscriptions"])
    add("input", nargs="?", metavar="PATH", help="file or folder; or --preset")
    add("--format", choices=["csv", "json", "ndjson", "parquet", "events"])
    add("--column", action="append", default=[], metavar="FIELD=COLUMN", help="where names differ")
    add("--mode", choices=["match", "rank"], default="match", help="of subscriptions")
    add("--preset", choices=list(PRESETS), help="generate the rows instead")
    add("--count", type=at_least_zero, default=1_000_000, metavar="N", help="how many to generate")
    add("--seed", type=at_least_zero, default=1, metavar="S")
    add("--out", required=True, metavar="DIR")
    prepare.set_defaults(run=_run, does="prepare")


def _add_index_commands(commands: Any) -> None:  # noqa: ANN401
    build = commands.add_parser("build", help="an index from a table of subscriptions")
    build.add_argument("subscriptions", help="as prepared")
    build.add_argument("--out", required=True, metavar="INDEX", help="folder, or s3://…")
    build.add_argument("--mode", choices=["match", "rank"], default="match")
    build.add_argument("--index", default="auto", metavar="KIND", help="in each partition")
    build.add_argument("--weights", type=Path, metavar="FILE", help="an epoch, to rank")
    _add_plan_options(build, "hash", 1)
    build.set_defaults(run=_run, does="build")
    change = commands.add_parser("change", help="subscribe, unsubscribe, move: a new version")
    change.add_argument("index")
    change.add_argument("events", type=Path, help="lines of the event format")
    change.set_defaults(run=_run, does="change")
    compact = commands.add_parser("compact", help="changes become part of the base")
    compact.add_argument("index")
    compact.set_defaults(run=_run, does="compact")
    vacuum = commands.add_parser("vacuum", help="remove versions that no query uses any more")
    vacuum.add_argument("index")
    vacuum.add_argument(
        "--keep", type=at_least_one, default=2, metavar="N", help="how many (default 2)"
    )
    unpin = "output of a stream that will not be started again: its version is not kept"
    vacuum.add_argument("--unpin", action="append", default=[], metavar="OUT", help=unpin)
    vacuum.set_defaults(run=_run, does="vacuum")
    rebalance = commands.add_parser("rebalance", help="distribute anew, by recent messages")
    rebalance.add_argument("index")
    _add_plan_options(rebalance, None, None)
    measured = "what a run measured: split busy partitions and merge idle ones"
    rebalance.add_argument("--load", metavar="OUT", help=measured)
    rebalance.set_defaults(run=_run, does="rebalance")


def _add_plan_options(
    parser: argparse.ArgumentParser, mechanism: str | None, partitions: int | None
) -> None:
    parser.add_argument("--mechanism", choices=list(MECHANISMS), default=mechanism)
    parser.add_argument("--partitions", type=at_least_one, default=partitions, metavar="P")
    parser.add_argument(
        "--sample", metavar="DIR", help="messages: as prepared, or a folder of Parquet files"
    )


def _add_run(commands: Any) -> None:  # noqa: ANN401
    run = commands.add_parser(
        "run",
        help="match a stream of messages",
        description="Match messages with an index that may change meanwhile. They arrive as "
        "Parquet files, prepared ones or others with the same columns; or as publish events, in "
        "text files or a topic of Kafka.",
    )
    add = run.add_argument
    add("--messages", required=True, metavar="DIR|TOPIC", help="or kafka://host:port/topic")
    add("--format", choices=["parquet", "events"], default="parquet", help="of files")
    add("--subscriptions", required=True, metavar="INDEX")
    add("--out", required=True, metavar="DIR|TOPIC", help="or kafka://host:port/topic")
    add("--checkpoint", metavar="DIR", help="default: OUT/_checkpoint")
    _add_stream_options(run)
    run.set_defaults(run=_run, does="stream")


def _add_stream_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--files-per-batch", type=at_least_one, metavar="N", help="at most")
    add("--lines-per-batch", type=at_least_one, metavar="N", help="at most, of a topic")
    add("--trigger", type=not_below_zero, default=0.0, metavar="SECONDS")
    add("--until-empty", action="store_true", help="end when everything there is done")
    add("--metrics", type=Path, metavar="FILE", help="a line of JSON for each batch")
    add("--prometheus", type=Path, metavar="FILE", help="the same for a collector of text files")


def _add_apply(commands: Any) -> None:  # noqa: ANN401
    apply = commands.add_parser(
        "apply",
        help="every mode over a stream of events: matched, ranked, live, moving, top",
        description="Events arrive as text files of the event format or in a topic of Kafka. OUT "
        "gets a folder batch=N for each batch: the changes that one hub would deliver.",
    )
    _add_events_options(apply)
    add = apply.add_argument
    add("--modes", nargs="+", choices=list(MODES), default=list(MODES), help="of subscriptions")
    add("--plan-from", type=Path, metavar="EVENTS", help="subscriptions to plan for")
    _add_plan_options(apply, "hash", 2)
    apply.set_defaults(run=_run, does="apply")


def _add_events_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--events", required=True, metavar="DIR|TOPIC", help="or kafka://host:port/topic")
    add("--out", required=True, metavar="DIR", help="folder, or s3://…")
    add("--checkpoint", metavar="DIR", help="default: OUT/_checkpoint")
    add("--window-count", type=at_least_one, metavar="N")
    add("--window-seconds", type=above_zero, metavar="T")
    add("--weights", type=Path, metavar="FILE", help="an epoch")
    add("--accept-late", action="store_true", help="files need not come in the order of names")
    _add_stream_options(parser)


def _run(args: argparse.Namespace) -> int:
    """Run a command; what it needs takes long to import, and other commands do not need it."""
    from nearcast.cli import spark_runs

    return spark_runs.RUNS[args.does](args)

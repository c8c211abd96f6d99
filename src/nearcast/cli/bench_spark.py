"""What `nearcast bench spark` does. Imported when it runs: Spark's parts take long to import."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from nearcast.bench.provenance import find_provenance
from nearcast.bench.spark_batches import compare_batches, set_up
from nearcast.bench.spark_plans import PlanCost, PlanSizes, as_rows, compare_plans
from nearcast.bench.spark_streams import Feed, measure_stream
from nearcast.bench.workloads.presets import find_preset
from nearcast.cli.spark_runs import make_session

if TYPE_CHECKING:
    import argparse


def run(args: argparse.Namespace) -> int:
    """Measure the chosen parts; JSON to stdout or a file, tables to stderr."""
    console = Console(stderr=True)
    result: dict[str, Any] = {"provenance": asdict(find_provenance()), "options": _options(args)}
    if "plans" in args.parts:
        sizes = PlanSizes(args.top_subscriptions, args.window, args.top_messages, args.seed)
        preset = find_preset(args.preset)
        costs = compare_plans(preset, sizes, args.partitions, lambda _: None)
        result["plans"] = as_rows(costs)
        console.print(_plan_table(costs))
    if {"batch", "stream"} & set(args.parts):
        result.update(_on_spark(args, console))
    text = json.dumps(result, indent=1, default=str)
    if args.out is None:
        print(text)
    else:
        args.out.write_text(text + "\n")
    return 0


def _options(args: argparse.Namespace) -> dict[str, Any]:
    return {name: value for name, value in vars(args).items() if name not in ("run", "out")}


def _on_spark(args: argparse.Namespace, console: Console) -> dict[str, Any]:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = make_session(args.master)
    preset = find_preset(args.preset)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="nearcast-bench-") as folder:
        sizes = (args.subscriptions, args.messages)
        place = set_up(spark, preset, Path(folder) / "work", sizes, args.seed)
        if "batch" in args.parts:
            found["batch"] = compare_batches(spark, place, args.repeat)
            console.print(found["batch"])
        if "stream" in args.parts:
            feed = Feed(args.rate, args.warm_up, args.seconds)
            found["stream"] = measure_stream(spark, preset, place, feed)
            console.print(found["stream"])
    spark.stop()
    return found


def _plan_table(costs: list[PlanCost]) -> Table:
    names = ("mechanism", "partitions", "copies", "partitions per message", "share", "messages/s")
    table = Table(*names)
    for cost in costs:
        table.add_row(
            cost.mechanism,
            str(cost.partitions),
            f"{cost.replication:.2f}",
            f"{cost.communication:.2f}",
            f"{cost.communication / cost.partitions:.0%}",
            f"{cost.messages_per_s:,.0f}",
        )
    return table

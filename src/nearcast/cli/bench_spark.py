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
from nearcast.bench.results import FORMAT
from nearcast.bench.spark_batches import compare_batches, set_up
from nearcast.bench.spark_soak import soak
from nearcast.bench.spark_state import StateCost, StateSizes, as_rows, compare_state
from nearcast.bench.spark_streams import Feed, measure_stream
from nearcast.bench.workloads.presets import find_preset
from nearcast.cli.spark_runs import make_session

if TYPE_CHECKING:
    import argparse


def run(args: argparse.Namespace) -> int:
    """Measure the chosen parts; JSON to stdout or a file, tables to stderr."""
    console = Console(stderr=True)
    origin = asdict(find_provenance())  # of the code that runs, whatever is changed meanwhile
    runs = []
    if "plans" in args.parts:
        counts = (args.top_subscriptions, args.window, args.top_messages)
        sizes = StateSizes(args.mode, *counts, args.seed)
        costs = compare_state(
            find_preset(args.preset), sizes, args.mechanisms, args.partitions, console.print
        )
        facts = {"source": args.preset, **asdict(sizes)}
        runs.append({"part": "plans", "workload": facts, "costs": as_rows(costs)})
        console.print(_plan_table(costs))
    if "soak" in args.parts:
        points = soak(find_preset(args.preset), args.batches, args.partitions[0], console.print)
        facts = {"source": args.preset, "batches": args.batches, "partitions": args.partitions[0]}
        runs.append({"part": "soak", "workload": facts, "points": points})
    if {"batch", "stream"} & set(args.parts):
        runs += _on_spark(args, console)
    result = {"provenance": origin, "runs": runs, "command": "spark", "format": FORMAT}
    text = json.dumps(result, indent=2)
    if args.out is None:
        print(text)
    else:
        args.out.write_text(text + "\n")
    return 0


def _on_spark(args: argparse.Namespace, console: Console) -> list[dict[str, Any]]:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = make_session(args.master)
    preset = find_preset(args.preset)
    facts = {"source": args.preset, "subscriptions": args.subscriptions, "seed": args.seed}
    facts["master"] = args.master
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="nearcast-bench-") as folder:
        count = args.messages if "batch" in args.parts else 0
        sizes = (args.subscriptions, count)
        place = set_up(spark, preset, Path(folder) / "work", sizes, args.seed)
        if "batch" in args.parts:
            workload = {**facts, "messages": count}
            measured = compare_batches(spark, place, args.repeat)
            found.append({"part": "batch", "workload": workload, "batch": measured})
        if "stream" in args.parts:
            feed = Feed(args.rate, args.warm_up, args.seconds)
            measured = measure_stream(spark, preset, place, feed)
            found.append({"part": "stream", "workload": facts, "stream": measured})
    spark.stop()
    for each in found:
        console.print(each)
    return found


def _plan_table(costs: list[StateCost]) -> Table:
    names = ("mechanism", "partitions", "copies", "partitions per message", "share", "messages/s")
    table = Table(*names, "plain µs", "driver µs", "slowest µs", "speed-up")
    for cost in costs:
        table.add_row(
            cost.mechanism,
            str(cost.partitions),
            f"{cost.replication:.2f}",
            f"{cost.communication:.2f}",
            f"{cost.communication / cost.partitions:.0%}",
            f"{cost.messages_per_s:,.0f}",
            f"{cost.plain_us:.2f}",
            f"{cost.driver_us:.2f}",
            f"{cost.slowest_us:.2f}",
            f"{cost.speed_up:.2f}",
        )
    return table

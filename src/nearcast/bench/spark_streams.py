"""What does Spark add to matching? Batches against one bare matcher, files arriving at a rate."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nearcast.bench.workloads.generate import messages, subscriptions
from nearcast.spark.build import build_index
from nearcast.spark.matching import match
from nearcast.spark.shard import Shard
from nearcast.spark.store import Index
from nearcast.spark.streaming import stream_matches

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from nearcast.bench.workloads.presets import Preset


@dataclass(frozen=True, slots=True)
class Workplace:
    """An index and messages on disk."""

    index: Index
    batch: pa.RecordBatch
    folder: Path


def set_up(
    spark: SparkSession, preset: Preset, folder: Path, sizes: tuple[int, int], seed: int
) -> Workplace:
    """Build an index of so many subscriptions and write so many messages, in eight files."""
    subscribed, published = sizes
    (folder / "subscriptions").mkdir(parents=True)
    (folder / "messages").mkdir()
    rows = plain(subscriptions(preset, subscribed, seed))
    pq.write_table(rows, folder / "subscriptions" / "0.parquet")
    build_index(spark.read.parquet(str(folder / "subscriptions")), folder / "index")
    table = numbered(preset, published, seed, 0)
    step = -(-published // 8)
    for start in range(0, published, step):
        pq.write_table(table.slice(start, step), folder / "messages" / f"{start}.parquet")
    return Workplace(Index(folder / "index"), table.combine_chunks().to_batches()[0], folder)


def compare_batches(spark: SparkSession, place: Workplace, repeat: int) -> dict[str, Any]:
    """Match the same messages with one bare matcher and with Spark, in turns; the best of each.

    `frame` are messages as a DataFrame, `files` those that the workers read themselves. `around_us`
    is what a message and core takes beyond what it takes the bare matcher.
    """
    start = time.perf_counter()
    shard = Shard(place.index, place.index.latest(), 0)
    opened = time.perf_counter() - start
    folder = str(place.folder / "messages")
    runs: dict[str, Callable[[], object]] = {
        "bare": lambda: shard.answer(place.batch),
        "frame": lambda: _drain(match(spark.read.parquet(folder), place.index)),
        "files": lambda: _drain(match(folder, place.index)),
    }
    took: dict[str, float] = dict.fromkeys(runs, float("inf"))
    for _ in range(repeat):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            took[name] = min(took[name], time.perf_counter() - start)
    count, cores = place.batch.num_rows, spark.sparkContext.defaultParallelism
    around = {name: (took[name] * cores - took["bare"]) * 1e6 / count for name in runs}
    return {
        "open_ms": round(opened * 1000, 1),
        "messages_per_s": {name: round(count / seconds) for name, seconds in took.items()},
        "ratio": {name: round(took["bare"] / took[name], 6) for name in ("frame", "files")},
        "around_us": {name: round(around[name], 2) for name in ("frame", "files")},
    }


def _drain(pairs: DataFrame) -> None:
    pairs.write.format("noop").mode("overwrite").save()


def measure_stream(
    spark: SparkSession, preset: Preset, place: Workplace, rate: int, seconds: tuple[int, int]
) -> dict[str, Any]:
    """Let files arrive every half second; say how long it takes until their pairs are there.

    Parameters
    ----------
    spark, preset, place
        What is matched, and where.
    rate
        Messages per second.
    seconds
        To warm up, not counted; and to measure.
    """
    arriving, out = place.folder / "arriving", place.folder / "out"
    arriving.mkdir()
    frames = spark.readStream.schema("id long, tokens array<string>, lon double, lat double")
    query = stream_matches(
        frames.parquet(str(arriving)), place.index, out, checkpoint=place.folder / "checkpoint"
    )
    try:
        arrivals = _feed(preset, arriving, rate, sum(seconds))
        _wait(query, sum(rows for _, rows in arrivals))
    finally:
        query.stop()
    latencies = _latencies(query, out, arrivals, seconds[0])
    p50, p99 = np.percentile(latencies, [50, 99])
    facts = {"rate": rate, "seconds": seconds[1], "p50_s": round(float(p50), 3)}
    return {**facts, "p99_s": round(float(p99), 3)}


def _feed(preset: Preset, folder: Path, rate: int, seconds: int) -> list[tuple[float, int]]:
    """Write a file every half second; return when each arrived and how many messages it has."""
    rows = rate // 2
    files = [numbered(preset, rows, 1, number * rows) for number in range(min(seconds * 2, 20))]
    arrivals = []
    begin = time.time()
    for number in range(seconds * 2):
        time.sleep(max(0.0, begin + number / 2 - time.time()))
        hidden = folder / f".{number}"
        pq.write_table(files[number % len(files)], hidden)
        hidden.rename(folder / f"{number:06}.parquet")
        arrivals.append((time.time(), rows))
    return arrivals


def _wait(query: Any, messages_in: int, patience_s: float = 60.0) -> None:  # noqa: ANN401
    end = time.time() + patience_s
    while time.time() < end:
        if sum(progress["numInputRows"] for progress in query.recentProgress) >= messages_in:
            return
        time.sleep(0.2)


def _latencies(
    query: Any,  # noqa: ANN401
    out: Path,
    arrivals: list[tuple[float, int]],
    warm_up: int,
) -> list[float]:
    """Say for each file how long after its arrival the pairs of its batch were there."""
    latencies, file = [], 0
    begin = arrivals[0][0] + warm_up
    for progress in sorted(query.recentProgress, key=lambda progress: progress["batchId"]):
        rows = progress["numInputRows"]
        done = out / f"batch={progress['batchId']}"
        while rows > 0 and file < len(arrivals):
            arrived, size = arrivals[file]
            if arrived >= begin and done.is_dir():
                latencies.append(done.stat().st_mtime - arrived)
            rows -= size
            file += 1
    return latencies


def numbered(preset: Preset, count: int, seed: int, first: int) -> pa.Table:
    """Return messages with their place in the sequence as id."""
    table = plain(messages(preset, count, seed, first=first))
    return table.add_column(0, "id", pa.array(np.arange(first, first + count)))


def plain(table: pa.Table) -> pa.Table:
    """Return a table without dictionaries, as files have it."""
    fields = [
        pa.field(f.name, pa.list_(pa.string()) if pa.types.is_list(f.type) else f.type)
        for f in table.schema
    ]
    return table.cast(pa.schema(fields))

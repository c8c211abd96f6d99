"""How long after a message was made are its pairs there, on a stream? How soon do changes count?

Messages are made at a steady rate; a file with those of a short interval arrives at its end. While
they arrive, subscriptions change. When all is done the output is read: the batch in which a message
has pairs, and when that batch was complete, are facts on disk, not what Spark says of itself.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nearcast.bench.spark_batches import numbered
from nearcast.spark.deltas import append_delta
from nearcast.spark.streaming import stream_matches

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming import StreamingQuery

    from nearcast.bench.spark_batches import Workplace
    from nearcast.bench.workloads.presets import Preset
    from nearcast.spark.store import Index

COLUMNS = "id long, tokens array<string>, lon double, lat double"


@dataclass(frozen=True, slots=True)
class Feed:
    """What arrives."""

    rate: int
    """Messages per second."""
    warm_up_s: int
    """Not counted."""
    seconds: int
    files_per_s: int = 5
    change_s: float = 2.0
    """How often a subscription comes."""

    @property
    def files(self) -> int:
        """How many files arrive."""
        return (self.warm_up_s + self.seconds) * self.files_per_s

    @property
    def rows(self) -> int:
        """How many messages each file has."""
        return self.rate // self.files_per_s

    def made(self, begin: float, ids: np.ndarray) -> np.ndarray:
        """Return when messages were made."""
        return begin + ids / (self.rows * self.files_per_s)


@dataclass(slots=True)
class Fed:
    """What has arrived."""

    begin: float
    committed: dict[int, float] = field(default_factory=dict)
    """When versions of the index were there."""


def measure_stream(
    spark: SparkSession, preset: Preset, place: Workplace, feed: Feed
) -> dict[str, Any]:
    """Let files arrive; say how long it takes until their pairs are there."""
    arriving, out = place.folder / "arriving", place.folder / "out"
    arriving.mkdir()
    tables = [numbered(preset, feed.rows, 1, number * feed.rows) for number in range(feed.files)]
    frames = spark.readStream.schema(COLUMNS).parquet(str(arriving))
    query = stream_matches(frames, place.index, out, checkpoint=place.folder / "checkpoint")
    try:
        fed = Fed(time.time())
        for number, table in enumerate(tables):
            _arrive(arriving, number, table, fed.begin + (number + 1) / feed.files_per_s)
            if number / feed.files_per_s >= len(fed.committed) * feed.change_s:
                _change(place.index, fed)
        end = time.time()
        _wait(out, feed.files * feed.rows)
    finally:
        query.stop()
    facts = {"rate": feed.rate, "seconds": feed.seconds, "files_per_s": feed.files_per_s}
    batches = _batches(out)
    return {
        **facts,
        **_latency(out, batches, feed, fed.begin),
        "waiting_at_the_end": feed.files * feed.rows - _matched(batches, end),
        "batch_s": _spread([float(facts["seconds"]) for facts in batches.values()]),
        "phases_ms": _phases(query, feed.warm_up_s),
        **_freshness(out, batches, fed, feed.warm_up_s),
    }


def _arrive(folder: Path, number: int, table: Any, when: float) -> None:  # noqa: ANN401
    time.sleep(max(0.0, when - time.time()))
    hidden = folder / f".{number}"
    pq.write_table(table, hidden)
    hidden.rename(folder / f"{number:06}.parquet")


def _change(index: Index, fed: Fed) -> None:
    area = {"west": 0, "south": 0, "east": 1, "north": 1}
    name = str(1_000_000_000 + len(fed.committed))
    event = {"op": "subscribe", "id": name, "keywords": "w1", "area": list(area.values())}
    manifest = append_delta(index, [event])
    fed.committed[manifest.version] = time.time()


def _matched(batches: dict[int, dict[str, Any]], until: float) -> int:
    """Return how many messages had been matched at a time; the index has one partition."""
    done = [facts["load"] for facts in batches.values() if facts["done"] <= until]
    return sum(int(load[0]) for loads in done for load in loads.values())


def _wait(out: Path, count: int, patience_s: float = 60.0) -> None:
    end = time.time() + patience_s
    while time.time() < end and _matched(_batches(out), end) < count:
        time.sleep(0.5)


def _batches(out: Path) -> dict[int, dict[str, Any]]:
    """Return what is known of each batch; `done` is when its pairs were there."""
    found = {}
    for file in (out / "_metrics").glob("*.json"):
        facts = json.loads(file.read_text())
        found[int(facts["batch"])] = {**facts, "done": file.stat().st_mtime}
    return dict(sorted(found.items()))


def _latency(
    out: Path, batches: dict[int, dict[str, Any]], feed: Feed, begin: float
) -> dict[str, Any]:
    """Say of all messages with pairs how long it took from being made to being in the output."""
    taken = []
    for number, facts in batches.items():
        folder = out / f"batch={number}"
        ids = pc.unique(pq.read_table(folder, columns=["message"], partitioning=None)["message"])
        made = feed.made(begin, ids.to_numpy())
        taken.append((facts["done"] - made)[made >= begin + feed.warm_up_s])
    latencies = np.concatenate(taken)
    return {"messages": len(latencies), "latency_s": _spread(latencies)}


def _freshness(
    out: Path, batches: dict[int, dict[str, Any]], fed: Fed, warm_up_s: int
) -> dict[str, Any]:
    """Say how long after a change was committed the first batch that sees it began and ended."""
    begun, done = [], []
    for version, committed in fed.committed.items():
        seen = [n for n, facts in batches.items() if facts["version"] >= version]
        if seen and committed >= fed.begin + warm_up_s:
            begun.append((out / "_versions" / f"{seen[0]}.json").stat().st_mtime - committed)
            done.append(batches[seen[0]]["done"] - committed)
    spreads = {
        "until_a_batch_has_it_s": _spread(begun),
        "until_its_pairs_are_there_s": _spread(done),
    }
    return {"changes": len(begun), **spreads}


def _phases(query: StreamingQuery, warm_up_s: int) -> dict[str, float]:
    """Return what Spark says that the parts of a batch took, in the middle."""
    recent = [progress for progress in query.recentProgress if progress["numInputRows"]]
    late = recent[len(recent) // 2 :] if warm_up_s else recent
    names = sorted({name for progress in late for name in progress["durationMs"]})
    values = {n: [progress["durationMs"].get(n, 0) for progress in late] for n in names}
    return {name: float(np.median(taken)) for name, taken in values.items()}


def _spread(values: Any) -> dict[str, float]:  # noqa: ANN401
    if not len(values):
        return {}
    points = zip(
        ("p50", "p95", "p99", "max"), np.percentile(values, [50, 95, 99, 100]), strict=True
    )
    return {name: round(float(value), 3) for name, value in points}

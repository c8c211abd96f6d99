"""What does Spark add to matching a batch? The same messages, with one bare matcher beside it."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nearcast.bench.checks import WrongAnswerError
from nearcast.bench.process_times import descendants_seconds
from nearcast.bench.workloads.generate import messages, subscriptions
from nearcast.spark.build import build_index
from nearcast.spark.load import counter_on
from nearcast.spark.matching import answer
from nearcast.spark.shard import Shard
from nearcast.spark.store import Index

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from nearcast.bench.workloads.presets import Preset

FILES = 8


@dataclass(frozen=True, slots=True)
class Workplace:
    """An index and messages on disk."""

    index: Index
    folder: Path

    @property
    def messages(self) -> str:
        """Folder of the messages."""
        return str(self.folder / "messages")


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
    step = max(-(-published // FILES), 1)
    for start in range(0, published, step):
        table = numbered(preset, min(step, published - start), seed, start)
        pq.write_table(table, folder / "messages" / f"{start}.parquet")
    return Workplace(Index(folder / "index"), folder)


def compare_batches(spark: SparkSession, place: Workplace, repeat: int) -> dict[str, Any]:
    """Match the same messages with one bare matcher and with Spark, in turns; the best of each.

    `files` are messages in Parquet files, `rows` a frame of which something was computed before, so
    that rows come through Java; `to_files` also writes the pairs. The bare matcher has its messages
    in memory, as Arrow's lists of strings. Of processor time, `native_us` is what a message took in
    a worker's partition, `around_us` all else: Java, transport, reading, writing. `cpu_ratio` is
    the ratio that a machine with nothing else to do would come to, if time is spread evenly over
    its cores. Raises `WrongAnswerError` if pairs differ.
    """
    start = time.perf_counter()
    shard = Shard(place.index, place.index.latest(), 0)
    opened = time.perf_counter() - start
    batches = pq.read_table(place.messages).to_batches(max_chunksize=65_536)
    counter = counter_on(spark.sparkContext)
    out = place.folder / "pairs"

    def matched(frame: DataFrame | str) -> DataFrame:
        return answer(frame, place.index, "match", counter=counter)

    runs: dict[str, Callable[[], object]] = {
        "bare": lambda: _bare(shard, batches),
        "files": lambda: _drain(matched(place.messages)),
        "rows": lambda: _drain(matched(spark.read.parquet(place.messages).where("id >= 0"))),
        "to_files": lambda: matched(place.messages).write.mode("overwrite").parquet(str(out)),
    }
    took: dict[str, list[_Taken]] = {name: [] for name in runs}
    for _ in range(repeat):
        for name, run in runs.items():
            counter.value = {}
            before, start = _seconds(), time.perf_counter()
            run()
            wall, used = time.perf_counter() - start, _seconds() - before
            inside = sum(load.seconds for load in counter.value.values())
            took[name].append(_Taken(wall, used, inside))
    pairs = _bare(shard, batches)
    _refuse_other_pairs(pairs, pq.read_table(out))
    shutil.rmtree(out)
    count = sum(batch.num_rows for batch in batches)
    return {
        "messages": count,
        "pairs": pairs.num_rows,
        "open_ms": round(opened * 1000, 1),
        **_shares(took, count, spark.sparkContext.defaultParallelism),
    }


class _Taken(NamedTuple):
    """What a run took, in seconds: by the wall, of processors, and of these in partitions."""

    wall: float
    used: float
    inside: float


def _seconds() -> float:
    return (descendants_seconds() or 0.0) + time.process_time()


def _shares(took: dict[str, list[_Taken]], count: int, cores: int) -> dict[str, dict[str, float]]:
    wall = {name: min(each.wall for each in runs) for name, runs in took.items()}
    used = {name: min(runs, key=lambda each: each.used) for name, runs in took.items()}
    spark = [name for name in took if name != "bare"]
    scale = 1e6 / count
    return {
        "messages_per_s": {name: round(count / seconds) for name, seconds in wall.items()},
        "ratio": {name: round(wall["bare"] / wall[name], 6) for name in spark},
        "cpu_ratio": {
            name: round(used["bare"].used * cores / used[name].used, 6) for name in spark
        },
        "cpu_us": {name: round(each.used * scale, 2) for name, each in used.items()},
        "native_us": {name: round(used[name].inside * scale, 2) for name in spark},
        "around_us": {
            name: round((used[name].used - used[name].inside) * scale, 2) for name in spark
        },
    }


def _bare(shard: Shard, batches: list[pa.RecordBatch]) -> pa.Table:
    found = []
    for batch in batches:
        pairs = shard.answer(batch)
        names = batch.column("id").take(pairs.column("message").combine_chunks())
        found.append(pairs.set_column(0, "message", names))
    return pa.concat_tables(found)


def _refuse_other_pairs(one: pa.Table, other: pa.Table) -> None:
    keys = [("message", "ascending"), ("subscription", "ascending")]
    if not one.sort_by(keys).equals(other.sort_by(keys)):
        msg = f"Spark found {other.num_rows} pairs, others than the {one.num_rows} of one matcher"
        raise WrongAnswerError(msg)


def _drain(pairs: DataFrame) -> None:
    pairs.write.format("noop").mode("overwrite").save()


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

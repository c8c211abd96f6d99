"""Matching a stream while subscriptions change: a micro-batch sees one version, also replayed.

Before a batch is matched, the version that it uses is written down under its number, once; its
output goes to a folder of its own that appears as a whole. A batch that is replayed after a failure
finds its version, and if its output is there already nothing is done: every pair is delivered
exactly once, and the same however often something dies. Of topics as output `sinks.py` says more.

Freshness: a batch uses the newest version there is when it starts. So a change counts from the
first batch that starts after its commit, one trigger interval plus the run of one batch at most.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from nearcast.spark.event_lines import read_lines
from nearcast.spark.folders import folder_at, is_remote
from nearcast.spark.kafka import Topic
from nearcast.spark.load import counter_on
from nearcast.spark.matching import Answers, asked_columns
from nearcast.spark.pinning import REMEMBERED, pin_version
from nearcast.spark.sessions import refuse_connect
from nearcast.spark.shard import manifest_at
from nearcast.spark.sinks import FolderSink, TopicSink, forget_batch, put_rows
from nearcast.spark.store import Index

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark import Accumulator
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming import StreamingQuery

    from nearcast.spark.folders import Address, Folder
    from nearcast.spark.load import Loads
    from nearcast.spark.sinks import Sink


def stream_matches(
    messages: DataFrame,
    index: Index | Address,
    out: Address | Topic,
    *,
    checkpoint: Address,
    key: str = "id",
    trigger_seconds: float = 0.0,
    until_empty: bool = False,
) -> StreamingQuery:
    """Match a stream of messages; return the running query.

    Parameters
    ----------
    messages
        A streaming DataFrame with the columns that `match` takes; or with `value`, lines of the
        event format that publish messages, and without the key.
    index
        Its mode says whether messages are matched or ranked. It may get new versions at any time.
    out
        Folder of the output: `batch=N` has the pairs of batch N as Parquet. Or a topic of Kafka.
    checkpoint
        Folder where Spark keeps how far it is; `out` belongs to it. Spark reaches it by connectors
        of its own (`s3a://…`).
    key
        The column that names a message.
    trigger_seconds
        How often a batch starts; 0: as soon as the one before is done.
    until_empty
        End when everything that is there now has been matched.
    """
    store = index if isinstance(index, Index) else Index(index)
    place = folder_at(checkpoint)
    sink = sink_of(out, place)
    refuse_connect(messages.sparkSession, "stream_matches", "ns.match takes streaming frames")
    # One for all batches: Spark never forgets a counter.
    counter = counter_on(messages.sparkSession.sparkContext)

    def write(batch: DataFrame, number: int) -> None:
        write_batch(batch, number, store, sink, key, counter)

    target = out if isinstance(out, Topic) else sink.state
    name = f"nearcast matches of {store.address} to {target}"
    return start_query(
        messages, write, checkpoint, trigger_seconds, name=name, until_empty=until_empty
    )


def start_query(
    rows: DataFrame,
    write: Callable[[DataFrame, int], None],
    checkpoint: Address,
    trigger_seconds: float,
    *,
    name: str,
    until_empty: bool,
) -> StreamingQuery:
    """Start a query that gives each batch, and its number, to `write`."""
    trigger = trigger_of(trigger_seconds, until_empty=until_empty)
    writer = rows.writeStream.foreachBatch(write).queryName(name)
    # As it was given: Spark's connectors have other names than Arrow's.
    place = checkpoint if is_remote(checkpoint) else folder_at(checkpoint)
    return writer.option("checkpointLocation", str(place)).trigger(**trigger).start()


def sink_of(out: Address | Topic, checkpoint: Folder) -> Sink:
    """Return where pairs go; what is remembered of batches is in the folder, or beside Spark's."""
    if isinstance(out, Topic):
        return TopicSink(out, checkpoint / "nearcast")
    return FolderSink(folder_at(out))


def trigger_of(seconds: float, *, until_empty: bool) -> dict[str, Any]:
    """Return when batches start, as Spark takes it."""
    if until_empty:
        return {"availableNow": True}
    return {"processingTime": f"{round(seconds * 1000)} milliseconds"}


def write_batch(
    batch: DataFrame,
    number: int,
    index: Index,
    sink: Sink,
    key: str,
    counter: Accumulator[Loads],
) -> None:
    """Match one batch and write its pairs, unless they are there."""
    if sink.has(number):
        return
    start = time.perf_counter()
    version = pin_version(index, sink.state, number)
    manifest = manifest_at(index.address, version)
    counter.value = {}
    description = f"nearcast: batch {number}, version {version}, {manifest.partitions} partitions"
    batch.sparkSession.sparkContext.setJobDescription(description)  # for Spark's own pages
    is_lines = "value" in batch.columns and key not in batch.columns
    rows = read_lines(batch).persist() if is_lines else batch
    try:
        refused = _set_aside(rows, sink.state, number) if is_lines else 0
        good = rows.where("reason is null").drop("value", "reason") if is_lines else rows
        name = "id" if is_lines else key
        pairs = Answers(asked_columns(good, name), index, manifest, counter=counter)
        sink.put(pairs, number)
    finally:
        if is_lines:
            rows.unpersist()
    facts = {
        "batch": number,
        "version": version,
        "partitions": manifest.partitions,
        "pairs": sum(load.pairs for load in counter.value.values()),
        "seconds": time.perf_counter() - start,
        "refused": refused,
        "load": {str(partition): load for partition, load in sorted(counter.value.items())},
    }
    content = json.dumps(facts).encode()
    sink.state.create(f"_metrics/{number}.json", content, is_durable=False)  # none depends on it
    forget_batch(sink.state, number - REMEMBERED)


def _set_aside(rows: DataFrame, state: Folder, number: int) -> int:
    """Write the lines that were refused, with reasons; return how many."""
    refused = rows.where("reason is not null").select("value", "reason")
    count = int(refused.count())
    if count:
        put_rows(refused, state / "_refused", number)
    return count

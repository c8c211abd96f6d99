"""Matching a stream while subscriptions change: each micro-batch sees one version, for ever.

Before a batch is matched, the version that it uses is written down under its number, once; its
output goes to a folder of its own that appears as a whole. A batch that is replayed after a failure
finds its version, and if its output is there already nothing is done: every pair is delivered
exactly once, and the same however often something dies.

Freshness: a batch uses the newest version there is when it starts. So a change counts from the
first batch that starts after its commit, one trigger interval plus the run of one batch at most.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow.dataset as ds

from nearcast.spark.matching import match, rank
from nearcast.spark.store import Index

if TYPE_CHECKING:
    from os import PathLike

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming import StreamingQuery


def stream_matches(
    messages: DataFrame,
    index: Index | str | PathLike[str],
    out: str | PathLike[str],
    *,
    checkpoint: str | PathLike[str],
    key: str = "id",
    trigger_seconds: float = 0.0,
    until_empty: bool = False,
) -> StreamingQuery:
    """Match a stream of messages; return the running query.

    Parameters
    ----------
    messages
        A streaming DataFrame with the columns that `match` takes.
    index
        Its mode says whether messages are matched or ranked. It may get new versions at any time.
    out
        Folder of the output: `batch=N` has the pairs of batch N as Parquet.
    checkpoint
        Folder where Spark keeps how far it is; `out` belongs to it.
    key
        The column that names a message.
    trigger_seconds
        How often a batch starts; 0: as soon as the one before is done.
    until_empty
        End when everything that is there now has been matched.
    """
    store = index if isinstance(index, Index) else Index(index)
    target = Path(out).absolute()

    def write(batch: DataFrame, number: int) -> None:
        write_batch(batch, number, store, target, key)

    trigger = {"availableNow": True} if until_empty else _interval(trigger_seconds)
    return (
        messages.writeStream.foreachBatch(write)
        .option("checkpointLocation", str(Path(checkpoint).absolute()))
        .trigger(**trigger)
        .start()
    )


def _interval(seconds: float) -> dict[str, str]:
    return {"processingTime": f"{round(seconds * 1000)} milliseconds"}


def write_batch(batch: DataFrame, number: int, index: Index, out: Path, key: str) -> None:
    """Match one batch and write its pairs, unless they are there."""
    target = out / f"batch={number}"
    if target.is_dir():
        return
    start = time.perf_counter()
    version = pin_version(index, out, number)
    answer = rank if index.at(version).mode == "rank" else match
    unfinished = out / f"_unfinished-{uuid4().hex}"
    try:
        answer(batch, index, key=key, version=version).write.parquet(str(unfinished))
        publish_folder(unfinished, target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    pairs = ds.dataset(target, format="parquet").count_rows()
    seconds = time.perf_counter() - start
    facts = {"batch": number, "version": version, "pairs": pairs, "seconds": seconds}
    write_once(out / "_metrics" / f"{number}.json", json.dumps(facts))


def pin_version(index: Index, out: Path, number: int) -> int:
    """Return the version of a batch: the newest when it was first tried."""
    content = write_once(out / "_versions" / f"{number}.json", str(index.latest().version))
    return int(content)


def write_once(path: Path, content: str) -> str:
    """Write a file unless it is there; return what it holds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{uuid4().hex}")
    with unfinished.open("w", encoding="utf-8") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(unfinished, path)
    except FileExistsError:
        return path.read_text(encoding="utf-8")
    finally:
        unfinished.unlink()
    return content


def publish_folder(unfinished: Path, target: Path) -> None:
    """Make a folder visible under its name at once; who comes second changes nothing."""
    try:
        unfinished.rename(target)
    except OSError:
        if not target.is_dir():
            raise

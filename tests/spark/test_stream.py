"""Streams: subscriptions change while the query runs, batches are pinned, nothing comes twice."""

from __future__ import annotations

import os
import signal
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from spark.clusters import until
from spark.tables import build_here, expected, single, some_messages, some_subscriptions

from nearcast.spark.deltas import append_delta, current_rows
from nearcast.spark.folders import folder_at
from nearcast.spark.listening import listen
from nearcast.spark.matching import match
from nearcast.spark.pinning import REMEMBERED, pin_version
from nearcast.spark.sinks import forget_batch, publish_parts, write_part
from nearcast.spark.streaming import stream_matches

pytestmark = pytest.mark.spark


def arrive(folder, table, number) -> None:
    """Put a file where the stream looks, whole at once."""
    folder.mkdir(exist_ok=True)
    hidden = folder / f".{number}"
    pq.write_table(table, hidden)
    hidden.rename(folder / f"{number}.parquet")


def stream(spark, folder):
    schema = "id string, tokens array<string>, lon double, lat double"
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


def delivered(out):
    rows = ds.dataset(out, format="parquet", partitioning=None).to_table().to_pylist()
    return sorted((row["message"], row["subscription"]) for row in rows)


def test_a_listener_hears_of_every_batch_with_its_version_and_pairs(spark, tmp_path) -> None:
    table = some_subscriptions(300)
    build_here(tmp_path / "index", table)
    heard: list[dict[str, Any]] = []
    end = listen(spark, tmp_path / "out", heard.append)
    for number in range(2):
        arrive(tmp_path / "in", some_messages(50, first=50 * number), number)
    run(spark, tmp_path)
    until(lambda: len(heard) == 2, "a batch was not heard of")
    end()
    assert [row["batch"] for row in heard] == [0, 1]
    assert [row["version"] for row in heard] == [1, 1]
    assert sum(row["pairs"] for row in heard) == len(delivered(tmp_path / "out")) > 0


def run(spark, place) -> None:
    query = stream_matches(
        stream(spark, place / "in"),
        place / "index",
        place / "out",
        checkpoint=place / "checkpoint",
        until_empty=True,
    )
    assert query.awaitTermination(400)


def test_each_batch_sees_the_version_of_its_start_and_a_replay_sees_it_again(
    spark, tmp_path
) -> None:
    table = some_subscriptions(500)
    index, _ = build_here(tmp_path / "index", table)
    matcher, wanted = single(table), []
    for number in range(2):
        messages = some_messages(100, first=number * 100)
        arrive(tmp_path / "in", messages, number)
        run(spark, tmp_path)
        wanted += expected(matcher, messages)
        append_delta(index, [{"op": "subscribe", "id": f"n{number}", "keywords": "w0"}])
        matcher.subscribe(f"n{number}", keywords="w0")
    assert delivered(tmp_path / "out") == sorted(wanted)

    # The driver died after the output and before Spark's own commit: the batch runs again.
    (tmp_path / "checkpoint" / "commits" / "1").unlink()
    (tmp_path / "checkpoint" / "commits" / ".1.crc").unlink(missing_ok=True)
    run(spark, tmp_path)
    assert delivered(tmp_path / "out") == sorted(wanted)
    # And here before the output: it is made again, by the version of then.
    for name in ("1", ".1.crc"):
        (tmp_path / "checkpoint" / "commits" / name).unlink(missing_ok=True)
    (tmp_path / "out" / "batch=1").rename(tmp_path / "_lost")
    run(spark, tmp_path)
    assert delivered(tmp_path / "out") == sorted(wanted)


def test_a_streaming_frame_sees_the_newest_version_in_every_batch(spark, tmp_path) -> None:
    table = some_subscriptions(300)
    sample = some_messages(200, first=5_000).drop_columns(["id"])
    index, _ = build_here(tmp_path / "index", table)
    matcher, wanted = single(table), []
    (tmp_path / "in").mkdir()
    pairs = match(stream(spark, tmp_path / "in"), index)
    query = pairs.writeStream.format("memory").queryName("matched").start()
    for number in range(3):
        messages = some_messages(60, first=number * 60)
        wanted += expected(matcher, messages)
        arrive(tmp_path / "in", messages, number)
        query.processAllAvailable()
        append_delta(index, [{"op": "subscribe", "id": f"n{number}", "keywords": "w0"}])
        matcher.subscribe(f"n{number}", keywords="w0")
        if number == 0:  # a version with another number of partitions
            rows = current_rows(index, index.latest())
            build_here(tmp_path / "index", rows, "match", "prefix", 3, sample)
    query.stop()
    found = spark.table("matched").collect()
    assert sorted((row["message"], row["subscription"]) for row in found) == sorted(wanted)
    assert list(index.pins().values()) == [4]


def test_a_version_is_pinned_once(tmp_path) -> None:
    index, first = build_here(tmp_path / "index", some_subscriptions(3))
    out = folder_at(tmp_path / "out")
    assert pin_version(index, out, 0) == first.version
    append_delta(index, [{"op": "unsubscribe", "id": "1"}])
    assert pin_version(index, out, 0) == first.version
    assert pin_version(index, out, 1) == first.version + 1


def test_what_is_remembered_of_batches_is_bounded(tmp_path) -> None:
    out = folder_at(tmp_path)
    for number in range(3):
        for name in (f"_versions/{number}.json", f"_metrics/{number}.json", f"batch={number}/a"):
            out.write(name, b"1")
    for number in range(REMEMBERED + 2):
        forget_batch(out, number - REMEMBERED)
    assert (out / "_versions").names() == (out / "_metrics").names() == ["2.json"]
    assert len([name for name in out.folders() if name.startswith("batch=")]) == 3


def test_a_python_worker_killed_in_mid_task_costs_nothing(spark, tmp_path) -> None:
    table, messages = some_subscriptions(500), some_messages(200)
    build_here(tmp_path / "index", table)
    flag = tmp_path / "killed"

    def kill_once(batches):
        for batch in batches:
            yield batch
            try:
                os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            os.kill(os.getpid(), signal.SIGKILL)

    arrive(tmp_path / "in", messages, 0)
    frames = stream(spark, tmp_path / "in")
    query = stream_matches(
        frames.mapInArrow(kill_once, frames.schema),
        tmp_path / "index",
        tmp_path / "out",
        checkpoint=tmp_path / "checkpoint",
        until_empty=True,
    )
    assert query.awaitTermination(400)
    assert flag.exists()
    assert delivered(tmp_path / "out") == expected(single(table), messages)


def test_what_a_task_wrote_that_failed_afterwards_is_not_delivered(session, tmp_path) -> None:
    out = folder_at(tmp_path / "out")
    batch = pa.RecordBatch.from_pydict({"message": ["m"], "subscription": ["s"]})
    names = [row["file"] for part in write_part(iter([batch]), out, 0) for row in part.to_pylist()]
    list(write_part(iter([batch]), out, 0))  # the driver was not told
    assert list(write_part(iter([batch.slice(0, 0)]), out, 0)) == []
    publish_parts(out, 0, names, "message string, subscription string")
    list(write_part(iter([batch]), out, 0))  # its executor is gone, and it goes on
    assert delivered(tmp_path / "out") == [("m", "s")]
    publish_parts(out, 1, [], "message string, subscription long, score double")
    empty = tmp_path / "out" / "batch=1"
    assert pq.read_table(empty).schema.names == ["message", "subscription", "score"]
    assert delivered(empty) == []

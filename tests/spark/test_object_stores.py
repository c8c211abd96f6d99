"""An index, its changes and a stream's output in an S3-compatible store, as on a disk."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from spark import store_driver
from spark.clusters import descendants, is_alive, kill_tree, until
from spark.conftest import missing
from spark.tables import (
    build_here,
    expected,
    pairs_of,
    publish_lines,
    single,
    some_messages,
    some_subscriptions,
)

import nearcast as nc
from nearcast.spark.bases import base_at, write_parquet
from nearcast.spark.build import build_index, compact_index, rebalance_index
from nearcast.spark.deltas import append_delta, current_rows
from nearcast.spark.matching import match
from nearcast.spark.shard import open_shard
from nearcast.spark.store import Index
from nearcast.spark.streaming import stream_matches


@pytest.fixture
def place(store, tmp_path, monkeypatch):
    """A folder of the store, and an empty cache."""
    monkeypatch.setenv("NEARCAST_CACHE", str(tmp_path / "cache"))
    return store / uuid4().hex


def test_an_index_in_a_store_answers_as_one_matcher_at_every_version(place, tmp_path) -> None:
    table, messages = some_subscriptions(300), some_messages(100)
    sample = some_messages(200, first=5_000).drop_columns(["id"])
    index, first = build_here(place, table, mechanism="prefix", partitions=3, sample=sample)
    matcher = single(table)
    wanted = expected(matcher, messages)
    assert wanted
    assert pairs_of(index, first.version, messages) == wanted
    second = append_delta(index, [{"op": "subscribe", "id": "new", "keywords": "w0 OR unheard"}])
    matcher.subscribe("new", keywords="w0 OR unheard")
    assert pairs_of(index, second.version, messages) == expected(matcher, messages)
    assert pairs_of(Index(str(place)), first.version, messages) == wanted
    assert current_rows(index, second).num_rows == 301
    copies = [path for path in (tmp_path / "cache").iterdir() if path.is_file()]
    assert len(copies) == 3 * 2 + 1  # snapshots, ids, a delta: each was fetched once


def test_of_two_writers_to_a_store_one_is_refused(place) -> None:
    index, _ = build_here(place, some_subscriptions(5))

    def change(number):
        try:
            return append_delta(index, [{"op": "unsubscribe", "id": str(number)}]).version
        except nc.SnapshotError:
            return None

    with ThreadPoolExecutor(4) as pool:
        made = [version for version in pool.map(change, range(1, 5)) if version]
    assert made
    assert len(set(made)) == len(made)
    assert index.versions() == [1, *sorted(made)]
    rows = current_rows(index, index.latest())
    assert rows.num_rows == 5 - len(made)


def test_vacuum_empties_a_store_of_what_no_version_needs(place) -> None:
    index, _ = build_here(place, some_subscriptions(5))
    append_delta(index, [{"op": "unsubscribe", "id": "1"}])
    build_here(place, some_subscriptions(3))
    assert len(index.vacuum(keep=1)) == 2
    assert len(open_shard(index.address, index.latest().version, 0)) == 3
    assert [name for name in place.names() if name.startswith("delta-")] == []
    assert place.folders() == [index.latest().base]


def test_a_snapshot_that_was_damaged_on_its_way_is_refused(place) -> None:
    index, made = build_here(place, some_subscriptions(5))
    base = index.base(made)
    part = base_at(base.address).parts[0]
    whole = base.read(part.snapshot.name)
    base.write(part.snapshot.name, whole[:-1] + b"?")
    with pytest.raises(nc.SnapshotError, match="not what was written"):
        open_shard(index.address, made.version, 0)
    base.write(part.snapshot.name, whole)
    assert len(open_shard(index.address, made.version, 0)) == 5


def delivered(folder):
    """Return the pairs that a reader sees who knows nothing of how they came."""
    rows = ds.dataset(
        folder.path, format="parquet", filesystem=folder.files, partitioning=None
    ).to_table()
    return sorted((row["message"], row["subscription"]) for row in rows.to_pylist())


@pytest.mark.spark
def test_spark_builds_compacts_matches_and_streams_in_a_store(spark, place, tmp_path) -> None:
    table, messages = some_subscriptions(300), some_messages(200)
    pq.write_table(table, tmp_path / "rows.parquet")
    frame = spark.read.parquet(str(tmp_path / "rows.parquet"))
    sample = some_messages(200, first=5_000).drop_columns(["id"])
    build_index(frame, place / "index", mechanism="location", partitions=2, sample=sample)
    index = Index(place / "index")
    append_delta(index, [{"op": "subscribe", "id": "new", "keywords": "w0"}])
    matcher = single(table)
    matcher.subscribe("new", keywords="w0")
    compact_index(spark, index.folder)
    rebalance_index(spark, index.folder, sample, mechanism="prefix")
    assert index.latest().deltas == ()
    write_parquet(iter(messages.to_batches()), place / "messages")
    found = match(str(place / "messages"), index).toArrow().to_pylist()
    wanted = expected(matcher, messages)
    assert sorted((row["message"], row["subscription"]) for row in found) == wanted

    (tmp_path / "in").mkdir()
    pq.write_table(messages, tmp_path / "in" / "0.parquet")
    for _ in range(2):  # the second time before Spark's own commit
        arriving = spark.readStream.schema(spark.read.parquet(str(tmp_path / "in")).schema)
        query = stream_matches(
            arriving.parquet(str(tmp_path / "in")),
            index,
            place / "out",
            checkpoint=tmp_path / "checkpoint",
            until_empty=True,
        )
        assert query.awaitTermination(400)
        assert delivered(place / "out") == wanted
        for name in ("0", ".0.crc"):
            (tmp_path / "checkpoint" / "commits" / name).unlink(missing_ok=True)
    assert (place / "out/_parts/0").names() == []
    assert index.pins() == {str(place / "out"): index.latest().version}


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.skipif(bool(missing()), reason=str(missing()))
def test_a_driver_killed_when_files_of_a_batch_appear_loses_and_repeats_nothing(
    place, tmp_path
) -> None:
    """Spark's own checkpoint is on a disk: its connector for S3 is 686 MB."""
    table = some_subscriptions(500)
    build_here(place / "index", table, partitions=2)
    (tmp_path / "messages").mkdir()
    messages = some_messages(90)
    lines = publish_lines(messages)
    for number in range(3):
        text = "\n".join(lines[number * 30 :][:30])
        (tmp_path / "messages" / f"{number}.ndjson").write_text(text)
    (tmp_path / "gate").touch()
    command = [sys.executable, str(Path(store_driver.__file__)), str(tmp_path), str(place)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with (tmp_path / "driver.log").open("w") as log:
        driver = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        try:
            held = until(lambda: list(tmp_path.glob("gate-*")), "the driver does not come")
            started = [driver.pid, *descendants([driver.pid])]
        finally:
            kill_tree(driver.pid)
            driver.wait()
        until(lambda: not any(map(is_alive, started)), "what the driver started lives")
        assert (place / "out").folders() == ["_parts", "_published", "_versions"]
        held[0].unlink()
        subprocess.run(command, stdout=log, stderr=log, env=environment, check=True, timeout=400)
    assert delivered(place / "out") == expected(single(table), messages)
    assert [name for name in (place / "out").folders() if name[0] != "_"] == [
        "batch=0",
        "batch=1",
        "batch=2",
    ]

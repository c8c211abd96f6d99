"""Batch matching on Spark equals one matcher; builds, deltas, compaction and rebalancing too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from spark.tables import expected, single, some_messages, some_subscriptions

import nearcast as nc
from nearcast.spark import temporary
from nearcast.spark.build import build_index, compact_index, rebalance_index
from nearcast.spark.deltas import append_delta
from nearcast.spark.load import counter_on
from nearcast.spark.matching import Answers, asked_columns, match, rank
from nearcast.spark.scans import scan_of
from nearcast.spark.store import Index
from nearcast.spark.temporary import remove_temporary, temporary_index

pytestmark = pytest.mark.spark

SAMPLE = some_messages(400, first=10_000).drop_columns(["id"])


def pairs(frame):
    return sorted((row["message"], row["subscription"]) for row in frame.collect())


def spread_pairs(messages, path):
    """Return the pairs that are found when messages are shuffled to their partitions."""
    index = Index(path)
    asked = asked_columns(messages, "id")
    return pairs(Answers(asked, index, index.latest(), is_spread=True).frame())


def frame_of(spark, table):
    return spark.createDataFrame(table).repartition(2)


@pytest.mark.parametrize(("mechanism", "partitions"), [("hash", 1), ("location-prefix", 4)])
def test_a_join_equals_one_matcher_and_follows_the_versions(
    spark, mechanism, partitions, tmp_path
) -> None:
    table, messages = some_subscriptions(1_000), some_messages(400)
    options = {"mechanism": mechanism, "partitions": partitions, "sample": SAMPLE}
    build_index(frame_of(spark, table), tmp_path, **options)
    matcher, asked = single(table), frame_of(spark, messages)
    counter = counter_on(spark.sparkContext)
    found = pairs(match(asked, tmp_path, counter=counter))
    assert found == expected(matcher, messages)
    assert sum(load.pairs for load in counter.value.values()) == len(found)
    assert set(counter.value) <= set(range(partitions))

    append_delta(Index(tmp_path), [{"op": "subscribe", "id": "late", "keywords": "w1 OR unheard"}])
    matcher.subscribe("late", keywords="w1 OR unheard")
    changed = expected(matcher, messages)
    assert pairs(match(asked, tmp_path)) == changed
    assert spread_pairs(asked, tmp_path) == changed

    compacted = compact_index(spark, tmp_path)
    assert compacted.deltas == ()
    assert pairs(match(asked, Index(tmp_path))) == changed
    assert pairs(match(asked, tmp_path, version=2)) == changed  # others still read the old one

    moved = rebalance_index(spark, tmp_path, SAMPLE, mechanism="keyword", partitions=3)
    assert moved.partitions == 3
    assert pairs(match(asked, tmp_path)) == changed

    old = Index(tmp_path).plan(moved)
    split = rebalance_index(spark, tmp_path, SAMPLE, loads=[9.0, 1.0, 1.0])
    assert (old.homes != Index(tmp_path).plan(split).homes).any()
    assert pairs(match(asked, tmp_path)) == changed


def test_ranking_equals_one_matcher_with_scores_and_weights(spark, tmp_path) -> None:
    table, messages = some_subscriptions(600, "rank"), some_messages(200)
    weights = nc.Weights(100, {"w0": 60, "w1": 40})
    options = {"mechanism": "prefix", "partitions": 3, "sample": SAMPLE, "weights": weights}
    build_index(frame_of(spark, table), tmp_path, mode="rank", **options)
    matcher = nc.Matcher(mode="rank")
    matcher.set_weights(weights)
    matcher.subscribe_table(table)
    wanted = sorted(tuple(row.values()) for row in matcher.rank_table(messages).to_pylist())
    found = rank(frame_of(spark, messages), tmp_path).collect()
    assert sorted(tuple(row) for row in found) == wanted
    assert wanted


def test_messages_in_files_are_read_by_the_workers(spark, tmp_path) -> None:
    table, messages = some_subscriptions(1_000), some_messages(400)
    (tmp_path / "messages").mkdir()
    pq.write_table(messages, tmp_path / "messages" / "0.parquet", row_group_size=150)
    pq.write_table(messages, tmp_path / "messages" / "_hidden.parquet")
    for partitions in (1, 3):
        path = tmp_path / f"index-{partitions}"
        options = {"mechanism": "prefix", "partitions": partitions, "sample": SAMPLE}
        build_index(frame_of(spark, table), path, **options)
        assert pairs(match(tmp_path / "messages", path)) == expected(single(table), messages)
    with pytest.raises(nc.InvalidParameterError, match="no Parquet file"):
        match(tmp_path / "nothing", tmp_path / "index-1")


def test_a_frame_of_files_is_taken_for_the_files(spark, tmp_path) -> None:
    table, messages = some_subscriptions(1_000), some_messages(400)
    for name, rows in (("a b", messages.slice(0, 150)), ("c", messages.slice(150))):
        pq.write_table(rows, tmp_path / f"{name}.parquet")
    frame = spark.read.parquet(str(tmp_path))
    build_index(frame_of(spark, table), tmp_path / "_index")
    wanted = expected(single(table), messages)
    renamed = frame.withColumnRenamed("id", "name").select("lon", "tokens", "lat", "name")
    scan = scan_of(renamed)
    assert scan
    assert [Path(file).name for file in sorted(scan.files)] == ["a b.parquet", "c.parquet"]
    assert scan.columns == {"lon": "lon", "tokens": "tokens", "lat": "lat", "name": "id"}
    assert pairs(match(renamed, tmp_path / "_index", key="name")) == wanted
    computed = frame.where("id != 'm7'")
    assert scan_of(computed) is None
    left = [pair for pair in wanted if pair[0] != "m7"]
    assert pairs(match(computed, tmp_path / "_index")) == left


def test_what_is_more_than_columns_of_files_is_left_to_spark(spark, tmp_path) -> None:
    messages = some_messages(20)
    pq.write_table(messages, tmp_path / "0.parquet")
    frame = spark.read.parquet(str(tmp_path))
    assert scan_of(frame) is not None
    others = [
        frame.limit(3),
        frame.union(frame),
        frame.selectExpr("id", "lon + 1 as lon"),
        frame.selectExpr("cast(lon as int) as lon"),
        spark.read.schema("id string, topic string").parquet(str(tmp_path)),
        spark.createDataFrame([("m", 0.0)], "id string, lon double"),
        spark.readStream.schema(frame.schema).parquet(str(tmp_path)),
    ]
    assert [scan_of(other) for other in others] == [None] * len(others)
    (tmp_path / "day=1").mkdir()
    pq.write_table(messages, tmp_path / "day=1" / "0.parquet")
    assert scan_of(spark.read.parquet(str(tmp_path / "day=1"))) is not None
    parts = spark.read.option("basePath", str(tmp_path)).parquet(str(tmp_path / "day=1"))
    assert "day" in parts.columns
    assert scan_of(parts.drop("day")) is None
    pq.write_table(messages.drop_columns(["lon"]), tmp_path / "1.parquet")  # another schema
    assert scan_of(spark.read.schema(frame.schema).parquet(str(tmp_path / "1.parquet"))) is None
    frame.cache()
    assert scan_of(frame.select("id", "lon")) is None
    frame.unpersist()


@pytest.mark.parametrize("partitions", [1, 3])
def test_points_and_boxes_may_be_mixed(spark, partitions, tmp_path) -> None:
    table, points = some_subscriptions(300, "rank"), some_messages(100)
    lon, lat = (points.column(name).to_numpy() for name in ("lon", "lat"))
    sides = {"west": lon, "south": lat, "east": np.minimum(lon + 5, 180), "north": lat}
    boxes = points.drop_columns(["lon", "lat"]).set_column(
        0, "id", pa.array([f"b{row}" for row in range(100)])
    )
    for side, values in sides.items():
        boxes = boxes.append_column(side, pa.array(values))
    options = {"mechanism": "location", "partitions": partitions, "sample": SAMPLE}
    build_index(frame_of(spark, table), tmp_path, mode="rank", **options)
    mixed = frame_of(spark, points).unionByName(frame_of(spark, boxes), allowMissingColumns=True)
    wanted = [expected(single(table, "rank"), part) for part in (points, boxes)]
    assert pairs(rank(mixed, tmp_path)) == sorted(wanted[0] + wanted[1])
    assert spread_pairs(mixed, tmp_path) == sorted(wanted[0] + wanted[1])
    assert all(wanted)


def test_the_index_of_a_frame_does_not_stay(spark) -> None:
    subscriptions = spark.createDataFrame([(1, ["tea"])], "id long, keywords array<string>")
    remove_temporary()
    folder = Path(temporary_index(subscriptions, "match").address).parent
    assert folder.is_dir()
    assert remove_temporary() == 1
    assert not folder.exists()
    with pytest.raises(nc.InvalidParameterError):
        temporary_index(subscriptions.drop("id"), "match")
    assert remove_temporary() == 0
    assert temporary._folders == []


def test_a_frame_of_subscriptions_and_texts_will_do(spark) -> None:
    subscriptions = spark.createDataFrame([(1, ["tea"])], "id long, keywords array<string>")
    messages = spark.createDataFrame(
        [("m", "Green TEA!", 0.0, 0.0)], "id string, text string, lon double, lat double"
    )
    assert [tuple(row) for row in match(messages, subscriptions).collect()] == [("m", 1)]


def test_texts_find_all_partitions(spark, tmp_path) -> None:
    rows = [(number, [f"tea{number}"]) for number in range(20)]
    subscriptions = spark.createDataFrame(rows, "id long, keywords array<string>")
    options = {"mechanism": "prefix", "partitions": 3, "sample": SAMPLE}
    build_index(subscriptions, tmp_path, **options)
    messages = spark.createDataFrame(
        [("m", "Tea3 and TEA11, tea19!", 0.0, 0.0)],
        "id string, text string, lon double, lat double",
    )
    wanted = [("m", 3), ("m", 11), ("m", 19)]
    assert pairs(match(messages, tmp_path)) == spread_pairs(messages, tmp_path) == wanted


def test_what_cannot_be_is_said(spark, tmp_path) -> None:
    twice = spark.createDataFrame([("s", ["a"]), ("s", ["b"])], "id string, keywords array<string>")
    with pytest.raises(nc.DuplicateIdError, match="2 times"):
        build_index(twice, tmp_path)
    with pytest.raises(nc.InvalidParameterError, match="needs a sample"):
        build_index(twice.limit(1), tmp_path, mechanism="prefix", partitions=2)
    with pytest.raises(nc.InvalidParameterError, match="no column 'id'"):
        build_index(twice.select("keywords"), tmp_path)
    build_index(twice.limit(1), tmp_path)
    with pytest.raises(nc.InvalidParameterError, match="lack"):
        match(twice, tmp_path)
    with pytest.raises(nc.InvalidParameterError, match="another mode"):
        rank(frame_of(spark, some_messages(1)), tmp_path)

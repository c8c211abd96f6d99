"""Batch matching on Spark equals one matcher; builds, deltas, compaction and rebalancing too."""

from __future__ import annotations

import pytest
from spark.tables import expected, single, some_messages, some_subscriptions

import nearcast as nc
from nearcast.spark.build import build_index, compact_index, rebalance_index
from nearcast.spark.deltas import append_delta
from nearcast.spark.matching import match, rank
from nearcast.spark.store import Index

pytestmark = pytest.mark.spark

SAMPLE = some_messages(400, first=10_000).drop_columns(["id"])


def pairs(frame):
    return sorted((row["message"], row["subscription"]) for row in frame.collect())


def frame_of(spark, table):
    return spark.createDataFrame(table).repartition(2)


@pytest.mark.parametrize(("mechanism", "partitions"), [("hash", 1), ("location-prefix", 4)])
def test_a_join_equals_one_matcher_and_follows_the_versions(spark, mechanism, partitions, tmp_path):
    table, messages = some_subscriptions(1_000), some_messages(400)
    options = {"mechanism": mechanism, "partitions": partitions, "sample": SAMPLE}
    build_index(frame_of(spark, table), tmp_path, **options)
    matcher, asked = single(table), frame_of(spark, messages)
    assert pairs(match(asked, tmp_path)) == expected(matcher, messages)

    append_delta(Index(tmp_path), [{"op": "subscribe", "id": "late", "keywords": "w1 OR unheard"}])
    matcher.subscribe("late", keywords="w1 OR unheard")
    changed = expected(matcher, messages)
    assert pairs(match(asked, tmp_path)) == changed

    compacted = compact_index(spark, tmp_path)
    assert compacted.deltas == ()
    assert pairs(match(asked, Index(tmp_path))) == changed
    assert pairs(match(asked, tmp_path, version=2)) == changed  # others still read the old one

    moved = rebalance_index(spark, tmp_path, SAMPLE, mechanism="keyword", partitions=3)
    assert moved.partitions == 3
    assert pairs(match(asked, tmp_path)) == changed


def test_ranking_equals_one_matcher_with_scores_and_weights(spark, tmp_path):
    table, messages = some_subscriptions(600, "rank"), some_messages(200)
    weights = nc.Weights(100, {"w0": 60, "w1": 40})
    options = {"mechanism": "prefix", "partitions": 3, "sample": SAMPLE, "weights": weights}
    build_index(frame_of(spark, table), tmp_path, mode="rank", **options)
    matcher = nc.Matcher(mode="rank")
    matcher.set_weights(weights)
    matcher.subscribe_table(table)
    ids = messages.column("id").to_pylist()
    wanted = sorted(
        (ids[row["message"]], row["subscription"], row["score"])
        for row in matcher.rank_table(messages).to_pylist()
    )
    found = rank(frame_of(spark, messages), tmp_path).collect()
    assert sorted(tuple(row) for row in found) == wanted
    assert wanted


def test_a_frame_of_subscriptions_and_texts_will_do(spark):
    subscriptions = spark.createDataFrame([(1, ["tea"])], "id long, keywords array<string>")
    messages = spark.createDataFrame(
        [("m", "Green TEA!", 0.0, 0.0)], "id string, text string, lon double, lat double"
    )
    assert [tuple(row) for row in match(messages, subscriptions).collect()] == [("m", 1)]


def test_what_cannot_be_is_said(spark, tmp_path):
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

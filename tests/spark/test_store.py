"""An index in versions, without Spark: partitions, deltas, replicas, commits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from spark.tables import (
    WORDY,
    build_here,
    expected,
    pairs_of,
    single,
    some_messages,
    some_subscriptions,
)

import nearcast as nc
from nearcast.bench.workloads.alert_log import alert_subscriptions
from nearcast.bench.workloads.alerts import attributes
from nearcast.bench.workloads.scenario import PresetSource
from nearcast.partition import MECHANISMS
from nearcast.spark.bases import base_at
from nearcast.spark.definitions import table_of_events
from nearcast.spark.deltas import append_delta, current_rows
from nearcast.spark.folders import folder_at
from nearcast.spark.pinning import pin_version
from nearcast.spark.shard import _open, open_shard
from nearcast.spark.store import Index

SAMPLE = some_messages(400, first=10_000).drop_columns(["id"])


@pytest.mark.parametrize("mode", ["match", "rank"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_partitions_together_answer_like_one_matcher(mechanism, mode, tmp_path) -> None:
    table, messages = some_subscriptions(2_000, mode), some_messages(300)
    index, made = build_here(tmp_path, table, mode, mechanism, 6, SAMPLE)
    found = pairs_of(index, made.version, messages)
    assert found == expected(single(table, mode), messages)
    assert len(found) > 50


def some_alerts(count):
    """Return events of alerts with areas that are hit, and messages with attributes."""
    source = PresetSource(WORDY, 1)
    wishes = [dict(event) for event in alert_subscriptions(source, count)]
    for event in wishes[::2]:
        event.pop("area", None)
        event.setdefault("where", "price EXISTS")
    table = some_messages(300)
    said = list(attributes(1, 0, 300))
    texts = pa.array([None if row % 5 == 0 else json.dumps(one) for row, one in enumerate(said)])
    return wishes, table.append_column("attributes", texts)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_alerts_are_found_in_partitions_as_in_one_hub(mechanism, tmp_path) -> None:
    wishes, messages = some_alerts(600)
    hub = nc.Hub()
    hub.apply(wishes)
    wanted = sorted(
        (row["id"], id_)
        for row in messages.to_pylist()
        for id_ in hub.match(
            row["tokens"],
            at=(row["lon"], row["lat"]),
            attributes=json.loads(row["attributes"] or "{}"),
        )
    )
    table = table_of_events(wishes, "match")
    index, made = build_here(tmp_path, table, "match", mechanism, 6, SAMPLE)
    assert pairs_of(index, made.version, messages) == wanted
    assert len({id_ for _, id_ in wanted}) > 100
    changed = [
        {**event, "id": wishes[-1 - i]["id"], "replace": True}
        for i, event in enumerate(wishes[:50])
    ]
    hub.apply(changed)
    after = append_delta(index, changed)
    found = {(message, id_) for message, id_ in pairs_of(index, after.version, messages)}
    for row in messages.slice(0, 40).to_pylist():
        said = json.loads(row["attributes"] or "{}")
        reached = hub.match(row["tokens"], at=(row["lon"], row["lat"]), attributes=said)
        assert sorted(reached) == sorted(id_ for message, id_ in found if message == row["id"])


@pytest.mark.parametrize(("mechanism", "partitions"), [("hash", 1), ("prefix", 4)])
def test_deltas_change_answers_from_their_version_on(mechanism, partitions, tmp_path) -> None:
    table, messages = some_subscriptions(500), some_messages(300)
    index, first = build_here(tmp_path, table, "match", mechanism, partitions, SAMPLE)
    matcher = single(table)
    before = expected(matcher, messages)
    expression = "w1 AND (w2 OR w3) -w4"
    second = append_delta(
        index,
        [
            {"op": "unsubscribe", "id": before[0][1]},
            {"op": "subscribe", "id": "new", "keywords": expression},
            {
                "op": "subscribe",
                "id": "near",
                "area": {"type": "Circle", "center": [0, 0], "radius_m": 9e6},
            },
            {"op": "move", "id": before[-1][1], "area": [-180, -90, 180, 90]},
        ],
    )
    matcher.unsubscribe(before[0][1])
    matcher.subscribe("new", keywords=expression)
    matcher.subscribe("near", area=nc.Circle((0, 0), 9e6))
    moved = table.column("keywords").to_pylist()[int(before[-1][1])]
    matcher.unsubscribe(before[-1][1])
    matcher.subscribe(before[-1][1], keywords=moved, area=[-180, -90, 180, 90])
    after = expected(matcher, messages)
    assert after != before
    assert pairs_of(index, second.version, messages) == after
    assert pairs_of(index, first.version, messages) == before  # as a replayed batch would
    another = {"op": "subscribe", "keywords": "w2", "replace": True}
    third = append_delta(index, [{"op": "unsubscribe", "id": "new"}, {**another, "id": "near"}])
    matcher.unsubscribe("new")
    matcher.unsubscribe("near")
    matcher.subscribe("near", keywords="w2")
    assert pairs_of(index, third.version, messages) == expected(matcher, messages)
    rows = current_rows(index, third)
    assert sorted(rows.column("id").to_pylist()) == sorted(
        {*table.column("id").to_pylist(), "near"} - {before[0][1]}
    )


def test_wrong_changes_make_no_version(tmp_path) -> None:
    index, made = build_here(tmp_path, some_subscriptions(5))
    refused: list[tuple[dict[str, Any], type[Exception]]] = [
        ({"op": "unsubscribe", "id": "nobody"}, nc.UnknownIdError),
        ({"op": "subscribe", "id": "1", "keywords": "a"}, nc.DuplicateIdError),
        ({"op": "move", "id": "nobody", "area": [0, 0, 1, 1]}, nc.UnknownIdError),
        ({"op": "retract", "id": "m1"}, nc.InvalidEventError),
        ({"op": "subscribe", "id": "l", "keywords": "a", "live": True}, nc.UnsupportedError),
    ]
    for change, error in refused:
        with pytest.raises(error):
            append_delta(index, [{"op": "unsubscribe", "id": "2"}, change])
    assert index.versions() == [made.version]


def test_of_two_writers_one_is_refused(tmp_path) -> None:
    index, made = build_here(tmp_path, some_subscriptions(5))
    with pytest.raises(nc.SnapshotError, match="another writer"):
        index.commit(replace(made, base="base-of-another"))
    assert index.commit(made) == made == index.latest()  # an answer was lost, and it asks again
    with pytest.raises(nc.SnapshotError, match="no such version"):
        index.at(99)
    with pytest.raises(nc.SnapshotError, match="no index"):
        Index(tmp_path / "nowhere").latest()


def test_vacuum_keeps_what_the_newest_versions_need(tmp_path) -> None:
    index, _ = build_here(tmp_path, some_subscriptions(5))
    append_delta(index, [{"op": "unsubscribe", "id": "1"}])
    build_here(tmp_path, some_subscriptions(3))
    removed = index.vacuum(keep=1)
    assert [name.split("-")[0] for name in removed] == ["base", "delta"]
    assert len(open_shard(index.address, index.latest().version, 0)) == 3


def test_vacuum_keeps_what_an_unfinished_batch_has_pinned(tmp_path) -> None:
    index, first = build_here(tmp_path / "index", some_subscriptions(5))
    out = folder_at(tmp_path / "out")
    assert pin_version(index, out, 0) == first.version
    second = append_delta(index, [{"op": "unsubscribe", "id": "1"}])
    build_here(tmp_path / "index", some_subscriptions(3))
    assert index.vacuum(keep=1) == [second.deltas[0].table.name]
    assert index.versions() == [1, 3]
    assert pin_version(Index(tmp_path / "index"), out, 0) == first.version
    assert len(open_shard(index.address, first.version, 0)) == 5
    assert pin_version(index, out, 1) == 3
    assert index.vacuum(keep=1) == [first.base]
    assert index.pins() == {str(tmp_path / "out"): 3}
    index.unpin(str(tmp_path / "out"))
    assert index.pins() == {}


def test_a_worker_keeps_what_it_has_opened_and_brings_it_forward(tmp_path) -> None:
    index, made = build_here(tmp_path, some_subscriptions(50))
    path = index.address
    shard = open_shard(path, made.version, 0)
    second = append_delta(index, [{"op": "unsubscribe", "id": "7"}])
    assert open_shard(path, second.version, 0) is shard
    assert len(shard) == 49
    old = open_shard(path, made.version, 0)
    assert old is not shard
    assert len(old) == 50
    assert [key[0] for key in _open].count(path) == 1


def test_a_base_without_its_contents_is_refused_with_a_hint(tmp_path) -> None:
    index, made = build_here(tmp_path, some_subscriptions(5))
    index.base(made).delete("contents.json")
    base_at.cache_clear()
    with pytest.raises(nc.SnapshotError, match="build the index again"):
        open_shard(index.address, made.version, 0)


def test_a_snapshot_of_another_size_is_refused(tmp_path) -> None:
    index, made = build_here(tmp_path, some_subscriptions(5))
    part = base_at(index.base(made).address).parts[0]
    (tmp_path / made.base / part.snapshot.name).write_bytes(b"cut")
    with pytest.raises(nc.SnapshotError, match="not what was written"):
        open_shard(index.address, made.version, 0)

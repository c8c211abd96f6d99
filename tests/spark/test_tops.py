"""Top lists in partitions equal one hub at the end of every batch, without Spark and on it."""

from __future__ import annotations

import json

import pytest
from spark.top_logs import WEIGHTS, WINDOWS, applied, plan_of, random_log

import nearcast as nc
from nearcast.cli.__main__ import main
from nearcast.partition import MECHANISMS, Plan
from nearcast.spark import saves
from nearcast.spark.store import read_arrow
from nearcast.spark.tops import partition_hub
from nearcast.spark.tops.lists import MergedTops
from nearcast.spark.tops.stream import PartitionedTops, in_process, stream_tops

# Logs run with and without a window, which a hub without one warns of.
pytestmark = pytest.mark.filterwarnings("ignore::nearcast.KeepsNothingWarning")

SIZE = 15


def batches(lines):
    return [lines[start : start + SIZE] for start in range(0, len(lines), SIZE)]


def held(stream, wanted):
    return {id_: stream.lists.results(id_) for id_ in wanted}


def folded(folder, number):
    """Return the lists that all changes up to a batch add up to."""
    sets: dict[str, set[str]] = {}
    for batch in range(number + 1):
        rows = read_arrow(folder / "changes" / f"batch-{batch:09}.arrow").to_pylist()
        for row in sorted(rows, key=lambda row: row["change"] == "added"):
            if row["reason"] == "subscribed":
                sets.setdefault(row["subscription"], set())
            entry = sets.setdefault(row["subscription"], set())
            if row["change"] != "updated":
                (entry.add if row["change"] == "added" else entry.discard)(row["message"])
    return sets


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_lists_equal_those_of_one_hub_after_every_batch(mechanism, window, tmp_path) -> None:
    for seed in range(2):
        lines = random_log(seed, 180)
        weights = WEIGHTS if seed % 2 else None
        plan = plan_of(mechanism, 4, lines, weights)
        stream = PartitionedTops(plan, WINDOWS[window], tmp_path / str(seed))
        hub = nc.Hub(window=WINDOWS[window], weights=weights)
        for number, batch in enumerate(batches(lines)):
            stream.run_batch(number, batch, in_process(stream))
            wanted = applied(hub, batch)
            assert stream.lists.ledger.clock == hub.clock
            assert set(stream.lists.ledger.subscriptions) == set(wanted)
            assert held(stream, wanted) == wanted, (seed, number)


def test_what_is_replaced_in_a_batch_changes_lists_by_the_net_difference(tmp_path) -> None:
    def top(id_, word, k=2, **more):
        terms = {"mode": "top", "keywords": [word], "at": [0, 0], "k": k, "alpha": 0.5}
        return {"op": "subscribe", "id": id_, **terms, **more}

    def publish(id_, text, x=0.0, **more):
        return {"op": "publish", "id": id_, "text": text, "at": [x, 0], **more}

    runs = [
        [
            *(top(id_, "a") for id_ in ("kept", "gone", "other")),
            *(publish(f"m{i}", "a", i) for i in range(3)),
            publish("m8", "b"),
        ],
        [
            publish("m0", "a", 0.5, replace=True),  # kept
            publish("m1", "b", replace=True),  # lost, refilled
            publish("m9", "b", 5, replace=True),  # plain
            top("other", "b", 1, replace=True),
            top("gone", "b", replace=True),
            {"op": "unsubscribe", "id": "gone"},
        ],
        [
            publish("m0", "a", 3, replace=True),
            publish("m0", "a", 0, replace=True),  # twice, and then it goes
            {"op": "retract", "id": "m0"},
            publish("m2", "a", 0, replace=True),
            {"op": "advance", "time": 5},
        ],
    ]
    lines = [json.dumps(event) for run in runs for event in run]
    stream = PartitionedTops(plan_of("hash", 3, lines), nc.Window(count=9), tmp_path)
    told = []
    for number, run in enumerate(runs):
        file = stream.run_batch(number, [json.dumps(event) for event in run], in_process(stream))
        rows = read_arrow(file).to_pylist()
        names = ("subscription", "message", "change", "reason")
        told.append(sorted(tuple(row[name] for name in names) for row in rows))
    assert told[1] == [
        ("kept", "m0", "updated", "changed"),
        ("kept", "m1", "removed", "changed"),
        ("kept", "m2", "added", "refilled"),
        ("other", "m0", "removed", "changed"),
        ("other", "m1", "updated", "changed"),
    ]
    assert told[2] == [
        ("kept", "m0", "removed", "retracted"),
        ("kept", "m2", "updated", "changed"),
    ]


def test_who_starts_again_is_where_the_other_stopped(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(saves, "SAVE_EVERY", 5)
    lines = random_log(7, 120)
    plan = plan_of("prefix", 4, lines)
    hub = nc.Hub(window=WINDOWS["count"])
    for number, batch in enumerate(batches(lines)):
        stream = PartitionedTops(plan, WINDOWS["count"], tmp_path)  # reads everything anew
        if number % 3 == 0:
            partition_hub._hubs.clear()  # and so do the workers
        assert stream.done == number - 1
        changes = stream.run_batch(number, batch, in_process(stream)).read_bytes()
        wanted = applied(hub, batch)
        assert held(stream, wanted) == wanted
        # Replayed, with whatever events: it is done.
        again = stream.run_batch(number, [], in_process(stream))
        assert again.read_bytes() == changes
    saved = {path.name.split("-step-")[1] for path in (tmp_path / "rounds" / "saved").iterdir()}
    assert len(saved) == 2 * (number + 1) // 5


def test_a_batch_that_died_between_its_rounds_is_finished_as_it_began(tmp_path) -> None:
    lines = random_log(8, 120)
    plan = plan_of("prefix", 4, lines)
    hub, whole = nc.Hub(window=WINDOWS["count"]), batches(lines)
    stream = PartitionedTops(plan, WINDOWS["count"], tmp_path)
    for number, batch in enumerate(whole[:-1]):
        stream.run_batch(number, batch, in_process(stream))
        applied(hub, batch)

    class DiesError(Exception):
        pass

    for survived in (0, 1):
        calls: list[int] = []

        stream = PartitionedTops(plan, WINDOWS["count"], tmp_path)

        works = in_process(stream)

        def dies(number, calls=calls, survived=survived, works=works):
            calls.append(number)
            if len(calls) > survived:
                raise DiesError
            return works(number)

        with pytest.raises(DiesError):
            stream.run_batch(len(whole) - 1, whole[-1], dies)
    stream = PartitionedTops(plan, WINDOWS["count"], tmp_path)
    stream.run_batch(len(whole) - 1, ["something else"], in_process(stream))
    wanted = applied(hub, whole[-1])
    assert held(stream, wanted) == wanted


def test_prefixes_need_fewer_copies_than_keywords_and_messages_fewer_than_all(tmp_path) -> None:
    lines = random_log(3, 400, ids=60, replaces=0.0)
    costs = {}
    for mechanism in ("hash", "keyword", "prefix"):
        stream = PartitionedTops(
            plan_of(mechanism, 4, lines), nc.Window(count=100), tmp_path / mechanism
        )
        for number, batch in enumerate(batches(lines)):
            stream.run_batch(number, batch, in_process(stream))
        costs[mechanism] = stream.lists.replication(), stream.lists.communication
        told = json.loads((tmp_path / mechanism / "_metrics" / f"{number}.json").read_text())
        assert told["replication"] == stream.lists.replication()
        assert (told["communication"] == 4) == (mechanism == "hash")
    assert costs["hash"][0] == 1 < costs["prefix"][0] < costs["keyword"][0]
    assert costs["prefix"][1] == costs["keyword"][1] < costs["hash"][1]


def test_a_batch_must_begin() -> None:
    with pytest.raises(RuntimeError, match="begin"):
        MergedTops(plan_of("hash", 2, random_log(1, 40)), None).end([])


def test_wrong_events_are_rejected_and_said(tmp_path) -> None:
    stream = PartitionedTops(plan_of("hash", 2, random_log(1, 40)), None, tmp_path)
    lines = ["{", '{"op":"subscribe","id":"s","keywords":"a"}', "[]"]
    stream.run_batch(0, lines, in_process(stream))
    rejected = json.loads((tmp_path / "rejected" / "0.json").read_text())
    assert [row for row, _ in rejected] == [1, 2, 3]
    assert "is not of mode 'top'" in rejected[1][1]


@pytest.mark.spark
def test_the_command_keeps_lists(session, tmp_path) -> None:
    lines = random_log(11, 40)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "0.ndjson").write_text("\n".join(lines) + "\n")
    out = tmp_path / "lists"
    command = ["spark", "tops", "--events", str(tmp_path / "in"), "--out", str(out)]
    assert main([*command, "--window-count", "7", "--until-empty"]) == 0
    wanted = applied(nc.Hub(window=WINDOWS["count"]), lines)
    again = PartitionedTops(
        Plan.from_buffer((out / "plan.arrow").read_bytes()), WINDOWS["count"], out
    )
    assert held(again, wanted) == wanted
    assert main([*command[:-1], str(tmp_path / "other"), "--mechanism", "prefix"]) == 2


@pytest.mark.spark
def test_lists_equal_those_of_one_hub_on_spark(spark, tmp_path) -> None:
    lines = random_log(9, 60)
    plan = plan_of("prefix", 3, lines)
    hub = nc.Hub(window=WINDOWS["count"])
    (tmp_path / "in").mkdir()
    for number, batch in enumerate([lines[:40], lines[40:]]):
        (tmp_path / "in" / f"{number}.ndjson").write_text("\n".join(batch) + "\n")
        stream = PartitionedTops(plan, WINDOWS["count"], tmp_path / "lists")
        events = spark.readStream.option("maxFilesPerTrigger", 1).text(str(tmp_path / "in"))
        query = stream_tops(events, stream, checkpoint=tmp_path / "checkpoint", until_empty=True)
        assert query.awaitTermination(120)
        wanted = applied(hub, batch)
        assert held(stream, wanted) == wanted
    assert set(folded(tmp_path / "lists", 1)) >= {id_ for id_ in wanted if wanted[id_]}

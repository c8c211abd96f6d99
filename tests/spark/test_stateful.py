"""Partitions on a stream together are one hub, event by event, in every mode and mechanism."""

from __future__ import annotations

import json
from typing import NoReturn

import pyarrow as pa
import pytest
from spark.hub_logs import batches, by_hub, mixed_plan, random_lines, refused, written
from spark.top_logs import WEIGHTS, WINDOWS, random_log

import nearcast as nc
from nearcast.partition import MECHANISMS, Plan
from nearcast.spark.stateful import pipeline as pipelines
from nearcast.spark.stateful import work
from nearcast.spark.stateful.assembling import Read, in_order
from nearcast.spark.stateful.pipeline import Pipeline, in_process, read_here
from nearcast.spark.stateful.texts import token_lists
from nearcast.text import DEFAULT_ANALYZER

# Logs run with and without a window, which a hub without one warns of.
pytestmark = pytest.mark.filterwarnings("ignore::nearcast.KeepsNothingWarning")


def run(pipeline, number, lines, tasks=in_process):
    """Run a batch; return the folder of its changes."""
    target = pipeline.run_batch(number, lambda: read_here(pipeline.job, lines), tasks)
    return f"{pipeline.folder}/{target}"


def forget() -> None:
    """Let all workers die."""
    work.holdings.clear()
    work.merged.clear()


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_changes_are_those_of_one_hub_event_by_event(mechanism, window, tmp_path) -> None:
    seed = MECHANISMS.index(mechanism) + list(WINDOWS).index(window)
    weights = WEIGHTS if seed % 2 else None
    lines = random_lines(seed, 240)
    plan = mixed_plan(mechanism, 4, lines, weights)
    pipeline = Pipeline(tmp_path, plan, window=WINDOWS[window])
    hub = nc.Hub(window=WINDOWS[window], weights=weights)
    modes = set()
    for number, batch in enumerate(batches(lines)):
        changes, rejected = by_hub(hub, batch)
        assert written(run(pipeline, number, batch)) == changes, number
        assert refused(tmp_path, number) == rejected
        assert pipeline.life.clock == hub.clock
        modes |= {hub.mode(change[1]) for change in changes} | {row[4] for row in changes}
    assert modes >= {"match", "rank", "published", "expired"} or window == "none"


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_lists_change_as_those_of_one_hub_where_all_is_top(mechanism, tmp_path) -> None:
    for seed, window in enumerate(WINDOWS):
        lines = random_log(seed, 150)
        plan = mixed_plan(mechanism, 4, lines, WEIGHTS, mode="top")
        pipeline = Pipeline(tmp_path / window, plan, window=WINDOWS[window], modes=["top"])
        hub = nc.Hub(window=WINDOWS[window], weights=WEIGHTS)
        for number, batch in enumerate(batches(lines)):
            changes, _ = by_hub(hub, batch)
            assert written(run(pipeline, number, batch)) == changes, (window, number)


def test_subscriptions_move_to_partitions_that_have_not_held_them(tmp_path) -> None:
    lines = random_lines(2, 200)
    pipeline = Pipeline(
        tmp_path, mixed_plan("location", 4, lines), window=WINDOWS["count"], modes=["match"]
    )
    one = {"op": "subscribe", "id": "s", "keywords": "a OR b", "area": [-3, -3, -2.9, -2.9]}
    runs = [
        [{**one, "live": True}, {"op": "publish", "id": "m1", "text": "a", "at": [2, 2]}],
        [
            {"op": "move", "id": "s", "area": [1.9, 1.9, 2.1, 2.1]},
            {**one, "id": "t", "live": True},
            {
                "op": "move",
                "id": "t",
                "area": {"type": "Circle", "center": [2, 2], "radius_m": 10.0},
            },
            {"op": "publish", "id": "m2", "text": "b", "at": [2, 2], "expires": 9},
            {"op": "move", "id": "s", "area": [-3, -3, -2.9, -2.9]},
            {"op": "advance", "time": 10},
        ],
    ]
    hub = nc.Hub(window=WINDOWS["count"])
    for number, events in enumerate(runs):
        batch = [json.dumps(event) for event in events]
        changes, rejected = by_hub(hub, batch)
        assert written(run(pipeline, number, batch)) == changes
        assert not rejected
    assert len(changes) == 7
    assert (tmp_path / "moved" / "000000001.json").is_file()


def test_a_live_message_called_tick_is_not_taken_back_by_the_clock(tmp_path) -> None:
    pipeline = Pipeline(tmp_path, Plan("hash", "match", 2), window=nc.Window(count=5))
    live = {"op": "subscribe", "keywords": "tea", "live": True}
    events = [{**live, "id": f"s{i}", "time": i} for i in range(4)]
    events.insert(2, {"op": "publish", "id": "tick", "text": "tea", "at": [0, 0], "time": 1})
    lines = [json.dumps(event) for event in events]
    changes, _ = by_hub(nc.Hub(window=nc.Window(count=5)), lines)
    assert written(run(pipeline, 0, lines)) == changes
    assert len(changes) == 4


@pytest.mark.parametrize("mechanism", ["hash", "keyword", "prefix-location"])
def test_who_starts_again_is_where_the_other_stopped(mechanism, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(pipelines, "SAVE_EVERY", 3)
    hub, wanted, whole = nc.Hub(window=WINDOWS["count"]), [], random_lines(9, 200)
    plan = mixed_plan(mechanism, 3, whole)
    for number, lines in enumerate(batches(whole)):
        pipeline = Pipeline(tmp_path, plan, window=WINDOWS["count"])  # recalls everything
        if number % 2:
            forget()  # and workers open what was saved
        wanted.append(by_hub(hub, lines)[0])
        folder = run(pipeline, number, lines)
        assert written(folder) == wanted[-1]
        assert run(pipeline, number, []) == folder  # it is done
    # Only what the oldest save does not have is kept, however many batches there were.
    assert len(list((tmp_path / "decided").iterdir())) <= 2 * 3
    assert len(list((tmp_path / "log").iterdir())) <= 3 * 3
    assert len(list((tmp_path / "saves").iterdir())) == 1
    # A batch whose changes were lost is done again as it was decided, if no save has it.
    monkeypatch.setattr(pipelines, "SAVE_EVERY", 1_000)
    number += 1
    wanted.append(by_hub(hub, whole[:30])[0])
    assert written(run(pipeline, number, whole[:30])) == wanted[-1]
    (tmp_path / f"batch={number}").rename(tmp_path / "_lost")
    again = Pipeline(tmp_path, Plan("hash", "match", 1), window=WINDOWS["count"])  # its own plan
    assert again.job.routes.plan.mechanism == mechanism
    assert written(run(again, number, [])) == wanted[number]
    (tmp_path / "batch=3").rename(tmp_path / "_saved")
    with pytest.raises((nc.SnapshotError, FileNotFoundError)):
        run(again, 3, [])


@pytest.mark.parametrize("mechanism", ["hash", "keyword", "location"])
def test_a_failed_attempt_leaves_nothing_behind(mechanism, tmp_path) -> None:
    whole = random_lines(3, 80)
    plan = mixed_plan(mechanism, 3, whole)
    first, lines = whole[:40], whole[40:]
    pipeline = Pipeline(tmp_path, plan, window=WINDOWS["count"])
    hub = nc.Hub(window=WINDOWS["count"])
    by_hub(hub, first)
    run(pipeline, 0, first)
    for survived in range(3):  # jobs before the one that dies
        calls: list[int] = []

        def dies(function, count, calls=calls, survived=survived):
            calls.append(count)
            found = in_process(function, count)
            if len(calls) > survived:
                raise OSError
            return found

        if survived:
            pipeline = Pipeline(tmp_path, plan, window=WINDOWS["count"])
        try:
            run(pipeline, 1, lines, dies)
        except OSError:
            assert not (tmp_path / "batch=1").exists()
    changes, _ = by_hub(hub, lines)
    assert written(run(pipeline, 1, ["something else"])) == changes


def test_a_decision_that_cannot_be_written_is_not_taken(tmp_path, monkeypatch) -> None:
    pipeline = Pipeline(tmp_path, Plan("hash", "match", 2), window=WINDOWS["count"])
    lines = random_lines(3, 40)

    def fails(_: object) -> NoReturn:
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(pipelines, "to_bytes", fails)
        with pytest.raises(OSError):
            run(pipeline, 0, lines)
    assert pipeline.life.clock == 0
    changes, _ = by_hub(nc.Hub(window=WINDOWS["count"]), lines)
    assert written(run(pipeline, 0, lines)) == changes


def test_wrong_settings_are_refused(tmp_path) -> None:
    plan = Plan("hash", "match", 2)
    Pipeline(tmp_path, plan, window=nc.Window(count=5))
    with pytest.raises(nc.InvalidParameterError, match="another window"):
        Pipeline(tmp_path, plan, window=nc.Window(count=6))
    with pytest.raises(nc.InvalidParameterError, match="another modes"):
        Pipeline(tmp_path, plan, window=nc.Window(count=5), modes=["top"])
    with pytest.raises(nc.InvalidParameterError, match="modes"):
        Pipeline(tmp_path / "none", plan, modes=[])
    with pytest.raises(nc.InvalidParameterError, match="does not follow"):
        run(Pipeline(tmp_path / "other", plan), 3, [])


def test_wrong_events_are_rejected_and_said(tmp_path) -> None:
    pipeline = Pipeline(tmp_path, Plan("hash", "top", 2), modes=["top"])
    lines = ["{", '{"op":"subscribe","id":"s","keywords":"a"}', "", "[]"]
    run(pipeline, 0, lines)
    rejected = json.loads((tmp_path / "rejected" / "0.json").read_text())
    assert [row for row, _ in rejected] == [1, 2, 4]
    assert "is not of mode 'top'" in rejected[1][1]


def test_words_of_many_texts_are_those_of_the_analyzer() -> None:
    texts = ["Free coffee!", "", "  ", "a_b-c's 12x", "Café Zürich", "ﬁne ŒUVRE", "\tX\n", "…", "a"]
    found = token_lists(pa.array(texts)).to_pylist()
    assert found == [DEFAULT_ANALYZER.analyze(text) for text in texts]


def test_lines_of_several_workers_are_put_in_order(tmp_path) -> None:
    job = Pipeline(tmp_path, Plan("hash", "match", 2)).job
    lines = [json.dumps({"op": "retract", "id": f"m{n}"}) for n in range(6)]

    def part(task, number, chosen, **keys):
        named, read = work.read_lines(job, [lines[at] for at in chosen] + ["wrong"])
        count = len(chosen) + 1
        columns = {name: [*values, values[-1]][:count] for name, values in keys.items()}
        return Read(task, number, named, read.lines, read.narrow, read.refused, pa.table(columns))

    def ids(batch):
        rows = zip(
            *(batch.narrow.column(name).to_pylist() for name in ("event", "id")), strict=True
        )
        return dict(rows), [row for row, _ in batch.refused]

    plain = in_order([part(1, 0, [2]), part(0, 1, [1]), part(0, 0, [0])])
    assert ids(plain) == ({1: "m0", 3: "m1", 5: "m2"}, [2, 4, 6])
    files = in_order(
        [
            part(0, 0, [3, 0], file=["10", "9"], block=[0, 0]),
            part(1, 0, [2, 1], file=["9", "9"], block=[20, 10]),
        ],
        is_of_files=True,
    )
    assert ids(files) == ({1: "m0", 3: "m1", 5: "m2", 6: "m3"}, [2, 4])
    keyed = in_order([part(0, 0, [1, 0], at=[5, 4]), part(1, 0, [2, 3], at=[6, 7])])
    assert ids(keyed) == ({1: "m0", 3: "m1", 4: "m2", 5: "m3"}, [2, 6])

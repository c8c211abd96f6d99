"""Many hubs on a stream together are one hub, event by event, in every mode."""

from __future__ import annotations

import json
import os
from typing import NoReturn

import pytest
from spark.hub_logs import batches, by_hub, random_lines, refused, written
from spark.top_logs import WEIGHTS, WINDOWS

import nearcast as nc
from nearcast.spark import saves
from nearcast.spark.event_files import name_key
from nearcast.spark.hubs import shares
from nearcast.spark.hubs.stream import HubStream, in_process, stream_hubs

# Logs run with and without a window, which a hub without one warns of.
pytestmark = pytest.mark.filterwarnings("ignore::nearcast.KeepsNothingWarning")


@pytest.mark.parametrize("window", WINDOWS)
def test_changes_are_those_of_one_hub_event_by_event(window, tmp_path) -> None:
    for seed in range(2):
        weights = WEIGHTS if seed % 2 else None
        stream = HubStream(3, tmp_path / str(seed), window=WINDOWS[window], weights=weights)
        hub = nc.Hub(window=WINDOWS[window], weights=weights)
        modes = set()
        for number, lines in enumerate(batches(random_lines(seed, 140))):
            changes, rejected = by_hub(hub, lines)
            folder = stream.run_batch(number, lines, in_process(stream))
            assert written(folder) == changes, (seed, number)
            assert refused(stream.folder, number) == rejected
            assert stream.life.clock == hub.clock
            modes |= {hub.mode(change[1]) for change in changes} | {row[4] for row in changes}
        assert modes >= {"match", "rank", "published", "expired"} or window == "none"


def test_a_live_message_called_tick_is_not_taken_back_by_the_clock(tmp_path) -> None:
    stream = HubStream(2, tmp_path, window=nc.Window(count=5))
    live = {"op": "subscribe", "keywords": "tea", "live": True}
    events = [{**live, "id": f"s{i}", "time": i} for i in range(4)]
    events.insert(2, {"op": "publish", "id": "tick", "text": "tea", "at": [0, 0], "time": 1})
    lines = [json.dumps(event) for event in events]
    changes, _ = by_hub(nc.Hub(window=nc.Window(count=5)), lines)
    assert written(stream.run_batch(0, lines, in_process(stream))) == changes
    assert len(changes) == 4


def test_who_starts_again_is_where_the_other_stopped(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(saves, "SAVE_EVERY", 3)
    hub, wanted = nc.Hub(window=WINDOWS["count"]), []
    for number, lines in enumerate(batches(random_lines(9, 200))):
        stream = HubStream(3, tmp_path, window=WINDOWS["count"])  # recalls everything
        if number % 2:
            shares._hubs.clear()  # and workers open what was saved
        wanted.append(by_hub(hub, lines)[0])
        folder = stream.run_batch(number, lines, in_process(stream))
        assert written(folder) == wanted[-1]
        assert stream.run_batch(number, [], in_process(stream)) == folder  # it is done
    assert len(list((tmp_path / "saved").iterdir())) == 3 * 3
    # Batches whose changes were lost are done again as they were decided.
    for number in (1, 7):
        (tmp_path / f"batch={number}").rename(tmp_path / f"_lost-{number}")
        stream = HubStream(1, tmp_path, window=WINDOWS["count"])  # three hubs it stays
        assert written(stream.run_batch(number, [], in_process(stream))) == wanted[number]


def test_a_failed_attempt_leaves_nothing_behind(tmp_path) -> None:
    stream = HubStream(2, tmp_path, window=WINDOWS["count"])
    lines = random_lines(3, 40)

    def dies(number, target) -> NoReturn:
        in_process(stream)(number, target)
        raise OSError

    with pytest.raises(OSError):
        stream.run_batch(0, lines, dies)
    assert not (tmp_path / "batch=0").exists()
    changes, _ = by_hub(nc.Hub(window=WINDOWS["count"]), lines)
    assert written(stream.run_batch(0, [], in_process(stream))) == changes
    with pytest.raises(nc.InvalidParameterError, match="too few"):
        HubStream(0, tmp_path / "none")


def write_files(folder, lines, modified) -> None:
    """Write a file for each batch of lines; `modified` gives its modification time by number."""
    folder.mkdir()
    for number, batch in enumerate(batches(lines)):
        path = folder / f"{number}.ndjson"  # 10 is after 9, though its letters are before
        path.write_text("\n".join(batch) + "\n")
        os.utime(path, (modified(number), modified(number)))


def run_files(spark, folder, out, per_batch=None, **options) -> None:
    stream = HubStream(2, out, window=WINDOWS["seconds"])
    reader = spark.readStream
    if per_batch is not None:
        reader = reader.option("maxFilesPerTrigger", per_batch)
    query = stream_hubs(
        reader.text(str(folder)), stream, checkpoint=out / "checkpoint", until_empty=True, **options
    )
    assert query.awaitTermination(400)


@pytest.mark.spark
def test_on_spark_too(spark, tmp_path) -> None:
    lines = random_lines(5, 120)
    write_files(tmp_path / "in", lines, lambda number: 1_000_000 + number)
    run_files(spark, tmp_path / "in", tmp_path / "out", per_batch=1)
    hub = nc.Hub(window=WINDOWS["seconds"])
    for number, batch in enumerate(batches(lines)):
        assert written(tmp_path / "out" / f"batch={number}") == by_hub(hub, batch)[0]


@pytest.mark.spark
@pytest.mark.parametrize("modified", ["equal", "reversed"])
def test_files_of_a_batch_happen_by_name_whenever_they_were_modified(
    spark, tmp_path, modified
) -> None:
    lines = random_lines(6, 230)  # 12 files
    write_files(tmp_path / "in", lines, lambda n: 1_000_000 - (n if modified == "reversed" else 0))
    run_files(spark, tmp_path / "in", tmp_path / "out")
    changes, _ = by_hub(nc.Hub(window=WINDOWS["seconds"]), lines)
    assert written(tmp_path / "out" / "batch=0") == changes
    assert not (tmp_path / "out" / "batch=1").exists()


@pytest.mark.spark
def test_a_file_that_comes_after_a_later_name_is_refused_unless_accepted(spark, tmp_path) -> None:
    lines = random_lines(6, 30)  # 2 files
    write_files(tmp_path / "in", lines, lambda number: 1_000_000 - number)
    with pytest.raises(Exception, match=r"0\.ndjson' comes too late"):
        run_files(spark, tmp_path / "in", tmp_path / "out", per_batch=1)
    assert (tmp_path / "out" / "batch=0").exists()
    assert not (tmp_path / "out" / "batch=1").exists()
    run_files(spark, tmp_path / "in", tmp_path / "out", per_batch=1, accept_late=True)
    hub = nc.Hub(window=WINDOWS["seconds"])
    for number, batch in enumerate(reversed(batches(lines))):
        assert written(tmp_path / "out" / f"batch={number}") == by_hub(hub, batch)[0]


@pytest.mark.parametrize(
    "names",
    [
        ["9.ndjson", "10.ndjson"],
        ["a", "a1", "a01b", "a2", "b"],
        ["in/2/a b.txt", "in/10/a%20b.txt"],
        ["x²", "x³1", "²"],
    ],
)
def test_names_are_in_the_order_of_their_numbers(names) -> None:
    assert max(names, key=name_key) == names[-1]
    assert sorted(names, key=name_key) == names

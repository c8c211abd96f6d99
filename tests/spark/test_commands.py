"""`nearcast spark` from raw files to a matched stream, in one session."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from argparse import Namespace
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from rich.table import Table
from spark.tables import build_here, some_messages, some_subscriptions

import nearcast as nc
from nearcast.bench.process_times import descendants_seconds
from nearcast.bench.spark_batches import compare_batches, set_up
from nearcast.bench.spark_streams import Feed, measure_stream
from nearcast.bench.workloads.presets import find_preset
from nearcast.cli import spark_runs
from nearcast.cli.__main__ import main
from nearcast.partition import MECHANISMS
from nearcast.spark.folders import folder_at
from nearcast.spark.listening import listen
from nearcast.spark.load import counter_on
from nearcast.spark.monitor import Monitor, as_table, figures, measured_loads
from nearcast.spark.prepare import _files_of
from nearcast.spark.stateful import pipeline as pipelines
from nearcast.spark.stateful.stream import stream_changes
from nearcast.spark.store import Index
from nearcast.spark.streaming import stream_matches

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LINES = """{"op": "subscribe", "id": "s1", "keywords": "tea"}
{"op": "subscribe", "id": "s2", "keywords": "coffee -decaf", "area": [0, 0, 2, 2]}
"""
CSV = """number,words,lon,lat
1,Green tea,0,0
2,Coffee,1,1
3,Decaf coffee,1,1
4,Coffee,9,9
5,lost,x,9
"""


def said(capsys):
    return json.loads(capsys.readouterr().out)


@pytest.mark.spark
def test_raw_files_become_a_matched_stream(session, tmp_path, capsys) -> None:
    (tmp_path / "raw.csv").write_text(CSV)
    (tmp_path / "lines.ndjson").write_text(LINES)
    place = {name: str(tmp_path / name) for name in ("messages", "rows", "index", "out")}
    columns = ["--column", "id=number", "--column", "text=words"]
    raw = str(tmp_path / "r*.csv")
    command = ["spark", "prepare", "messages", raw, *columns, "--out", place["messages"]]
    assert main(command) == 0
    report = said(capsys)
    assert (report["clean"], report["refused"]) == (4, 1)
    lines = str(tmp_path / "lines.ndjson")
    command = ["spark", "prepare", "subscriptions", lines, "--format", "events"]
    assert main([*command, "--out", place["rows"]]) == 0
    said(capsys)
    command = ["spark", "build", place["rows"], "--out", place["index"], "--sample"]
    assert main([*command, place["messages"], "--mechanism", "prefix", "--partitions", "2"]) == 0
    made = said(capsys)
    assert (made["partitions"], made["predicted"]["replication"]) == (2, 1)
    assert 0 < made["predicted"]["communication"] <= 2
    (tmp_path / "more.ndjson").write_text('{"op": "unsubscribe", "id": "s1"}\n')
    assert main(["spark", "change", place["index"], str(tmp_path / "more.ndjson")]) == 0
    assert said(capsys)["version"] == 2

    arriving = report["version"] + "/rows"
    command = ["spark", "run", "--messages", arriving, "--subscriptions", place["index"]]
    metrics = tmp_path / "metrics.ndjson"
    text = tmp_path / "nearcast.prom"
    command += ["--out", place["out"], "--until-empty", "--metrics", str(metrics)]
    assert main([*command, "--prometheus", str(text)]) == 0
    found = ds.dataset(place["out"], format="parquet").to_table().to_pylist()
    assert [(row["message"], row["subscription"]) for row in found] == [("2", "s2")]
    line = json.loads(metrics.read_text().splitlines()[0])
    assert (line["messages"], line["version"], line["pairs"]) == (4, 2, 1)
    assert sum(load[1] for load in line["load"].values()) == 1
    seen = sum(load[0] for load in line["load"].values())
    assert line["communication"] == seen / 4
    assert 1 <= line["balance"] <= 2
    assert "nearcast_pairs_total 1" in text.read_text()


def test_old_versions_are_removed(tmp_path, capsys) -> None:
    index, _ = build_here(tmp_path / "index", some_subscriptions(20))
    build_here(tmp_path / "index", some_subscriptions(20))
    assert main(["spark", "vacuum", str(tmp_path / "index"), "--keep", "1"]) == 0
    assert len(said(capsys)["removed"]) == 1
    assert index.versions() == [2]
    with pytest.raises(SystemExit) as ended:
        main(["spark", "vacuum", str(tmp_path / "index"), "--keep", "0"])
    assert ended.value.code == 2
    assert "--keep: got '0', wanted a whole number, 1 or more" in capsys.readouterr().err


def test_what_is_wrong_is_said(tmp_path, capsys) -> None:
    (tmp_path / "bad.ndjson").write_text("{\n")
    assert main(["spark", "change", str(tmp_path), str(tmp_path / "bad.ndjson")]) == 1
    assert "bad.ndjson:1" in capsys.readouterr().err
    assert main(["spark", "prepare", "messages", "--out", str(tmp_path)]) == 2
    command = ["spark", "prepare", "messages", "raw.csv", "--column", "id", "--out", str(tmp_path)]
    assert main(command) == 2
    assert "--column is not a pair: got 'id', wanted FIELD=COLUMN" in capsys.readouterr().err
    (tmp_path / "good.ndjson").write_text('{"op": "unsubscribe", "id": "s1"}\n')
    assert main(["spark", "change", str(tmp_path), str(tmp_path / "good.ndjson")]) == 1
    assert "no index" in capsys.readouterr().err


def test_progress_becomes_figures_and_a_table() -> None:
    progress = {
        "batchId": 3,
        "timestamp": "1970-01-01T00:00:10.000Z",
        "numInputRows": 500,
        "processedRowsPerSecond": 250.0,
        "durationMs": {"triggerExecution": 2000},
    }
    row = figures(progress, None, 12.5)
    assert row == {
        "batch": 3,
        "messages": 500,
        "messages_per_s": 250.0,
        "batch_ms": 2000,
        "lag_s": 2.5,
    }
    assert as_table([row]).row_count == 1


def test_a_monitor_adds_up_batches_and_the_load_of_partitions(tmp_path) -> None:
    (tmp_path / "_metrics").mkdir()
    for number in range(2):
        load = {"0": [40, 3, 0.5], "1": [10 * number, 1, 0.25]}
        facts = {"version": 7, "pairs": 4, "refused": number, "load": load, "partitions": 3}
        (tmp_path / "_metrics" / f"{number}.json").write_text(json.dumps(facts))
    source = {"metrics": {"maxOffsetsBehindLatest": "12"}}
    progress: list[Mapping[str, Any]] = [
        {"batchId": n, "numInputRows": 50, "durationMs": {}, "sources": [source]} for n in range(2)
    ]
    lines, text = tmp_path / "lines.ndjson", tmp_path / "nearcast.prom"
    monitor = Monitor(folder_at(tmp_path), lines, text)
    assert monitor.look(progress[:1], 0.0)
    assert monitor.look(progress, 0.0)
    assert not monitor.look(progress, 0.0)
    assert monitor.loads == {0: (80, 6, 1.0), 1: (10, 2, 0.5)}
    assert [json.loads(line)["behind"] for line in lines.read_text().splitlines()] == [12, 12]
    told = text.read_text().splitlines()
    assert "nearcast_messages_total 100" in told
    assert "nearcast_refused_total 1" in told
    assert 'nearcast_partition_messages_total{partition="1"} 10' in told
    assert "nearcast_communication 1.02041" in told  # 50 copies of 49 messages that were read
    assert "nearcast_balance 2" in told  # one of three partitions has two thirds of the time
    line = monitor.line()
    assert line.startswith("batch 1, 50 messages, ")
    assert line.endswith("behind 12, version 7, pairs 4")
    first = monitor.tables().renderables[0]
    assert isinstance(first, Table)
    assert "communication 1.02" in str(first.caption)
    assert len(list(monitor.tables().renderables)) == 2


def test_loads_are_those_of_the_newest_base(tmp_path) -> None:
    table = some_subscriptions(20)
    index, _ = build_here(tmp_path / "index", table, partitions=2)
    state = tmp_path / "out"
    (state / "_metrics").mkdir(parents=True)

    def wrote(number, version, seconds) -> None:
        load = {str(p): [1, 1, took] for p, took in enumerate(seconds)}
        facts = json.dumps({"version": version, "load": load})
        (state / "_metrics" / f"{number}.json").write_text(facts)

    wrote(0, 1, [1.0, 2.0])
    build_here(tmp_path / "index", table, partitions=3)
    with pytest.raises(nc.InvalidParameterError, match="no batch"):
        measured_loads(folder_at(state), index)
    wrote(1, 2, [0.5, 0.25])
    wrote(2, 2, [0.5])
    wrote(3, 99, [7.0])  # a version that is gone
    assert measured_loads(folder_at(state), index) == [1.0, 0.25, 0.0]


def test_the_bench_compares_all_mechanisms(tmp_path, capsys) -> None:
    sizes = ["--top-subscriptions", "30", "--window", "100", "--top-messages", "20"]
    out = tmp_path / "result.json"
    command = ["bench", "spark", "plans", *sizes, "--partitions", "4", "--out", str(out)]
    assert main(command) == 0
    costs = {row["mechanism"]: row for row in json.loads(out.read_text())["runs"][0]["costs"]}
    assert set(costs) == set(MECHANISMS)
    assert costs["hash"]["communication"] == 4 > costs["prefix"]["communication"]
    assert costs["hash"]["replication"] == 1 <= costs["prefix"]["replication"]
    assert all(cost["speed_up"] > 0 for cost in costs.values())
    assert main(["bench", "spark", "everything"]) == 2
    assert "no such part" in capsys.readouterr().err


def test_the_soak_shows_that_what_is_kept_is_bounded(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(pipelines, "SAVE_EVERY", 4)
    out = tmp_path / "result.json"
    assert (
        main(["bench", "spark", "soak", "--batches", "60", "--partitions", "2", "--out", str(out)])
        == 0
    )
    points = json.loads(out.read_text())["runs"][0]["points"]
    assert [point["batch"] for point in points][-1] == 60
    assert max(point["files"] for point in points[10:]) <= max(p["files"] for p in points[:10]) + 8


@pytest.mark.spark
def test_the_bench_measures_batches_and_streams(session, tmp_path) -> None:
    preset = find_preset("zipf")
    place = set_up(session, preset, tmp_path / "work", (200, 400), 1)
    batch = compare_batches(session, place, 1)
    assert set(batch["ratio"]) == {"files", "rows", "to_files"}
    assert all(ratio > 0 for ratio in batch["ratio"].values())
    assert batch["messages"] == 400
    stream = measure_stream(session, preset, place, Feed(400, 0, 2, change_s=0.5))
    assert 0 < stream["latency_s"]["p50"] <= stream["latency_s"]["p99"]
    assert stream["changes"] > 0
    assert 0 <= stream["waiting_at_the_end"] <= 800


def test_processor_time_of_descendants_is_counted() -> None:
    before = descendants_seconds()
    if before is None:
        pytest.skip("processor times of other processes are read from /proc")
    wanted = before + 0.25
    burn = "import time\nwhile time.process_time() < 0.3: pass\ninput()"
    with subprocess.Popen([sys.executable, "-c", burn], stdin=subprocess.PIPE) as child:
        deadline = time.time() + 60
        while (descendants_seconds() or 0) < wanted and time.time() < deadline:
            time.sleep(0.05)
        assert (descendants_seconds() or 0) >= wanted
        child.communicate(b"\n")


def test_what_is_missing_is_said_before_spark_starts(tmp_path, capsys, monkeypatch) -> None:
    def never(*_) -> None:
        raise AssertionError

    monkeypatch.setattr(spark_runs, "make_session", never)
    (tmp_path / "empty").mkdir()
    command = ["spark", "run", "--messages", str(tmp_path / "empty"), "--out", str(tmp_path / "o")]
    command += ["--subscriptions", str(tmp_path / "index")]
    assert main(command) == 1
    assert "no Parquet file is in" in capsys.readouterr().err
    assert main([*command, "--format", "events"]) == 1
    assert "no index is at" in capsys.readouterr().err
    command[command.index("--out") + 1] = "s3://bucket/out"
    assert main(command) == 2
    assert "--checkpoint" in capsys.readouterr().err


def test_a_sample_is_a_prepared_table_or_any_folder_of_files(tmp_path) -> None:
    messages = some_messages(10)
    for folder in (tmp_path / "plain", tmp_path / "table" / "version-00000002" / "rows"):
        folder.mkdir(parents=True)
        pq.write_table(messages, folder / "0.parquet")
    (tmp_path / "table" / "version-00000001" / "rows").mkdir(parents=True)
    for name in ("plain", "table"):
        found = spark_runs._sample(Namespace(sample=str(tmp_path / name)))
        assert found is not None
        assert found.column_names == ["tokens", "lon", "lat"]
        assert found.num_rows == 10


def test_commands_print_one_line(tmp_path, capsys) -> None:
    build_here(tmp_path / "index", some_subscriptions(20))
    (tmp_path / "more.ndjson").write_text('{"op": "unsubscribe", "id": "1"}\n')
    assert main(["spark", "change", str(tmp_path / "index"), str(tmp_path / "more.ndjson")]) == 0
    Index(tmp_path / "index").pin(1, str(tmp_path / "out"))
    vacuum = ["spark", "vacuum", str(tmp_path / "index"), "--keep", "1"]
    assert main(vacuum) == 0
    assert main([*vacuum, "--unpin", str(tmp_path / "out")]) == 0
    changed, first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert changed["version"] == 2
    assert first == {"removed": [], "pinned": {str(tmp_path / "out"): 1}}
    assert second["pinned"] == {}
    assert Index(tmp_path / "index").versions() == [2]


def test_patterns_are_of_local_files(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("raw/b.csv", "raw/a.csv", "raw/a.txt", "more/a.csv", "raw/odd[1].csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert _files_of("raw/?.csv") == ["raw/a.csv", "raw/b.csv"]
    assert _files_of("*/a.csv") == ["more/a.csv", "raw/a.csv"]
    assert _files_of(str(tmp_path / "raw" / "*.txt")) == [str(tmp_path / "raw" / "a.txt")]
    assert _files_of("raw/odd[1].csv") == ["raw/odd[1].csv"]
    assert _files_of("s3a://bucket/*.csv") == ["s3a://bucket/*.csv"]
    with pytest.raises(nc.InvalidParameterError, match="no file is called"):
        _files_of("raw/*.json")


def test_what_needs_a_driver_is_refused_with_spark_connect() -> None:
    session = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    frame = Namespace(sparkSession=session, isStreaming=True)
    calls: list[Callable[[], object]] = [
        lambda: stream_matches(frame, "index", "out", checkpoint="c"),
        lambda: stream_changes(frame, None, checkpoint="c"),  # type: ignore[arg-type]
        lambda: listen(session, "out", print),
        lambda: counter_on(session),
    ]
    for call in calls:
        with pytest.raises(nc.UnsupportedError, match="Spark Connect"):
            call()

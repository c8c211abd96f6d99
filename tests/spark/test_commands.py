"""`nearcast spark` from raw files to a matched stream, in one session."""

from __future__ import annotations

import json

import pyarrow.dataset as ds
import pytest

from nearcast.bench.spark_streams import compare_batches, measure_stream, set_up
from nearcast.bench.workloads.presets import find_preset
from nearcast.cli.__main__ import main
from nearcast.partition import MECHANISMS
from nearcast.spark.monitor import as_table, figures

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
def test_raw_files_become_a_matched_stream(session, tmp_path, capsys):
    (tmp_path / "raw.csv").write_text(CSV)
    (tmp_path / "lines.ndjson").write_text(LINES)
    place = {name: str(tmp_path / name) for name in ("messages", "rows", "index", "out")}
    columns = ["--column", "id=number", "--column", "text=words"]
    raw = str(tmp_path / "raw.csv")
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
    assert said(capsys)["partitions"] == 2
    (tmp_path / "more.ndjson").write_text('{"op": "unsubscribe", "id": "s1"}\n')
    assert main(["spark", "change", place["index"], str(tmp_path / "more.ndjson")]) == 0
    assert said(capsys)["version"] == 2

    arriving = report["version"] + "/rows"
    command = ["spark", "run", "--messages", arriving, "--subscriptions", place["index"]]
    metrics = tmp_path / "metrics.ndjson"
    command += ["--out", place["out"], "--until-empty", "--metrics", str(metrics)]
    assert main(command) == 0
    found = ds.dataset(place["out"], format="parquet").to_table().to_pylist()
    assert [(row["message"], row["subscription"]) for row in found] == [("2", "s2")]
    line = json.loads(metrics.read_text().splitlines()[0])
    assert (line["messages"], line["version"], line["pairs"]) == (4, 2, 1)


def test_what_is_wrong_is_said(tmp_path, capsys):
    (tmp_path / "bad.ndjson").write_text("{\n")
    assert main(["spark", "change", str(tmp_path), str(tmp_path / "bad.ndjson")]) == 1
    assert "bad.ndjson:1" in capsys.readouterr().err
    assert main(["spark", "prepare", "messages", "--out", str(tmp_path)]) == 2
    (tmp_path / "good.ndjson").write_text('{"op": "unsubscribe", "id": "s1"}\n')
    assert main(["spark", "change", str(tmp_path), str(tmp_path / "good.ndjson")]) == 1
    assert "no index" in capsys.readouterr().err


def test_progress_becomes_figures_and_a_table():
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


def test_the_bench_compares_all_mechanisms(tmp_path, capsys):
    sizes = ["--top-subscriptions", "30", "--window", "100", "--top-messages", "20"]
    out = tmp_path / "result.json"
    command = ["bench", "spark", "plans", *sizes, "--partitions", "4", "--out", str(out)]
    assert main(command) == 0
    costs = {row["mechanism"]: row for row in json.loads(out.read_text())["plans"]}
    assert set(costs) == set(MECHANISMS)
    assert costs["hash"]["communication"] == 4 > costs["prefix"]["communication"]
    assert costs["hash"]["replication"] == 1 <= costs["prefix"]["replication"]
    assert main(["bench", "spark", "everything"]) == 2
    assert "no such part" in capsys.readouterr().err


@pytest.mark.spark
def test_the_bench_measures_batches_and_streams(session, tmp_path):
    preset = find_preset("zipf")
    place = set_up(session, preset, tmp_path / "work", (200, 400), 1)
    batch = compare_batches(session, place, 1)
    assert batch["ratio"] > 0
    stream = measure_stream(session, preset, place, 40, (1, 2))
    assert 0 < stream["p50_s"] <= stream["p99_s"]

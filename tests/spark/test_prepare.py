"""Raw files become clean tables; what cannot be used is set aside with reasons."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import nearcast as nc
from nearcast.spark.build import build_index
from nearcast.spark.cleaning import POINT, check_mapping, clean_messages, clean_subscriptions
from nearcast.spark.definitions import SIDES
from nearcast.spark.matching import match
from nearcast.spark.prepare import (
    prepare_messages,
    prepare_subscriptions,
    read_raw,
    table_rows,
)


def batch_of(rows):
    return pa.RecordBatch.from_pylist(rows)


def test_messages_are_analysed_and_bad_ones_say_why() -> None:
    rows = batch_of(
        [
            {"n": 1, "body": "Free Coffee!", "x": "1.5", "y": 2},
            {"n": 2, "body": None, "x": "1", "y": 2},
            {"n": 3, "body": "a", "x": "far", "y": 2},
            {"n": 4, "body": "a", "x": "1", "y": 200},
            {"n": None, "body": "a", "x": "1", "y": 2},
        ]
    )
    columns = {"id": "n", "text": "body", "lon": "x", "lat": "y"}
    found = clean_messages(rows, columns, POINT).to_pylist()
    assert found[0]["tokens"] == ["free", "coffee"]
    assert (found[0]["id"], found[0]["lon"], found[0]["reason"]) == ("1", 1.5, None)
    assert [row["reason"] is None for row in found] == [True, False, False, False, False]
    assert "lon is not a number" in found[2]["reason"]
    assert json.loads(found[3]["raw"])["y"] == 200


def test_messages_may_be_events_and_times_timestamps() -> None:
    lines = [
        '{"op": "publish", "id": "a", "text": "Tea", "at": [1, 2], "time": 3}',
        '{"op": "publish", "id": "b", "text": "Tea", "bbox": [1, 2, 3, 4]}',
        '{"op": "retract", "id": "a"}',
        "[]",
    ]
    rows = batch_of([{"value": line} for line in lines])
    point, box, *bad = clean_messages(rows, {}, POINT + SIDES).to_pylist()
    assert (point["lon"], point["west"], point["time"]) == (1, None, 3)
    assert (box["lon"], box["west"], box["tokens"]) == (None, 1, ["tea"])
    assert "not a message" in bad[0]["reason"]
    assert "not an object" in bad[1]["reason"]
    times = [datetime(1970, 1, 1, 0, 1, tzinfo=timezone.utc), datetime(1970, 1, 1)]
    fields = {"id": "a", "text": "a", "lon": 0, "lat": 0}
    columns = {name: name for name in (*fields, "time")}
    found = [clean_messages(batch_of([{**fields, "time": t}]), columns, POINT) for t in times]
    assert [row["time"] for batch in found for row in batch.to_pylist()] == [60, None]
    assert "with an offset" in found[1].to_pylist()[0]["reason"]


def test_subscriptions_become_columns_or_events() -> None:
    rows = batch_of(
        [
            {"id": "a", "keywords": "tea green", "area": "[0,0,1,1]"},
            {"id": "b", "keywords": "tea OR coffee", "area": None},
            {"id": "c", "keywords": "tea (", "area": None},
            {"id": "d", "keywords": None, "area": "{"},
        ]
    )
    columns = {name: name for name in ("id", "keywords", "area")}
    plain, event, *bad = clean_subscriptions(rows, columns, mode="match").to_pylist()
    assert (plain["keywords"], plain["east"], plain["event"]) == (["green", "tea"], 1, None)
    assert json.loads(event["event"])["keywords"] == "tea OR coffee"
    assert "not JSON" in bad[1]["reason"]
    assert all(row["reason"] for row in bad)


def test_wrong_mappings_are_refused() -> None:
    with pytest.raises(nc.InvalidParameterError, match="cannot be mapped"):
        check_mapping({"colour": "c"}, ("id",), ["c"])
    with pytest.raises(nc.InvalidParameterError, match="is not there"):
        check_mapping({"id": "c"}, ("id",), ["d"])


@pytest.mark.spark
def test_json_is_an_array_or_lines_whatever_it_is_called(spark, tmp_path) -> None:
    for name, text in {
        "array": '[{"id": 1},\n{"id": 2}]',
        "lines": '{"id": 1}\n{"id": 2}\n',
        "object": '{\n"id": 1}',
        "empty": "",
    }.items():
        path = tmp_path / f"{name}.json"
        path.write_text(text)
        rows = read_raw(spark, str(path)).collect()
        assert [row["id"] for row in rows] == [1, 2][: {"object": 1, "empty": 0}.get(name, 2)]


@pytest.mark.spark
def test_files_become_versions_with_statistics_that_can_be_matched(spark, tmp_path) -> None:
    csv = tmp_path / "raw.csv"
    csv.write_text('key,what,lon,lat\n1,Tea tea,0,0\n2,"Green, ""tea""\n",1,1\n3,,x,0\n')
    out = prepare_messages(
        read_raw(spark, str(csv)), tmp_path / "messages", {"id": "key", "text": "what"}
    )
    assert out == Path(table_rows(str(tmp_path / "messages"))).parent
    report = json.loads((out / "report.json").read_text())
    assert (report["clean"], report["refused"]) == (2, 1)
    assert sum(report["reasons"].values()) == 1
    weights = nc.read_weights(out / "weights.json")
    assert (weights.documents, dict(weights.df)) == (2, {"tea": 2, "green": 1})
    words = ds.dataset(out / "keywords").to_table().to_pylist()
    assert {row["word"]: (row["messages"], row["places"]) for row in words}["tea"] == (2, 1)

    lines = tmp_path / "subscriptions.ndjson"
    same = '{"op":"subscribe","id":"s","keywords":"tea%s"}\n'
    lines.write_text(same % " -green" + '{"op":"subscribe"}\n' + same % "")
    made = prepare_subscriptions(read_raw(spark, str(lines), "events"), tmp_path / "subscriptions")
    reasons = json.loads((made / "report.json").read_text())["reasons"]
    assert (len(reasons), reasons["id is in use by an earlier row"]) == (2, 1)
    build_index(spark.read.parquet(str(made / "rows")), tmp_path / "index")
    found = match(spark.read.parquet(str(out / "rows")), tmp_path / "index").collect()
    assert [tuple(row) for row in found] == [("1", "s")]

    lines.write_text('{"op":"publish","id":"1","text":"Hot tea","bbox":[0,0,2,2]}\n')
    out = prepare_messages(read_raw(spark, str(lines), "events"), tmp_path / "messages")
    assert out.name == "version-00000002"
    assert json.loads((out / "report.json").read_text())["clean"] == 1
    assert ds.dataset(out / "places").to_table().to_pylist() == [{"x": 50, "y": 50, "count": 1}]

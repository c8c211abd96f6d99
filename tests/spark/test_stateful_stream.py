"""The pipeline on Spark gives what one hub gives, and takes events in their order."""

from __future__ import annotations

import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from spark.hub_logs import batches, by_hub, mixed_plan, random_lines, written
from spark.top_logs import WINDOWS

import nearcast as nc
from nearcast.cli.__main__ import main
from nearcast.partition import Plan
from nearcast.spark.event_files import name_key
from nearcast.spark.stateful.pipeline import Pipeline
from nearcast.spark.stateful.stream import stream_changes


def write_files(folder, lines, modified) -> None:
    """Write a file for each batch of lines; `modified` gives its modification time by number."""
    folder.mkdir()
    for number, batch in enumerate(batches(lines)):
        path = folder / f"{number}.ndjson"  # 10 is after 9, though its letters are before
        path.write_text("\n".join(batch) + "\n")
        os.utime(path, (modified(number), modified(number)))


def run_files(spark, folder, out, per_batch=None, plan=None, **options) -> None:
    pipeline = Pipeline(out, plan or Plan("hash", "match", 2), window=WINDOWS["seconds"])
    reader = spark.readStream
    if per_batch is not None:
        reader = reader.option("maxFilesPerTrigger", per_batch)
    events, place = reader.text(str(folder)), out / "checkpoint"
    query = stream_changes(events, pipeline, checkpoint=place, until_empty=True, **options)
    assert query.awaitTermination(400)


@pytest.mark.spark
@pytest.mark.parametrize("mechanism", ["hash", "prefix-location"])
def test_on_spark_too(spark, tmp_path, mechanism) -> None:
    lines = random_lines(5, 120)
    write_files(tmp_path / "in", lines, lambda number: 1_000_000 + number)
    given: dict[int, int] = {}

    def sink(changes, number) -> None:
        given[number] = changes.count()

    plan = mixed_plan(mechanism, 3, lines)
    run_files(spark, tmp_path / "in", tmp_path / "out", per_batch=1, plan=plan, sink=sink)
    hub = nc.Hub(window=WINDOWS["seconds"])
    for number, batch in enumerate(batches(lines)):
        changes, _ = by_hub(hub, batch)
        assert written(tmp_path / "out" / f"batch={number}") == changes
        assert given[number] == len(changes)


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


@pytest.mark.spark
def test_the_command_applies_events(session, tmp_path) -> None:
    lines = random_lines(11, 60)
    write_files(tmp_path / "in", lines, lambda number: 1_000_000 + number)
    out = tmp_path / "out"
    command = ["spark", "apply", "--events", str(tmp_path / "in"), "--out", str(out)]
    command += ["--window-count", "7", "--until-empty"]
    assert main(command) == 0
    changes, _ = by_hub(nc.Hub(window=WINDOWS["count"]), lines)
    assert written(out / "batch=0") == changes
    other = ["--out", str(tmp_path / "other"), "--mechanism", "prefix"]
    assert main([*command, *other]) == 2  # nothing to plan by
    known = {"op": "subscribe", "id": "s", "keywords": ["a", "b"]}
    (tmp_path / "known.ndjson").write_text(json.dumps(known) + "\n")
    sample = {"tokens": [["a", "b"], ["c"]], "lon": [0.0, 1.0], "lat": [0.0, 1.0]}
    (tmp_path / "sample").mkdir()
    pq.write_table(pa.table(sample), tmp_path / "sample" / "0.parquet")
    by = ["--plan-from", str(tmp_path / "known.ndjson"), "--sample", str(tmp_path / "sample")]
    assert main([*command, *other, *by]) == 0
    assert written(tmp_path / "other" / "batch=0") == changes
    facts = json.loads((tmp_path / "other" / "_metrics" / "0.json").read_text())
    assert facts["pairs"] == len(changes)


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

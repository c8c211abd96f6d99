"""Files are taken by name: in order, a few at a time, and none that comes too late is skipped."""

from __future__ import annotations

import gzip
import os
from uuid import uuid4

import pytest

import nearcast as nc
from nearcast.spark.event_files import known_order
from nearcast.spark.folders import folder_at
from nearcast.spark.named_files import NamedFiles


@pytest.fixture(params=["disk", "s3"])
def folder(request, tmp_path):
    if request.param == "disk":
        return folder_at(tmp_path / "in")
    return request.getfixturevalue("store") / uuid4().hex


def test_files_are_taken_by_name_and_again_the_same(folder) -> None:
    for name in ("10.ndjson", "9.ndjson", "a/1.ndjson", "_hidden/1", ".2.ndjson"):
        folder.write(name, b"1")
    files = NamedFiles(folder)
    start = files.start()
    first = files.next(start, 2)
    assert files.between(start, first) == ["9.ndjson", "10.ndjson"]
    folder.write("11.ndjson", b"1")
    second = files.next(first, 2)
    assert files.between(first, second) == ["11.ndjson", "a/1.ndjson"]
    assert files.next(second, 2) == second
    again = NamedFiles(folder)
    assert again.between(start, first) == ["9.ndjson", "10.ndjson"]
    assert again.next(second) == second
    assert again.next(start)["taken"] == 4
    assert again.next(start, last="10.ndjson") == first


def test_a_folder_that_is_not_there_yet_has_no_files(folder) -> None:
    files = NamedFiles(folder)
    assert files.next(files.start()) == files.start()


def test_a_file_that_comes_too_late_is_refused(folder) -> None:
    folder.write("1", b"1")
    folder.write("3", b"1")
    files = NamedFiles(folder)
    start = files.start()
    end = files.next(start)
    folder.write("2", b"1")
    with pytest.raises(nc.InvalidEventError, match="'2' comes too late"):
        files.next(end)
    with pytest.raises(nc.InvalidEventError, match="came too late"):
        NamedFiles(folder).next(end)  # started again
    with pytest.raises(nc.InvalidEventError, match="not those of the first try"):
        NamedFiles(folder).between(start, end)
    folder.delete("2")
    folder.delete("1")  # what is done may go
    assert NamedFiles(folder).next(end) == end


@pytest.mark.spark
def test_spark_takes_files_by_name_whatever_their_times(spark, tmp_path) -> None:
    from nearcast.spark.file_source import read_by_name

    (tmp_path / "in").mkdir()
    for number in range(6):
        content = f"{number} a\n{number} b\r\n{number} ä\n".encode()
        path = tmp_path / "in" / f"{number}.ndjson"
        path.write_bytes(content)
        os.utime(path, (1000 - number, 1000 - number))
    packed = tmp_path / "in" / "6.ndjson.gz"
    packed.write_bytes(gzip.compress(b"6 a\n6 b\n6 \xc3\xa4\n"))
    seen: list[list[str]] = []

    def see(batch, _) -> None:
        rows, columns = known_order(batch, None)
        assert columns == []
        seen.append([row["value"] for row in rows.collect()])

    def run() -> None:
        lines = read_by_name(spark, tmp_path / "in", 2)
        writer = lines.writeStream.foreachBatch(see).trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        assert writer.start().awaitTermination(400)

    run()
    assert [len(lines) for lines in seen] == [6, 6, 6, 3]
    assert [line for lines in seen for line in lines] == [
        f"{number} {letter}" for number in range(7) for letter in "abä"
    ]
    (tmp_path / "in" / "7.ndjson").write_text("7 a\n")
    run()
    assert seen[4:] == [["7 a"]]


@pytest.mark.spark
def test_a_stream_whose_order_cannot_be_known_is_refused(spark) -> None:
    ticks = spark.readStream.format("rate").load().selectExpr("cast(value as string) as value")
    with pytest.raises(nc.InvalidParameterError, match="cannot be known"):
        known_order(ticks, None)
    assert known_order(ticks, "value") == (ticks, ["value"])
    topic = ticks.selectExpr("value", "0 as partition", "1 as offset")
    assert known_order(topic, None) == (topic, ["partition", "offset"])

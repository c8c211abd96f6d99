"""Objects in folders of a disk and of an S3-compatible server, and copies of them."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

import nearcast as nc
from nearcast.spark.folders import folder_at
from nearcast.spark.object_cache import ObjectCache
from nearcast.spark.stamps import Stamp, stamp_of


@pytest.fixture(params=["disk", "s3"])
def folder(request, tmp_path, monkeypatch):
    """An empty folder; that of the server has a name of its own."""
    if request.param == "disk":
        return folder_at(tmp_path / "folder")
    monkeypatch.setenv("NEARCAST_CACHE", str(tmp_path / "cache"))
    return request.getfixturevalue("store") / uuid4().hex


def test_what_is_written_is_read_listed_and_deleted(folder) -> None:
    assert folder.names() == folder.folders() == []
    stamp = folder.write("one", b"1")
    folder.write("inner/two", b"2")
    folder.write("one", b"11")
    assert stamp == stamp_of(b"1")
    assert folder.read("one") == b"11"
    assert (folder / "inner").read("two") == b"2"
    assert folder.names() == ["one"]
    assert folder.folders() == ["inner"]
    assert folder.has("inner/two")
    assert not folder.has("inner")
    with pytest.raises(FileNotFoundError):
        folder.read("three")
    folder.delete("one")
    folder.delete("one")
    folder.delete_folder("inner")
    folder.delete_folder("inner")
    assert folder.names() == folder.folders() == []


def test_of_many_that_create_an_object_one_succeeds(folder) -> None:
    start = threading.Barrier(8)

    def create(number):
        start.wait()
        return folder.create("a/version-1", str(number).encode())

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(create, range(8)))
    assert made.count(True) == 1
    assert folder.read("a/version-1") == str(made.index(True)).encode()
    assert (folder / "a").names() == ["version-1"]


def test_a_write_that_is_repeated_is_not_taken_for_another_writer(folder) -> None:
    assert folder.create("version", b"mine")
    assert folder.create("version", b"mine")
    assert not folder.create("version", b"other")
    assert folder.settle("version", b"other") == b"mine"
    assert folder.settle("fresh", b"other") == b"other"


def test_a_file_is_saved_and_opened_as_one(folder) -> None:
    stamp = folder.save("base/part", lambda path: path.write_bytes(b"x" * 3_000_000))
    assert stamp == stamp_of(b"x" * 3_000_000)
    assert folder.open("base/part", stamp, Path.read_bytes) == b"x" * 3_000_000
    with pytest.raises(nc.SnapshotError, match="not what was written"):
        folder.open("base/part", Stamp(5, "0" * 64), Path.read_bytes)


def test_an_object_that_could_not_be_saved_is_not_there(folder) -> None:
    def fail(path) -> None:
        path.write_bytes(b"half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        folder.save("part", fail)
    assert folder.names() == []


def test_objects_are_published_as_one_folder_once(folder) -> None:
    for name in ("a", "b", "late"):
        folder.write(f"_parts/{name}", name.encode())
    assert not folder.has_published("batch=1")
    folder.publish("batch=1", ["_parts/a", "_parts/b"])
    folder.publish("batch=1", ["_parts/late"])
    assert folder.has_published("batch=1")
    assert (folder / "batch=1").names() == ["a", "b"]
    assert folder.read("batch=1/b") == b"b"


def test_what_a_publisher_that_died_left_to_do_is_done(store) -> None:
    folder = store / uuid4().hex
    for name in ("a", "b"):
        folder.write(f"_parts/{name}", name.encode())
    folder.create("_published/batch=1.json", b'["_parts/a", "_parts/b"]')
    folder.write("batch=1/a", b"a")
    assert folder.has_published("batch=1")
    assert (folder / "batch=1").names() == ["a", "b"]
    assert folder.has_published("batch=1")
    assert (folder / "_parts").names() == []


def test_a_folder_is_a_value(folder) -> None:
    assert pickle.loads(pickle.dumps(folder)) == folder == folder_at(str(folder))
    assert len({folder, folder_at(folder.address), folder / "a"}) == 2
    folder.write("a/b", b"1")
    with (folder / "a").files.open_input_stream(f"{folder.path}/a/b") as stream:
        assert stream.readall() == b"1"


def test_addresses_are_of_known_stores() -> None:
    assert str(folder_at("s3a://bucket/a/")) == "s3://bucket/a"
    assert folder_at("file:///tmp/x") == folder_at("/tmp/x")
    with pytest.raises(nc.InvalidParameterError, match="ftp://"):
        folder_at("ftp://host/a")


CONTENT = b"c" * 1000


def fetches(count):
    """Return what writes the content and counts how often."""

    def fetch(path) -> None:
        count.append(1)
        path.write_bytes(CONTENT)

    return fetch


def test_a_copy_is_fetched_once(tmp_path) -> None:
    cache, count = ObjectCache(tmp_path), list[int]()
    for _ in range(3):
        assert cache.open(stamp_of(CONTENT), fetches(count), Path.read_bytes) == CONTENT
    assert len(count) == 1


def _open_in_process(folder, counts, start) -> None:
    def fetch(path) -> None:
        (counts / str(os.getpid())).touch()
        path.write_bytes(CONTENT)

    start.wait()
    assert ObjectCache(folder).open(stamp_of(CONTENT), fetch, Path.read_bytes) == CONTENT


def test_of_processes_that_want_a_copy_at_once_one_fetches(tmp_path) -> None:
    (tmp_path / "counts").mkdir()
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(3)
    given = (tmp_path / "cache", tmp_path / "counts", start)
    workers = [context.Process(target=_open_in_process, args=given) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert len(list((tmp_path / "counts").iterdir())) == 1


def test_a_copy_with_another_content_is_refused_and_not_kept(tmp_path) -> None:
    cache, count = ObjectCache(tmp_path), list[int]()
    with pytest.raises(nc.SnapshotError, match="not what was written"):
        cache.open(stamp_of(CONTENT), lambda path: path.write_bytes(b"d" * 1000), Path.read_bytes)
    assert cache.open(stamp_of(CONTENT), fetches(count), Path.read_bytes) == CONTENT
    (tmp_path / stamp_of(CONTENT).checksum).write_bytes(b"c")
    assert cache.open(stamp_of(CONTENT), fetches(count), Path.read_bytes) == CONTENT
    assert len(count) == 2


def test_copies_used_least_lately_are_removed(tmp_path) -> None:
    cache = ObjectCache(tmp_path, max_bytes=250)
    contents = [bytes([letter]) * 100 for letter in b"abc"]

    def use(content) -> None:
        cache.open(stamp_of(content), lambda path: path.write_bytes(content), Path.read_bytes)

    def age(content) -> None:
        os.utime(tmp_path / stamp_of(content).checksum, (0, 0))

    use(contents[0])
    use(contents[1])
    age(contents[1])
    (tmp_path / ".of-one-that-died").write_bytes(b"x")
    use(contents[2])
    kept = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert kept == {stamp_of(contents[0]).checksum, stamp_of(contents[2]).checksum}


def test_the_folder_of_another_user_is_refused(tmp_path, monkeypatch) -> None:
    cache = ObjectCache(tmp_path / "cache")
    cache.open(stamp_of(CONTENT), fetches([]), Path.read_bytes)
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    with pytest.raises(nc.SnapshotError, match="another user"):
        cache.open(stamp_of(CONTENT), fetches([]), Path.read_bytes)


def test_one_copy_may_be_larger_than_the_bound(tmp_path) -> None:
    cache = ObjectCache(tmp_path, max_bytes=10)
    assert cache.open(stamp_of(CONTENT), fetches([]), Path.read_bytes) == CONTENT


def test_what_is_removed_while_it_is_opened_is_fetched_again(tmp_path) -> None:
    cache, count = ObjectCache(tmp_path), list[int]()

    def open_late(path):
        if len(count) == 1:
            path.unlink()
        return path.read_bytes()

    assert cache.open(stamp_of(CONTENT), fetches(count), open_late) == CONTENT
    assert len(count) == 2

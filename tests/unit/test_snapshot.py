"""A snapshot answers like what it was made of, is never changed, and is never half believed."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from fuzz.snapshot_mutants import Content
from snapshot_bytes import HEADER, PAGE, ROW, blobs, checksum, header, sealed

import nearcast as nc

KINDS = [kind.name for kind in nc.indexes() if not kind.stands_for]
WORDS = [f"w{i}" for i in range(15)] + ["é", "漢字"]
TRIANGLE = {"type": "Polygon", "coordinates": [[[0, 0], [9, 0], [0, 9], [0, 0]]]}
SHAPES: dict[str, tuple[Any, Any]] = {
    "circle": ("w1", {"type": "Circle", "center": [1, 1], "radius_m": 300_000}),
    "triangle": ("w1 OR (w2 -w3)", TRIANGLE),
    "expression": ("(w1 OR w2) (w3 OR é) -w4", None),
    "pacific": ("w2", [170, -10, -170, 10]),
    "never": ("w1 -w1", None),
    "place alone": (None, [0, 0, 3, 3]),
}


def rows(count, seed, *, prefix="r"):
    dice = np.random.default_rng(seed)
    west, south = dice.uniform(-10, 5, (2, count))
    return pa.table(
        {
            "id": [f"{prefix}{i}" for i in range(count)],
            "keywords": [
                [str(w) for w in dice.choice(WORDS, dice.integers(1, 4))] for _ in range(count)
            ],
            "west": west,
            "south": south,
            "east": west + dice.uniform(0, 8, count),
            "north": south + dice.uniform(0, 8, count),
        }
    )


def build(kind=KINDS[0], count=150):
    matcher = nc.Matcher(kind)
    matcher.subscribe_table(rows(count, 1))
    for id_, (keywords, area) in SHAPES.items():
        matcher.subscribe(id_, keywords=keywords, area=area)
    matcher.unsubscribe_table([f"r{i}" for i in range(0, count, 7)])
    return matcher


def sizes(matcher):
    """Of an index that is built again they may be others."""
    is_mapped = any(k.name == matcher.index and "maps" in k.capabilities for k in nc.indexes())
    derived = set() if is_mapped else {"index_bytes", "memory_bytes", "total_bytes"}
    return {name: size for name, size in matcher.stats().items() if name not in derived}


def change(matcher) -> None:
    matcher.unsubscribe_table([f"r{i}" for i in range(1, 150, 7)])
    matcher.unsubscribe("triangle")
    matcher.subscribe_table(rows(80, 2, prefix="new"))
    matcher.subscribe("late", keywords="neverseen OR w1", area=TRIANGLE)
    matcher.subscribe("r0", keywords="w5")


def answers(matcher):
    dice = np.random.default_rng(3)
    asked = []
    for _ in range(60):
        tokens = [str(w) for w in dice.choice(WORDS, 6)] + ["neverseen"]
        lon, lat = map(float, dice.uniform(-10, 10, 2))
        asked.append(sorted(matcher.match(tokens, at=(lon, lat))))
        asked.append(sorted(matcher.match(tokens, bbox=(lon, lat, lon + 2, lat))))
    asked.append(sorted(matcher.match("w2", at=(-175, 0))))
    return asked


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Return the bytes of a small snapshot."""
    matcher = build(count=20)
    path = tmp_path_factory.mktemp("snapshot") / "small"
    matcher.save(path)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "snapshot"


def refused(path, data, said=None, **options):
    path.write_bytes(data)
    with pytest.raises(nc.SnapshotError, match=said) as caught:
        nc.Matcher.open(path, **options)
    assert str(path) in str(caught.value)
    return caught.value


# ---- round trips ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_an_opened_snapshot_answers_like_the_original_and_stays_exact(kind, path) -> None:
    original = build(kind)
    original.save(path)
    written = path.read_bytes()
    opened = nc.Matcher.open(path)
    assert opened.index == kind
    assert sizes(opened) == sizes(original)
    assert answers(opened) == answers(original)
    assert any(answers(opened))
    opened.check_invariants()
    change(original)
    change(opened)
    opened.check_invariants()
    assert answers(opened) == answers(original)
    assert path.read_bytes() == written
    assert answers(nc.Matcher.open(path)) == answers(build(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_a_snapshot_of_a_snapshot_is_the_same(kind, path, tmp_path) -> None:
    build(kind).save(path)
    nc.Matcher.open(path).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_matcher_round_trips(kind, path) -> None:
    nc.Matcher(kind).save(path)
    opened = nc.Matcher.open(path)
    assert len(opened) == 0
    opened.subscribe(5, keywords="a")
    assert opened.match("a", at=(0, 0)) == [5]


@pytest.mark.parametrize(("kind", "count"), [("auto", 20000), ("auto", 6000), ("iq-tree", 20000)])
def test_blobs_that_are_mapped_can_be_changed_and_the_file_stays(kind, count, path) -> None:
    matcher = build(kind, count)
    matcher.save(path)
    written = path.read_bytes()
    assert max(blob.size for blob in blobs(written)) > 1 << 16  # smaller ones are copied
    assert (len(written) > 1 << 20) == (count > 6000)  # as are smaller files
    opened = nc.Matcher.open(path, verify=True)
    for each in (matcher, opened):
        each.subscribe_table(rows(3000, 9, prefix="more"))
        each.unsubscribe_table([f"r{i}" for i in range(1, 6000, 7)])
    opened.check_invariants()
    assert answers(opened) == answers(matcher)
    assert path.read_bytes() == written


def test_numbers_as_ids_round_trip(path) -> None:
    matcher = nc.Matcher()
    matcher.subscribe(-(2**63), keywords="a")
    matcher.subscribe(7, keywords="a")
    matcher.save(path)
    opened = nc.Matcher.open(path)
    assert sorted(opened.match("a", at=(0, 0))) == [-(2**63), 7]
    with pytest.raises(nc.InvalidSubscriptionError, match="a whole number, like the ids"):
        opened.subscribe("s", keywords="a")


def test_parameters_of_the_kind_are_part_of_the_snapshot(path) -> None:
    for kind in nc.indexes():
        chosen = {spec.name: _other_value(spec) for spec in kind.parameters}
        try:
            matcher = nc.Matcher(kind.name, index_parameters=chosen)
        except nc.InvalidParameterError:  # some only go together
            chosen = {spec.name: spec.default for spec in kind.parameters}
            matcher = nc.Matcher(kind.name, index_parameters=chosen)
        matcher.save(path)
        data = path.read_bytes()
        first = blobs(data)[0]
        description = data[first.offset : first.offset + first.size].decode().splitlines()
        assert description[0] == (kind.stands_for or kind.name)
        written = {line.split("\t")[0]: line.split("\t")[2] for line in description[1:]}
        assert set(written) == {*chosen, "@analyzer"}
        nc.Matcher.open(path)


def _other_value(spec):
    if isinstance(spec.default, bool):
        return not spec.default
    if isinstance(spec.default, str):
        return spec.choices[-1]
    return spec.minimum if spec.default != spec.minimum else spec.maximum


def test_the_analyzer_is_given_when_opening(path) -> None:
    analyzer = nc.Analyzer(stop_words=frozenset({"the"}))
    matcher = nc.Matcher(analyzer=analyzer)
    matcher.subscribe("s", keywords=["the w1"])
    matcher.save(path)
    opened = nc.Matcher.open(path, analyzer=analyzer)
    with pytest.raises(nc.InvalidSubscriptionError):
        opened.subscribe("t", keywords=["the"])
    assert opened.match("w1", at=(0, 0)) == ["s"]


@pytest.mark.parametrize("made", [nc.Matcher, partial(nc.Matcher, mode="rank"), nc.Hub])
def test_another_analyzer_than_the_one_it_was_made_with_is_refused(path, made) -> None:
    whole: Any = nc.Hub if made is nc.Hub else nc.Matcher
    for analyzer in (nc.Analyzer("german", keep={"c++"}), nc.Analyzer()):
        made(analyzer=analyzer).save(path)
        assert len(whole.open(path, analyzer=analyzer)) == 0
        with pytest.raises(nc.SnapshotError, match="was made with another analyzer") as caught:
            whole.open(path, analyzer=nc.Analyzer("french"))
        got, wanted = str(caught.value).split(", wanted ")
        assert "language 'french'" in got
        assert f"language {analyzer.language!r}" in wanted


def test_a_file_that_does_not_say_its_analyzer_is_opened_with_any(small, path) -> None:
    path.write_bytes(redescribed(small, f"{KINDS[0]}\n".encode()))
    nc.Matcher.open(path, analyzer=nc.Analyzer(fold_accents=True))
    path.write_bytes(redescribed(small, f"{KINDS[0]}\n@analyzer\ts\t[5]\n".encode()))
    with pytest.raises(nc.SnapshotError, match="another analyzer"):
        nc.Matcher.open(path)


def test_a_snapshot_opened_twice_is_two_matchers(path) -> None:
    build().save(path)
    one, other = nc.Matcher.open(path), nc.Matcher.open(path)
    before = answers(other)
    change(one)
    assert answers(other) == before
    assert answers(one) != before
    del one
    assert answers(other) == before


def test_a_snapshot_that_is_open_can_be_replaced(path) -> None:
    matcher = build(count=6000)
    matcher.save(path)
    opened = nc.Matcher.open(path)
    before = answers(opened)
    nc.Matcher().save(path)
    assert len(nc.Matcher.open(path)) == 0
    assert answers(opened) == before
    opened.subscribe("new", keywords="w1")
    opened.save(path)
    assert answers(nc.Matcher.open(path)) == answers(opened) != before
    path.unlink()
    assert answers(opened) != before


def test_another_process_reads_the_same(path) -> None:
    matcher = build()
    matcher.save(path)
    code = (
        "import sys, nearcast; m = nearcast.Matcher.open(sys.argv[1]);"
        " print(sorted(m.match('w1 w2 w3', at=(1, 1))))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == str(sorted(matcher.match("w1 w2 w3", at=(1, 1))))


# ---- files that are not snapshots -----------------------------------------------------------


def test_a_snapshot_that_was_cut_off_is_refused(small, path) -> None:
    lengths = {*range(64), *range(64, len(small), 509), len(small) - 1}
    lengths |= {blob.offset + d for blob in blobs(small) for d in (-1, 0, 1)}
    for length in sorted(lengths):
        for verify in (None, False):
            refused(path, small[:length], verify=verify)
    assert refused(path, small[:-1], "is not whole").hint == "was it cut off while being copied?"


def test_a_snapshot_that_goes_on_is_refused(small, path) -> None:
    refused(path, small + b"\0", "is not whole", verify=False)


@pytest.mark.parametrize("data", [b"", b"{}", b"PK\3\4" * 2000, b"\0" * 5000, b"NEARCAST" * 10])
def test_a_file_of_another_kind_is_refused(data, path) -> None:
    refused(path, data, verify=False)


def test_what_is_not_a_file_is_refused(tmp_path) -> None:
    with pytest.raises(nc.SnapshotError, match="is not a file"):
        nc.Matcher.open(tmp_path)
    with pytest.raises(nc.SnapshotError, match="No such file") as caught:
        nc.Matcher.open(tmp_path / "missing")
    assert isinstance(caught.value, OSError)


def test_a_snapshot_of_a_newer_version_says_so(small, path) -> None:
    def of_version(version):
        return HEADER.pack(*header(small)._replace(version=version)) + small[HEADER.size :]

    newer = header(small).version + 1
    error = refused(path, of_version(newer), f"newer nearcast: got format version {newer}")
    assert error.hint == "upgrade nearcast to open it"
    refused(path, sealed(of_version(newer)), "newer nearcast")
    refused(path, sealed(of_version(0)), "damaged")


def test_a_snapshot_of_an_older_version_says_so(small, path) -> None:
    older = HEADER.pack(*header(small)._replace(version=1)) + small[HEADER.size :]
    error = refused(path, sealed(older), "older nearcast: got format version 1")
    assert error.hint.startswith("subscribe anew")


# ---- damage ---------------------------------------------------------------------------------


def refuses_each_flip(path, data, positions, bits, **options) -> None:
    path.write_bytes(data)
    with path.open("r+b", buffering=0) as file:
        for at in positions:
            file.seek(at)
            file.write(bytes([data[at] ^ bits]))
            with pytest.raises(nc.SnapshotError):
                nc.Matcher.open(path, **options)
            file.seek(at)
            file.write(data[at : at + 1])
    nc.Matcher.open(path, **options)


@pytest.mark.parametrize("bits", [0x01, 0xFF])
def test_each_byte_of_header_and_table_is_checked_always(small, path, bits) -> None:
    positions = (*range(HEADER.size), *range(header(small).table, len(small)))
    refuses_each_flip(path, small, positions, bits, verify=False)


def test_each_byte_of_the_contents_is_checked_in_a_small_file(small, path) -> None:
    for number, blob in enumerate(blobs(small)):
        step = 1 if number < 4 else max(1, blob.size // 40)
        positions = range(blob.offset, blob.offset + blob.size, step)
        refuses_each_flip(path, small, positions, 0x10)


def test_contents_that_changed_places_are_noticed(small, path) -> None:
    blob = max(blobs(small), key=lambda blob: blob.size)
    half = blob.size // 2
    middle = small[blob.offset : blob.offset + blob.size]
    swapped = middle[half:] + middle[:half]
    assert swapped != middle
    refused(path, small[: blob.offset] + swapped + small[blob.offset + blob.size :], "contents")


def test_verify_decides_whether_contents_are_checked(small, path) -> None:
    assert small.count("漢字".encode()) == 1
    damaged = small.replace("漢字".encode(), "漢子".encode())
    refused(path, damaged, "contents")
    refused(path, damaged, "contents", verify=True)
    assert len(nc.Matcher.open(path, verify=False)) > 0
    path.write_bytes(small)
    expected = answers(nc.Matcher.open(path, verify=False))
    assert answers(nc.Matcher.open(path, verify=True)) == expected


def test_bytes_between_the_blobs_do_not_matter(small, path) -> None:
    between = bytearray(small)
    ends = {blob.offset: blob.offset + blob.size for blob in blobs(small)}
    at = HEADER.size
    for start, end in sorted(ends.items()):
        between[at:start] = b"\xff" * (start - at)
        at = max(at, end)
    assert bytes(between) != small
    path.write_bytes(small)
    expected = answers(nc.Matcher.open(path))
    path.write_bytes(between)
    opened = nc.Matcher.open(path, verify=True)
    assert answers(opened) == expected


def redescribed(data, description):
    """Return the snapshot with another description, all checksums right."""
    first, table = blobs(data)[0], header(data).table
    assert first.checksum == checksum(data[first.offset : first.offset + first.size])
    body = bytearray(data)
    body[first.offset : first.offset + PAGE] = description.ljust(PAGE, b"\0")
    ROW.pack_into(body, table, first.offset, len(description), 1, checksum(description))
    return sealed(bytes(body))


def test_a_snapshot_of_an_index_kind_that_is_not_there_says_which(small, path) -> None:
    said = f'{KINDS[0]}\n@analyzer\ts\t{{"name": "standard"}}\n'
    assert redescribed(small, said.encode()) == small
    path.write_bytes(redescribed(small, b"future-tree\n"))
    with pytest.raises(nc.InvalidParameterError, match="got 'future-tree', wanted one of"):
        nc.Matcher.open(path)


@pytest.mark.parametrize(
    "description", [b"", b"\n", b"brute-force\nwhat", b"brute-force\nx\tn\t1\n"]
)
def test_a_description_that_cannot_be_read_is_refused(small, path, description) -> None:
    path.write_bytes(redescribed(small, description))
    with pytest.raises((nc.SnapshotError, nc.InvalidParameterError)):
        nc.Matcher.open(path)


def test_a_snapshot_of_one_kind_is_not_read_as_another(small, path) -> None:
    """The lists of `auto` are blobs that no other kind reads."""
    for kind in KINDS[1:]:
        path.write_bytes(redescribed(small, f"{kind}\n".encode()))
        with pytest.raises(nc.SnapshotError, match="has blobs that nothing reads"):
            nc.Matcher.open(path)


# ---- lies under right checksums; tests/fuzz has thousands --------------------------------------


def test_a_slot_that_is_yet_to_come_has_no_keyword(path) -> None:
    """The next subscription would be taken for one of a single keyword, which it is not."""
    matcher = nc.Matcher()
    matcher.subscribe("s", keywords="w1", area=[0, 0, 1, 1])
    matcher.save(path)
    content = Content(path.read_bytes())
    bounds, records, short = 32, 4, 8
    elements = zip(content.elements, content.elements[1:], content.elements[2:], strict=False)
    store = list(elements).index((bounds, records, short))
    assert content.blobs[store + 2] == bytes([1, *[0] * 7])
    content.put(store + 2, bytes([3, *[0] * 7]))
    refused(path, content.to_bytes(random.Random(1)), "got a slot of a subscription")


# ---- saving ---------------------------------------------------------------------------------


def test_saving_leaves_one_file(path, tmp_path) -> None:
    build().save(str(path))
    build().save(path)
    assert list(tmp_path.iterdir()) == [path]


def test_saving_through_a_link_replaces_what_it_leads_to(tmp_path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "snapshot")
    with pytest.raises(nc.SnapshotError, match="could not follow its link: got No such file"):
        build().save(tmp_path / "link")
    nc.Matcher().save(tmp_path / "folder" / "snapshot")
    build().save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert len(nc.Matcher.open(tmp_path / "folder" / "snapshot")) == len(build())
    assert list((tmp_path / "folder").iterdir()) == [tmp_path / "folder" / "snapshot"]


def test_saving_keeps_the_permissions_of_what_it_replaces(path) -> None:
    build().save(path)
    assert path.stat().st_mode & 0o777 == 0o644 & ~_umask()
    path.chmod(0o640)
    build().save(path)
    assert path.stat().st_mode & 0o777 == 0o640


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_saving_does_not_replace_what_is_not_a_file(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(nc.SnapshotError, match="got a device, pipe or socket, wanted a file"):
        build().save(tmp_path / "pipe")
    with pytest.raises(nc.SnapshotError, match="is not a file"):
        nc.Matcher.open(tmp_path / "pipe")  # which waits for no writer
    assert [found.name for found in tmp_path.iterdir()] == ["pipe"]
    with pytest.raises(nc.SnapshotError, match="got a device, pipe or socket"):
        build().save("/dev/null")


def test_the_name_of_a_snapshot_may_be_as_long_as_names_can_be(tmp_path) -> None:
    long = tmp_path / ("n" * 255)
    build().save(long)
    assert answers(nc.Matcher.open(long)) == answers(build())


@pytest.mark.parametrize("call", [nc.Matcher.open, nc.Hub.open, build().save, nc.Hub().save])
def test_a_path_with_a_null_character_is_refused(call) -> None:
    with pytest.raises(nc.SnapshotError, match="a path with a null character"):
        call("some\0where")


@pytest.mark.parametrize("where", ["missing/snapshot", "file/snapshot", "folder"])
def test_a_save_that_fails_leaves_nothing_behind(tmp_path, where) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(nc.SnapshotError, match=where):
        build().save(tmp_path / where)
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_is_not_writable_stays_empty(tmp_path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o500)
    with pytest.raises(nc.SnapshotError, match="Permission denied"):
        build().save(folder / "snapshot")
    assert list(folder.iterdir()) == []


def test_a_save_that_runs_out_of_space_keeps_the_old_snapshot(path, tmp_path) -> None:
    nc.Matcher().save(path)
    written = path.read_bytes()
    code = """
import resource, signal, sys, nearcast
matcher = nearcast.Matcher()
for i in range(2000):
    matcher.subscribe(i, keywords=[f"w{i}"])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    matcher.save(sys.argv[1])
except nearcast.SnapshotError as error:
    print(error)
"""
    found = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=True
    )
    assert "could not be written" in found.stdout
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == written


@pytest.mark.parametrize("count", [2, 3, 1000])
def test_an_area_of_equal_parts_is_opened(tmp_path, count: int) -> None:
    matcher = nc.Matcher()
    matcher.subscribe("s", area=[[0, 0, 1, 1]] * count)
    matcher.save(tmp_path / "snapshot")
    opened = nc.Matcher.open(tmp_path / "snapshot", verify=True)
    assert opened.match("tea", at=(1, 1)) == ["s"]
    opened.check_invariants()

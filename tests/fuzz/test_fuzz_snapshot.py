"""No file, however broken, is opened as anything but what was saved, and none ends the process."""

from __future__ import annotations

import random
import struct

import pytest
from fuzz.mutate import ROUNDS, SEED
from snapshot_bytes import HEADER, PAGE, ROW, header, sealed

import nearcast as nc

ALLOWED = (nc.SnapshotError, nc.InvalidParameterError)
NUMBERS = [0, 1, 7, PAGE, 2**16, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - PAGE, 2**64 - 1]


def answers(matcher):
    return [
        sorted(map(str, matcher.match(words, at=at)))
        for words in ("w1 w2", "w3", "é w0", "")
        for at in ((0, 0), (5, 5), (-175, 3))
    ]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Return the bytes of some snapshots and their answers."""
    folder = tmp_path_factory.mktemp("snapshots")
    made = []
    for kind in (kind for kind in nc.indexes() if not kind.stands_for):
        for count in (0, 40):
            matcher = nc.Matcher(kind.name)
            for i in range(count):
                box = [i % 7 - 3, -5, i % 7 + 2, 5] if i % 3 else [170, -5, -170, 5]
                words = f"w{i % 5}" if i % 4 else f"w{i % 5} OR é"
                matcher.subscribe(
                    i if kind.name == "brute-force" else f"s{i}", keywords=words, area=box
                )
            matcher.save(folder / "snapshot")
            made.append(((folder / "snapshot").read_bytes(), answers(matcher)))
    return made


def check(path, data, known, why) -> bool:
    """Open it: a refusal of ours, or one of the known answers."""
    path.write_bytes(data)
    try:
        opened = nc.Matcher.open(path, verify=True)
        opened.check_invariants()
        found = answers(opened)
    except ALLOWED as error:
        str(error).encode()  # must be printable
        return False
    except BaseException as error:
        raise AssertionError(f"{why} gave {error!r}") from error
    assert found in known, why
    return True


def mutated(rng, data, other):
    if len(data) < PAGE:
        return data
    change = rng.choice(("bytes", "number", "page", "cut", "insert", "splice"))
    at = rng.randrange(len(data))
    if rng.random() < 0.3:
        at = rng.randrange(HEADER.size)
    if change == "bytes":
        count = min(rng.randrange(1, 9), len(data) - at)
        return data[:at] + rng.randbytes(count) + data[at + count :]
    if change == "number":
        at = min(at // 8 * 8, len(data) - 8)
        return data[:at] + struct.pack("<Q", rng.choice(NUMBERS)) + data[at + 8 :]
    if change == "page":
        here, there = (rng.randrange(len(data) // PAGE) * PAGE for _ in range(2))
        return data[:here] + data[there : there + PAGE] + data[here + PAGE :]
    if change == "cut":
        return data[:at] + data[at + rng.choice((1, 8, PAGE, len(data))) :]
    if change == "insert":
        return data[:at] + rng.randbytes(rng.choice((1, 8, PAGE))) + data[at:]
    at = at // PAGE * PAGE
    return data[:at] + other[at:]


def test_a_mutated_snapshot_is_refused_or_what_it_was(corpus, tmp_path) -> None:
    rng = random.Random(SEED)
    known = [answer for _, answer in corpus]
    opened = 0
    for number in range(ROUNDS):
        data = rng.choice(corpus)[0]
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            data = mutated(rng, data, rng.choice(corpus)[0])
        why = f"round {number}; NEARCAST_FUZZ_SEED={SEED} NEARCAST_FUZZ_ROUNDS={ROUNDS}"
        opened += check(tmp_path / "snapshot", data, known, why)
    assert 0 < opened < ROUNDS / 2  # bytes between the blobs may be anything


def test_a_table_that_lies_under_the_right_checksum_is_refused(corpus, tmp_path) -> None:
    """Numbers in header and table that point anywhere: nothing outside the file is read."""
    rng = random.Random(SEED + 1)
    known = [answer for _, answer in corpus]
    for number in range(ROUNDS // 2):
        data = bytearray(rng.choice(corpus)[0])
        first = header(bytes(data))
        if rng.random() < 0.3:
            field = rng.choice(("blobs", "table", "size"))
            lie = rng.choice((*NUMBERS, first.table, first.blobs + 1, first.blobs - 1))
            first = first._replace(**{field: lie % 2 ** (32 if field == "blobs" else 64)})
            HEADER.pack_into(data, 0, *first)
        else:
            row = first.table + rng.randrange(first.blobs) * ROW.size
            lie = rng.choice((*NUMBERS, len(data) // PAGE * PAGE, len(data), rng.randrange(100)))
            struct.pack_into("<Q", data, row + 8 * rng.randrange(3), lie)
        why = f"lie {lie} of round {number}; NEARCAST_FUZZ_SEED={SEED}"
        check(tmp_path / "snapshot", sealed(bytes(data)), known, why)

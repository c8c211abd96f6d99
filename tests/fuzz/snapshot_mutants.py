"""Snapshots that lie: changed anywhere, with every checksum made right again.

As a program, ``snapshot_mutants.py FOLDER SEED FIRST LAST`` tries the mutants with these numbers.
It prints each number before it tries it: the last one is the mutant that ended the process.
"""

from __future__ import annotations

import random
import struct
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from snapshot_bytes import HEADER, PAGE, ROW, blobs, checksum, header

EDGES = [0, 1, 2, 3, 7, 63, 64, 65, 127, 128, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 2]
EDGES += [2**32 - 1, 2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 0x7FF0000000000000]
EDGES += [0x7FF8000000000000, 0x40000000, 0xC0000000, 0x8000000080000000]


class Content:
    """What a snapshot is made of: version, and the blobs with the sizes of their elements."""

    def __init__(self, data: bytes) -> None:
        self.version = header(data).version
        self.elements = [blob.element for blob in blobs(data)]
        self.blobs = [data[blob.offset : blob.offset + blob.size] for blob in blobs(data)]
        self.checksums = [blob.checksum for blob in blobs(data)]

    def copy(self) -> Content:
        other = object.__new__(Content)
        other.version = self.version
        other.elements = list(self.elements)
        other.blobs = list(self.blobs)
        other.checksums = list(self.checksums)
        return other

    def put(self, number: int, data: bytes) -> None:
        self.blobs[number] = data
        self.checksums[number] = checksum(data)

    def to_bytes(self, rng: random.Random) -> bytes:
        """Return a file whose checksums are all right; now and then a row of its table lies."""
        out = bytearray(HEADER.size)
        rows = []
        for data, element, total in zip(self.blobs, self.elements, self.checksums, strict=True):
            out += bytes(-len(out) % PAGE)
            rows.append([len(out), len(data), element, total])
            out += data
        out += bytes(-len(out) % PAGE)
        if rows and rng.random() < 0.05:
            rng.choice(rows)[rng.randrange(3)] = rng.choice((*EDGES, PAGE, len(out))) % 2**64
        table = b"".join(ROW.pack(*row) for row in rows)
        size = len(out) + len(table)
        fields = struct.pack("<8sIIQQQ", b"NEARCAST", self.version, len(rows), len(out), size,
                             checksum(table))  # fmt: skip
        out[: HEADER.size] = fields + struct.pack("<Q", checksum(fields))
        return bytes(out + table)


def mutant(corpus: list[Content], seed: int, number: int) -> tuple[bytes, random.Random]:
    """Return mutant `number`, always the same, and the dice that it leaves behind."""
    rng = random.Random(f"{seed}-{number}")
    content = rng.choice(corpus).copy()
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        if rng.random() < 0.08:
            _change_order(rng, content, rng.choice(corpus))
        else:
            _change_values(rng, content)
    return content.to_bytes(rng), rng


def _change_order(rng: random.Random, content: Content, other: Content) -> None:
    at, to = (rng.randrange(len(content.blobs)) for _ in range(2))
    how = rng.choice(("swap", "drop", "double", "foreign"))
    rows: tuple[list[Any], ...] = (content.blobs, content.elements, content.checksums)
    for row in rows:
        if how == "swap":
            row[at], row[to] = row[to], row[at]
        elif how == "drop" and len(row) > 1:
            del row[at]
        elif how == "double":
            row.insert(to, row[at])
    if how == "foreign":
        content.put(at, other.blobs[min(at, len(other.blobs) - 1)])


def _change_values(rng: random.Random, content: Content) -> None:
    filled = [i for i, blob in enumerate(content.blobs) if blob]
    if not filled:
        return
    number = rng.choice(filled)
    data = bytearray(content.blobs[number])
    element = max(content.elements[number], 1)
    how = rng.random()
    if how < 0.70:
        width = rng.choice((1, 2, 4, 4, 4, 8))
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            at = rng.randrange(max(1, len(data) // width)) * width
            old = int.from_bytes(data[at : at + width], "little")
            known = rng.choice(content.blobs) or b"\0"
            seen = rng.randrange(max(1, len(known) // 4)) * 4
            new = rng.choice(
                (rng.choice(EDGES), old + 1, old - 1, old ^ (1 << rng.randrange(8 * width)),
                 int.from_bytes(known[seen : seen + 4], "little"), len(known) // element)
            )  # fmt: skip
            data[at : at + width] = (new % 2 ** (8 * width)).to_bytes(width, "little")[
                : len(data) - at
            ]
    elif how < 0.78:
        del data[len(data) - rng.randrange(1, len(data) // element + 1) * element :]
    elif how < 0.86:
        data += bytes(element * rng.randrange(1, 9)) if rng.random() < 0.5 else data[-8 * element :]
    elif how < 0.93:
        at, to, size = (rng.randrange(1 + len(data) // element) * element for _ in range(3))
        piece = data[at : at + size]
        data[to : to + len(piece)] = piece[: len(data) - to]
    else:
        at = rng.randrange(len(data))
        data[at : at + 8] = rng.randbytes(len(data[at : at + 8]))
    content.put(number, bytes(data))


def _main(folder: Path, seed: int, first: int, last: int) -> None:
    from fuzz.snapshot_corpus import try_out

    files = sorted(folder.glob("good/*"))
    corpus = [Content(file.read_bytes()) for file in files]
    opened = 0
    for number in range(first, last):
        print(number, flush=True)
        data, rng = mutant(corpus, seed, number)
        path = folder / f"mutant-{first}"
        path.write_bytes(data)
        opened += try_out(path, rng)
    print("opened", opened, flush=True)


if __name__ == "__main__":
    _main(Path(sys.argv[1]), *map(int, sys.argv[2:]))

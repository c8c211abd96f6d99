"""The layout of a snapshot file, written down a second time: header, blobs, table of blobs."""

from __future__ import annotations

import struct
from typing import NamedTuple

HEADER = struct.Struct("<8sIIQQQQ")
ROW = struct.Struct("<QQQQ")
PAGE = 4096
_MASK = 2**64 - 1


class Header(NamedTuple):
    """The first bytes of the file."""

    magic: bytes
    version: int
    blobs: int
    table: int
    size: int
    table_checksum: int
    checksum: int


class Blob(NamedTuple):
    """A row of the table."""

    offset: int
    size: int
    element: int
    checksum: int


def header(data: bytes) -> Header:
    return Header(*HEADER.unpack_from(data))


def blobs(data: bytes) -> list[Blob]:
    first = header(data)
    rows = range(first.table, first.table + first.blobs * ROW.size, ROW.size)
    return [Blob(*ROW.unpack_from(data, at)) for at in rows]


def checksum(data: bytes) -> int:
    lanes = [0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F]
    lanes.append(0xE7037ED1A0B428DB ^ len(data))
    whole = len(data) // 32 * 32
    for at in range(0, whole, 32):
        for i, word in enumerate(struct.unpack_from("<4Q", data, at)):
            lanes[i] = _mix(lanes[i] ^ word, 0xD6E8FEB86659FD93 + 2 * i)
    total = len(data)
    for i, word in enumerate(struct.unpack("<4Q", data[whole:].ljust(32, b"\0"))):
        total = _mix(total ^ lanes[i] ^ word, 0xA0761D6478BD642F + 2 * i)
    return total


def _mix(a: int, b: int) -> int:
    product = a * b
    return (product & _MASK) ^ (product >> 64)


def sealed(data: bytes) -> bytes:
    """Return the file with the checksums that its header and its table should have."""
    first = header(data)
    table = data[first.table : first.table + first.blobs * ROW.size]
    fields = HEADER.pack(*first[:-2], checksum(table), 0)[:-8]
    return fields + struct.pack("<Q", checksum(fields)) + data[HEADER.size :]

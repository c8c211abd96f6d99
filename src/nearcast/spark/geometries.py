"""Areas in a column `geometry`, well-known binary or GeoJSON as text, as an event has them.

Polygons, multipolygons and collections of them, in longitude and latitude. What is inside of them
is checked where events are read.
"""

from __future__ import annotations

import json
import struct
from typing import Any

from nearcast.errors import InvalidSubscriptionError

POLYGON, MULTIPOLYGON, COLLECTION = 3, 6, 7
_HAS_HEIGHT, _HAS_MEASURE, _HAS_SYSTEM = 0x80000000, 0x40000000, 0x20000000
_LONGITUDE_LATITUDE = 4326
_MAX_LEVELS = 8


def read_geometry(value: bytes | str) -> Any:  # noqa: ANN401 — JSON
    """Return an area as an event has it: an object of GeoJSON, or a list of them.

    Examples
    --------
    >>> read_geometry('{"type": "Polygon", "coordinates": []}')
    {'type': 'Polygon', 'coordinates': []}
    """
    try:
        if isinstance(value, str):
            read = json.loads(value)
            return read["geometries"] if read.get("type") == "GeometryCollection" else read
        areas, end = _Reader(value).geometry(0, 0)
    except (struct.error, ValueError, AttributeError, TypeError, LookupError):
        areas, end = [], -1
    if end != len(value):
        what = "geometry cannot be read"
        wanted = "polygons, multipolygons or collections of them, as WKB or GeoJSON"
        raise InvalidSubscriptionError(what, got=value, wanted=wanted)
    return areas[0] if len(areas) == 1 else areas


class _Reader:
    """Bytes, from which geometries are read at places; each returns where it ends."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def geometry(self, at: int, level: int) -> tuple[list[dict[str, Any]], int]:
        order = "<" if self._content[at : at + 1] == b"\x01" else ">"
        (kind,) = struct.unpack_from(f"{order}I", self._content, at + 1)
        at += 5
        if kind & _HAS_SYSTEM:
            (system,) = struct.unpack_from(f"{order}I", self._content, at)
            if system != _LONGITUDE_LATITUDE:
                raise ValueError
            at += 4
        flags = bool(kind & _HAS_HEIGHT) + bool(kind & _HAS_MEASURE)
        plain = kind & 0x0FFFFFFF
        width = 2 + flags + (0, 1, 1, 2)[plain // 1000]  # ISO counts them in thousands
        kind = plain % 1000
        if kind == POLYGON:
            rings, at = self._rings(at, order, width)
            return [{"type": "Polygon", "coordinates": rings}], at
        if kind not in (MULTIPOLYGON, COLLECTION) or level > _MAX_LEVELS:
            raise ValueError
        (count,) = struct.unpack_from(f"{order}I", self._content, at)
        at, found = at + 4, []
        for _ in range(count):
            part, at = self.geometry(at, level + 1)
            found += part
        if kind == COLLECTION:
            return found, at
        polygons = [polygon["coordinates"] for polygon in found]
        return [{"type": "MultiPolygon", "coordinates": polygons}], at

    def _rings(self, at: int, order: str, width: int) -> tuple[list[list[list[float]]], int]:
        (count,) = struct.unpack_from(f"{order}I", self._content, at)
        at, rings = at + 4, []
        for _ in range(count):
            (corners,) = struct.unpack_from(f"{order}I", self._content, at)
            numbers = struct.unpack_from(f"{order}{corners * width}d", self._content, at + 4)
            at += 4 + corners * width * 8
            rings.append([list(numbers[n : n + 2]) for n in range(0, len(numbers), width)])
        return rings, at

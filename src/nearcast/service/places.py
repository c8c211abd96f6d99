"""Where does a subscription lie, roughly? For listing and maps; the hub decides what matches.

The box around an area is filed under the smallest cell of a quadtree that holds it. What a map
shows is then in one cell, in the cells above it, and in those below: an index on the cell finds it.
"""

from __future__ import annotations

from math import cos, degrees, radians
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, or_

from nearcast.explain import EARTH_RADIUS_M
from nearcast.service.schema import SUBSCRIPTIONS

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

LEVELS = 14


class Box(NamedTuple):
    """West, south, east, north; west <= east."""

    west: float
    south: float
    east: float
    north: float


WORLD = Box(-180.0, -90.0, 180.0, 90.0)


def box_of(value: Any) -> Box | None:  # noqa: ANN401 — JSON
    """Return the box around an area as it was said; None: it has no place, or none that is seen.

    Examples
    --------
    >>> box_of({"type": "Polygon", "coordinates": [[[1, 2], [3, 2], [3, 5], [1, 2]]]})
    Box(west=1.0, south=2.0, east=3.0, north=5.0)
    """
    boxes: list[Box] = []
    try:
        _collect(value, boxes)
    except (TypeError, ValueError, KeyError, IndexError):
        return None
    if not boxes:
        return None
    west, south, east, north = zip(*boxes, strict=True)
    return Box(min(west), min(south), max(east), max(north))


def _collect(value: Any, boxes: list[Box]) -> None:  # noqa: ANN401
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if one.get("type") == "Circle":
                boxes.append(_around(one["center"], float(one["radius_m"])))
            else:
                names = ("coordinates", "geometry", "geometries", "features")
                waiting += [one[name] for name in names if one.get(name)]
        elif isinstance(one, list) and one and all(isinstance(x, (int, float)) for x in one):
            boxes.append(_from_numbers([float(x) for x in one]))
        elif isinstance(one, list):
            waiting += one


def _from_numbers(numbers: list[float]) -> Box:
    if len(numbers) == 4:
        west, south, east, north = numbers
        return Box(west, south, east, north) if west <= east else Box(-180, south, 180, north)
    lon, lat = numbers[:2]
    return Box(lon, lat, lon, lat)


def _around(center: list[float], radius_m: float) -> Box:
    lon, lat = float(center[0]), float(center[1])
    high = degrees(radius_m / EARTH_RADIUS_M)
    south, north = max(-90.0, lat - high), min(90.0, lat + high)
    narrowest = cos(radians(max(abs(south), abs(north))))
    wide = high / narrowest if narrowest > 1e-6 else 360.0
    if lon - wide < -180 or lon + wide > 180:
        return Box(-180.0, south, 180.0, north)
    return Box(lon - wide, south, lon + wide, north)


def cell_of(box: Box | None) -> str:
    """Return the path of the smallest cell that holds a box; what is everywhere is in the first.

    Examples
    --------
    >>> cell_of(Box(1, 1, 2, 2)), cell_of(Box(-1, 1, 2, 2)), cell_of(None)
    ('c300000', 'c', 'c')
    """
    path = ["c"]
    if box is None:
        return "c"
    west, south, east, north = WORLD
    for _ in range(LEVELS):
        middle, height = (west + east) / 2, (south + north) / 2
        is_east, is_north = box.west >= middle, box.south >= height
        if (not is_east and box.east >= middle) or (not is_north and box.north >= height):
            break
        path.append(str(is_east + 2 * is_north))
        west, east = (middle, east) if is_east else (west, middle)
        south, north = (height, north) if is_north else (south, height)
    return "".join(path)


def overlaps(box: Box) -> ColumnElement[bool]:
    """Return the condition that a subscription's box shares a point with this one."""
    own = SUBSCRIPTIONS.c
    cell = cell_of(box)
    above = [cell[:size] for size in range(1, len(cell) + 1)]
    below = and_(own.cell > cell, own.cell < cell + "4")
    touches = and_(
        own.west <= box.east, own.east >= box.west, own.south <= box.north, own.north >= box.south
    )
    return and_(or_(own.cell.in_(above), below), or_(own.west.is_(None), touches))

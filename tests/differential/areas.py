"""Areas that say quickly and exactly whether they touch a message's boxes.

The oracle compares every edge of a polygon with every other, in fractions. Here an edge is looked
at once, in floating point, and in fractions only where rounding could decide. Nothing of nearcast
is used; `test_reference.py` compares the two.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from oracle.space import (
    Area,
    Box,
    Boxes,
    Circle,
    Polygon,
    Polygons,
    Union,
    distance_to_box_m,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROUNDING = 2.0**-49  # relative; a turn takes five operations of at most 2**-53 each
_UNDERFLOW = 1e-280
_DEGREE_M = 111_000  # a little less than a degree of latitude


class Region:
    """An area, prepared for many questions; None is anywhere."""

    def __init__(self, area: Area | None) -> None:
        self._boxes: tuple[Box, ...] = area.parts if isinstance(area, Boxes) else ()
        self._circle = area if isinstance(area, Circle) else None
        polygons = area.parts if isinstance(area, Polygons) else ()
        self._polygons = [_PreparedPolygon(polygon) for polygon in polygons]
        self._is_anywhere = area is None
        self._parts = [Region(part) for part in area.parts] if isinstance(area, Union) else []

    def touches(self, boxes: Sequence[Box]) -> bool:
        """Return whether the area and one of the boxes share a point."""
        if self._is_anywhere:
            return True
        if any(part.touches(boxes) for part in self._parts):
            return True
        for box in boxes:
            if any(_overlap(own, box) for own in self._boxes):
                return True
            if self._circle is not None and _circle_touches(self._circle, box):
                return True
            if any(polygon.touches(box) for polygon in self._polygons):
                return True
        return False


def _overlap(one: Box, other: Box) -> bool:
    return (
        one.west <= other.east
        and other.west <= one.east
        and one.south <= other.north
        and other.south <= one.north
    )


def _circle_touches(circle: Circle, box: Box) -> bool:
    lat = circle.center[1]
    apart = max(box.south - lat, lat - box.north, 0)
    if apart * _DEGREE_M > circle.radius_m + 1:
        return False
    return distance_to_box_m(circle.center, box) <= circle.radius_m


class _PreparedPolygon:
    def __init__(self, polygon: Polygon) -> None:
        self._rings = [_Ring([(float(x), float(y)) for x, y in ring]) for ring in polygon]
        outer = self._rings[0]
        self._bounds = Box(
            float(outer.ax.min()),
            float(outer.ay.min()),
            float(outer.ax.max()),
            float(outer.ay.max()),
        )

    def touches(self, box: Box) -> bool:
        """Rings belong to the polygon, so a box that meets none is wholly in or wholly out."""
        if not _overlap(self._bounds, box):
            return False
        return any(ring.meets(box) for ring in self._rings) or self._holds(box.west, box.south)

    def _holds(self, x: float, y: float) -> bool:
        """Return whether a point that is on no ring is inside."""
        outer, *holes = self._rings
        return outer.surrounds(x, y) and not any(hole.surrounds(x, y) for hole in holes)


class _Ring:
    def __init__(self, corners: list[tuple[float, float]]) -> None:
        points = np.array(corners, float)
        self.ax, self.ay = points[:-1, 0], points[:-1, 1]
        self.bx, self.by = points[1:, 0], points[1:, 1]
        self.west, self.east = np.minimum(self.ax, self.bx), np.maximum(self.ax, self.bx)
        self.south, self.north = np.minimum(self.ay, self.by), np.maximum(self.ay, self.by)

    def meets(self, box: Box) -> bool:
        """Return whether an edge and the box share a point."""
        near = (self.west <= box.east) & (box.west <= self.east)
        near &= (self.south <= box.north) & (box.south <= self.north)
        edges = np.flatnonzero(near)
        if not len(edges):
            return False
        corners = {(x, y) for x in (box.west, box.east) for y in (box.south, box.north)}
        turns = np.array([self._turns(edges, x, y) for x, y in sorted(corners)])
        return bool(((turns.min(axis=0) <= 0) & (turns.max(axis=0) >= 0)).any())

    def surrounds(self, x: float, y: float) -> bool:
        """Count the edges that a ray to the east crosses."""
        up = (self.ay <= y) & (self.by > y)
        edges = np.flatnonzero(up | ((self.ay > y) & (self.by <= y)))
        turns = self._turns(edges, x, y)
        return bool(np.count_nonzero(np.where(up[edges], turns > 0, turns < 0)) % 2)

    def _turns(self, edges: np.ndarray, x: float, y: float) -> np.ndarray:
        """Return on which side of each edge a point lies: 1 left, -1 right, 0 on its line."""
        ax, ay, bx, by = self.ax[edges], self.ay[edges], self.bx[edges], self.by[edges]
        left, right = (bx - ax) * (y - ay), (by - ay) * (x - ax)
        turns = left - right
        sides: np.ndarray = np.sign(turns).astype(int)
        doubtful = np.abs(turns) <= _ROUNDING * (np.abs(left) + np.abs(right)) + _UNDERFLOW
        for i in np.flatnonzero(doubtful):
            x1, y1, x2, y2, x3, y3 = (
                Fraction(float(v)) for v in (ax[i], ay[i], bx[i], by[i], x, y)
            )
            turn = (x2 - x1) * (y3 - y1) - (y2 - y1) * (x3 - x1)
            sides[i] = (turn > 0) - (turn < 0)
        return sides

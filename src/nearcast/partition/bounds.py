"""A box that is sure to hold an area, for routing: too large costs a copy, too small an answer."""

from __future__ import annotations

from math import asin, cos, degrees, pi, radians, sin
from typing import TYPE_CHECKING, TypeAlias

from nearcast.model import Areas, Bbox, Circle, Polygon

if TYPE_CHECKING:
    from nearcast.model import Area

Box: TypeAlias = tuple[float, float, float, float]

WORLD: Box = (-180.0, -90.0, 180.0, 90.0)
EARTH_RADIUS_M = 6_371_008.8
MARGIN = 1e-6
"""Degrees added around circles: their distances are rounded, these bounds too."""


def area_bounds(area: Area | None) -> Box:
    """Return west, south, east, north; west > east where it crosses the antimeridian.

    Examples
    --------
    >>> area_bounds(Polygon((((0, 0), (2, 0), (1, 3), (0, 0)),)))
    (0.0, 0.0, 2.0, 3.0)
    """
    if area is None:
        return WORLD
    if isinstance(area, Bbox):
        return (area.west, area.south, area.east, area.north)
    if isinstance(area, Circle):
        return _circle_bounds(area)
    if isinstance(area, Areas):
        return _joined([area_bounds(part) for part in area.parts])
    polygons = (area,) if isinstance(area, Polygon) else area.polygons
    points = [point for polygon in polygons for ring in polygon.rings for point in ring]
    lons, lats = zip(*points, strict=True)
    return (float(min(lons)), float(min(lats)), float(max(lons)), float(max(lats)))


def _joined(boxes: list[Box]) -> Box:
    west, south, east, north = zip(*boxes, strict=True)
    if any(w > e for w, e in zip(west, east, strict=True)):
        return (-180.0, min(south), 180.0, max(north))
    return (min(west), min(south), max(east), max(north))


def _circle_bounds(circle: Circle) -> Box:
    lon, lat = circle.center
    angle = circle.radius_m / EARTH_RADIUS_M + radians(MARGIN)
    south, north = lat - degrees(angle), lat + degrees(angle)
    if south <= -90 or north >= 90 or angle >= pi / 2:  # around a pole all longitudes
        return (-180.0, max(south, -90.0), 180.0, min(north, 90.0))
    half = degrees(asin(min(1.0, sin(angle) / cos(radians(lat))))) + MARGIN
    if half >= 180:
        return (-180.0, south, 180.0, north)
    west, east = lon - half, lon + half
    # On the sphere −180 and 180 are the same, for boxes they are not: what reaches one side
    # reaches both.
    if west <= -180:
        west += 360
    if east >= 180:
        east -= 360
    return (min(west, 180.0), south, max(east, -180.0), north)

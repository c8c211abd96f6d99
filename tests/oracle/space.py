"""Places, areas and what they share (DESIGN 1.2). Boxes and polygons exactly; circles not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from oracle.fields import OracleRejects, Position, number, only_fields, position, require, sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

EARTH_RADIUS_M = 6_371_008.8
MOST_PARTS = 1000
DEEPEST = 16  # collections inside one another

Exact = tuple[Fraction, Fraction]
Ring = tuple[Exact, ...]  # closed: the last position repeats the first
Polygon = tuple[Ring, ...]  # the outer ring, then the holes


@dataclass(frozen=True)
class Box:
    """A closed box that does not cross the antimeridian; a point is a box of zero size."""

    west: float
    south: float
    east: float
    north: float

    def size(self) -> Fraction:
        """Return the exact size in square degrees."""
        return (Fraction(self.east) - Fraction(self.west)) * (
            Fraction(self.north) - Fraction(self.south)
        )

    def covers(self, other: Box) -> bool:
        """Return whether every point of `other` is in this box."""
        return (
            self.west <= other.west
            and other.east <= self.east
            and self.south <= other.south
            and other.north <= self.north
        )

    def shared(self, other: Box) -> Box | None:
        """Return what both boxes hold, None if not even a point."""
        west, east = max(self.west, other.west), min(self.east, other.east)
        south, north = max(self.south, other.south), min(self.north, other.north)
        return Box(west, south, east, north) if west <= east and south <= north else None


@dataclass(frozen=True)
class Boxes:
    """A bbox as given: one box, or the two halves of one that crosses the antimeridian."""

    parts: tuple[Box, ...]

    def size(self) -> Fraction:
        """Return the exact size in square degrees."""
        return sum((part.size() for part in self.parts), Fraction(0))


@dataclass(frozen=True)
class Circle:
    """All points of the sphere within a distance of the centre."""

    center: Position
    radius_m: float


@dataclass(frozen=True)
class Polygons:
    """One polygon or several."""

    parts: tuple[Polygon, ...]


@dataclass(frozen=True)
class Union:
    """Several areas: what is in one of them is in all together."""

    parts: tuple[Area, ...]


Area = Boxes | Circle | Polygons | Union


@dataclass(frozen=True)
class Place:
    """Where a message is: boxes for overlap, a centre for distance."""

    boxes: Boxes
    center: Position
    is_point: bool


# Reading ------------------------------------------------------------------------------------------


def read_bbox(value: object) -> tuple[Boxes, Position]:
    """Read [west, south, east, north]; return its boxes and its centre."""
    corners = sequence(value, [4])
    (west, south), (east, north) = position(corners[:2]), position(corners[2:])
    require(south <= north, f"south is above north: {value!r}")
    middle = (south + north) / 2
    if west <= east:
        return Boxes((Box(west, south, east, north),)), ((west + east) / 2, middle)
    halves = Box(west, south, 180.0, north), Box(-180.0, south, east, north)
    lon = (west + east + 360) / 2
    return Boxes(halves), (lon - 360 if lon > 180 else lon, middle)


def read_point(value: object) -> Place:
    """Read the `at` of a message."""
    lon, lat = position(value)
    return Place(Boxes((Box(lon, lat, lon, lat),)), (lon, lat), is_point=True)


def read_area(value: Any) -> Area:
    """Read an area, or a list of areas."""
    if isinstance(value, (list, tuple)) and any(_is_structure(entry) for entry in value[:1]):
        return _joined([_read_one(entry, 1) for entry in value])
    return _read_one(value, 0)


def _is_structure(value: object) -> bool:
    return isinstance(value, (list, tuple, dict))


def _joined(parts: list[Area]) -> Area:
    """Return the union; one part is that part."""
    require(len(parts) > 0, "an area without parts")
    flat = [one for part in parts for one in (part.parts if isinstance(part, Union) else (part,))]
    require(len(flat) <= MOST_PARTS, "an area of too many parts")
    return flat[0] if len(flat) == 1 else Union(tuple(flat))


def _read_one(value: Any, depth: int) -> Area:
    """Read what is no list of areas; of features and collections any other member is ignored."""
    if isinstance(value, (list, tuple)):
        return read_bbox(value)[0]
    require(isinstance(value, dict), f"not an area: {value!r}")
    kind = value.get("type")
    require(depth <= DEEPEST, "collections are nested too deep")
    if kind == "Feature":
        return _read_one(value.get("geometry"), depth + 1)
    member = {"FeatureCollection": "features", "GeometryCollection": "geometries"}
    if isinstance(kind, str) and kind in member:
        return _joined([_read_one(part, depth + 1) for part in sequence(value.get(member[kind]))])
    return _read_shape(value, kind)


def _read_shape(value: Any, kind: object) -> Area:
    if kind == "Circle":
        only_fields(value, ("type", "center", "radius_m"), "area")
        center = position(value.get("center"))
        return Circle(center, number(value.get("radius_m"), low=0))
    only_fields(value, ("type", "coordinates", "bbox"), "area", ("bbox",))
    if kind == "Polygon":
        return Polygons((_read_polygon(value.get("coordinates")),))
    if kind == "MultiPolygon":
        polygons = sequence(value.get("coordinates"))
        require(len(polygons) > 0, "multipolygon without polygons")
        return Polygons(tuple(_read_polygon(polygon) for polygon in polygons))
    raise OracleRejects(f"unknown type of area: {kind!r}")


def _read_polygon(value: object) -> Polygon:
    rings = sequence(value)
    require(len(rings) > 0, "polygon without rings")
    return tuple(_read_ring(ring) for ring in rings)


def _read_ring(value: object) -> Ring:
    positions = [position(entry, lengths=(2, 3)) for entry in sequence(value)]
    require(len(positions) >= 4, "a ring needs four positions")
    require(positions[0] == positions[-1], "a ring must be closed")
    return tuple((Fraction(lon), Fraction(lat)) for lon, lat in positions)


# Sharing a point ----------------------------------------------------------------------------------


def touches(area: Area, boxes: Boxes) -> bool:
    """Return whether the area and the boxes share at least one point."""
    return any(_touches_box(area, box) for box in boxes.parts)


def _touches_box(area: Area, box: Box) -> bool:
    if isinstance(area, Circle):
        return distance_to_box_m(area.center, box) <= area.radius_m
    if isinstance(area, Union):
        return any(_touches_box(part, box) for part in area.parts)
    if isinstance(area, Polygons):
        return any(_polygon_touches_box(polygon, box) for polygon in area.parts)
    return any(part.shared(box) is not None for part in area.parts)


def _polygon_touches_box(polygon: Polygon, box: Box) -> bool:
    """Look at every corner of the drawing made by the edges of the rings and of the box.

    What the two share is closed and bounded by these edges, so if it is not empty then at least
    one of the corners or crossings belongs to it.
    """
    west, south, east, north = (Fraction(x) for x in (box.west, box.south, box.east, box.north))
    outline = ((west, south), (east, south), (east, north), (west, north), (west, south))
    edges = [edge for ring in (*polygon, outline) for edge in pairwise(ring)]
    candidates = [start for start, _ in edges]
    candidates += [point for one, other in combinations(edges, 2) for point in _cross(one, other)]
    return any(
        west <= lon <= east and south <= lat <= north and _in_polygon((lon, lat), polygon)
        for lon, lat in candidates
    )


def _cross(one: tuple[Exact, Exact], other: tuple[Exact, Exact]) -> Iterator[Exact]:
    """Yield the point in which two edges cross; parallel ones have none but their ends."""
    (ax, ay), (bx, by) = one
    (cx, cy), (dx, dy) = other
    turn = (bx - ax) * (dy - cy) - (by - ay) * (dx - cx)
    if turn != 0:
        along_one = ((cx - ax) * (dy - cy) - (cy - ay) * (dx - cx)) / turn
        along_other = ((cx - ax) * (by - ay) - (cy - ay) * (bx - ax)) / turn
        if 0 <= along_one <= 1 and 0 <= along_other <= 1:
            yield ax + along_one * (bx - ax), ay + along_one * (by - ay)


def _in_polygon(point: Exact, polygon: Polygon) -> bool:
    """Holes count as outside, their border as inside."""
    outer, *holes = polygon
    if not (_on_ring(point, outer) or _inside_ring(point, outer)):
        return False
    return not any(_inside_ring(point, hole) and not _on_ring(point, hole) for hole in holes)


def _on_ring(point: Exact, ring: Ring) -> bool:
    return any(_on_edge(point, start, end) for start, end in pairwise(ring))


def _on_edge(point: Exact, start: Exact, end: Exact) -> bool:
    (x, y), (ax, ay), (bx, by) = point, start, end
    on_line = (bx - ax) * (y - ay) == (by - ay) * (x - ax)
    return on_line and min(ax, bx) <= x <= max(ax, bx) and min(ay, by) <= y <= max(ay, by)


def _inside_ring(point: Exact, ring: Ring) -> bool:
    """Count the edges that a ray to the east crosses; meaningless for points on the ring."""
    x, y = point
    crossings = 0
    for (ax, ay), (bx, by) in pairwise(ring):
        if (ay > y) != (by > y) and ax + (y - ay) * (bx - ax) / (by - ay) > x:
            crossings += 1
    return crossings % 2 == 1


# Circles ------------------------------------------------------------------------------------------


def distance_m(one: Position, other: Position) -> float:
    """Return the great-circle distance in metres (haversine)."""
    (lon1, lat1), (lon2, lat2) = one, other
    phi1, phi2 = math.radians(lat1), math.radians(lat2)
    half_lat, half_lon = math.radians(lat2 - lat1) / 2, math.radians(lon2 - lon1) / 2
    a = math.sin(half_lat) ** 2 + math.cos(phi1) * math.cos(phi2) * math.sin(half_lon) ** 2
    return 2 * EARTH_RADIUS_M * math.asin(math.sqrt(min(1.0, a)))


def distance_to_box_m(center: Position, box: Box) -> float:
    """Return the great-circle distance from a point to the nearest point of a box."""
    lon, lat = center
    if any(box.west <= lon + turn <= box.east for turn in (-360, 0, 360)):
        return distance_m(center, (lon, min(max(lat, box.south), box.north)))
    candidates = [
        (edge, height)
        for edge in (box.west, box.east)
        for height in (box.south, box.north, _nearest_latitude(center, edge))
        if box.south <= height <= box.north
    ]
    return min(distance_m(center, candidate) for candidate in candidates)


def _nearest_latitude(center: Position, meridian: float) -> float:
    """Return where cos d = sin p0 sin p + cos p0 cos p cos dl is largest, on the whole circle."""
    lon, lat = center
    across = math.cos(math.radians(lat)) * math.cos(math.radians(meridian - lon))
    return math.degrees(math.atan2(math.sin(math.radians(lat)), across))

"""What are places and areas? Values only: checked when made, never changed.

Coordinates are lon, lat in degrees, in the order of RFC 7946. A value that is made directly
refuses nonsense with `InvalidParameterError`; `area_from`, `bbox_from` and `point_from` read the
same values from plain lists, GeoJSON-like mappings and whatever has `__geo_interface__`, such as
shapely's geometries, and blame a named field.

Whether a message touches an area is not decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from numbers import Real
from typing import TypeAlias

from nearcast.errors import (
    InvalidParameterError,
    InvalidSubscriptionError,
    NearcastError,
    Verbatim,
    shown,
)

Point: TypeAlias = tuple[float, float]
Ring: TypeAlias = tuple[Point, ...]

MAX_PARTS = 1000
"""Of one area: boxes, circles and (multi)polygons of a list or a collection."""
MAX_CORNERS = 1_000_000
"""Of one area: positions in all its rings together."""
MAX_DEPTH = 16
"""Collections inside collections."""

_set = object.__setattr__


def number(value: object, name: str, low: float = -inf, high: float = inf) -> float:
    """Return `value` as a float of `low` to `high`, or say which `name` is wrong.

    Raises
    ------
    InvalidParameterError
        If it is not a number (a bool is none), not finite, or out of range.
    """
    # Exact types first: asking the abstract class costs more than all the rest.
    if type(value) is not float and (isinstance(value, bool) or not isinstance(value, (int, Real))):
        what = f"{name} is not a number"
        raise InvalidParameterError(what, got=value, wanted="a number")
    try:
        converted = float(value)
    except OverflowError:
        converted = inf
    if not isfinite(converted):
        what = f"{name} is not finite"
        raise InvalidParameterError(what, got=value, wanted="a finite number")
    if not low <= converted <= high:
        wanted = f"at least {low:g}" if high == inf else f"{low:g} to {high:g}"
        what = f"{name} is out of range"
        raise InvalidParameterError(what, got=value, wanted=wanted)
    return converted


def _items(value: object, name: str, wanted: str) -> Sequence[object]:
    """Return a list, tuple, array or coordinate sequence; refuse text, mappings and sets."""
    if type(value) is list or type(value) is tuple:
        return value
    is_sequence = hasattr(value, "__len__") and hasattr(value, "__getitem__")
    if is_sequence and not isinstance(value, (str, bytes, bytearray, Mapping)):
        try:
            return tuple(value)  # type: ignore[arg-type]
        except TypeError:  # an array without dimensions
            pass
    what = f"{name} is not a list"
    raise InvalidParameterError(what, got=value, wanted=wanted)


def _point(value: object, name: str, *, most: int = 2) -> Point:
    """Read a position; numbers after the second are checked and ignored."""
    wanted = "[lon, lat]" if most == 2 else "[lon, lat] or [lon, lat, altitude]"
    numbers = _items(value, name, wanted)
    if not 2 <= len(numbers) <= most:
        what = f"{name} is not a position"
        raise InvalidParameterError(what, got=value, wanted=wanted)
    lon = number(numbers[0], f"longitude of {name}", -180, 180)
    try:
        lat = number(numbers[1], f"latitude of {name}", -90, 90)
    except InvalidParameterError as error:
        if error.wanted == "-90 to 90" and -90 <= lon <= 90:
            error.hint = "the order is longitude, latitude; are they swapped?"
        raise
    for ignored in numbers[2:]:
        number(ignored, f"altitude of {name}")
    return (lon, lat)


@dataclass(frozen=True, slots=True)
class Bbox:
    """A closed box; ``west > east`` means that it crosses the antimeridian.

    Examples
    --------
    >>> Bbox(-74, 40, -73, 41)
    Bbox(west=-74.0, south=40.0, east=-73.0, north=41.0)
    """

    west: float
    south: float
    east: float
    north: float

    def __post_init__(self) -> None:
        """Refuse what is not a box."""
        _set(self, "west", number(self.west, "west", -180, 180))
        _set(self, "south", number(self.south, "south", -90, 90))
        _set(self, "east", number(self.east, "east", -180, 180))
        _set(self, "north", number(self.north, "north", -90, 90))
        if self.south > self.north:
            what = "south is greater than north"
            raise InvalidParameterError(
                what,
                got=Verbatim(f"south {self.south:g} and north {self.north:g}"),
                wanted="south <= north",
                hint="swap south and north? The order is west, south, east, north",
            )


@dataclass(frozen=True, slots=True)
class Circle:
    """All points within `radius_m` metres of `center`, along great circles."""

    center: Point
    radius_m: float

    def __post_init__(self) -> None:
        """Refuse what is not a circle."""
        _set(self, "center", _point(self.center, "center"))
        _set(self, "radius_m", number(self.radius_m, "radius_m", 0))


def _ring(value: object, name: str) -> Ring:
    positions = _items(value, name, "a list of positions")
    _check_corners(len(positions))
    ring = tuple(_point(p, f"{name}, position {i}", most=3) for i, p in enumerate(positions))
    if len(ring) < 4:
        what = f"{name} is too short"
        raise InvalidParameterError(
            what,
            got=Verbatim(f"{len(ring)} positions"),
            wanted="at least 4, the last equal to the first",
        )
    if ring[0] != ring[-1]:
        what = f"{name} is not closed"
        raise InvalidParameterError(
            what,
            got=Verbatim(f"{ring[0]} first and {ring[-1]} last"),
            wanted="the last position equal to the first",
            hint="append the first position to the ring",
        )
    return ring


def _rings(value: object, name: str) -> tuple[Ring, ...]:
    rings = _items(value, name, "a list of rings")
    if not rings:
        what = f"{name} has no rings"
        raise InvalidParameterError(what, got=value, wanted="an outer ring, then its holes")
    read = tuple(_ring(ring, f"{name}, ring {i}") for i, ring in enumerate(rings))
    _check_corners(sum(map(len, read)))
    return read


def _check_corners(count: int) -> None:
    if count > MAX_CORNERS:
        what = "area has too many corners"
        hint = "simplify it: a corner for every few metres is more than a place is known to"
        got, wanted = Verbatim(f"{count:,}"), f"at most {MAX_CORNERS:,}"
        raise InvalidParameterError(what, got=got, wanted=wanted, hint=hint)


@dataclass(frozen=True, slots=True)
class Polygon:
    """An outer ring and its holes; edges are straight in lon, lat, all borders closed.

    Altitudes in the positions are ignored. A polygon that crosses the antimeridian must come
    split, as a `MultiPolygon`.
    """

    rings: tuple[Ring, ...]

    def __post_init__(self) -> None:
        """Refuse rings that are not closed, too short, or out of range."""
        _set(self, "rings", _rings(self.rings, "polygon"))


@dataclass(frozen=True, slots=True)
class MultiPolygon:
    """The union of some polygons, given as `Polygon` values or as their rings."""

    polygons: tuple[Polygon, ...]

    def __post_init__(self) -> None:
        """Refuse an empty list, and whatever `Polygon` refuses."""
        polygons = _items(self.polygons, "multipolygon", "a list of polygons")
        if not polygons:
            what = "multipolygon has no polygons"
            raise InvalidParameterError(what, got=polygons, wanted="at least one polygon")
        _set(self, "polygons", tuple(_polygon(p, i) for i, p in enumerate(polygons)))
        _check_corners(_corners(self))


def _polygon(value: object, index: int) -> Polygon:
    if isinstance(value, Polygon):
        return value
    try:
        return Polygon(value)  # type: ignore[arg-type]
    except InvalidParameterError as error:
        error.locate(f"polygon {index}")
        raise


SingleArea: TypeAlias = Bbox | Circle | Polygon | MultiPolygon


def _corners(area: SingleArea) -> int:
    if isinstance(area, (Bbox, Circle)):
        return 0
    polygons = (area,) if isinstance(area, Polygon) else area.polygons
    return sum(len(ring) for polygon in polygons for ring in polygon.rings)


@dataclass(frozen=True, slots=True)
class Areas:
    """The union of some areas, given in any form that `area_from` reads.

    Unions among them are taken apart: what is left are boxes, circles, polygons and multipolygons,
    at most 1,000, in the order in which they were given.

    Examples
    --------
    >>> Areas(([0, 0, 1, 1], Circle((5, 5), 100))).parts[0]
    Bbox(west=0.0, south=0.0, east=1.0, north=1.0)
    """

    parts: tuple[SingleArea, ...]

    def __post_init__(self) -> None:
        """Refuse an empty list, too many parts or corners, and what is no area."""
        _set(self, "parts", _parts(_items(self.parts, "areas", "a list of areas"), "part", 0))


Area: TypeAlias = SingleArea | Areas
Place: TypeAlias = Point | Bbox


def _parts(values: Iterable[object], name: str, depth: int) -> tuple[SingleArea, ...]:
    """Read the parts of a union; `name` is what an error calls each of them."""
    parts: list[SingleArea] = []
    corners = 0
    for i, value in enumerate(values):
        try:
            area = _area(value, depth + 1)
        except InvalidParameterError as error:
            error.locate(f"{name} {i}")
            raise
        found = area.parts if isinstance(area, Areas) else (area,)
        parts.extend(found)
        if len(parts) > MAX_PARTS:
            what = "area has too many parts"
            hint = "polygons can be put together to one MultiPolygon"
            wanted = f"at most {MAX_PARTS:,}"
            raise InvalidParameterError(what, got=Verbatim("more"), wanted=wanted, hint=hint)
        corners += sum(map(_corners, found))
        _check_corners(corners)
    if not parts:
        what = f"area has no {name}"
        raise InvalidParameterError(what, got=Verbatim("none"), wanted=f"at least one {name}")
    return tuple(parts)


def _union(values: object, name: str, depth: int) -> Area:
    """Return the union of some areas; of one, that one."""
    if depth > MAX_DEPTH:
        what = "collections are nested too deeply"
        raise InvalidParameterError(what, wanted=f"at most {MAX_DEPTH} levels")
    parts = _parts(_items(values, f"list of {name}s", f"a list of {name}s"), name, depth)
    if len(parts) == 1:
        return parts[0]
    union = object.__new__(Areas)  # the parts have been checked
    _set(union, "parts", parts)
    return union


def _members(value: Mapping[object, object], kind: str, names: tuple[str, ...]) -> list[object]:
    """Return the named members of a GeoJSON-like mapping; refuse missing and unknown ones."""
    for name in names:
        if value.get(name) is None:
            what = f"{kind} has no {name!r}"
            raise InvalidParameterError(what, got=value, wanted=" and ".join(map(repr, names)))
    known = ("type", *names) if kind == "Circle" else ("type", "bbox", *names)
    unknown = [name for name in value if name not in known]
    if unknown:
        listed = ", ".join(map(shown, unknown[:20]))
        what = f"{kind} has unknown members {listed}"
        raise InvalidParameterError(what, wanted="'type', " + ", ".join(map(repr, names)))
    return [value[name] for name in names]


def _circle(value: Mapping[object, object]) -> Circle:
    center, radius_m = _members(value, "Circle", ("center", "radius_m"))
    return Circle(center, radius_m)  # type: ignore[arg-type]


def _geojson_polygon(value: Mapping[object, object]) -> Polygon:
    return Polygon(*_members(value, "Polygon", ("coordinates",)))  # type: ignore[arg-type]


def _geojson_multipolygon(value: Mapping[object, object]) -> MultiPolygon:
    return MultiPolygon(*_members(value, "MultiPolygon", ("coordinates",)))  # type: ignore[arg-type]


def _geojson_point(value: Mapping[object, object]) -> Point:
    if value.get("type") == "Feature" and isinstance(value.get("geometry"), Mapping):
        value = value["geometry"]  # type: ignore[assignment]
    if value.get("type") != "Point":
        what = "geometry is not a point"
        raise InvalidParameterError(what, got=value, wanted="[lon, lat] or a GeoJSON Point")
    (coordinates,) = _members(value, "Point", ("coordinates",))
    return _point(coordinates, "point", most=3)


def _feature(value: Mapping[object, object], depth: int) -> Area:
    """Read a feature's geometry; what else it has, RFC 7946 leaves to those who make it."""
    geometry = value.get("geometry")
    if geometry is None:
        what = "Feature has no 'geometry'"
        raise InvalidParameterError(what, got=value, wanted="a Feature with a geometry")
    return _area(geometry, depth + 1)


def _collected(value: Mapping[object, object], kind: str, member: str) -> object:
    found = value.get(member)
    if found is None:
        what = f"{kind} has no {member!r}"
        raise InvalidParameterError(what, got=value, wanted=f"a list of {member}")
    return found


def _features(value: Mapping[object, object], depth: int) -> Area:
    return _union(_collected(value, "FeatureCollection", "features"), "feature", depth)


def _geometries(value: Mapping[object, object], depth: int) -> Area:
    return _union(_collected(value, "GeometryCollection", "geometries"), "geometry", depth)


_AREA_READERS: dict[str, Callable[[Mapping[object, object], int], Area]] = {
    "Circle": lambda value, _: _circle(value),
    "Polygon": lambda value, _: _geojson_polygon(value),
    "MultiPolygon": lambda value, _: _geojson_multipolygon(value),
    "Feature": _feature,
    "FeatureCollection": _features,
    "GeometryCollection": _geometries,
}
_FLAT_KINDS = {"Point", "MultiPoint", "LineString", "MultiLineString", "LinearRing"}


def _area_from_mapping(value: Mapping[object, object], depth: int) -> Area:
    kind = value.get("type")
    reader = _AREA_READERS.get(kind) if isinstance(kind, str) else None
    if depth > MAX_DEPTH:
        what = "collections are nested too deeply"
        raise InvalidParameterError(what, wanted=f"at most {MAX_DEPTH} levels")
    if reader is None:
        is_flat = isinstance(kind, str) and kind in _FLAT_KINDS
        raise InvalidParameterError(
            "type is missing" if kind is None else "type is unknown",
            got=value if kind is None else kind,
            wanted="one of " + ", ".join(map(repr, _AREA_READERS)),
            hint="points and lines are no areas: give a Circle, or buffer it" if is_flat else None,
        )
    return reader(value, depth)


def _bbox(value: object) -> Bbox:
    wanted = "[west, south, east, north]"
    numbers = _items(value, "bbox", wanted)
    if len(numbers) != 4:
        what = "bbox has the wrong length"
        raise InvalidParameterError(what, got=value, wanted=wanted)
    return Bbox(*numbers)  # type: ignore[arg-type]


_LISTED = "[west, south, east, north]"
_WANTED = _LISTED + ", a Circle, a Polygon, a MultiPolygon or a list of such areas"


def _is_listed(value: object) -> bool:
    """Whether this item makes a list one of areas: it is no number, and not just wrong."""
    is_text = isinstance(value, (str, bytes, bytearray))
    is_area = isinstance(value, (Bbox, Circle, Polygon, MultiPolygon, Areas, Mapping))
    is_list = hasattr(value, "__len__") and not is_text
    return is_area or is_list or hasattr(value, "__geo_interface__")


def _areas(items: Sequence[object], depth: int) -> Area:
    if depth > 0:
        what = "list is in a list of areas"
        hint = 'a polygon is {"type": "Polygon", "coordinates": [...]}; all areas are in one list'
        raise InvalidParameterError(what, got=items, wanted=_WANTED, hint=hint)
    return _union(items, "part", depth)


def _area(value: object, depth: int = 0) -> Area:
    if type(value) is list and len(value) == 4 and type(value[0]) in (float, int):
        return Bbox(*value)  # as nearly every line has it
    if isinstance(value, (Bbox, Circle, Polygon, MultiPolygon)):
        return value
    if isinstance(value, Areas):
        return value if len(value.parts) > 1 else value.parts[0]
    geometry: object = getattr(value, "__geo_interface__", value)
    if isinstance(geometry, Mapping):
        return _area_from_mapping(geometry, depth)
    try:
        items = _items(geometry, "bbox", _LISTED)
        if items and _is_listed(items[0]):
            return _areas(items, depth)
        return _bbox(items)
    except InvalidParameterError as error:
        if error.wanted == _LISTED:
            error.wanted = _WANTED
        raise


def area_from(value: object, *, field: str = "area") -> Area:
    """Read an area: four numbers, a GeoJSON-like mapping, a shapely geometry, or a list of such.

    Lists, FeatureCollections and GeometryCollections are the union of what is in them; a list of
    one area is that area. There are at most 1,000 parts and 1,000,000 corners in one area.

    Raises
    ------
    InvalidSubscriptionError
        If it is none of these; its `field` is `field`.

    Examples
    --------
    >>> area_from({"type": "Circle", "center": [-73.98, 40.75], "radius_m": 800})
    Circle(center=(-73.98, 40.75), radius_m=800.0)
    >>> len(area_from([[0, 0, 1, 1], {"type": "Circle", "center": [5, 5], "radius_m": 9}]).parts)
    2
    """
    try:
        return _area(value)
    except InvalidParameterError as error:
        raise InvalidSubscriptionError.of(error, field=field) from None


def bbox_from(
    value: object,
    *,
    field: str = "bbox",
    error: type[NearcastError] = InvalidParameterError,
) -> Bbox:
    """Read a `Bbox` or [west, south, east, north]; raise `error` about `field` otherwise."""
    try:
        return value if isinstance(value, Bbox) else _bbox(value)
    except InvalidParameterError as refused:
        raise error.of(refused, field=field) from None


def point_from(
    value: object,
    *,
    field: str = "at",
    error: type[NearcastError] = InvalidParameterError,
) -> Point:
    """Read [lon, lat], or a GeoJSON point, as a tuple of floats; raise `error` otherwise.

    Examples
    --------
    >>> point_from({"type": "Point", "coordinates": [13.4, 52.5]})
    (13.4, 52.5)
    """
    try:
        geometry: object = getattr(value, "__geo_interface__", value)
        return _geojson_point(geometry) if isinstance(geometry, Mapping) else _point(value, "point")
    except InvalidParameterError as refused:
        raise error.of(refused, field=field) from None

"""What are areas, places, windows and changes? Values only: checked when made, never changed.

Coordinates are lon, lat in degrees, in the order of RFC 7946. A value that is made directly
refuses nonsense with `InvalidParameterError`; `area_from`, `bbox_from` and `point_from` read the
same values from plain lists and GeoJSON-like mappings and blame a named field.

Whether a message touches an area is not decided here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from nearcast.errors import (
    InvalidParameterError,
    InvalidSubscriptionError,
    NearcastError,
    Verbatim,
    shown,
)

if TYPE_CHECKING:
    from typing_extensions import Self

Mode: TypeAlias = Literal["match", "rank", "top"]
ChangeKind: TypeAlias = Literal["added", "removed", "updated"]
Reason: TypeAlias = Literal[
    "published",
    "subscribed",
    "moved",
    "expired",
    "retracted",
    "displaced",
    "refilled",
    "changed",
]
MODES: tuple[Mode, ...] = get_args(Mode)
CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
REASONS: tuple[Reason, ...] = get_args(Reason)

Point: TypeAlias = tuple[float, float]
Ring: TypeAlias = tuple[Point, ...]

_MAX_COUNT = 2**63 - 1
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


def whole_number(value: object, name: str, high: int = _MAX_COUNT) -> int:
    """Return `value` as an int of 1 to `high`; a bool or a float is not one."""
    if isinstance(value, Integral) and not isinstance(value, bool) and 1 <= int(value) <= high:
        return int(value)
    what = f"{name} is not a whole number in range"
    raise InvalidParameterError(what, got=value, wanted=f"a whole number from 1 to {high}")


def is_encodable(text: str) -> bool:
    """Whether it can be written as UTF-8: a lone surrogate cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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
    return tuple(_ring(ring, f"{name}, ring {i}") for i, ring in enumerate(rings))


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


def _polygon(value: object, index: int) -> Polygon:
    if isinstance(value, Polygon):
        return value
    try:
        return Polygon(value)  # type: ignore[arg-type]
    except InvalidParameterError as error:
        error.locate(f"polygon {index}")
        raise


Area: TypeAlias = Bbox | Circle | Polygon | MultiPolygon
Place: TypeAlias = Point | Bbox


@dataclass(frozen=True, slots=True)
class Window:
    """How long messages live: the newest `count`, or `seconds` each. Exactly one is given."""

    count: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Refuse both, none, and what is not positive."""
        if (self.count is None) == (self.seconds is None):
            raise InvalidParameterError(
                "window is ambiguous" if self.count is not None else "window is empty",
                got=Verbatim(f"count={shown(self.count)}, seconds={shown(self.seconds)}"),
                wanted="exactly one of count and seconds",
            )
        if self.count is not None:
            _set(self, "count", whole_number(self.count, "window count"))
        if self.seconds is not None:
            _set(self, "seconds", _positive(self.seconds, "window seconds"))

    def __repr__(self) -> str:
        """Return the one that is given."""
        given = f"count={self.count}" if self.seconds is None else f"seconds={self.seconds}"
        return f"Window({given})"


def _positive(value: object, name: str) -> float:
    converted = number(value, name)
    if converted <= 0:
        what = f"{name} is not positive"
        raise InvalidParameterError(what, got=value, wanted="more than 0")
    return converted


class _ClauseParts(NamedTuple):
    positive: frozenset[str]
    negative: frozenset[str] = frozenset()


class Clause(_ClauseParts):
    """A message satisfies it with all its `positive` and none of its `negative` tokens.

    What is known to be right may be made by `_make`, which does not check.
    """

    __slots__ = ()

    def __new__(cls, positive: Iterable[str], negative: Iterable[str] = frozenset()) -> Self:
        """Refuse what are not collections of words."""
        parts = (_word_set(positive, "positive"), _word_set(negative, "negative"))
        return tuple.__new__(cls, parts)


def _word_set(words: object, name: str) -> frozenset[str]:
    if not isinstance(words, (str, bytes, bytearray)) and isinstance(words, Iterable):
        try:
            found = words if type(words) is frozenset else frozenset(words)
        except TypeError:  # something in it has no hash, so it is no word
            found = None
        if found is not None and all(isinstance(w, str) and is_encodable(w) for w in found):
            return found
    what = f"{name} of a clause is not a set of words"
    wanted = "strings without lone surrogates"
    raise InvalidParameterError(what, got=words, wanted=wanted)


@dataclass(frozen=True, slots=True)
class Change:
    """One message entered or left what one subscription holds, or has a new version.

    Parameters
    ----------
    event
        1-based number of the event that caused it.
    subscription, message
        Their ids.
    change, reason
        What happened, and why.
    score
        Of rank and top subscriptions.
    """

    event: int
    subscription: str
    message: str
    change: ChangeKind
    reason: Reason
    score: float | None = None

    def __repr__(self) -> str:
        """Return what happened; a score only if there is one."""
        score = "" if self.score is None else f", score={self.score!r}"
        return (
            f"Change(event={self.event}, subscription={self.subscription!r}, "
            f"message={self.message!r}, change={self.change!r}, reason={self.reason!r}{score})"
        )


@dataclass(frozen=True, slots=True)
class Promise:
    """How far a subscriber may go from where it last said it is: see `nearcast.safe_region`.

    Parameters
    ----------
    event
        1-based number of the event that caused it.
    subscription
        Its id.
    safe_distance
        In degrees, or in metres for a circle; it replaces what was promised before.
    """

    event: int
    subscription: str
    safe_distance: float


def _members(value: Mapping[object, object], kind: str, names: tuple[str, ...]) -> list[object]:
    """Return the named members of a GeoJSON-like mapping; refuse missing and unknown ones."""
    for name in names:
        if value.get(name) is None:
            what = f"{kind} has no {name!r}"
            raise InvalidParameterError(what, got=value, wanted=" and ".join(map(repr, names)))
    unknown = [name for name in value if name != "type" and name not in names]
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
    if value.get("type") != "Point":
        what = "geometry is not a point"
        raise InvalidParameterError(what, got=value, wanted="[lon, lat] or a GeoJSON Point")
    (coordinates,) = _members(value, "Point", ("coordinates",))
    return _point(coordinates, "point", most=3)


_AREA_READERS: dict[str, Callable[[Mapping[object, object]], Area]] = {
    "Circle": _circle,
    "Polygon": _geojson_polygon,
    "MultiPolygon": _geojson_multipolygon,
}


def _area_from_mapping(value: Mapping[object, object]) -> Area:
    kind = value.get("type")
    reader = _AREA_READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        raise InvalidParameterError(
            "type is missing" if kind is None else "type is unknown",
            got=value if kind is None else kind,
            wanted="one of " + ", ".join(map(repr, _AREA_READERS)),
            hint="give the feature's geometry" if kind == "Feature" else None,
        )
    return reader(value)


def _bbox(value: object) -> Bbox:
    wanted = "[west, south, east, north]"
    numbers = _items(value, "bbox", wanted)
    if len(numbers) != 4:
        what = "bbox has the wrong length"
        raise InvalidParameterError(what, got=value, wanted=wanted)
    return Bbox(*numbers)  # type: ignore[arg-type]


def _area(value: object) -> Area:
    if isinstance(value, (Bbox, Circle, Polygon, MultiPolygon)):
        return value
    geometry: object = getattr(value, "__geo_interface__", value)
    if isinstance(geometry, Mapping):
        return _area_from_mapping(geometry)
    try:
        return _bbox(geometry)
    except InvalidParameterError as error:
        if error.wanted == "[west, south, east, north]":
            error.wanted += ", a Circle, a Polygon or a MultiPolygon"
        raise


def area_from(value: object, *, field: str = "area") -> Area:
    """Read an area: an `Area`, four numbers, a GeoJSON-like mapping, or a shapely geometry.

    Raises
    ------
    InvalidSubscriptionError
        If it is none of these; its `field` is `field`.

    Examples
    --------
    >>> area_from({"type": "Circle", "center": [-73.98, 40.75], "radius_m": 800})
    Circle(center=(-73.98, 40.75), radius_m=800.0)
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

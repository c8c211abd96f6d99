"""Why does a message match a subscription, or why not? For people; the core decides.

Distances are measured along great circles to the nearest point of the area as it looks on a map, so
they are right to a few per cent, which is what "how far outside" asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import asin, cos, inf, radians, sin, sqrt
from typing import TYPE_CHECKING

from nearcast.model import Bbox, Circle, Polygon

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nearcast.model import Area, Clause, Point, Ring

EARTH_RADIUS_M = 6_371_008.8


@dataclass(frozen=True, slots=True)
class ClauseExplanation:
    """One alternative of the keywords, and what the message lacks or has too much of."""

    required: tuple[str, ...]
    missing: tuple[str, ...]
    forbidden: tuple[str, ...]
    """Excluded tokens that the message has."""

    @property
    def holds(self) -> bool:
        """Whether the message satisfies this alternative."""
        return not self.missing and not self.forbidden

    def __str__(self) -> str:
        """Return a sentence."""
        words = " AND ".join(self.required)
        if self.holds:
            return f"has {words}" if words else "needs no keyword"
        parts = [f"lacks {', '.join(self.missing)}"] if self.missing else []
        parts += [f"has the excluded {', '.join(self.forbidden)}"] if self.forbidden else []
        return " and ".join(parts)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The verdict, and the reasons for it.

    Examples
    --------
    >>> from nearcast import Hub
    >>> hub = Hub()
    >>> hub.subscribe("s1", keywords="coffee -decaf", area=[-74, 40, -73, 41])
    []
    >>> print(hub.explain("s1", "Decaf tea", at=(-72, 40.5)))
    no match: lacks coffee and has the excluded decaf; 84.6 km outside the area
    """

    matches: bool
    clauses: tuple[ClauseExplanation, ...]
    """Alternatives; empty if the keywords contradict themselves."""
    outside_m: float
    """How far the message is outside the area, in metres; 0: it is not."""

    def __str__(self) -> str:
        """Return a sentence that says what is missing, for the alternative that lacks least."""
        return f"{'match' if self.matches else 'no match'}: {self._keywords()}; {self._area()}"

    def _keywords(self) -> str:
        if not self.clauses:
            return "the keywords exclude each other"
        best = min(self.clauses, key=lambda c: (len(c.missing) + len(c.forbidden), c.required))
        others = len(self.clauses) - 1
        return str(best) + (f" (best of {others + 1} alternatives)" if others else "")

    def _area(self) -> str:
        if self.outside_m == 0:
            return "inside the area"
        if self.outside_m < 1000:
            return f"{self.outside_m:.0f} m outside the area"
        return f"{self.outside_m / 1000:.1f} km outside the area"


def explain(
    clauses: tuple[Clause, ...] | None,
    area: Area | None,
    tokens: frozenset[str],
    place: tuple[float, ...],
    *,
    is_match: bool,
    is_inside: bool,
) -> Explanation:
    """Explain one pair; `is_match` and `is_inside` (the area) are the core's verdicts."""
    explained = tuple(
        ClauseExplanation(
            required=tuple(sorted(clause.positive)),
            missing=tuple(sorted(clause.positive - tokens)),
            forbidden=tuple(sorted(clause.negative & tokens)),
        )
        for clause in clauses or ()
    )
    if clauses is None:
        explained = (ClauseExplanation((), (), ()),)
    outside = 0.0 if is_inside or area is None else _outside_m(area, place)
    return Explanation(is_match, explained, outside)


def _haversine_m(a: Point, b: Point) -> float:
    lat_a, lat_b = radians(a[1]), radians(b[1])
    half = sin((lat_b - lat_a) / 2) ** 2
    half += cos(lat_a) * cos(lat_b) * sin(radians(b[0] - a[0]) / 2) ** 2
    return 2 * EARTH_RADIUS_M * asin(sqrt(min(1.0, half)))


def _parts(west: float, south: float, east: float, north: float) -> Iterator[Bbox]:
    """Split a box that crosses the antimeridian in two."""
    if west <= east:
        yield Bbox(west, south, east, north)
    else:
        yield Bbox(west, south, 180, north)
        yield Bbox(-180, south, east, north)


def _outside_m(area: Area, place: tuple[float, ...]) -> float:
    parts = list(_parts(*(place * 2 if len(place) == 2 else place)))
    if isinstance(area, Circle):
        nearest = min(_haversine_m(area.center, _clamp(area.center, part)) for part in parts)
        return max(0.0, nearest - area.radius_m)
    if isinstance(area, Bbox):
        boxes = list(_parts(area.west, area.south, area.east, area.north))
        return min(_between_boxes_m(a, b) for a in boxes for b in parts)
    polygons = (area,) if isinstance(area, Polygon) else area.polygons
    return min(_to_ring_m(ring, part) for p in polygons for ring in p.rings for part in parts)


def _clamp(point: Point, box: Bbox) -> Point:
    return (min(max(point[0], box.west), box.east), min(max(point[1], box.south), box.north))


def _between_boxes_m(a: Bbox, b: Bbox) -> float:
    center = ((b.west + b.east) / 2, (b.south + b.north) / 2)
    near_a = _clamp(center, a)
    near_b = _clamp(near_a, b)
    return _haversine_m(_clamp(near_b, a), near_b)


def _to_ring_m(ring: Ring, part: Bbox) -> float:
    nearest = inf
    for a, b in zip(ring, ring[1:], strict=False):
        target = _clamp(a, part)
        on_edge = _nearest_on_segment(target, a, b)
        nearest = min(nearest, _haversine_m(on_edge, _clamp(on_edge, part)))
    return nearest


def _nearest_on_segment(p: Point, a: Point, b: Point) -> Point:
    scale = cos(radians(p[1]))  # degrees of longitude are shorter away from the equator
    ax, bx, px = a[0] * scale, b[0] * scale, p[0] * scale
    length = (bx - ax) ** 2 + (b[1] - a[1]) ** 2
    if length == 0:
        return a
    share = ((px - ax) * (bx - ax) + (p[1] - a[1]) * (b[1] - a[1])) / length
    share = min(1.0, max(0.0, share))
    return (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]))

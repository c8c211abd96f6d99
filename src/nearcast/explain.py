"""Why does a message match a subscription, or why not? For people; the core decides.

Distances are measured along great circles to the point of the border that is nearest, or nearly so:
they are right to a few per cent, which is what "how far outside" asks for. The way may cross the
antimeridian.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import asin, ceil, cos, radians, sin, sqrt
from typing import TYPE_CHECKING

from nearcast.model import Bbox, Circle, Polygon

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nearcast.model import Area, Clause, MultiPolygon, Point, Ring

EARTH_RADIUS_M = 6_371_008.8
_LEAST_M = 1e-9  # outside is not inside, however near: 180 and -180 differ and have no distance


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
    outside = 0.0 if is_inside or area is None else max(_LEAST_M, _outside_m(area, place))
    return Explanation(is_match, explained, outside)


def haversine_m(a: Point, b: Point) -> float:
    """Return the distance along a great circle, in metres."""
    lat_a, lat_b = radians(a[1]), radians(b[1])
    half = sin((lat_b - lat_a) / 2) ** 2
    half += cos(lat_a) * cos(lat_b) * sin(radians(b[0] - a[0]) / 2) ** 2
    return 2 * EARTH_RADIUS_M * asin(sqrt(min(1.0, half)))


def _box_rings(west: float, south: float, east: float, north: float) -> Iterator[Ring]:
    """Yield the border of a box; of one that crosses the antimeridian, of its two parts."""
    sides = [(west, east)] if west <= east else [(west, 180.0), (-180.0, east)]
    for w, e in sides:
        yield ((w, south), (e, south), (e, north), (w, north), (w, south))


def _rings_of(area: Bbox | Polygon | MultiPolygon) -> list[Ring]:
    if isinstance(area, Bbox):
        return list(_box_rings(area.west, area.south, area.east, area.north))
    polygons = (area,) if isinstance(area, Polygon) else area.polygons
    return [ring for polygon in polygons for ring in polygon.rings]


def _outside_m(area: Area, place: tuple[float, ...]) -> float:
    """Return the distance between what do not touch: that of their borders."""
    rings: list[Ring] = [(place, place)] if len(place) == 2 else list(_box_rings(*place))
    if isinstance(area, Circle):
        return min(_to_ring_m(area.center, ring) for ring in rings) - area.radius_m
    # Where two borders are nearest to each other, one of them has a corner.
    borders = _rings_of(area)
    here = min(_to_ring_m(p, border) for ring in rings for p in ring[1:] for border in borders)
    there = min(_to_ring_m(p, ring) for border in borders for p in border[1:] for ring in rings)
    return min(here, there)


def _to_ring_m(point: Point, ring: Ring) -> float:
    return min(_to_edge_m(point, a, b) for a, b in pairwise(ring))


def _to_edge_m(point: Point, a: Point, b: Point) -> float:
    """Measure to pieces of at most a degree: what a long edge is on a map it is not on a sphere."""
    lon, lat = b[0] - a[0], b[1] - a[1]
    count = max(1, ceil(max(abs(lon), abs(lat))))
    ends = [(a[0] + lon * i / count, a[1] + lat * i / count) for i in range(count + 1)]
    return min(haversine_m(point, _nearest_on_piece(point, c, d)) for c, d in pairwise(ends))


def _nearest_on_piece(p: Point, a: Point, b: Point) -> Point:
    scale = cos(radians(p[1]))  # degrees of longitude are shorter away from the equator
    lon = p[0] - 360 * round((p[0] - a[0]) / 360)  # as seen from here, maybe the other way round
    ax, bx, px = a[0] * scale, b[0] * scale, lon * scale
    length = (bx - ax) ** 2 + (b[1] - a[1]) ** 2
    if length == 0:
        return a
    share = ((px - ax) * (bx - ax) + (p[1] - a[1]) * (b[1] - a[1])) / length
    share = min(1.0, max(0.0, share))
    return (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]))

"""Why does a message match a subscription, or why not? For people; the core decides.

Distances are measured along great circles to the point of the border that is nearest, or nearly so:
they are right to a few per cent, which is what "how far outside" asks for. The way may cross the
antimeridian.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import asin, ceil, cos, radians, sin, sqrt
from typing import TYPE_CHECKING, Literal

from nearcast.model import Areas, Bbox, Circle, Polygon
from nearcast.reasons import explain_keywords, explain_where

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nearcast.attributes import AttributeValue
    from nearcast.event_values import Subscribe
    from nearcast.explain_score import ScoreExplanation
    from nearcast.model import Area, MultiPolygon, Point, Ring

EARTH_RADIUS_M = 6_371_008.8
_LEAST_M = 1e-9  # outside is not inside, however near: 180 and -180 differ and have no distance


@dataclass(frozen=True, slots=True)
class Reason:
    """What one part of a subscription says to the message."""

    part: Literal["keywords", "where", "area", "except"]
    holds: bool
    """Whether the message is what this part wants."""
    text: str
    """Why, as a piece of a sentence."""

    def __str__(self) -> str:
        """Return the piece of a sentence."""
        return self.text


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
    reasons: tuple[Reason, ...]
    """Of the parts that the subscription has: keywords, where, area, except."""
    outside_m: float
    """How far the message is outside the area, in metres; 0: it is not."""
    score: ScoreExplanation | None = None
    """Of the modes rank and top: what it is made of, and what it must reach."""

    def __str__(self) -> str:
        """Return a sentence that says what is there and what is missing."""
        parts = [*self.reasons, *(() if self.score is None else (self.score,))]
        return f"{'match' if self.matches else 'no match'}: {'; '.join(map(str, parts))}"

    def __repr__(self) -> str:
        """Return the same, for a notebook."""
        return f"<{self}>"


def explain(
    event: Subscribe,
    places: Sequence[str | None],
    place: tuple[float, ...],
    attributes: Mapping[str, AttributeValue] | None = None,
    *,
    is_match: bool,
    is_inside: bool,
    is_excluded: bool = False,
    score: ScoreExplanation | None = None,
) -> Explanation:
    """Explain one pair of a subscription and a message.

    Parameters
    ----------
    event
        The subscription, as it was said.
    places, place, attributes
        The message: its tokens in order (None: a stop word), where it is, what it says of itself.
    is_match, is_inside, is_excluded
        The core's verdicts: on all, on the area, and whether it touches `except`.
    score
        Of the modes rank and top, where keywords and area only count in the score.
    """
    reasons: list[Reason] = []
    if event.keywords is not None and event.mode == "match":
        reasons.append(Reason("keywords", *explain_keywords(event.keywords, places)))
    if event.where is not None:
        reasons.append(Reason("where", *explain_where(event.where, attributes or {})))
    outside = 0.0
    if event.area is not None and event.mode == "match":
        outside = 0.0 if is_inside else max(_LEAST_M, _outside_m(event.area, place))
        reasons.append(Reason("area", is_inside, _distance(outside)))
    if event.except_ is not None:
        said = "inside" if is_excluded else "outside"
        reasons.append(Reason("except", not is_excluded, f"{said} the excluded area"))
    return Explanation(is_match, tuple(reasons), outside, score)


def _distance(outside_m: float) -> str:
    if outside_m == 0:
        return "inside the area"
    if outside_m < 1000:
        return f"{outside_m:.0f} m outside the area"
    return f"{outside_m / 1000:.1f} km outside the area"


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
    if isinstance(area, Areas):
        return min(_outside_m(part, place) for part in area.parts)
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

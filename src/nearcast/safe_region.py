"""When must a subscriber that moves say where it is? The client's side of safe regions.

A hub with ``safe_region=True`` promises each live match subscription that its result stays what it
is while no point of its border moves farther than a distance [AP §5.2.3, AP+-Tree-Safe]. A client
that keeps to the promise holds at any time exactly what it would hold if it reported every step.

The distance is in degrees for boxes (each side by itself) and polygons (corners, as the crow flies
on the map), and in metres for circles (way of the centre and change of the radius, added up). Of a
union it is that of the part that moves most; circles beside other areas have no unit in common, and
nothing is promised for them.
"""

from __future__ import annotations

from itertools import chain
from math import hypot, inf
from typing import TYPE_CHECKING

from nearcast.explain import haversine_m
from nearcast.model import Areas, Bbox, Circle, MultiPolygon, Polygon, area_from, number

if TYPE_CHECKING:
    from nearcast.model import Area, Ring


class SafeRegion:
    """What a client knows of its safe region, and how much it has kept to itself.

    Parameters
    ----------
    area
        As subscribed.
    distance
        What the hub has promised.

    Examples
    --------
    >>> import nearcast as nc
    >>> hub = nc.Hub(window=nc.Window(count=100), safe_region=True)
    >>> hub.publish("m1", "Free coffee!", at=(5, 0))
    []
    >>> area = [0, 0, 2, 2]
    >>> hub.subscribe("s1", keywords="coffee", area=area, live=True)
    []
    >>> region = SafeRegion(area, hub.safe_distance("s1"))
    >>> region.step([0.5, 0, 2.5, 2])
    False
    >>> region.step([3, 0, 5, 2])
    True
    >>> [change.message for change in hub.move("s1", area=[3, 0, 5, 2])]
    ['m1']
    >>> region.reported(hub.safe_distance("s1"))
    """

    def __init__(self, area: object, distance: float | None = None) -> None:
        self._reported = self._now = _read(area)
        self._distance = _read_distance(distance)
        self.steps = 0
        """How often the client moved."""
        self.reports = 0
        """How often it said so."""
        self.notices = 0
        """How often the hub shortened its promise."""

    @property
    def area(self) -> Area:
        """Where the client is."""
        return self._now

    def step(self, area: object) -> bool:
        """Be somewhere else; True: report it now, then call `reported`."""
        self._now = _read(area)
        self.steps += 1
        return self._must_report()

    def told(self, distance: float) -> bool:
        """Hear that the promise is shorter now; True: report, then call `reported`."""
        self._distance = _read_distance(distance)
        self.notices += 1
        return self._must_report()

    def reported(self, distance: float | None) -> None:
        """Note that the hub knows where the client is, and has promised this."""
        self._distance = _read_distance(distance)
        self._reported = self._now
        self.reports += 1

    @property
    def saved(self) -> float:
        """The share of steps for which nothing was sent, in either direction; below 0: a loss."""
        return 1 - (self.reports + self.notices) / self.steps if self.steps else 0.0

    def _must_report(self) -> bool:
        if self._now == self._reported:
            return False
        return displacement(self._reported, self._now) >= self._distance


def displacement(before: Area, after: Area) -> float:
    """Return how far a point of the border has moved at most; infinite for another shape.

    Examples
    --------
    >>> displacement(Bbox(0, 0, 2, 2), Bbox(1, 0.5, 3, 2.5))
    1.0
    >>> displacement(Bbox(0, 0, 2, 2), Circle((0, 0), 100))
    inf
    """
    if isinstance(before, Bbox) and isinstance(after, Bbox):
        if (before.west > before.east) != (after.west > after.east):
            return inf  # one crosses the antimeridian
        across = max(abs(before.west - after.west), abs(before.east - after.east))
        return max(across, abs(before.south - after.south), abs(before.north - after.north))
    if isinstance(before, Circle) and isinstance(after, Circle):
        return haversine_m(before.center, after.center) + abs(before.radius_m - after.radius_m)
    if isinstance(before, Areas) and isinstance(after, Areas):
        return _parts_displacement(before, after)
    old, new = _polygons(before), _polygons(after)
    if not old or _shape(old) != _shape(new):
        return inf
    corners = zip(*(chain.from_iterable(chain.from_iterable(p)) for p in (old, new)), strict=True)
    return max(hypot(a[0] - b[0], a[1] - b[1]) for a, b in corners)


def _parts_displacement(before: Areas, after: Areas) -> float:
    circles = sum(isinstance(part, Circle) for part in before.parts)
    if len(before.parts) != len(after.parts) or 0 < circles < len(before.parts):
        return inf
    return max(map(displacement, before.parts, after.parts))


def _polygons(area: Area) -> list[tuple[Ring, ...]]:
    if isinstance(area, Polygon):
        return [area.rings]
    return [p.rings for p in area.polygons] if isinstance(area, MultiPolygon) else []


def _shape(polygons: list[tuple[Ring, ...]]) -> list[list[int]]:
    return [[len(ring) for ring in rings] for rings in polygons]


def _read_distance(distance: object) -> float:
    """None: nothing was promised. Infinite: no message is near."""
    if distance is None:
        return 0.0
    is_endless = isinstance(distance, float) and distance == inf
    return inf if is_endless else number(distance, "distance", 0)


def _read(area: object) -> Area:
    return area_from(area, field="area")

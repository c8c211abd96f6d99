"""Where are all objects after half a minute? Objects under way on a network.

An object is on an arc, has some time left to its end, and knows its destination. Time is counted as
on class 0 at speed 1, so that to advance is to subtract: an object that falls to zero or below
enters the next arc and gets its time added, until none is below. A round is a few array operations
on those that turn, and there are as many rounds as the busiest object passes nodes.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from nearcast.bench.workloads.moving.draws import Draws
from nearcast.bench.workloads.streams import Stream
from nearcast.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from nearcast.bench.workloads.moving.routes import Routes

    ObjectClass = Literal["slow", "medium", "fast"]
    Speed = ObjectClass | Literal["mixed"] | float

SPEEDS: Mapping[str, float] = MappingProxyType({"slow": 1 / 250, "medium": 1 / 50, "fast": 1 / 10})
"""How far an object comes on class 0 in `SPEED_SECONDS`, as a share of the network's extent."""
SPEED_SECONDS = 30.0
MIXED = "mixed"

_EDGE, _FRACTION, _CLASS, _FIRST_TRIP = 0, 1, 2, 3


def check_speed(speed: Speed) -> None:
    """Raise `InvalidParameterError` if nothing can move like this."""
    is_known = speed in (*SPEEDS, MIXED) if isinstance(speed, str) else 0 < speed < np.inf
    if not is_known:
        wanted = f"{', '.join(SPEEDS)}, {MIXED}, or a multiple of medium above 0"
        what = "speed is not one"
        raise InvalidParameterError(what, got=speed, wanted=wanted, field="speed")


class Fleet:
    """Objects that move along shortest paths, from one destination to the next.

    Parameters
    ----------
    routes
        The ways, with the network.
    count
        How many objects.
    seed
        Decides starts, destinations and classes.
    speed
        The class of all objects, `mixed` for a third of each class, or a multiple of medium.
    """

    def __init__(self, routes: Routes, count: int, seed: int, speed: Speed = "medium") -> None:
        check_speed(speed)
        network = routes.network
        self._routes = routes
        self._draws = Draws(seed, Stream.OBJECTS)
        self._arc_heads = network.arc_heads()
        self._arc_times = np.repeat(network.edge_times(), 2)
        self._objects = np.arange(count)
        self._trips = np.zeros(count, np.int64)
        self._speeds = self._shares(speed) * network.extent / SPEED_SECONDS
        self._goals = self._draws.below(len(routes.destinations), self._objects, _FIRST_TRIP)
        self._arcs, self._left = self._set_out()

    @property
    def speeds(self) -> NDArray[np.float64]:
        """Of each object on class 0, in units of length per second."""
        return self._speeds

    @property
    def destinations(self) -> NDArray[np.int64]:
        """The node that each object is on its way to."""
        return self._routes.destinations[self._goals]

    @property
    def arcs(self) -> NDArray[np.int64]:
        """The arc that each object is on."""
        return self._arcs

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        left = self._left - self._speeds * seconds
        rows = np.flatnonzero(left <= 0)
        while len(rows):
            arcs = self._next_arcs(rows)
            rest = left[rows] + self._arc_times[arcs]
            self._arcs[rows], left[rows] = arcs, rest
            rows = rows[rest <= 0]
        self._left = left

    def fractions(self) -> NDArray[np.float64]:
        """Return which part of its arc each object has behind it."""
        return 1.0 - self._left / self._arc_times[self._arcs]

    def points(self) -> NDArray[np.float64]:
        """Return where the objects are, in the coordinates of the network."""
        fractions = self.fractions()
        is_backward = self._arcs % 2 == 1
        fractions[is_backward] = 1.0 - fractions[is_backward]
        return self._routes.network.points_on(self._arcs // 2, fractions)

    def _shares(self, speed: Speed) -> NDArray[np.float64]:
        """Return the speed of each object as in `SPEEDS`."""
        if speed == MIXED:
            classes = self._draws.below(len(SPEEDS), self._objects, _CLASS)
            return np.array(list(SPEEDS.values()))[classes]
        share = SPEEDS[speed] if isinstance(speed, str) else speed * SPEEDS["medium"]
        return np.full(len(self._objects), share)

    def _set_out(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Put each object on an edge, in the direction that is the shorter one for it.

        Any edge is as likely as another, so that there is traffic where there are streets.
        """
        network, times = self._routes.network, self._routes.times
        edges = self._draws.below(len(network.tails), self._objects, _EDGE)
        fractions = self._draws.unit(self._objects, _FRACTION)
        edge_times = self._arc_times[2 * edges]
        to_tail, to_head = fractions * edge_times, (1.0 - fractions) * edge_times
        is_backward = (
            to_tail + times[self._goals, network.tails[edges]]
            < to_head + times[self._goals, network.heads[edges]]
        )
        return 2 * edges + is_backward, np.where(is_backward, to_tail, to_head)

    def _next_arcs(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where the given objects go at the end of their arcs."""
        nodes, goals = self._arc_heads[self._arcs[rows]], self._goals[rows]
        has_arrived = nodes == self._routes.destinations[goals]
        if has_arrived.any():
            arrived = rows[has_arrived]
            goals[has_arrived] = self._goals[arrived] = self._new_goals(arrived)
        return self._routes.next_arcs[goals, nodes].astype(np.int64)

    def _new_goals(self, arrived: NDArray[np.int64]) -> NDArray[np.int64]:
        """Draw other destinations than those where the given objects are."""
        count = len(self._routes.destinations)
        self._trips[arrived] += 1
        further = self._draws.below(count - 1, arrived, _FIRST_TRIP + self._trips[arrived])
        return (self._goals[arrived] + 1 + further) % count

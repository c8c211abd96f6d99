"""Moving subscriptions among messages that stay alive for a while [AP §5.2.1].

Each object is a subscription: its keywords are those of the source, its area is a box around its
place. Time goes by in steps; at each some or all objects report where they are, and messages are
published on and near the roads. A message lives for ten steps. As many are published at a step as
expire at it, from the first step on, so the number of live messages stays what it was.

The network is stretched to a space in degrees: the world, as for all other workloads, or where the
network itself lies if its coordinates are degrees.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearcast.bench.workloads.groups import Group
from nearcast.bench.workloads.moving.draws import Draws
from nearcast.bench.workloads.moving.fleet import Fleet, check_speed
from nearcast.bench.workloads.moving.routes import DEFAULT_DESTINATIONS, find_routes
from nearcast.bench.workloads.presets import WORLD
from nearcast.bench.workloads.scenario import history_size
from nearcast.bench.workloads.space import boxes_around, shrink, stretch
from nearcast.bench.workloads.streams import Stream
from nearcast.bench.workloads.tables import coordinates
from nearcast.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from nearcast.bench.workloads.moving.fleet import Speed
    from nearcast.bench.workloads.moving.network import Network
    from nearcast.bench.workloads.scenario import Source
    from nearcast.bench.workloads.space import Space

POSITIONS = pa.schema(
    [
        ("step", pa.int32()),
        ("object", pa.int64()),
        ("lon", pa.float64()),
        ("lat", pa.float64()),
    ]
)
NEAR = 0.002
"""How far from a road a message may be, as a share of the side of the space."""

_EDGE, _FRACTION, _ACROSS, _UP = range(4)
_FIRST_REPORT = 2**32


@dataclass(frozen=True, slots=True)
class MovingPlan:
    """How many of what, and how fast.

    `messages` are live at any time, each for `life_steps`; `area_share` is the area of a
    subscription as a share of the space; `mobility` is the share of objects that report at a step.
    """

    objects: int
    messages: int
    steps: int = 100
    step_seconds: float = 30.0
    life_steps: int = 10
    area_share: float = 1e-4
    mobility: float = 1.0
    speed: Speed = "medium"
    destinations: int = DEFAULT_DESTINATIONS

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        self._require(self.objects >= 0, "objects", "0 or more")
        self._require(self.messages >= 0, "messages", "0 or more")
        self._require(self.steps >= 0, "steps", "0 or more")
        seconds_fit = isfinite(self.step_seconds) and self.step_seconds > 0
        self._require(seconds_fit, "step_seconds", "more than 0")
        self._require(self.life_steps >= 1, "life_steps", "1 or more")
        self._require(0 <= self.area_share <= 1, "area_share", "0 to 1")
        self._require(0 <= self.mobility <= 1, "mobility", "0 to 1")
        self._require(self.destinations >= 2, "destinations", "2 or more")
        check_speed(self.speed)

    def _require(self, fits: bool, field: str, wanted: str) -> None:  # noqa: FBT001
        if not fits:
            what = f"{field} is out of range"
            got = getattr(self, field)
            raise InvalidParameterError(what, got=got, wanted=wanted, field=field)


@dataclass(frozen=True, slots=True, eq=False)
class MovingStep:
    """What happens at one moment."""

    number: int
    time: float
    published: pa.Table
    """`tokens`, `lon`, `lat`, `expires`."""
    first_message: int
    """Number of the first message; those of `MovingWorkload.messages` count from 0."""
    moved: pa.Table
    """`id`, and the new `west`, `south`, `east`, `north`."""


class MovingWorkload:
    """All tables of a run, from one source of texts, one network and the source's seed.

    Tables and steps are made when asked for, the same each time.

    Parameters
    ----------
    source
        Of keywords and texts.
    network
        Where objects move.
    plan
        How many.
    space
        West, south, east, north of where the network comes to lie, if not the usual.
    """

    def __init__(
        self, source: Source, network: Network, plan: MovingPlan, space: Space | None = None
    ) -> None:
        self.source, self.network, self.plan = source, network, plan
        self.space = space or (network.space if network.is_geographic else WORLD)
        self._routes = find_routes(network, source.seed, plan.destinations)
        self._first_row = history_size(plan.messages)

    def subscriptions(self) -> pa.Table:
        """Return `id`, `keywords` and the box of each object, before the first step."""
        keywords = self.source.subscriptions(self.plan.objects).select(["id", "keywords"])
        boxes = self._boxes(self._unit_points(self._fleet()))
        return pa.table({name: keywords[name] for name in keywords.column_names} | boxes)

    def history(self) -> pa.Table:
        """Return `tokens`, `lon`, `lat` of messages before all others, to learn from."""
        return self._messages(0, self._first_row)

    def messages(self) -> pa.Table:
        """Return `tokens`, `lon`, `lat`, `expires` of what is live before the first step."""
        steps = 1 + np.arange(self.plan.messages) % self.plan.life_steps
        table = self._messages(self._first_row, self.plan.messages)
        return table.append_column("expires", pa.array(steps * self.plan.step_seconds))

    def later_messages(self, first: int, count: int) -> pa.Table:
        """Return `tokens`, `lon`, `lat` of messages by number; `messages` has the first ones."""
        return self._messages(self._first_row + first, count)

    def steps(self) -> Iterator[MovingStep]:
        """Yield what happens, from step 1 on."""
        first_message = self.plan.messages
        for number, objects, points in self._reports(first=1):
            published = self._published(number, first_message)
            time = number * self.plan.step_seconds
            moved = pa.table({"id": pa.array(objects), **self._boxes(points)})
            yield MovingStep(number, time, published, first_message, moved)
            first_message += published.num_rows

    def positions(self) -> Iterator[pa.RecordBatch]:
        """Yield who is where, as `POSITIONS`: all objects at step 0, then those who report."""
        for number, objects, points in self._reports(first=0):
            columns = [np.full(len(objects), number, np.int32), objects, *self._degrees(points).T]
            arrays = [pa.array(column) for column in columns]
            yield pa.RecordBatch.from_arrays(arrays, schema=POSITIONS)

    # ---- objects ----------------------------------------------------------------------------

    def _fleet(self) -> Fleet:
        return Fleet(self._routes, self.plan.objects, self.source.seed, self.plan.speed)

    def _reports(self, first: int) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.float64]]]:
        """Yield step, objects that report at it, and their points of the unit square."""
        fleet, objects = self._fleet(), np.arange(self.plan.objects)
        draws = Draws(self.source.seed, Stream.OBJECTS)
        for number in range(first, self.plan.steps + 1):
            if number > 0:
                fleet.advance(self.plan.step_seconds)
            points = self._unit_points(fleet)
            if number == 0 or self.plan.mobility == 1:
                yield number, objects, points
                continue
            reports = draws.unit(objects, _FIRST_REPORT + number) < self.plan.mobility
            yield number, objects[reports], points[reports]

    def _unit_points(self, fleet: Fleet) -> NDArray[np.float64]:
        return shrink(fleet.points(), self.network.space)

    def _boxes(self, points: NDArray[np.float64]) -> dict[str, pa.Array]:
        shares = np.full(len(points), self.plan.area_share)
        return coordinates(self._degrees(boxes_around(points, shares)))

    def _degrees(self, unit: NDArray[np.float64]) -> NDArray[np.float64]:
        return stretch(unit, self.space)

    # ---- messages ---------------------------------------------------------------------------

    def _published(self, step: int, first_message: int) -> pa.Table:
        """Return as many messages as expire at a step."""
        plan = self.plan
        place_in_cycle = (step - 1) % plan.life_steps
        count = max(-((place_in_cycle - plan.messages) // plan.life_steps), 0)
        table = self._messages(self._first_row + first_message, count)
        expires = (step + plan.life_steps) * plan.step_seconds
        return table.append_column("expires", pa.array(np.full(count, expires)))

    def _messages(self, first: int, count: int) -> pa.Table:
        """Return rows of the source's messages, moved to places on and near the roads."""
        tokens = self.source.messages(count, Group(), first=first).column("tokens")
        points = self._degrees(self._message_points(np.arange(first, first + count)))
        return pa.table({"tokens": tokens, **coordinates(points)})

    def _message_points(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        draws = Draws(self.source.seed, Stream.PLACES)
        edges = draws.below(len(self.network.tails), rows, _EDGE)
        on_road = self.network.points_on(edges, draws.unit(rows, _FRACTION))
        offsets = np.column_stack([draws.unit(rows, number) for number in (_ACROSS, _UP)])
        return np.clip(shrink(on_road, self.network.space) + NEAR * (2 * offsets - 1), 0.0, 1.0)

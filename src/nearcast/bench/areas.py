"""What do polygons cost? Those of many corners, and those that subscriptions share.

A polygon is an outline around a centre whose radius varies at random, by `noise` of it: 0 is as
smooth as a circle, 0.02 like a coast, 0.3 all spikes. Messages are points in its bounding box.
Everything is compared with subscriptions to that box, in turns in one run. Times are of the
processor, the best of their repetitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import thread_time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearcast.bench.measuring import measure_table
from nearcast.matcher import Matcher

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nearcast.bench.workloads.scenario import Scenario

_WKB_POLYGON = b"\x01\x03\x00\x00\x00\x01\x00\x00\x00"
QUESTIONS = 20_000


@dataclass(frozen=True, slots=True)
class Outline:
    """A closed ring, a row for each position."""

    ring: np.ndarray

    @property
    def wkb(self) -> bytes:
        """As well-known binary, little-endian."""
        count = np.array([len(self.ring)], "<u4").tobytes()
        return _WKB_POLYGON + count + self.ring.astype("<f8").tobytes()

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """As west, south, east, north."""
        (west, south), (east, north) = self.ring.min(axis=0), self.ring.max(axis=0)
        return float(west), float(south), float(east), float(north)


def outline(
    rng: np.random.Generator, corners: int, noise: float, at: tuple[float, float], radius: float
) -> Outline:
    """Return a ring of that many positions, the last one being the first."""
    turns = np.linspace(0, 2 * np.pi, corners, endpoint=True)
    away = radius * (1 + noise * rng.uniform(-1, 1, corners))
    ring = np.column_stack((at[0] + away * np.cos(turns), at[1] + away * np.sin(turns)))
    ring[-1] = ring[0]
    return Outline(ring)


@dataclass(frozen=True, slots=True)
class PolygonCost:
    """One subscription to a polygon, and one to its bounding box; nanoseconds of a message."""

    corners: int
    noise: float
    polygon_ns: float
    box_ns: float
    subscribe_ms: float
    bytes_per_corner: float


def measure_polygon(corners: int, noise: float, seed: int, repetitions: int) -> PolygonCost:
    """Measure the question whether a point is in one polygon."""
    rng = np.random.default_rng(seed)
    shape = outline(rng, corners, noise, (10, 50), 1)
    polygon, box = Matcher(), Matcher()
    seconds = _subscribe(polygon, {"geometry": [shape.wkb]})
    _subscribe(box, _borders([shape.bounds]))
    west, south, east, north = shape.bounds
    messages = pa.table(
        {
            "tokens": [["x"]] * QUESTIONS,
            "lon": rng.uniform(west, east, QUESTIONS),
            "lat": rng.uniform(south, north, QUESTIONS),
        }
    )
    polygon_us, box_us = _in_turns([polygon, box], messages, repetitions)
    held = polygon.stats()["store_bytes"] - box.stats()["store_bytes"]
    return PolygonCost(
        corners, noise, 1e3 * polygon_us, 1e3 * box_us, 1e3 * seconds, held / corners
    )


@dataclass(frozen=True, slots=True)
class SharedCost:
    """Subscriptions that share some polygons, and the same ones with the polygons' boxes."""

    subscriptions: int
    shapes: int
    corners: int
    polygon_us: float
    box_us: float
    polygon_matches: float
    box_matches: float
    """Of a message, on average."""
    polygon_bytes: float
    box_bytes: float
    """Of a subscription, all parts of the store, ids and index together."""


def measure_shared(scenario: Scenario, shapes: int, corners: int, repetitions: int) -> SharedCost:
    """Give each subscription of a scenario one of some cities, and each message a place in one."""
    rng = np.random.default_rng(7)
    cities = [
        outline(rng, corners, 0.05, (float(rng.uniform(-10, 30)), float(rng.uniform(35, 60))), 0.3)
        for _ in range(shapes)
    ]
    count = scenario.subscriptions.num_rows
    chosen = rng.integers(shapes, size=count)
    plain = {name: scenario.subscriptions.column(name) for name in ("id", "keywords")}
    polygon, box = Matcher(), Matcher()
    polygon.subscribe_table(pa.table({**plain, "geometry": [cities[i].wkb for i in chosen]}))
    box.subscribe_table(pa.table({**plain, **_borders([cities[i].bounds for i in chosen])}))
    places = rng.integers(shapes, size=scenario.messages.num_rows)
    here = np.array([cities[i].bounds for i in places])
    messages = pa.table(
        {
            "tokens": scenario.messages.column("tokens"),
            "lon": rng.uniform(here[:, 0], here[:, 2]),
            "lat": rng.uniform(here[:, 1], here[:, 3]),
        }
    )
    polygon_us, box_us = _in_turns([polygon, box], messages, repetitions)
    matches = [measure_table(each, messages).matches / messages.num_rows for each in (polygon, box)]
    held = [each.stats()["memory_bytes"] / count for each in (polygon, box)]
    return SharedCost(count, shapes, corners, polygon_us, box_us, *matches, *held)


def _borders(boxes: list[tuple[float, float, float, float]]) -> dict[str, np.ndarray]:
    return dict(zip(("west", "south", "east", "north"), np.array(boxes).T.copy(), strict=True))


def _subscribe(matcher: Matcher, area: Mapping[str, object]) -> float:
    """Subscribe one row, and return what it took."""
    table = pa.table({"id": [1], "keywords": [["x"]], **area})
    start = thread_time()
    matcher.subscribe_table(table)
    return thread_time() - start


def _in_turns(matchers: list[Matcher], messages: pa.Table, repetitions: int) -> list[float]:
    """Return the microseconds of a message, for each matcher the best time of all turns."""
    best = [float("inf")] * len(matchers)
    for _ in range(repetitions):
        for i, matcher in enumerate(matchers):
            best[i] = min(best[i], measure_table(matcher, messages).cpu_seconds)
    return [1e6 * seconds / messages.num_rows for seconds in best]

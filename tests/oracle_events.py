"""Short ways to write events and changes, for the tests of the oracle."""

from __future__ import annotations

import math
from typing import Any

from oracle import Oracle, OracleRejects

Event = dict[str, Any]

DEGREE_M = 6_371_008.8 * math.pi / 180  # 111 195.08 m along a meridian


def subscribe(name: object, **fields: Any) -> Event:
    return {"op": "subscribe", "id": name, **fields}


def publish(name: str, text: object = "a", **fields: Any) -> Event:
    where = {} if "bbox" in fields else {"at": [0, 0]}
    return {"op": "publish", "id": name, "text": text, **where, **fields}


def top(name: str = "t", **fields: Any) -> Event:
    given = {"mode": "top", "keywords": ["a"], "at": [0, 0], "k": 1, "alpha": 1}
    return subscribe(name, **{**given, **fields})


def rank(name: str = "r", **fields: Any) -> Event:
    box = [0, 0, 2, 2]
    given = {"mode": "rank", "keywords": ["a"], "area": box, "alpha": 0.5, "threshold": 0.5}
    return subscribe(name, **{**given, **fields})


def retract(name: str, **fields: Any) -> Event:
    return {"op": "retract", "id": name, **fields}


def move(name: str, **fields: Any) -> Event:
    return {"op": "move", "id": name, **fields}


def advance(time: object) -> Event:
    return {"op": "advance", "time": time}


def unsubscribe(name: str, **fields: Any) -> Event:
    return {"op": "unsubscribe", "id": name, **fields}


def short(changes: list[Event]) -> set[str]:
    """Write changes as "s +m reason"; a change delivered twice fails."""
    sign = {"added": "+", "removed": "-", "updated": "="}
    written = [
        f"{c['subscription']} {sign[c['change']]}{c['message']} {c['reason']}" for c in changes
    ]
    assert len(written) == len(set(written))
    return set(written)


class Hub:
    """An oracle that numbers its events and answers in short form."""

    def __init__(self, **options: Any) -> None:
        self.oracle = Oracle(**options)
        self.line = 0

    def __call__(self, event: Event) -> set[str]:
        self.line += 1
        return short(self.oracle.apply(self.line, event))

    def rejects(self, event: Event) -> bool:
        """Tell whether the event is rejected, and check that it then changes nothing."""
        before = self.oracle._state
        copy = before.copy()
        try:
            self.oracle.apply(0, event)
        except OracleRejects:
            assert self.oracle._state is before
            assert before == copy
            return True
        return False


SQUARE = [[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]]
HOLE = [[1, 1], [3, 1], [3, 3], [1, 3], [1, 1]]
TRIANGLE = [[0, 0], [3, 1], [0, 1], [0, 0]]


def circle(lon: float, lat: float, radius_m: float) -> Event:
    return {"type": "Circle", "center": [lon, lat], "radius_m": radius_m}


def polygon(*rings: object) -> Event:
    return {"type": "Polygon", "coordinates": list(rings)}


def feature(geometry: object) -> Event:
    return {"type": "Feature", "geometry": geometry, "properties": None, "id": 7}

"""A line, however broken, is accepted or refused as the oracle says."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from typing import Any

import pytest
from fuzz.mutate import ROUNDS, SEED, mutations, survives
from oracle import Oracle, OracleRejects
from oracle.hub import parse

import nearcast as nc

pytestmark = pytest.mark.filterwarnings("ignore::nearcast.KeepsNothingWarning")

Json = dict[str, Any]

_RING = [[0, 0], [2, 0], [2, 2], [0, 0]]
_POLYGON = {"type": "Polygon", "coordinates": [_RING]}
_CIRCLE = {"type": "Circle", "center": [0, 0], "radius_m": 800}
_FEATURE = {"type": "Feature", "geometry": _POLYGON, "properties": {"a": None}, "id": 1}
_RANK = {"mode": "rank", "alpha": 0.3, "threshold": 0.6, "area": [0, 0, 1, 1]}
_TOP = {"mode": "top", "alpha": 0.3, "k": 5, "at": [0, 0]}
_PLAIN: list[Json] = [
    {"op": "subscribe", "id": "s", "keywords": "a AND (b OR c) -d", "area": _CIRCLE, "live": True},
    {"op": "subscribe", "id": "s", "keywords": ["a", "b"], "area": _POLYGON, "expires": 99},
    {"op": "subscribe", "id": "s", "keywords": ["a"], **_RANK},
    {"op": "subscribe", "id": "s", "keywords": "a AND b", **_TOP},
    {"op": "publish", "id": "m", "text": "a b", "at": [0, 0], "time": 1.5, "expires": 99},
    {"op": "publish", "id": "m", "text": "a", "bbox": [170, 0, -170, 1], "replace": True},
    {"op": "advance", "time": "1970-01-01T00:00:09Z"},
    {"op": "move", "id": "known", "area": [0, 0, 1, 1], "time": 2},
    {"op": "retract", "id": "m"},
    {"op": "unsubscribe", "id": "known"},
]
_FURTHER: list[Json] = [
    {"op": "subscribe", "id": "s", "area": [[0, 0, 1, 1], _CIRCLE, _FEATURE], "except": _POLYGON},
    {"op": "subscribe", "id": "s", "area": {"type": "FeatureCollection", "features": [_FEATURE]}},
    {
        "op": "subscribe",
        "id": "s",
        "area": {"type": "GeometryCollection", "geometries": [_POLYGON]},
    },
    {"op": "subscribe", "id": "s", "keywords": "-a", "where": "price <= 5 AND type IN ('x')"},
    {"op": "subscribe", "id": "s", "keywords": ["a"], "where": "a = 1", **_TOP},
    {"op": "publish", "id": "m", "text": "a", "at": [0, 0], "attributes": {"a": 1, "b": ["x"]}},
]
CORPUS = _PLAIN + _FURTHER
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 181, 1e11, 1e300, 10**400, "", "a", "known", [], {}, [[]]),
    *([0, 0], [0, 0, 1, 1], [0, 0, 1], [[0, 0, 1, 1]], _POLYGON, _CIRCLE, _FEATURE, [_FEATURE]),
    *(
        "1970-01-01T00:00:09",
        "5138-11-16T09:46:40Z",
        "a OR b",
        "a*",
        "x = 1",
        {"x": 1},
        {"x": None},
    ),
)


def changed(rng: random.Random, event: Json) -> Json:
    """Change, drop or add one to three members anywhere."""
    copy = deepcopy(event)
    for _ in range(rng.choice((1, 1, 2, 3))):
        inside: Any = copy
        while True:
            deeper = [v for v in _members(inside) if isinstance(v, (dict, list)) and v]
            if not deeper or rng.random() < 0.4:
                break
            inside = rng.choice(deeper)
        _change(rng, inside)
    return copy


def _members(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else list(value)


def _change(rng: random.Random, inside: Any) -> None:
    other = rng.choice(CORPUS)
    value = deepcopy(rng.choice((*_VALUES, *other.values())))
    if isinstance(inside, list):
        at = rng.randrange(len(inside) + 1)
        inside[at : at + rng.randrange(3)] = rng.choice(([], [value], [value, deepcopy(value)]))
    elif inside and rng.random() < 0.3:
        del inside[rng.choice(list(inside))]
    else:
        names = [*inside, *other, "bbox", "properties", "crs"]
        inside[rng.choice(names)] = value


def is_accepted(line: bytes) -> bool:
    oracle = Oracle(window_count=5)
    oracle.apply(1, {"op": "subscribe", "id": "known", "keywords": "a"})
    try:
        oracle.apply(2, parse(line))
    except OracleRejects:
        return False
    return True


def test_a_changed_event_is_judged_as_the_oracle_says() -> None:
    rng = random.Random(SEED)
    lines = [json.dumps(changed(rng, rng.choice(CORPUS))).encode() for _ in range(ROUNDS)]
    assert check(lines) > ROUNDS / 20


def test_a_mutated_line_is_judged_as_the_oracle_says() -> None:
    corpus = [json.dumps(event).encode() for event in CORPUS]
    assert check(list(mutations(SEED + 9, corpus, ROUNDS))) > ROUNDS / 20


def check(lines: list[bytes]) -> int:
    """Compare verdicts; return how many were accepted."""
    accepted = 0
    for line in lines:
        if b"\n" in line or not line.strip():
            continue
        hub = nc.Hub(window=nc.Window(count=5))
        hub.subscribe("known", keywords="a")
        verdict = survives(lambda t, h=hub: h.apply(t), line, nc.NearcastError)  # type: ignore[misc]
        expected = is_accepted(line)
        assert (verdict is not None) == expected, f"{line!r}: the oracle accepts: {expected}"
        accepted += expected
    return accepted

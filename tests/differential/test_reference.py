"""The fast reference gives the changes of the slow oracle, on cases cut to its speed."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from differential.areas import Region
from differential.hub_cases import HUB_PROFILES, hub_case
from differential.reference import FastHub
from differential.worlds import World
from oracle import Oracle, OracleRejects
from oracle.space import read_area, read_bbox, read_point, touches

_NAMES = ("event", "subscription", "message", "change", "reason", "score")


def rows(changes: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return sorted((tuple(change.get(name) for name in _NAMES) for change in changes), key=repr)


def outcome(hub: FastHub | Oracle, number: int, event: dict[str, Any]) -> Any:
    try:
        return rows(hub.apply(number, event))
    except OracleRejects:
        return "rejected"


@pytest.mark.parametrize("profile", HUB_PROFILES)
@pytest.mark.parametrize("seed", range(2))
def test_the_reference_changes_like_the_oracle(profile: str, seed: int) -> None:
    case = hub_case(profile, seed)
    settings = case["settings"]["hub"]
    if "window_count" in settings:
        settings["window_count"] = min(settings["window_count"], 5)
    slow, fast = Oracle(**settings), FastHub(**settings)
    number = compared = 0
    opening = case["steps"][0]["rows"]
    del opening[8:]
    for step in case["steps"]:
        if step["do"] == "weights":
            weights = step["weights"]
            assert rows(fast.reweigh(0, weights)) == rows(slow.reweigh(0, weights))
        for event in step.get("rows", ())[: max(0, 90 - number)]:
            if "text" in event:
                event["text"] = event["text"][:400]
            for name in ("area", "except"):
                if len(repr(event.get(name))) > 400:
                    event[name] = [0, 0, 10, 50]  # the oracle takes minutes for many corners
            number += 1
            expected = outcome(slow, number, event)
            assert outcome(fast, number, event) == expected, event
            compared += expected != "rejected"
    assert compared > 25


@pytest.mark.parametrize("seed", range(40))
def test_an_area_touches_what_the_oracle_says(seed: int) -> None:
    rng = Random(seed)
    world = World(rng, 5)
    drawn = [world.area(corners) for corners in (3, 4, 5, 9)]
    drawn += [world.polygon(corners) for corners in (3, 4, 5, 8)]
    for area in map(read_area, drawn):
        region = Region(area)
        for _ in range(6):
            boxes = (
                read_point(world.at()).boxes if rng.random() < 0.5 else read_bbox(world.bbox())[0]
            )
            assert region.touches(boxes.parts) == touches(area, boxes)

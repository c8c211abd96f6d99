"""A stream over many live messages: buffers fill, are cut back, run short and are filled anew."""

from __future__ import annotations

import random
from typing import Any

import pytest
from contract.changes import rows
from contract.variants import top_name, top_variants
from oracle import Oracle

import nearcast as nc

WORDS = ("a", "a", "a", "a", "b", "b", "b", "c", "c", "d", "e")
SPACE = (0, 0, 3, 3)
WINDOW = 24


def stream(seed: int, *, in_order: bool) -> list[dict[str, Any]]:
    """Return events; unless in order, some messages leave before older ones do."""
    rng = random.Random(seed)

    def at() -> list[float]:
        return [rng.randint(0, 12) / 4, rng.randint(0, 12) / 4]

    events: list[dict[str, Any]] = []
    for number in range(8):
        terms = {"k": 1 + number % 4, "alpha": rng.choice((0, 0.2, 0.5, 0.8, 1))}
        keywords = rng.sample(sorted(set(WORDS)), 1 + number % 3)
        subscription = {"op": "subscribe", "id": f"s{number}", "mode": "top", "at": at()}
        events.append({**subscription, "keywords": keywords, **terms})
    for number in range(160):
        text = " ".join(rng.choices(WORDS, k=rng.randint(1, 4)))
        message = {"op": "publish", "id": f"m{number}", "text": text, "at": at(), "time": number}
        events.append(message)
        if in_order:
            continue
        if rng.random() < 0.15:
            message["expires"] = number + rng.randint(1, 30)
        if rng.random() < 0.15:
            events.append({"op": "retract", "id": f"m{number - rng.randint(0, 25)}"})
        if rng.random() < 0.05:
            events.append({"op": "move", "id": f"s{rng.randrange(8)}", "at": at()})
    return events


@pytest.mark.parametrize("hub_settings", top_variants(), ids=top_name)
@pytest.mark.parametrize("in_order", [True, False], ids=["in-order", "early-leavers"])
def test_long_stream_gives_the_changes_of_the_oracle(
    hub_settings: dict[str, Any], *, in_order: bool
) -> None:
    oracle = Oracle(window_count=WINDOW, space=SPACE)
    hub = nc.Hub(window=nc.Window(count=WINDOW), space=SPACE, **hub_settings)
    for number, event in enumerate(stream(7, in_order=in_order), start=1):
        expected = oracle.apply(number, event)
        assert rows(hub.apply([event], first=number).to_pylist()) == rows(expected)
        hub.check_invariants()


def test_dominance_spares_searches() -> None:
    def evaluations(expiry: str) -> int:
        hub = nc.Hub(window=nc.Window(count=WINDOW), space=SPACE, expiry=expiry)
        hub.apply(stream(7, in_order=True))
        return int(hub._core.top_stats["evaluations"])

    naive = evaluations("naive")
    assert evaluations("skyband") < naive / 2
    assert evaluations("cskyband") < naive / 2


@pytest.mark.parametrize("hub_settings", top_variants(), ids=top_name)
def test_a_list_whose_where_refuses_most_has_each_message_once(
    hub_settings: dict[str, Any],
) -> None:
    """What is refused makes room for what a first search did not return."""
    rng = random.Random(5)
    oracle = Oracle(window_count=60, space=SPACE)
    hub = nc.Hub(window=nc.Window(count=60), space=SPACE, **hub_settings)
    events: list[dict[str, Any]] = [
        {
            "op": "publish",
            "id": f"m{number}",
            "text": rng.choice(("a", "a b")),
            "at": [rng.randint(0, 12) / 4, 0],
            "attributes": {"price": rng.randint(0, 9)},
        }
        for number in range(60)
    ]
    terms = {"op": "subscribe", "mode": "top", "keywords": ["a"], "at": [0, 0], "alpha": 0.5}
    events += [
        {**terms, "id": f"s{k}-{price}", "k": k, "where": f"price >= {price}"}
        for k in (1, 2, 5, 40)
        for price in (1, 5, 9, 10)
    ]
    events += [{"op": "retract", "id": f"m{number}"} for number in range(0, 60, 2)]
    for number, event in enumerate(events, start=1):
        expected = oracle.apply(number, event)
        assert rows(hub.apply([event], first=number).to_pylist()) == rows(expected)
    hub.check_invariants()

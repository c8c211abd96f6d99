"""An index that runs out of numbers says so before anything changes, and goes on working.

Lists number their elements by 32 bits; `_core.set_list_limit` lowers that: a test gets there.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

import nearcast as nc
from nearcast import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIMIT = 12_000
KINDS = [kind.name for kind in nc.indexes() if not kind.stands_for]
# So that what a single change adds stays below a quarter of LIMIT, also when a part is made anew.
PARAMETERS: dict[str, Any] = {
    "ap-tree": {"max_rebuild": 64},
    "ap+-tree": {"max_rebuild": 64},
    "kk-index": {"cells": 3},
    "ss-index": {"cells": 3},
}


@pytest.fixture(autouse=True)
def _low_limit() -> Iterator[None]:
    before = _core.set_list_limit(LIMIT)
    yield
    _core.set_list_limit(before)


class _Draw:
    def __init__(self) -> None:
        self.random = random.Random(1)

    def words(self, count: int) -> list[str]:
        return [f"w{int(100 * self.random.random() ** 2)}" for _ in range(count)]

    def box(self) -> list[float]:
        west, south = self.random.uniform(0, 9), self.random.uniform(0, 9)
        return [west, south, west + 1, south + 1]


def _fill(add: Callable[[int], None]) -> None:
    for number in range(LIMIT):
        add(number)


def _matches(subscription: tuple[list[str], list[float]], words: set[str], at: list[float]) -> bool:
    keywords, (west, south, east, north) = subscription
    return set(keywords) <= words and west <= at[0] <= east and south <= at[1] <= north


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_index_refuses_a_subscription_and_stays_as_it_was(kind: str) -> None:
    matcher = nc.Matcher(kind, index_parameters=PARAMETERS.get(kind, {}))
    draw, known = _Draw(), dict[int, tuple[list[str], list[float]]]()

    def subscribe(id_: int) -> None:
        keywords, box = draw.words(2), draw.box()
        matcher.subscribe(id_, keywords=keywords, area=box)
        known[id_] = (keywords, box)

    with pytest.raises(nc.CapacityError):
        _fill(subscribe)
    assert len(known) > 100
    assert len(matcher) == len(known)
    matcher.check_invariants()

    with pytest.raises(nc.CapacityError):  # still
        subscribe(LIMIT)
    matcher.unsubscribe(0)
    known.pop(0)
    subscribe(LIMIT)
    matcher.check_invariants()
    for _ in range(20):
        words, at = draw.words(8), [draw.random.uniform(0, 10), draw.random.uniform(0, 10)]
        expected = [id_ for id_, each in known.items() if _matches(each, set(words), at)]
        assert sorted(matcher.match(" ".join(words), at=tuple(at))) == sorted(expected)


@pytest.mark.parametrize("kind", ["auto", "iq+-tree", "rq+-tree", "kk-index", "ss-index"])
def test_a_hub_whose_messages_fill_it_refuses_the_next_one(kind: str) -> None:
    hub = nc.Hub(index=kind, window=nc.Window(count=LIMIT))
    draw = _Draw()
    area = [0.0, 0.0, 10.0, 10.0]
    hub.subscribe("s", keywords=["w1"], area=area, live=True)
    kept: list[str] = []

    def publish(number: int) -> None:
        at = [draw.random.uniform(0, 10), draw.random.uniform(0, 10)]
        hub.publish(f"m{number}", " ".join(draw.words(4)), at=at)
        kept.append(f"m{number}")

    with pytest.raises(nc.CapacityError):
        _fill(publish)
    assert len(kept) > 100
    assert hub.stats()["live_messages"] == len(kept)
    before = sorted(hub.results("s"))
    with pytest.raises(nc.CapacityError):
        hub.subscribe("t", keywords=["w2"], area=area, live=True)
    assert sorted(hub.results("s")) == before
    hub.retract("m0")
    publish(LIMIT)


def test_a_rank_index_that_is_full_refuses_and_stays_as_it_was() -> None:
    hub = nc.Hub()
    terms: dict[str, Any] = {"mode": "rank", "alpha": 0.5, "threshold": 0.9}
    draw = _Draw()

    def subscribe(number: int) -> None:
        hub.subscribe(f"s{number}", keywords=draw.words(2), area=draw.box(), **terms)

    with pytest.raises(nc.CapacityError):
        _fill(subscribe)
    count = len(hub)
    assert 100 < count < LIMIT
    assert f"s{count - 1}" in hub
    assert f"s{count}" not in hub
    hub.check_invariants()

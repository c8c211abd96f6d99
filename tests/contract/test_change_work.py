"""What a change costs does not grow with what is stored, however alike the stored things are.

Measured in elements that changes looked at or moved (`_core.change_steps`), never in time.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import nearcast as nc
from nearcast import _core

# Kinds whose lists count their steps.
KINDS = [
    *("sized-lists", "iq-tree", "iq+-tree", "rq-tree", "rq+-tree", "trie-qd"),
    *("kk-index", "ss-index", "ap-tree", "ap+-tree", "ir-tree", "pt-quadtree", "lfilter"),
]
FEW, MANY = 1000, 9000  # what is built anew at 512, 4,096 and 8,192 has been by then
BOX = [10.0, 10.0, 11.0, 11.0]


def _table(count: int, keywords: list[str] | None, box: list[float] | None) -> pa.Table:
    sides = zip(("west", "south", "east", "north"), box or (), strict=False)
    return pa.table(
        {
            "id": np.arange(count),
            "keywords": pa.array([keywords] * count, pa.list_(pa.string())),
            **{side: np.full(count, value) for side, value in sides},
        }
    )


def _ids(count: int, order: str) -> list[int]:
    ids = list(range(count))
    if order == "random":
        random.Random(1).shuffle(ids)
    return ids if order != "backward" else ids[::-1]


def _steps_per_change(change: Any, values: list[Any]) -> float:
    before = _core.change_steps()
    for value in values:
        change(value)
    return (_core.change_steps() - before) / len(values)


@pytest.mark.parametrize("order", ["random", "forward", "backward"])
@pytest.mark.parametrize(
    ("keywords", "box"),
    [(["a"], BOX), (None, BOX), (["a"], None), (["a", "b"], BOX)],
    ids=["word and box", "box", "word", "words and box"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_erasing_one_of_many_alike_costs_the_same_however_many_there_are(
    kind: str, keywords: list[str] | None, box: list[float] | None, order: str
) -> None:
    steps = {}
    for count in (FEW, MANY):
        matcher = nc.Matcher(kind)
        matcher.subscribe_table(_table(count, keywords, box))
        steps[count] = _steps_per_change(matcher.unsubscribe, _ids(count, order)[: count * 9 // 10])
        matcher.check_invariants()
        found = matcher.match("a b", at=(10.5, 10.5))
        assert sorted(found) == sorted(_ids(count, order)[count * 9 // 10 :])
    assert steps[FEW] > 0
    assert steps[MANY] <= 2 * steps[FEW] + 32  # a scan would be 9 times as many, and thousands


@pytest.mark.parametrize("kind", KINDS)
def test_inserting_one_more_alike_costs_the_same_however_many_there_are(kind: str) -> None:
    matcher = nc.Matcher(kind)
    matcher.subscribe_table(_table(MANY, ["a"], BOX))
    small = nc.Matcher(kind)
    small.subscribe_table(_table(FEW, ["a"], BOX))
    ids = list(range(MANY, MANY + 200))
    many = _steps_per_change(lambda id_: matcher.subscribe(id_, keywords=["a"], area=BOX), ids)
    few = _steps_per_change(lambda id_: small.subscribe(id_, keywords=["a"], area=BOX), ids)
    matcher.check_invariants()
    assert many <= 2 * few + 64


@pytest.mark.parametrize("order", ["random", "forward"])
def test_erasing_one_of_many_alike_in_a_tree_of_levels_depends_on_its_height_only(
    order: str,
) -> None:
    steps = []
    for count in (MANY, 3 * MANY):  # three levels of nodes
        matcher = nc.Matcher("rt++-tree")
        matcher.subscribe_table(_table(count, ["a"], BOX))
        steps.append(_steps_per_change(matcher.unsubscribe, _ids(count, order)[: count // 2]))
        matcher.check_invariants()
        assert len(matcher.match("a", at=(10.5, 10.5))) == count - count // 2
    few, many = steps
    assert few > 0
    assert many <= 1.5 * few


@pytest.mark.parametrize("order", ["random", "forward"])
@pytest.mark.parametrize("kind", ["auto", "ir-tree"])
def test_erasing_one_of_many_rank_subscriptions_that_two_words_lead_to(
    kind: str, order: str
) -> None:
    steps = {}
    for count in (FEW, MANY):
        hub = nc.Hub(index=kind)
        terms = {"mode": "rank", "alpha": 0.1, "threshold": 0.85, "area": BOX}
        terms["keywords"] = ["a", "b", "c"]  # of equal weight: two of three, or nothing
        hub.apply([{"op": "subscribe", "id": f"s{i}", **terms} for i in range(count)])
        gone = [f"s{i}" for i in _ids(count, order)[: count * 9 // 10]]
        steps[count] = _steps_per_change(hub.unsubscribe, gone)
        assert len(hub.publish("m", "a b c", at=[10.5, 10.5])) == count - len(gone)
    assert steps[FEW] > 0
    assert steps[MANY] <= 2 * steps[FEW] + 32


@pytest.mark.parametrize("order", ["random", "forward"])
def test_erasing_one_of_many_rank_subscriptions_that_text_leads_to(order: str) -> None:
    steps = {}
    for count in (FEW, MANY):
        hub = nc.Hub()
        terms = {"mode": "rank", "alpha": 0.1, "threshold": 0.5, "keywords": ["a"], "area": BOX}
        hub.apply([{"op": "subscribe", "id": f"s{i}", **terms} for i in range(count)])
        gone = [f"s{i}" for i in _ids(count, order)[: count * 9 // 10]]
        steps[count] = _steps_per_change(hub.unsubscribe, gone)
        assert len(hub.publish("m", "a", at=[50.0, 50.0])) == count - len(gone)
    assert steps[FEW] > 0
    assert steps[MANY] <= 2 * steps[FEW] + 32


@pytest.mark.parametrize("order", ["random", "forward"])
@pytest.mark.parametrize(
    ("kind", "counts"), [("bounded-lists", (2000, 9000)), ("ciq", (500, 2250))]
)
def test_erasing_one_of_many_top_subscriptions_at_one_place(
    kind: str, counts: tuple[int, int], order: str
) -> None:
    steps = {}
    for count in counts:
        hub = nc.Hub(topk=kind, window=nc.Window(count=4))
        terms = {"mode": "top", "alpha": 0.5, "k": 1, "keywords": ["a"], "at": [10.0, 10.0]}
        hub.apply([{"op": "subscribe", "id": f"s{i}", **terms} for i in range(count)])
        gone = [f"s{i}" for i in _ids(count, order)[: count * 9 // 10]]
        steps[count] = _steps_per_change(hub.unsubscribe, gone)
        assert len(hub.publish("m", "a", at=[10.0, 10.0])) == count - len(gone)
    few, many = steps.values()
    assert few > 0
    assert many <= 2 * few + 64

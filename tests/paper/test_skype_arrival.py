"""What [Skype §5] promises of its bounds: who is looked at one by one, and who is not."""

from __future__ import annotations

import random

import pytest

import nearcast as nc

WORDS = [f"w{i}" for i in range(30)]


def log(seed, subscriptions=300):
    """Return events: each subscription has two words, most places are in four towns."""
    draw = random.Random(seed)

    def place():
        town = draw.choice(((0, 0), (40, 10), (-70, -30), (100, 50)))
        return [town[0] + draw.gauss(0, 1), town[1] + draw.gauss(0, 1)]

    def words(count):
        return draw.sample(WORDS, count)

    for i in range(2000):
        yield {"op": "publish", "id": f"a{i}", "text": " ".join(words(4)), "at": place()}
    for i in range(subscriptions):
        fields = {"keywords": words(2), "at": place(), "k": 1, "alpha": draw.random()}
        yield {"op": "subscribe", "id": f"s{i}", "mode": "top", **fields}
    for i in range(200):
        yield {"op": "publish", "id": f"b{i}", "text": " ".join(words(4)), "at": place()}


@pytest.fixture(scope="module")
def looked_at():
    """Return how many entries each kind looks at for the same log."""
    counts = {}
    for kind in (kind.name for kind in nc.topk_kinds()):
        # Without slack in the lists a bound is the score of the k-th: no cost model has a say.
        window, parameters = nc.Window(count=3000), {"max_cell": 40}
        hub = nc.Hub(window=window, topk=kind, expiry="naive", topk_parameters=parameters)
        hub.apply(log(7))
        counts[kind] = hub._core.top_stats["candidates"]
    return counts


def test_group_pruning_spares_most_of_what_individual_pruning_looks_at(looked_at) -> None:
    assert looked_at["igpt"] < looked_at["ipt"] / 2


def test_without_bounds_everybody_with_a_common_word_is_looked_at(looked_at) -> None:
    assert looked_at["term-at-a-time"] == looked_at["ciq"]
    assert looked_at["ipt"] > looked_at["ciq"]  # two words in common: looked at twice
    assert looked_at["ciq"] < looked_at["brute-force"] / 2

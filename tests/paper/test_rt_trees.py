"""Rt-tree and its kin: what [Rt §4, §5 and §7] promise of the pruning, read off the work counters.

Answers are compared in the contract suite. All trees here have the same nodes, since they are built
from the same boxes, so the numbers of nodes and candidates can be compared.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import nearcast as nc
from nearcast.bench.measuring import measure_table

WORDS = 3000
SIZE = 12_000


def _words(rng: np.random.Generator, count: int, town: int) -> list[str]:
    ranks = (WORDS + 1.0) ** rng.random(count * 2) - 1  # Zipf-like: few words are frequent
    # Every second word belongs to its town: frequent there, unheard of elsewhere.
    names = [f"t{town}w{int(r) % 40}" if int(r) % 2 else f"w{int(r)}" for r in ranks]
    return list(dict.fromkeys(names))[:count]


def _places(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    towns = np.random.default_rng(7).uniform(0, 10, (20, 2))
    chosen = rng.integers(0, 20, count)
    return chosen, towns[chosen] + rng.normal(0, 0.3, (count, 2))


def _subscriptions(rng: np.random.Generator, count: int) -> pa.Table:
    towns, points = _places(rng, count)
    sides = {
        name: points[:, axis] + sign * 0.1
        for name, axis, sign in (("west", 0, -1), ("south", 1, -1), ("east", 0, 1), ("north", 1, 1))
    }
    keywords = [_words(rng, 1 + int(rng.integers(5)), int(town)) for town in towns]
    return pa.table({"id": np.arange(count), "keywords": keywords, **sides})


def _messages(rng: np.random.Generator, count: int, extent: float, length: int) -> pa.RecordBatch:
    towns, points = _places(rng, count)
    tokens = [_words(rng, length, int(town)) for town in towns]
    if extent == 0:
        places = {"lon": points[:, 0], "lat": points[:, 1]}
    else:
        places = {
            "west": points[:, 0],
            "south": points[:, 1],
            "east": points[:, 0] + extent,
            "north": points[:, 1] + extent,
        }
    return pa.record_batch({"tokens": tokens, **places})


def _work(kind: str, extent: float = 0, *, length: int = 9, **parameters: Any) -> dict[str, int]:
    rng = np.random.default_rng(1)
    matcher = nc.Matcher(kind, index_parameters=parameters)
    matcher.subscribe_table(_subscriptions(rng, SIZE))
    return measure_table(matcher, _messages(rng, 300, extent, length)).work


@pytest.mark.parametrize("extent", [0, 0.5])
def test_token_sets_prune_what_boxes_do_not(extent) -> None:
    # With nine words a message shares one with almost every leaf.
    bare, tokens = _work("spatial-first", extent, length=2), _work("rt-tree", extent, length=2)
    assert tokens["nodes_visited"] < bare["nodes_visited"]
    assert tokens["candidates"] < bare["candidates"]


@pytest.mark.parametrize("extent", [0, 0.5])
@pytest.mark.parametrize("representative", ["locality", "idf", "df", "random"])
def test_lemma_2_representatives_prune_at_least_as_much(representative, extent) -> None:
    one, all_ = _work("rt+-tree", extent, representative=representative), _work("rt-tree", extent)
    assert one["nodes_visited"] <= all_["nodes_visited"]
    assert one["candidates"] <= all_["candidates"]


def test_rare_representatives_prune_more_than_frequent_and_random_ones() -> None:
    visited = {
        name: _work("rt+-tree", representative=name)["nodes_visited"]
        for name in ("locality", "idf", "df", "random")
    }
    assert max(visited["idf"], visited["locality"]) < min(visited["df"], visited["random"])


@pytest.mark.parametrize("extent", [0, 0.5])
def test_a_token_per_level_leaves_the_fewest_candidates(extent) -> None:
    several, one = _work("rt++-tree", extent), _work("rt+-tree", extent)
    assert several["nodes_visited"] < one["nodes_visited"]
    assert several["candidates"] < one["candidates"]


@pytest.mark.parametrize("extent", [0, 0.5])
def test_the_ir_tree_visits_the_nodes_of_the_rt_tree(extent) -> None:
    assert _work("ir-tree", extent) == _work("rt-tree", extent)

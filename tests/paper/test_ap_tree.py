"""AP-Tree: what [AP §3.3] and [AP §5.1] promise, read off the work counters.

Answers are compared in the contract suite. Here the pruning is: a tree that stopped adapting would
still be right, and slow.
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


def _words(rng: np.random.Generator, count: int, first: int = 0) -> list[str]:
    ranks = (WORDS + 1.0) ** rng.random(count * 2) - 1  # Zipf-like: few words are frequent
    return [f"w{first + int(rank)}" for rank in dict.fromkeys(ranks.astype(int))][:count]


def _points(rng: np.random.Generator, count: int, east: float = 0.0) -> np.ndarray:
    towns = rng.uniform(0, 10, (20, 2))
    points: np.ndarray = towns[rng.integers(0, 20, count)] + rng.normal(0, 0.3, (count, 2))
    points += np.array([east, 0.0])
    return points


def _subscriptions(
    rng: np.random.Generator, ids: range, *, half_side: float, first: int = 0, east: float = 0.0
) -> pa.Table:
    points = _points(rng, len(ids), east)
    sides = {
        name: points[:, axis] + sign * half_side
        for name, axis, sign in (("west", 0, -1), ("south", 1, -1), ("east", 0, 1), ("north", 1, 1))
    }
    keywords = [_words(rng, 1 + int(rng.integers(5)), first) for _ in ids]
    return pa.table({"id": list(ids), "keywords": keywords, **sides})


def _messages(
    rng: np.random.Generator, count: int, *, first: int = 0, east: float = 0.0
) -> pa.RecordBatch:
    points = _points(rng, count, east)
    tokens = [_words(rng, 9, first) for _ in range(count)]
    return pa.record_batch({"tokens": tokens, "lon": points[:, 0], "lat": points[:, 1]})


def _candidates(kind: str, half_side: float, **parameters: Any) -> int:
    rng = np.random.default_rng(1)
    matcher = nc.Matcher(kind, index_parameters=parameters)
    matcher.subscribe_table(_subscriptions(rng, range(SIZE), half_side=half_side))
    return measure_table(matcher, _messages(rng, 300)).work["candidates"]


@pytest.mark.parametrize("half_side", [0.05, 0.5])
def test_looks_at_fewer_than_either_filter_alone(half_side) -> None:
    candidates = _candidates("ap-tree", half_side)
    assert candidates < _candidates("keyword-first", half_side)
    assert candidates < _candidates("spatial-first", half_side)


@pytest.mark.parametrize("half_side", [0.05, 0.5, 5.0])
def test_adapts_to_what_tells_entries_apart(half_side) -> None:
    """Small areas favour space, large ones keywords; [AP §5.1.2] no fixed priority fits both."""
    fixed = [_candidates("ap-tree", half_side, priority=way) for way in ("keyword", "spatial")]
    assert _candidates("ap-tree", half_side) < 2 * min(fixed)


def test_heuristic_cuts_are_nearly_as_good_as_optimal_ones() -> None:
    """[AP §5.1.2]: HR has a matching time similar to DP."""
    optimal = _candidates("ap-tree", 5.0, keyword_partition="optimal")
    assert _candidates("ap-tree", 5.0, keyword_partition="heuristic") < 1.2 * optimal


def test_a_token_in_no_cut_opens_none() -> None:
    matcher = nc.Matcher("ap-tree")
    rng = np.random.default_rng(1)
    keywords = _subscriptions(rng, range(SIZE), half_side=1.0).select(["id", "keywords"])
    matcher.subscribe_table(keywords)
    unknown = pa.record_batch({"tokens": [["nobody asks"]], "lon": [5.0], "lat": [5.0]})
    assert measure_table(matcher, unknown).work["candidates"] == 0


def test_a_keyword_that_all_share_does_not_end_the_tree() -> None:
    """The first keyword tells nothing, so the next one has to."""
    rng = np.random.default_rng(2)
    keywords = [["common", f"own{int(i)}"] for i in rng.integers(0, 2000, SIZE)]
    matcher = nc.Matcher("ap-tree")
    matcher.subscribe_table(pa.table({"id": list(range(SIZE)), "keywords": keywords}))
    message = pa.record_batch({"tokens": [["common", "own7"]], "lon": [0.0], "lat": [0.0]})
    work = measure_table(matcher, message).work
    assert 0 < work["matches"] <= work["candidates"] < SIZE / 50


def test_a_sample_of_messages_moves_the_choice() -> None:
    """Messages always name the same words: cutting by them gains nothing, and a sample says so."""
    works = []
    for learns in (False, True):
        rng = np.random.default_rng(3)
        tokens = [[f"w{i}" for i in range(200)]] * 200
        points = _points(rng, 200)
        messages = pa.record_batch({"tokens": tokens, "lon": points[:, 0], "lat": points[:, 1]})
        matcher = nc.Matcher("ap-tree")
        if learns:
            matcher.learn_table(messages)
        matcher.subscribe_table(_subscriptions(rng, range(SIZE), half_side=0.5))
        works.append(measure_table(matcher, messages).work)
    assumed, learned = works
    assert learned["matches"] == assumed["matches"]
    assert learned["nodes_visited"] < assumed["nodes_visited"]


@pytest.mark.parametrize("insert_one_by_one", [True, False])
def test_rebuilding_follows_a_workload_that_moves(insert_one_by_one) -> None:
    """[AP §3.3.5, §5.1.3]: without reconstruction a tree made for other subscriptions stays bad."""
    candidates = []
    for rebuild in (True, False):
        rng = np.random.default_rng(4)
        matcher = nc.Matcher("ap-tree", index_parameters={"rebuild": rebuild})
        matcher.subscribe_table(_subscriptions(rng, range(SIZE // 5), half_side=0.2))
        rest = range(SIZE // 5, SIZE)
        moved = _subscriptions(rng, rest, half_side=0.2, first=WORDS, east=30.0)
        step = 1 if insert_one_by_one else 500
        for start in range(0, len(moved), step):
            matcher.subscribe_table(moved.slice(start, step))
        matcher.check_invariants()
        messages = _messages(rng, 300, first=WORDS, east=30.0)
        candidates.append(measure_table(matcher, messages).work["candidates"])
    assert candidates[0] < 0.8 * candidates[1]


def test_a_tree_that_grew_equals_one_that_was_made() -> None:
    rng = np.random.default_rng(5)
    table = _subscriptions(rng, range(SIZE), half_side=0.2)
    messages = _messages(rng, 300)
    made, grown = nc.Matcher("ap-tree"), nc.Matcher("ap-tree")
    made.subscribe_table(table)
    for start in range(0, SIZE, 10):
        grown.subscribe_table(table.slice(start, 10))
    works = [measure_table(matcher, messages).work for matcher in (made, grown)]
    assert works[0]["matches"] == works[1]["matches"]
    assert works[1]["candidates"] < 2 * works[0]["candidates"]

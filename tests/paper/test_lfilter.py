"""MBRTrie, PT-Quadtree and LFilter: what [LFilter §3 to §5] promises, read off the work counters.

Answers are compared in the contract suite. Here the pruning is: a structure that stopped pruning
would still be right, and slow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import nearcast as nc
from nearcast.bench.measuring import measure_table

WORDS = 2000
SIZE = 8000


def _words(rng: np.random.Generator, count: int) -> list[str]:
    ranks = (WORDS + 1.0) ** rng.random(count * 2) - 1  # Zipf-like: few words are frequent
    return [f"w{int(rank)}" for rank in dict.fromkeys(ranks.astype(int))][:count]


def _boxes(centres: np.ndarray, half_side: float) -> dict[str, np.ndarray]:
    sides = (("west", 0, -1), ("south", 1, -1), ("east", 0, 1), ("north", 1, 1))
    return {name: centres[:, axis] + sign * half_side for name, axis, sign in sides}


def _matcher(kind: str, **parameters: Any) -> nc.Matcher:
    rng = np.random.default_rng(1)
    keywords = [_words(rng, 1 + int(rng.integers(5))) for _ in range(SIZE)]
    boxes = _boxes(rng.uniform(0, 40, (SIZE, 2)), 0.3)
    matcher = nc.Matcher(kind, index_parameters=parameters)
    matcher.subscribe_table(pa.table({"id": list(range(SIZE)), "keywords": keywords, **boxes}))
    return matcher


def _messages(*, tokens: int, half_side: float, count: int = 200) -> pa.RecordBatch:
    rng = np.random.default_rng(2)
    boxes = _boxes(rng.uniform(0, 40, (count, 2)), half_side)
    return pa.record_batch({"tokens": [_words(rng, tokens) for _ in range(count)], **boxes})


def _work(matcher: nc.Matcher, messages: pa.RecordBatch) -> dict[str, int]:
    return measure_table(matcher, messages).work


@pytest.mark.parametrize("half_side", [0.0, 2.0])
def test_each_structure_looks_at_fewer_than_the_filter_it_refines(half_side) -> None:
    messages = _messages(tokens=9, half_side=half_side)
    kinds = ("mbr-trie", "pt-quadtree", "keyword-first", "spatial-first")
    candidates = {kind: _work(_matcher(kind), messages)["candidates"] for kind in kinds}
    assert candidates["mbr-trie"] < candidates["keyword-first"]
    assert candidates["pt-quadtree"] < candidates["spatial-first"]
    assert candidates["pt-quadtree"] < candidates["mbr-trie"]


def test_all_ways_to_probe_visit_the_same_nodes() -> None:
    """[LFilter §3.3] They differ in how children are found, not in which."""
    messages = _messages(tokens=40, half_side=0.0)
    ways = [_work(_matcher("mbr-trie", probe=w), messages) for w in ("cost", "token-set", "trie")]
    assert ways[0] == ways[1] == ways[2]


def test_boxes_of_the_trie_prune() -> None:
    """[LFilter §3.2] A message elsewhere meets the same words and no entry."""
    matcher = _matcher("mbr-trie")
    here = _messages(tokens=9, half_side=0.0)
    far = pa.record_batch(
        {
            name: here.column(name) if name == "tokens" else np.full(here.num_rows, -60.0)
            for name in here.schema.names
        }
    )
    assert _work(matcher, here)["candidates"] > 0
    assert _work(matcher, far)["candidates"] == 0


def test_more_copies_mean_fewer_candidates_and_more_memory() -> None:
    """[LFilter §4.1] Push-down under a budget against the MX-CIF quadtree."""
    messages = _messages(tokens=9, half_side=0.0)
    whole, pushed = (_matcher("pt-quadtree", max_copies=copies) for copies in (1, 8))
    assert _work(pushed, messages)["candidates"] < _work(whole, messages)["candidates"]
    assert pushed.stats()["index_bytes"] > whole.stats()["index_bytes"]


def test_list_pruning_leaves_fewer_candidates() -> None:
    """[LFilter §5.2] The sum of the pruned lists is no longer than the lists."""
    messages = _messages(tokens=40, half_side=0.0)
    direct, pruned = (
        _work(_matcher("lfilter", filter="quadtree", verify=way), messages)
        for way in ("direct", "prune")
    )
    assert pruned["candidates"] < direct["candidates"]
    assert pruned["nodes_visited"] > direct["nodes_visited"]


def test_the_model_sends_large_ranges_to_the_trie() -> None:
    """[LFilter §5.1, case 1] Many cells touched: the trie's filter is cheaper."""
    messages = _messages(tokens=9, half_side=15.0)
    chosen, trie = (_work(_matcher("lfilter", filter=way), messages) for way in ("cost", "trie"))
    assert chosen == trie

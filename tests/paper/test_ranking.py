"""Ranking: what [Rt §6] promises of the pruning, read off the work counters, and bounds by hand.

Answers are compared in the contract suite. The trees here have the same nodes, since they are built
from the same boxes.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import nearcast as nc
from nearcast.bench.measuring import measure_table

SIZE = 8_000
WORDS = 2_000
ABLE = [kind.name for kind in nc.indexes() if "rank" in kind.capabilities and not kind.stands_for]


def _words(rng: np.random.Generator, count: int) -> list[str]:
    ranks = (WORDS + 1.0) ** rng.random(count * 2) - 1  # Zipf-like: few words are frequent
    return list(dict.fromkeys(f"w{int(rank)}" for rank in ranks))[:count]


def _subscriptions(rng: np.random.Generator, alpha: float, threshold: float) -> pa.Table:
    corner = rng.uniform(0, 10, (SIZE, 2))
    return pa.table(
        {
            "id": np.arange(SIZE),
            "keywords": [_words(rng, 1 + int(rng.integers(5))) for _ in range(SIZE)],
            "west": corner[:, 0],
            "south": corner[:, 1],
            "east": corner[:, 0] + 0.2,
            "north": corner[:, 1] + 0.2,
            "alpha": np.full(SIZE, alpha),
            "threshold": np.full(SIZE, threshold),
        }
    )


def _work(kind: str, alpha: float, threshold: float) -> dict[str, int]:
    rng = np.random.default_rng(1)
    matcher = nc.Matcher(kind, mode="rank")
    matcher.subscribe_table(_subscriptions(rng, alpha, threshold))
    points = rng.uniform(0, 10, (200, 2))
    tokens = [_words(rng, 9) for _ in range(200)]
    messages = pa.record_batch({"tokens": tokens, "lon": points[:, 0], "lat": points[:, 1]})
    return measure_table(matcher, messages).work


@pytest.mark.parametrize("kind", [kind for kind in ABLE if kind != "brute-force"])
@pytest.mark.parametrize(("alpha", "threshold"), [(0.3, 0.8), (0.5, 0.9), (0.9, 0.6)])
def test_every_kind_looks_at_far_fewer_than_brute_force(
    kind: str, alpha: float, threshold: float
) -> None:
    if alpha >= threshold and kind in ("sized-lists", "keyword-first"):
        pytest.skip("text cannot prune, and this kind has nothing else")
    work, all_ = _work(kind, alpha, threshold), _work("brute-force", alpha, threshold)
    assert work["matches"] == all_["matches"] > 0
    assert work["candidates"] < all_["candidates"] / 10


def test_prefixes_prune_more_than_token_sets_and_levels_more_than_prefixes() -> None:
    rt, plus, plus_plus = (_work(k, 0.3, 0.6) for k in ("rt-tree", "rt+-tree", "rt++-tree"))
    assert plus["candidates"] < rt["candidates"]
    assert plus_plus["candidates"] < plus["candidates"]


def test_a_higher_threshold_leaves_less_to_do() -> None:  # [Rt §7.6, Fig. 14]
    for kind in ("rt-tree", "rt+-tree", "rt++-tree"):
        low, high = _work(kind, 0.3, 0.5), _work(kind, 0.3, 0.9)
        assert high["candidates"] < low["candidates"]


@pytest.mark.parametrize("kind", ABLE)
def test_a_score_that_equals_the_threshold_is_an_answer(kind: str) -> None:
    matcher = nc.Matcher(kind, mode="rank")
    # α ψ_s + (1 − α) ψ_t = 0.5 · 0.5 + 0.5 · 0.5, bounds of every node included.
    matcher.subscribe("s", keywords=["a", "b"], area=[0, 0, 1, 1], alpha=0.5, threshold=0.5)
    assert matcher.rank("a", bbox=[0.5, 0, 2, 2]) == [("s", 0.5)]
    assert matcher.rank("a", bbox=[0.5000001, 0, 2, 2]) == []


@pytest.mark.parametrize("kind", ABLE)
def test_without_a_common_token_space_alone_may_reach_the_threshold(kind: str) -> None:
    matcher = nc.Matcher(kind, mode="rank")
    matcher.subscribe("s", keywords=["a"], area=[0, 0, 1, 1], alpha=0.6, threshold=0.6)
    assert matcher.rank("z", at=(1, 1)) == [("s", 0.6)]
    assert matcher.rank("a", at=(2, 2)) == []


@pytest.mark.parametrize("kind", ABLE)
def test_elsewhere_text_alone_may_reach_the_threshold(kind: str) -> None:
    matcher = nc.Matcher(kind, mode="rank")
    matcher.subscribe("s", keywords=["a", "b"], area=[0, 0, 1, 1], alpha=0.4, threshold=0.6)
    assert matcher.rank("b a", at=(99, 9)) == [("s", 0.6)]
    assert matcher.rank("b", at=(99, 9)) == []
    ((id_, score),) = matcher.rank("b", at=(1, 1))
    assert id_ == "s"
    assert score == pytest.approx(0.7)

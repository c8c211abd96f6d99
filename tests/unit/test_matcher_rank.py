"""A matcher that ranks: scores, weights, errors and snapshots."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from match_tables import BOX, HERE, boxes, points

import nearcast as nc
from nearcast.weights import Weights

TERMS: dict[str, Any] = {"alpha": 0.4, "threshold": 0.5}


def rank_table(ids, keywords, areas, alpha, threshold):
    terms = {"alpha": pa.array(alpha, pa.float64()), "threshold": pa.array(threshold, pa.float64())}
    words = pa.array(keywords, pa.list_(pa.string()))
    return pa.table({"id": ids, "keywords": words, **boxes(areas), **terms})


@pytest.fixture
def ranker():
    matcher = nc.Matcher(mode="rank")
    matcher.subscribe("s1", keywords=["tea", "cake"], area=BOX, **TERMS)
    return matcher


def test_a_score_is_text_and_place_together(ranker) -> None:
    assert ranker.mode == "rank"
    assert ranker.rank("Tea!", at=HERE) == [("s1", pytest.approx(0.4 + 0.6 / 2))]
    assert ranker.rank("Tea and cake", at=(9, 9)) == [("s1", pytest.approx(0.6))]
    assert ranker.rank("Tea", at=(9, 9)) == []
    assert ranker.rank("Cake", bbox=[1, 0, 3, 2]) == [("s1", pytest.approx(0.2 + 0.3))]


def test_rank_table_gives_rows_ids_and_scores(ranker) -> None:
    found = ranker.rank_table(points(["tea", "jam", "cake tea"], [HERE] * 3))
    assert found.column_names == ["message", "subscription", "score"]
    assert found.to_pydict() == {
        "message": [0, 2],
        "subscription": ["s1", "s1"],
        "score": pytest.approx([0.7, 1.0]),
    }


def test_rows_of_many_batches_count_through(ranker) -> None:
    messages = pa.concat_tables([points(["jam", "tea"], [HERE] * 2), points(["cake"], [HERE])])
    assert ranker.rank_table(messages).column("message").to_pylist() == [1, 2]


def test_ids_may_be_numbers() -> None:
    matcher = nc.Matcher(mode="rank")
    table = rank_table([7, 8], [["tea"], ["jam"]], [BOX, BOX], [0, 1], [1, 1])
    matcher.subscribe_table(table)
    assert sorted(matcher.rank("tea", at=HERE)) == [(7, 1), (8, 1)]
    matcher.unsubscribe_table([7])
    assert matcher.rank("tea", at=HERE) == [(8, 1)]
    assert 8 in matcher
    assert len(matcher) == 1


def test_a_new_epoch_weighs_all_at_once(ranker) -> None:
    ranker.set_weights(Weights(99, {"tea": 99}))
    light, heavy = 1.0, Weights(99).idf("cake")
    share = heavy / (light + heavy)
    assert ranker.rank("tea", at=(9, 9)) == []
    assert ranker.rank("cake", at=HERE) == [("s1", pytest.approx(0.4 + 0.6 * share))]
    ranker.subscribe("s2", keywords=["tea"], area=BOX, alpha=0, threshold=1)
    ranker.set_weights(None)
    assert dict(ranker.rank("tea", at=HERE)) == {"s1": pytest.approx(0.7), "s2": 1}


def test_words_that_come_after_the_epoch_have_its_weight(ranker) -> None:
    ranker.set_weights(Weights(99, {"later": 99}))
    ranker.subscribe("s2", keywords=["later", "unlisted"], area=BOX, alpha=0, threshold=0.1)
    light, heavy = 1.0, Weights(99).idf("unlisted")
    assert ranker.rank("later", at=HERE) == [("s2", pytest.approx(light / (light + heavy)))]


def test_a_threshold_below_half_a_unit_lets_everything_pass() -> None:
    matcher = nc.Matcher(mode="rank")
    matcher.subscribe("s1", keywords=["tea"], area=BOX, alpha=0.5, threshold=1e-12)
    assert matcher.rank("jam", at=(99, 9)) == [("s1", 0)]


def test_a_snapshot_keeps_mode_weights_and_scores(ranker, tmp_path) -> None:
    ranker.set_weights(Weights(9, {"tea": 9}))
    ranker.save(tmp_path / "ranks")
    opened = nc.Matcher.open(tmp_path / "ranks")
    assert opened.mode == "rank"
    assert opened.rank("cake", at=HERE) == ranker.rank("cake", at=HERE) != []
    opened.check_invariants()


@pytest.mark.parametrize(
    ("call", "mode"),
    [
        (lambda m: m.match("tea", at=HERE), "rank"),
        (lambda m: m.match_table(points(["tea"], [HERE])), "rank"),
        (lambda m: m.learn_table(points(["tea"], [HERE])), "rank"),
        (lambda m: m.rank("tea", at=HERE), "match"),
        (lambda m: m.rank_table(points(["tea"], [HERE])), "match"),
        (lambda m: m.set_weights(None), "match"),
    ],
)
def test_a_matcher_answers_in_its_own_mode_only(call, mode) -> None:
    with pytest.raises(nc.InvalidParameterError, match=f"in mode '{mode}'"):
        call(nc.Matcher(mode=mode))


def test_an_unknown_mode_is_refused() -> None:
    wrong: Any = "top"
    with pytest.raises(nc.InvalidParameterError, match="'match' or 'rank'"):
        nc.Matcher(mode=wrong)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"keywords": None}, "keywords"),
        ({"keywords": "tea OR jam"}, "OR"),
        ({"area": None}, "box"),
        ({"area": nc.Circle((0, 0), 5)}, "box"),
        ({"alpha": None}, "alpha"),
        ({"alpha": True}, "alpha"),
        ({"alpha": 1.5}, "from 0 to 1"),
        ({"alpha": float("nan")}, "from 0 to 1"),
        ({"threshold": 0}, "above 0"),
        ({"threshold": 1.01}, "above 0, to 1"),
    ],
)
def test_a_rank_subscription_that_cannot_be_changes_nothing(ranker, change, words) -> None:
    fields = {"keywords": ["tea"], "area": BOX, **TERMS} | change
    with pytest.raises(nc.InvalidSubscriptionError, match=words):
        ranker.subscribe("s2", **fields)
    assert len(ranker) == 1
    ranker.check_invariants()


def test_terms_of_ranking_have_no_meaning_in_a_match() -> None:
    with pytest.raises(nc.InvalidSubscriptionError, match="alpha has no meaning"):
        nc.Matcher().subscribe("s1", keywords="tea", alpha=0.5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"alpha": [0.5, 2]}, "row 1: alpha"),
        ({"alpha": [0.5, None]}, "row 1: alpha"),
        ({"threshold": [0, 0.5]}, "row 0: threshold"),
        ({"areas": [BOX, None]}, "row 1: west"),
        ({"keywords": [["tea"], []]}, "row 1: keywords"),
        ({"keywords": [["tea"], None]}, "row 1: keywords"),
        ({"ids": ["s2", "s1"]}, "'s1'"),
        ({"ids": ["s2", "s2"]}, "'s2'"),
    ],
)
def test_a_table_with_one_bad_row_changes_nothing(ranker, change, words) -> None:
    good = {
        "ids": ["s2", "s3"],
        "keywords": [["tea"], ["jam"]],
        "areas": [BOX, BOX],
        "alpha": [0.5, 0.5],
        "threshold": [0.5, 0.5],
    }
    with pytest.raises(nc.NearcastError, match=words):
        ranker.subscribe_table(rank_table(**(good | change)))
    assert len(ranker) == 1
    ranker.check_invariants()
    ranker.subscribe_table(rank_table(**good))
    assert len(ranker) == 3


def test_a_missing_column_is_named(ranker) -> None:
    table = rank_table(["s2"], [["tea"]], [BOX], [1], [1]).drop_columns(["threshold"])
    with pytest.raises(nc.InvalidSubscriptionError, match="'threshold' is missing"):
        ranker.subscribe_table(table)

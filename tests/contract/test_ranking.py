"""Any interleaving of subscribing, weighing and ranking gives the oracle's answers and scores."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
import strategies as some
from contract.variants import EXAMPLES, name_of, rank_variants
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from match_tables import SIDES, boxes, coded, points
from oracle import Weights, read_message, read_subscription
from oracle.events import decide

import nearcast as nc
from nearcast import weights as nc_weights

if TYPE_CHECKING:
    from collections.abc import Callable

Ranked = list[tuple[str, float]]

_WORDS = ("a", "b", "c", "d", "e", "f")
_words = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=6)
_shares = st.sampled_from((0, 0.1, 0.25, 0.3, 0.5, 0.9, 1))
# What scores of few words and simple overlaps come to, so that they meet thresholds; thresholds
# that round to no unit at all, to one, or up to one.
_ties = st.sampled_from((0.1, 0.25, 0.5, 2 / 3, 0.333333333, 0.8333333333, 0.65, 0.9, 1, 1))
_tiny = st.sampled_from((1e-12, 5e-10, 6e-10, 1e-9, 2e-9))
_thresholds = st.one_of(_ties, _ties, st.floats(0.01, 1), _tiny)
_thin = st.sampled_from(([0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0], [180, 0, -180, 1]))
_areas = st.one_of(some.bboxes, some.bboxes, _thin).filter(lambda box: box[1] <= box[3])
_subscriptions = st.tuples(_words, _areas, _shares, _thresholds)


@st.composite
def _messages(draw: st.DrawFn) -> dict[str, Any]:
    words = draw(st.lists(st.sampled_from((*_WORDS, "unheard")), max_size=6))
    return {**draw(some.publish_events()), "text": " ".join(words)}


@st.composite
def _epochs(draw: st.DrawFn) -> Weights | None:
    if draw(st.integers(0, 3)) == 0:
        return None
    documents = draw(st.integers(0, 50))
    counts = st.dictionaries(st.sampled_from((*_WORDS, "later")), st.integers(0, documents))
    return Weights(documents, draw(counts))


class RanksLikeTheOracle(RuleBasedStateMachine):
    """Subscriptions come, move and go, weights change, snapshots happen, and scores stay exact."""

    kind: str
    parameters: dict[str, Any]

    def __init__(self) -> None:
        super().__init__()
        self.matcher = nc.Matcher(self.kind, mode="rank", index_parameters=self.parameters)
        self.oracle: dict[str, Any] = {}
        self.weights: Weights | None = None
        self.folder = Path(tempfile.mkdtemp())
        self.count = 0

    def _remember(self, drawn: tuple[Any, ...]) -> str:
        self.count += 1
        names = ("keywords", "area", "alpha", "threshold")
        event = dict(zip(names, drawn, strict=True), op="subscribe", id=f"s{self.count}")
        self.oracle[event["id"]] = read_subscription({**event, "mode": "rank"})
        return str(event["id"])

    @rule(drawn=_subscriptions)
    def subscribe(self, drawn: tuple[Any, ...]) -> None:
        words, area, alpha, threshold = drawn
        terms = {"keywords": words, "area": area, "alpha": alpha, "threshold": threshold}
        self.matcher.subscribe(self._remember(drawn), **terms)

    @rule(rows=st.lists(_subscriptions, min_size=1, max_size=40), is_coded=st.booleans())
    def subscribe_table(self, rows: list[Any], is_coded: bool) -> None:
        words, areas, shares, thresholds = zip(*rows, strict=True)
        lists = pa.array(words, pa.list_(pa.string()))
        columns = {
            "id": [self._remember(row) for row in rows],
            "keywords": coded(lists) if is_coded else lists,
            "alpha": pa.array(shares, pa.float64()),
            "threshold": pa.array(thresholds, pa.float64()),
        }
        self.matcher.subscribe_table(pa.table(columns | boxes([[*map(float, a)] for a in areas])))

    @rule(data=st.data())
    def unsubscribe(self, data: st.DataObject) -> None:
        if self.oracle:
            id_ = data.draw(st.sampled_from(sorted(self.oracle)))
            self.matcher.unsubscribe(id_)
            del self.oracle[id_]

    @rule(data=st.data())
    def unsubscribe_table(self, data: st.DataObject) -> None:
        if self.oracle:
            ids = data.draw(st.lists(st.sampled_from(sorted(self.oracle)), unique=True))
            self.matcher.unsubscribe_table(ids)
            for id_ in ids:
                del self.oracle[id_]

    @rule(epoch=_epochs())
    def weigh(self, epoch: Weights | None) -> None:
        self.weights = epoch
        same = None if epoch is None else nc_weights.Weights(epoch.documents, epoch.df)
        self.matcher.set_weights(same)

    @rule()
    def save_and_open(self) -> None:
        path = self.folder / "snapshot"
        self.matcher.save(path)
        self.matcher = nc.Matcher.open(path)

    @rule(message=_messages())
    def rank(self, message: dict[str, Any]) -> None:
        place = {key: message[key] for key in ("at", "bbox") if key in message}
        found = self.matcher.rank(message["text"], **place)
        ranked = sorted((str(id_), score) for id_, score in found)
        self._compare(ranked, self._expected(message))

    @rule(messages=st.lists(_messages(), min_size=1, max_size=5))
    def rank_table(self, messages: list[dict[str, Any]]) -> None:
        for name in ("at", "bbox"):
            some_of_them = [message for message in messages if name in message]
            texts = [message["text"] for message in some_of_them]
            places = [[*map(float, message[name])] for message in some_of_them]
            table = points(texts, places) if name == "at" else _ranges(texts, places)
            rows = self.matcher.rank_table(table).to_pylist() if some_of_them else []
            for row, message in enumerate(some_of_them):
                found = [(r["subscription"], r["score"]) for r in rows if r["message"] == row]
                self._compare(
                    sorted((str(id_), score) for id_, score in found), self._expected(message)
                )

    def _expected(self, event: dict[str, Any]) -> Ranked:
        message = read_message(event)
        decided = {id_: decide(s, message, self.weights) for id_, s in self.oracle.items()}
        return sorted((id_, score or 0.0) for id_, (wants, score) in decided.items() if wants)

    def _compare(self, found: Ranked, expected: Ranked) -> None:
        assert [id_ for id_, _ in found] == [id_ for id_, _ in expected]  # lists: no duplicates
        assert [score for _, score in found] == pytest.approx([s for _, s in expected], abs=1e-12)

    @invariant()
    def structure_is_sound(self) -> None:
        self.matcher.check_invariants()
        assert len(self.matcher) == len(self.oracle)

    def teardown(self) -> None:
        shutil.rmtree(self.folder)


def _ranges(texts: list[str], places: list[list[float]]) -> pa.Table:
    return pa.table({"text": texts} | {side: boxes(places)[side] for side in SIDES})


@pytest.mark.parametrize("variant", rank_variants(), ids=name_of)
def test_index_ranks_like_the_oracle(variant: tuple[str, dict[str, Any]]) -> None:
    kind, parameters = variant
    machine = type("Machine", (RanksLikeTheOracle,), {"kind": kind, "parameters": parameters})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def _crowd(rng: np.random.Generator, first: int, count: int) -> pa.Table:
    """Return subscriptions with few words and all sorts of terms, for trees of many levels."""
    corner = np.round(rng.uniform(0, 20, (count, 2)), 1)
    size = np.round(rng.uniform(0, 2, (count, 2)), 1)
    words = [[f"w{int(w)}" for w in 60 ** rng.random(1 + int(rng.integers(5)))] for _ in corner]
    return pa.table(
        {
            "id": np.arange(first, first + count),
            "keywords": words,
            **dict(zip(SIDES, np.hstack([corner, corner + size]).T, strict=True)),
            "alpha": rng.choice([0, 0.1, 0.3, 0.5, 0.7, 1], count),
            "threshold": rng.choice([0.05, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1], count),
        }
    )


@pytest.mark.parametrize("variant", rank_variants(), ids=name_of)
def test_a_crowd_is_ranked_like_brute_force(variant: tuple[str, dict[str, Any]]) -> None:
    kind, parameters = variant
    rng = np.random.default_rng(3)
    own = nc.Matcher(kind, mode="rank", index_parameters=parameters)
    both = [own, nc.Matcher("brute-force", mode="rank")]
    crowd = [_crowd(rng, first, 700) for first in (0, 700, 1400)]
    words = [[f"w{int(w)}" for w in 60 ** rng.random(6)] for _ in range(80)]
    at = rng.uniform(0, 21, (80, 2))
    messages = [
        pa.table({"tokens": words, "lon": at[:, 0], "lat": at[:, 1]}),
        pa.table({"tokens": words, **dict(zip(SIDES, np.hstack([at, at + 1.5]).T, strict=True))}),
    ]
    weights = nc_weights.Weights(100, {f"w{i}": 100 // i for i in range(1, 60)})

    def one_by_one(matcher: nc.Matcher) -> None:
        for i in range(700):
            matcher.subscribe_table(crowd[1].slice(i, 1))

    def drop_some(matcher: nc.Matcher) -> None:
        for i in range(1, 1400, 3):
            matcher.unsubscribe(i)

    steps: list[Callable[[nc.Matcher], object]] = [
        lambda matcher: matcher.subscribe_table(crowd[0]),
        lambda matcher: matcher.set_weights(weights),
        one_by_one,
        lambda matcher: matcher.unsubscribe_table(list(range(0, 1400, 3))),
        lambda matcher: matcher.set_weights(None),
        lambda matcher: matcher.subscribe_table(crowd[2]),
        drop_some,
    ]
    for step in steps:
        for matcher in both:
            step(matcher)
        both[0].check_invariants()
        for table in messages:
            found, truth = (_rows_of(matcher.rank_table(table)) for matcher in both)
            assert found == truth
            assert truth


def _rows_of(ranked: pa.Table) -> list[list[Any]]:
    return sorted(map(list, zip(*ranked.to_pydict().values(), strict=True)))

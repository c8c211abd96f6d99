"""The oracle, pinned by examples worked out by hand: match, rank and top (1.3)."""

from __future__ import annotations

import math
from typing import Any

import pytest
from oracle import (
    Weights,
    matches,
    rank_score,
    read_message,
    read_subscription,
    top_score,
    units,
)
from oracle.space import read_bbox
from oracle_events import (
    SQUARE,
    Event,
    Hub,
    circle,
    move,
    polygon,
    publish,
    rank,
    retract,
    subscribe,
    top,
    unsubscribe,
)


def psi(subscription: Event, message: Event, weights: Weights | None = None) -> float:
    wanted, read = read_subscription(subscription), read_message(message)
    area = read_bbox(subscription["area"])[0]
    return rank_score(wanted.tokens, area, wanted.alpha, read.tokens, read.place, weights)


@pytest.mark.parametrize(
    ("area", "place", "expected"),
    [
        ([0, 0, 2, 2], {"at": [2, 2]}, 1),
        ([0, 0, 2, 2], {"at": [3, 2]}, 0),
        ([1, 1, 1, 1], {"at": [1, 1]}, 1),  # a point message comes first
        ([1, 0, 1, 2], {"at": [1, 1]}, 1),
        ([1, 0, 1, 2], {"bbox": [0, 0, 2, 2]}, 1),  # zero size: covered wholly
        ([1, 0, 1, 2], {"bbox": [0, 0, 2, 1]}, 0),
        ([1, 1, 1, 1], {"bbox": [1, 1, 1, 1]}, 1),
        ([180, 0, -180, 0], {"bbox": [170, 0, -170, 0]}, 1),
        ([180, 0, -180, 0], {"bbox": [170, 0, 180, 0]}, 0),
        ([0, 0, 2, 2], {"bbox": [1, 1, 3, 3]}, 0.25),
        ([0, 0, 2, 2], {"bbox": [-9, -9, 9, 9]}, 1),
        ([0, 0, 2, 2], {"bbox": [2, 0, 3, 2]}, 0),  # a shared side has no size
        ([0, 0, 2, 2], {"bbox": [1, 1, 1, 1]}, 1),  # a box without size is a point
        ([0, 0, 2, 2], {"bbox": [1, 1, 1, 2]}, 0),
        ([170, 0, -170, 2], {"bbox": [175, 0, -165, 1]}, 15 / 40),
        ([170, 0, -170, 2], {"bbox": [-180, 0, 180, 2]}, 1),
    ],
)
def test_spatial_part_of_rank(area: list[float], place: Event, expected: float) -> None:
    message = {"op": "publish", "id": "m", "text": "", **place}
    assert psi(rank(area=area, alpha=1), message) == pytest.approx(expected)


def test_rank_adds_both_parts_and_compares_with_the_threshold() -> None:
    subscription = rank(keywords=["a", "b", "c"], alpha=0.4)
    message = publish("m", "a b b x", bbox=[1, 0, 3, 2])
    assert psi(subscription, message) == pytest.approx(0.4 * 0.5 + 0.6 * 2 / 3)
    assert matches({**subscription, "threshold": 0.6}, message)
    assert not matches({**subscription, "threshold": 0.600000002}, message)


def test_thresholds_are_compared_in_units_of_a_billionth() -> None:
    message = publish("m", "a", at=[9, 9])
    for threshold, expected in [(0.3333333333, True), (0.333333334, False)]:
        subscription = rank(keywords=["a", "b", "c"], alpha=0, threshold=threshold)
        assert matches(subscription, message) is expected
    assert matches(rank(keywords=["a", "b", "c"], alpha=0, threshold=0.33333333349), message)
    assert units(0.1 + 0.2) == units(0.3) == 300_000_000
    assert units(0.0000000016) == 2


def test_weights_are_the_idf_of_the_epoch() -> None:
    weights = Weights(9, {"a": 9, "b": 4})
    subscription = rank(keywords=["a", "b", "c"], alpha=0)
    total = 1 + (math.log(2) + 1) + (math.log(10) + 1)  # c is not listed: df 0
    assert psi(subscription, publish("m", "a"), weights) == pytest.approx(1 / total)
    assert psi(subscription, publish("m", "b"), weights) == pytest.approx((math.log(2) + 1) / total)
    assert psi(subscription, publish("m", "a")) == pytest.approx(1 / 3)
    assert Weights(0, {"a": 0}).df == {"a": 0}
    for documents, counts in [(3, {"a": 1, "b": 4}), (3, {"a": -1}), (-1, {})]:
        with pytest.raises(ValueError, match="df"):
            Weights(documents, counts)


def score(text: str, **fields: Any) -> float:
    place = fields.pop("place", {"at": [0, 0]})
    settings = {name: fields.pop(name) for name in ("space", "weights") if name in fields}
    wanted = read_subscription(top(**fields))
    message = read_message({"op": "publish", "id": "m", "text": text, **place})
    return top_score(
        wanted.tokens, wanted.at, wanted.alpha, message.tokens, message.place, **settings
    )


def test_nearness_is_euclidean_in_degrees_over_the_diagonal() -> None:
    diagonal = math.hypot(360, 180)
    assert score("a") == 1
    assert score("a", place={"at": [3, 4]}) == pytest.approx(1 - 5 / diagonal)
    assert score("a", at=[1, 2], place={"at": [4, 6]}) == pytest.approx(1 - 5 / diagonal)
    assert score("a", at=[-180, 0], place={"at": [180, 0]}) == pytest.approx(1 - 360 / diagonal)
    assert score("a", place={"at": [6, 8]}, space=(0, 0, 3, 4)) == -1  # not clamped
    assert score("a", place={"bbox": [2, 2, 4, 6]}) == pytest.approx(1 - 5 / diagonal)
    assert score("a", at=[-175, 0], place={"bbox": [170, 0, -160, 0]}) == 1


def test_text_similarity_is_the_cosine_of_tf_idf() -> None:
    def cosine(text: str, *keywords: str, weights: Weights | None = None) -> float:
        return score(text, keywords=list(keywords), alpha=0, weights=weights)

    assert cosine("a", "a") == pytest.approx(1)
    assert cosine("a x", "a") == pytest.approx(1 / math.sqrt(2))  # all tokens are in the norm
    assert cosine("a a x", "a") == pytest.approx(2 / math.sqrt(5))  # tf counts in the message
    assert cosine("a", "a", "b") == pytest.approx(1 / math.sqrt(2))
    assert cosine("a", "a", "A", "b") == pytest.approx(1 / math.sqrt(2))  # subscription tf is 1
    rare = math.log(10) + 1
    weights = Weights(9, {"a": 9})
    assert cosine("a x", "a", weights=weights) == pytest.approx(1 / math.hypot(1, rare))
    assert cosine("a b", "b", weights=weights) == pytest.approx(rare / math.hypot(1, rare))
    assert score("a x", alpha=0.25, place={"at": [3, 4]}) == pytest.approx(
        0.25 * (1 - 5 / math.hypot(360, 180)) + 0.75 / math.sqrt(2)
    )


def test_a_top_subscription_wants_what_shares_a_keyword() -> None:
    assert matches(top(keywords=["a", "b"]), publish("m", "b x", at=[180, 90]))
    assert not matches(top(keywords=["a", "b"]), publish("m", "x"))


def test_top_lists_order_by_score_then_by_newness() -> None:
    hub = Hub(window_count=9)
    for name, at in [("far", [9, 0]), ("old", [1, 0]), ("new", [0, 1]), ("other", [0, 0])]:
        hub(publish(name, "b" if name == "other" else "a", at=at))
    assert hub(top(k=2)) == {"t +new subscribed", "t +old subscribed"}
    assert [name for name, _ in hub.oracle.top("t")] == ["new", "old"]
    hub(top("one", k=1))
    assert [name for name, _ in hub.oracle.top("one")] == ["new"]


def test_scores_that_differ_by_less_than_half_a_unit_tie() -> None:
    hub = Hub(window_count=9)
    hub(publish("old", at=[1e-9, 0]))
    hub(publish("new", at=[2e-9, 0]))
    hub(top(k=2))
    assert [name for name, _ in hub.oracle.top("t")] == ["new", "old"]


def without(event: Event, name: str) -> Event:
    return {field: value for field, value in event.items() if field != name}


BAD_SUBSCRIPTIONS = [
    *(subscribe("s", keywords="a", k=1), subscribe("s", keywords="a", alpha=1)),
    *(subscribe("s", keywords="a", at=[0, 0]), subscribe("s", keywords="a", threshold=1)),
    *(subscribe("s", keywords="a", live=1), subscribe("s", keywords="a", colour=1)),
    *(subscribe("s", keywords=None, area=[0, 0, 1, 1]), subscribe("s", keywords="a", mode="best")),
    *(subscribe("", keywords="a"), subscribe(3, keywords="a"), without(subscribe("s"), "id")),
    *(subscribe("s", keywords="a", expires=5), subscribe("s", keywords="a", time=9, expires=9)),
    *(subscribe("s1", keywords="b"), top("s1")),
    *(rank(k=1), rank(at=[0, 0]), rank(threshold=0), rank(threshold=1.1), rank(alpha=-0.1)),
    *(rank(alpha=True), rank(area=circle(0, 0, 1)), rank(area=polygon(SQUARE))),
    *(rank(keywords="a OR b"), rank(keywords="a -b"), rank(keywords="a -a"), rank(keywords=[])),
    *(without(rank(), name) for name in ("alpha", "threshold", "area", "keywords")),
    *(top(area=[0, 0, 1, 1]), top(threshold=1), top(live=True), top(k=0), top(k=1.0)),
    *(top(k=True), top(alpha=1.1), top(at=[0, 0, 0]), top(keywords="a OR b"), top(at=[0, 91])),
    *(without(top(), name) for name in ("alpha", "k", "at", "keywords")),
]
BAD_EVENTS = [
    *(publish("m", at=[0, 0, 0]), publish("m", text=3), publish(""), publish("m", colour=1)),
    *({**publish("m"), "bbox": [0, 0, 1, 1]}, without(publish("m"), "at"), publish("m1")),
    *(publish("m", time=None), publish("m", time=True), publish("m", expires=math.nan)),
    *(publish("m", time="5"), publish("m", time="2020-01-01T00:00:00"), retract("")),
    *(publish("m", time="2020-02-30T00:00:00Z"), publish("m", time="2020-01-01")),
    *(publish("m", time="2020-01-01T24:00:00Z"), publish("m", time="2020-01-01T00:00:00+24:00")),
    *({"op": "stop", "id": "m"}, {"id": "m"}, {"op": ["publish"]}, retract("m", at=[0, 0])),
    *(unsubscribe("unknown"), unsubscribe("s1", mode="match"), move("unknown", area=[0, 0, 1, 1])),
    *(move("s1"), move("s1", at=[0, 0]), move("s1", area=[0, 0, 1, 1], at=[0, 0])),
    *(move("s1", area=None), move("t1", area=[0, 0, 1, 1]), move("r1", area=circle(0, 0, 1))),
]


@pytest.mark.parametrize("event", BAD_SUBSCRIPTIONS + BAD_EVENTS)
def test_a_rejected_event_changes_nothing(event: Event) -> None:
    hub = Hub(window_seconds=10)
    for valid in (subscribe("s1", keywords="a", live=True), top("t1"), rank("r1")):
        hub(valid)
    hub(publish("m1", time=5))
    assert hub.rejects(event)
    if "time" not in event:
        assert hub.rejects({**event, "time": 6})
    assert hub.oracle.clock == 5


def test_what_is_optional_is_accepted() -> None:
    hub = Hub()
    for number, valid in enumerate(
        [
            subscribe("", keywords="a", mode="match", live=False, time=0, expires=1),
            rank(keywords="a b", live=True),
            rank(keywords="a (a AND b)", alpha=1, threshold=1),
            top(keywords='"a" AND b', live=False, k=10**9),
            subscribe("", area=[0, 0, 0, 0]),
            publish("", "", bbox=[170, 0, -170, 1], time=-5, expires=-7.5),
        ]
    ):
        assert not hub.rejects({**valid, "id": str(number)})

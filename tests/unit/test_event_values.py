"""Values that users make check themselves: no constructor takes what the core could not bear."""

from __future__ import annotations

import dataclasses
import json
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pytest

import nearcast as nc
from nearcast import events
from nearcast.events import Advance, Move, Publish, Retract, Subscribe, Unsubscribe
from nearcast.expressions import And, Compare, Exists, In, Not, Or, Phrase, Prefix, Word

BOX = nc.Bbox(0, 0, 1, 1)
HERE = (0.5, 0.5)
WORDS = Word(("jazz",))
EITHER = Or((WORDS, Word(("blues",))))
GOOD: dict[str, dict[str, Any]] = {
    "match": {"id": "s", "mode": "match", "keywords": WORDS, "area": BOX},
    "rank": {
        "id": "s",
        "mode": "rank",
        "keywords": WORDS,
        "area": BOX,
        "alpha": 0.5,
        "threshold": 0.5,
    },
    "top": {"id": "s", "mode": "top", "keywords": WORDS, "at": HERE, "k": 3, "alpha": 0.5},
    "publish": {"id": "m", "text": "jazz", "place": HERE},
    "move": {"id": "s", "area": BOX},
    "retract": {"id": "m"},
    "unsubscribe": {"id": "s"},
    "advance": {"time": 5.0},
}
MAKE = {
    "match": Subscribe,
    "rank": Subscribe,
    "top": Subscribe,
    "publish": Publish,
    "move": Move,
    "retract": Retract,
    "unsubscribe": Unsubscribe,
    "advance": Advance,
}
HOSTILE = [
    None,
    True,
    0,
    -1,
    2**31,
    2**32,
    2**64,
    10**400,
    0.0,
    1.5,
    nan,
    inf,
    -inf,
    1e308,
    "",
    "x",
    "\ud800",
    b"x",
    b"\xff",
    (),
    (0.0,),
    (0.0, 0.0),
    (nan, 0.0),
    (0.0, inf),
    (200.0, 0.0),
    (0, 0, 0),
    (0.0, 0.0, 1.0, 1.0),
    (1.0, 1.0, 0.0, 0.0),
    [[]],
    {},
    {"type": "Circle"},
    object(),
    WORDS,
    (("jazz",),),
    [WORDS],
    BOX,
    nc.Circle((0, 0), 5),
    np.float64("nan"),
    np.float64(0.5),
    np.int64(3),
    np.zeros(2),
    np.zeros((2, 2)),
    np.array(1.0),
    Decimal(1),
    Decimal("NaN"),
    Fraction(1, 2),
]


def made(kind, **changes):
    return MAKE[kind](**{**GOOD[kind], **changes})


@pytest.mark.parametrize("kind", MAKE)
def test_any_value_in_any_field_is_refused_by_name_or_works(kind) -> None:
    """Whatever a constructor takes, the hub applies; whatever it refuses, it refuses clearly."""
    refused = []
    for field in dataclasses.fields(MAKE[kind]):
        for value in HOSTILE:
            try:
                event = made(kind, **{field.name: value})
            except nc.NearcastError as error:  # noqa: PERF203
                refused.append(error)
            else:
                apply_to_fresh_hub(kind, event)
    assert len(refused) > (20 if kind != "advance" else 10)
    for one in refused:
        assert one.what.startswith(("subscription", "message", "advance"))
        assert one.wanted


def apply_to_fresh_hub(kind, event) -> None:
    """Only what the hub alone can know may be wrong: who is there, and what time it is."""
    target = nc.Hub(window=nc.Window(count=5), safe_region=True)
    for first in (made("match"), made("publish")):
        if first.id != GOOD[kind].get("id") or kind in ("move", "unsubscribe"):
            target.apply([first])
    try:
        target.apply([event])
    except (nc.UnknownIdError, nc.DuplicateIdError, nc.UnsupportedError):
        pass
    except nc.InvalidSubscriptionError as error:
        if "expires is in the past" not in str(error):
            raise
    target.check_invariants()


@pytest.mark.parametrize(
    ("kind", "changes", "error", "claim"),
    [
        ("publish", {"time": inf}, nc.InvalidEventError, "message 'm': time is not finite"),
        ("publish", {"expires": nan}, nc.InvalidEventError, "message 'm': expires is not finite"),
        ("publish", {"place": (nan, 0.0)}, nc.InvalidMessageError, "longitude"),
        ("publish", {"place": (0.0, 90.001)}, nc.InvalidMessageError, "latitude"),
        ("publish", {"place": None}, nc.InvalidMessageError, "at is missing"),
        ("publish", {"place": (1.0,)}, nc.InvalidMessageError, "not a position"),
        ("publish", {"text": b"jazz"}, nc.InvalidMessageError, "text is not a string"),
        ("publish", {"id": 5}, nc.InvalidEventError, "id is not an id"),
        ("publish", {"id": b"m"}, nc.InvalidEventError, "id is not an id"),
        ("publish", {"id": ""}, nc.InvalidEventError, "id is not an id"),
        ("publish", {"id": "\udfff"}, nc.InvalidEventError, "id is not an id"),
        ("top", {"k": None}, nc.InvalidSubscriptionError, "subscription 's': k is missing"),
        ("top", {"k": 0}, nc.InvalidSubscriptionError, "k is not a whole number"),
        ("top", {"k": True}, nc.InvalidSubscriptionError, "k is not a whole number"),
        ("top", {"k": 2**32}, nc.InvalidSubscriptionError, "k is not a whole number"),
        ("top", {"at": None}, nc.InvalidSubscriptionError, "at is missing"),
        ("top", {"alpha": None}, nc.InvalidSubscriptionError, "alpha is missing"),
        ("top", {"alpha": nan}, nc.InvalidSubscriptionError, "alpha is not finite"),
        ("top", {"keywords": None}, nc.InvalidSubscriptionError, "keywords is missing"),
        ("top", {"keywords": ()}, nc.InvalidSubscriptionError, "not a tree of keywords"),
        ("top", {"keywords": EITHER}, nc.InvalidSubscriptionError, "not plain"),
        ("rank", {"keywords": Not(WORDS)}, nc.InvalidSubscriptionError, "not plain"),
        ("rank", {"except_": BOX}, nc.InvalidSubscriptionError, "except has no meaning"),
        ("top", {"area": BOX}, nc.InvalidSubscriptionError, "area has no meaning"),
        ("top", {"live": True}, nc.InvalidSubscriptionError, "live has no meaning"),
        ("rank", {"threshold": None}, nc.InvalidSubscriptionError, "threshold is missing"),
        ("rank", {"threshold": 0}, nc.InvalidSubscriptionError, "threshold is out of range"),
        ("rank", {"area": None}, nc.InvalidSubscriptionError, "area is missing"),
        ("rank", {"area": nc.Circle(HERE, 5)}, nc.InvalidSubscriptionError, "not a box"),
        ("match", {"area": None, "keywords": None}, nc.InvalidSubscriptionError, "neither"),
        ("match", {"keywords": ("jazz",)}, nc.InvalidSubscriptionError, "tree of keywords"),
        ("match", {"keywords": [["jazz"]]}, nc.InvalidSubscriptionError, "tree of keywords"),
        ("match", {"mode": "rnk"}, nc.InvalidSubscriptionError, "mode is unknown"),
        ("match", {"mode": None}, nc.InvalidSubscriptionError, "mode is unknown"),
        ("move", {"at": HERE}, nc.InvalidSubscriptionError, "both area and at"),
        ("move", {"area": None}, nc.InvalidSubscriptionError, "area is missing"),
    ],
)
def test_a_value_that_cannot_be_says_who_and_what(kind, changes, error, claim) -> None:
    with pytest.raises(error, match=claim):
        made(kind, **changes)


@pytest.mark.parametrize("kind", MAKE)
def test_a_value_cannot_be_changed_and_has_no_other_fields(kind) -> None:
    value = made(kind)
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.time = 9.0
    assert not hasattr(value, "__dict__")


def test_numbers_of_numpy_are_numbers() -> None:
    top = made("top", k=np.int64(3), alpha=np.float32(0.5), at=np.array([1, 2]))
    assert (top.k, top.alpha, top.at) == (3, 0.5, (1.0, 2.0))
    assert [type(v) for v in (top.k, top.alpha, *top.at)] == [int, float, float, float]
    assert made("publish", time=np.float64(3), place=np.array([0.0, 1.0])).place == (0.0, 1.0)
    assert type(made("publish", time=np.int64(3)).time) is float


def test_a_value_takes_what_a_line_takes() -> None:
    readable: dict[str, Any] = {"area": [0, 0, 1, 1], "time": "1970-01-01T00:00:09Z"}
    moved = Move("s", **readable)
    line = {"op": "move", "id": "s", "area": [0, 0, 1, 1], "time": 9}
    assert moved == events.read_event(json.dumps(line))
    assert moved.area == BOX


def test_keywords_that_hold_without_a_word_need_an_area_or_a_where() -> None:
    with pytest.raises(nc.InvalidSubscriptionError, match="without any of them"):
        made("match", keywords=Not(WORDS), area=None)
    made("match", keywords=Not(WORDS), area=None, where=Exists("price"))
    target = nc.Hub()
    target.apply([made("match", keywords=Not(WORDS))])
    assert target.match("blues", at=HERE) == ["s"]
    assert target.match("jazz", at=HERE) == []


DEEP: Any = WORDS
for _ in range(300):
    DEEP = And((DEEP, WORDS))
WIDE: Any = WORDS
for _ in range(60):
    WIDE = And((WIDE, WIDE))


@pytest.mark.parametrize(
    "tree",
    [
        Word(()),
        Word(("",)),
        Word(("\ud800",)),
        Word((5,)),  # type: ignore[arg-type]
        Word(["a"]),  # type: ignore[arg-type]
        Word((None,)),  # type: ignore[arg-type]
        Word(("a",) * 9000),
        Phrase((None, None)),
        Phrase(()),
        Prefix("a"),
        Prefix(5),  # type: ignore[arg-type]
        And(()),
        And((WORDS,)),
        And([WORDS, WORDS]),  # type: ignore[arg-type]
        Or((WORDS, "jazz")),
        Or((WORDS,) * 1025),
        Not(None),
        Exists("price"),
        DEEP,
        WIDE,
    ],
    ids=range(20),
)
def test_a_tree_that_no_parser_makes_is_refused_as_keywords(tree) -> None:
    with pytest.raises(nc.InvalidSubscriptionError, match="keywords: ") as caught:
        made("match", keywords=tree)
    assert caught.value.field == "keywords"


@pytest.mark.parametrize(
    "tree",
    [
        Compare("price", "<", "a"),
        Compare("price", "=", 5),
        Compare("price", "=", nan),
        Compare("price", "=", "\ud800"),
        Compare("price", "==", 5.0),  # type: ignore[arg-type]
        Compare("price", None, 5.0),  # type: ignore[arg-type]
        Compare("1price", "=", 5.0),
        Compare(None, "=", 5.0),  # type: ignore[arg-type]
        In("price", ()),
        In("price", [5.0]),  # type: ignore[arg-type]
        In("price", (5.0,) * 1025),
        In("price", (None,)),  # type: ignore[arg-type]
        Exists(""),
        Or((Exists("a"),) * 1025),
        WORDS,
        DEEP,
        "price = 5",
    ],
    ids=range(17),
)
def test_a_tree_that_no_parser_makes_is_refused_as_where(tree) -> None:
    with pytest.raises(nc.InvalidSubscriptionError, match="where: ") as caught:
        made("match", where=tree)
    assert caught.value.field == "where"


@pytest.mark.parametrize(
    "words", [None, 5, "jazz", b"jazz", [5], ["\ud800"], [["a"]], [b"a"], {"a": 1, 2: 3}]
)
def test_a_clause_is_made_of_words(words) -> None:
    with pytest.raises(nc.InvalidParameterError, match="not a set of words"):
        nc.Clause(words)
    with pytest.raises(nc.InvalidParameterError, match="negative"):
        nc.Clause({"a"}, words)


def test_a_clause_is_still_a_pair_of_sets() -> None:
    positive, negative = nc.Clause(["a", "b"], iter("c"))
    assert (positive, negative) == (frozenset("ab"), frozenset("c"))
    assert nc.Clause(["ab"]) == (frozenset({"ab"}), frozenset())

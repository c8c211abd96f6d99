"""Expressions, phrases, prefixes, `where` and `except` in the core, pair by pair, of every kind."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

import nearcast as nc
from nearcast import _core, columns
from nearcast.expressions import (
    And,
    Compare,
    Exists,
    In,
    Not,
    Or,
    Phrase,
    Prefix,
    Word,
    holds,
)

WORDS = ("a", "b", "c", "d", "flat", "flatter", "balcony", "ba")
NAMES = ("p", "q", "t")
NUMBERS = (0.0, 1.0, 2.5, -3.0, 1e6)
VALUES: tuple[Any, ...] = (*NUMBERS, -0.0, 3.1, "x", "y", "z", True, False, ("x", "y"), (), ("z",))
KINDS = [kind.name for kind in nc.indexes()]
BOX = (1.0, 1.0, 3.0, 3.0)
HOLE = (2.0, 2.0, 2.0, 2.0)


def word(dice: random.Random) -> Any:
    drawn = dice.random()
    if drawn < 0.6:
        return Word(tuple(dice.sample(WORDS, 1 if dice.random() < 0.8 else 2)))
    if drawn < 0.8:
        more = [dice.choice((*WORDS, None)) for _ in range(dice.randint(0, 2))]
        return Phrase((dice.choice(WORDS), *more))
    return Prefix(dice.choice(("fl", "fla", "bal", "ba", "zz")))


def comparison(dice: random.Random) -> Any:
    drawn, name = dice.random(), dice.choice(NAMES)
    values = [value for value in VALUES if not isinstance(value, tuple)]
    if drawn < 0.5:
        return Compare(name, dice.choice(("<", "<=", ">", ">=")), dice.choice(NUMBERS))
    if drawn < 0.8:
        return Compare(name, dice.choice(("=", "!=")), dice.choice(values))
    if drawn < 0.9:
        return In(name, tuple(dice.choices(values, k=dice.randint(1, 3))))
    return Exists(name)


def tree(dice: random.Random, leaf: Any, depth: int = 0) -> Any:
    drawn = dice.random()
    if depth > 3 or drawn < 0.35:
        return leaf(dice)
    if drawn < 0.5:
        return Not(tree(dice, leaf, depth + 1))
    parts = tuple(tree(dice, leaf, depth + 1) for _ in range(dice.randint(2, 4)))
    return And(parts) if dice.random() < 0.5 else Or(parts)


def kind_of(value: object) -> str:
    return type(value).__name__ if not isinstance(value, tuple) else "str"


def is_equal(said: object, value: object) -> bool:
    if isinstance(said, tuple):
        return value in said
    return kind_of(said) == kind_of(value) and said == value


def decides(leaf: Any, words: list[str | None], said: dict[str, Any]) -> bool:
    """Return what DESIGN.md says of one test."""
    if isinstance(leaf, Word):
        return all(token in words for token in leaf.tokens)
    if isinstance(leaf, Prefix):
        return any(word is not None and word.startswith(leaf.start) for word in words)
    if isinstance(leaf, Phrase):
        count = len(leaf.tokens)
        return any(
            all(token in (None, words[at + i]) for i, token in enumerate(leaf.tokens))
            for at in range(len(words) - count + 1)
        )
    if leaf.name not in said:
        return False
    value = said[leaf.name]
    if isinstance(leaf, Exists):
        return True
    if isinstance(leaf, In):
        return any(is_equal(value, each) for each in leaf.values)
    if leaf.op in ("=", "!="):
        is_typed = kind_of(value) == kind_of(leaf.value)
        return is_typed and is_equal(value, leaf.value) == (leaf.op == "=")
    if not isinstance(value, float):
        return False
    orders = {"<": value < leaf.value, "<=": value <= leaf.value, ">": value > leaf.value}
    return bool(orders.get(leaf.op, value >= leaf.value))


def is_in(box: tuple[float, ...], at: tuple[float, float]) -> bool:
    return box[0] <= at[0] <= box[2] and box[1] <= at[1] <= box[3]


class Pair:
    """A matcher of the core, and the same subscriptions as a list."""

    def __init__(self, kind: str, dice: random.Random) -> None:
        self.core = _core.Matcher(kind, {})
        self.dice = dice
        self.known: dict[int, tuple[Any, Any, Any, Any]] = {}
        self.next = 0

    def subscribe(self) -> None:
        dice, self.next = self.dice, self.next + 1
        keywords = tree(dice, word) if dice.random() < 0.8 else None
        where = tree(dice, comparison) if keywords is None or dice.random() < 0.6 else None
        area = None if dice.random() < 0.4 else BOX
        hole = None if dice.random() < 0.8 else HOLE
        compared = None if where is None else columns.core_expression(where)
        self.core.subscribe(self.next, columns.core_keywords(keywords), area, compared, hole)
        self.known[self.next] = (keywords, where, area, hole)

    def unsubscribe(self) -> None:
        gone = self.dice.choice(list(self.known))
        self.core.unsubscribe(gone)
        del self.known[gone]

    def message(self) -> tuple[list[str | None], dict[str, Any], tuple[float, float]]:
        dice = self.dice
        words = [dice.choice((*WORDS, "zzz", None)) for _ in range(dice.randint(0, 6))]
        said = {name: dice.choice(VALUES) for name in NAMES if dice.random() < 0.6}
        return words, said, (float(dice.randint(0, 4)), float(dice.randint(0, 4)))

    def check(self, core: _core.Matcher) -> None:
        words, said, at = self.message()

        def matches(keywords: Any, where: Any, area: Any, hole: Any) -> bool:
            return (
                (keywords is None or holds(keywords, lambda leaf: decides(leaf, words, said)))
                and (where is None or holds(where, lambda leaf: decides(leaf, words, said)))
                and (area is None or is_in(area, at))
                and not (hole is not None and is_in(hole, at))
            )

        wanted = sorted(id_ for id_, parts in self.known.items() if matches(*parts))
        assert sorted(core.match_one(words, at, said)) == wanted, (words, said, at)


@pytest.mark.parametrize("kind", KINDS)
def test_conditions_decide_what_they_say(kind, tmp_path) -> None:
    for seed in range(4):
        pair = Pair(kind, random.Random(seed))
        for _ in range(80):
            drawn = pair.dice.random()
            if drawn < 0.45 or not pair.known:
                pair.subscribe()
            elif drawn < 0.55:
                pair.unsubscribe()
            else:
                pair.check(pair.core)
        pair.core.check_invariants()
        pair.core.save(str(tmp_path / "saved"), "")
        opened, _ = _core.open_snapshot(str(tmp_path / "saved"), True)
        assert isinstance(opened, _core.Matcher)
        for _ in range(10):
            pair.check(opened)
        for id_ in pair.known:
            pair.core.unsubscribe(id_)
        pair.core.check_invariants()
        assert pair.core.stats()["vocabulary"] == 0


@pytest.mark.parametrize("kind", ["auto", "brute-force", "ap-tree", "keyword-first"])
def test_ranges_of_many_subscriptions_with_one_word(kind) -> None:
    matcher = _core.Matcher(kind, {})
    dice = random.Random(7)
    ranges = []
    for number in range(1500):
        low = dice.choice((-50.0, 0.0, 10.0, 99.5)) + dice.random()
        high = low + dice.choice((0.0, 1.0, 500.0))
        name = dice.choice(NAMES)
        where = And((Compare(name, ">=", low), Compare(name, "<", high)))
        matcher.subscribe(number, ["flat"], None, columns.core_expression(where), None)
        ranges.append((name, low, high))
    for _ in range(60):
        said = {name: dice.choice((-49.5, 0.2, 10.5, 100.0, 400.0)) for name in NAMES}
        found = sorted(matcher.match_one(["flat"], (0.0, 0.0), said))
        assert found == [n for n, (a, low, high) in enumerate(ranges) if low <= said[a] < high]
    matcher.check_invariants()


LIVE: dict[str, Any] = {
    "keywords": 'flat AND ("new york" OR bal*)',
    "where": "p <= 2 OR q = 'x'",
    "live": True,
}
MESSAGES: list[tuple[str, dict[str, Any]]] = [
    ("Flat in New York", {"p": 1}),
    ("York: new flat", {"p": 1}),
    ("Flat, balcony", {"q": ["y", "x"]}),
    ("Flat, balcony", {"p": 3, "q": "y"}),
    ("Flat, balcony", {}),
]


@pytest.mark.parametrize("kind", KINDS)
def test_live_sets_see_messages_that_came_before(kind, tmp_path) -> None:
    hub = nc.Hub(index=kind, window=nc.Window(count=100), safe_region=True)
    for number, (text, said) in enumerate(MESSAGES):
        hub.publish(f"m{number}", text, at=(number, 0), attributes=said)
    found = hub.subscribe("s", area=[0, 0, 9, 9], **LIVE)
    assert sorted(change.message for change in found) == ["m0", "m2"]
    again = hub.move("s", area=[1, 0, 9, 9])
    assert [(change.message, change.change) for change in again] == [("m0", "removed")]
    hub.check_invariants()
    hub.save(tmp_path / "saved")
    hub = nc.Hub.open(tmp_path / "saved", verify=True)
    assert [message for message, _ in hub.results("s")] == ["m2"]
    assert [change.change for change in hub.retract("m2")] == ["removed"]
    assert hub.results("s") == []
    hub.unsubscribe("s")
    hub.check_invariants()


@pytest.mark.parametrize("mode", ["rank", "top"])
def test_where_counts_in_every_mode(mode) -> None:
    hub = nc.Hub(window=nc.Window(count=10))
    terms: dict[str, Any] = {"k": 1, "alpha": 0.5, "at": (0, 0)}
    if mode == "rank":
        terms = {"alpha": 0.5, "threshold": 0.1, "area": [0, 0, 1, 1], "live": True}
    hub.publish("dear", "tea", at=(0, 0), attributes={"price": 9})
    hub.publish("cheap", "tea", at=(1, 1), attributes={"price": 2})
    found = hub.subscribe("s", mode=mode, keywords=["tea"], where="price < 5", **terms)
    assert [change.message for change in found] == ["cheap"]
    assert hub.publish("dear2", "tea", at=(0, 0), attributes={"price": 8}) == []
    added = hub.publish("better", "tea", at=(0, 0), attributes={"price": 1})
    assert "better" in [change.message for change in added if change.change == "added"]
    assert hub.match("tea", at=(0, 0), attributes={"price": 8}) == []
    assert hub.match("tea", at=(0, 0), attributes={"price": 1}) == ["s"]
    assert not hub.explain("s", "tea", at=(0, 0), attributes={"price": 8}).matches
    hub.check_invariants()
    hub.retract("better")
    assert [message for message, _ in hub.results("s")] == ["cheap"]


def test_a_definition_comes_back_as_it_was_said() -> None:
    hub = nc.Hub()
    hub.subscribe("s", keywords="Flat -sold", where="price<=3", except_=[0, 0, 1, 1])
    said = hub.subscription("s")
    assert (said.keywords, said.where, said.except_) == (
        "Flat -sold",
        "price<=3",
        nc.Bbox(0, 0, 1, 1),
    )
    hub.subscribe("list", keywords=["Jazz", "AT&T"])
    assert hub.subscription("list").keywords == ("Jazz", "AT&T")


def test_phrases_and_prefixes_of_tables() -> None:
    matcher = nc.Matcher()
    matcher.subscribe(1, keywords='"new york"')
    matcher.subscribe(2, keywords="balc*")
    rows = ["new york flat", "york is new", "Balcony", "a New  York balcony"]
    table = {"text": rows, "lon": [0.0] * 4, "lat": [0.0] * 4}
    found = matcher.match_table(pa.table(table)).to_pylist()
    pairs = sorted((row["message"], row["subscription"]) for row in found)
    assert pairs == [(0, 1), (2, 2), (3, 1), (3, 2)]
    words = pa.array([row.lower().split() for row in rows]).cast(
        pa.list_(pa.dictionary(pa.int32(), pa.string()))
    )
    coded = pa.table({"tokens": words, "lon": [0.0] * 4, "lat": [0.0] * 4})
    found = matcher.match_table(coded).to_pylist()
    assert sorted((row["message"], row["subscription"]) for row in found) == pairs

"""A `where` becomes the tree that it says, or an error that says where it is."""

from __future__ import annotations

import pickle
import time
from typing import Any

import pytest

from nearcast.attributes import Attributes
from nearcast.comparing import compares
from nearcast.errors import ExpressionError, InvalidSubscriptionError
from nearcast.expressions import And, Compare, Exists, In, Not, Or, Where, holds
from nearcast.tree_checks import check_where
from nearcast.where import parse

PRICE = Compare("price", "<=", 1200.0)


TREES: list[tuple[str, Where]] = [
    ("price <= 1200", PRICE),
    ("price<=1200", PRICE),
    ("(price <= 1200)", PRICE),
    ("price <= 1.2e3", PRICE),
    ("Price = -0.5", Compare("Price", "=", -0.5)),
    ("a.b_1 != 0", Compare("a.b_1", "!=", 0.0)),
    ("_a > 1", Compare("_a", ">", 1.0)),
    ("a < 1 OR a >= 2", Or((Compare("a", "<", 1.0), Compare("a", ">=", 2.0)))),
    ("a = 'it''s'", Compare("a", "=", "it's")),
    ('a = "say ""x"""', Compare("a", "=", 'say "x"')),
    ("a = ''", Compare("a", "=", "")),
    ("a = 'AND )'", Compare("a", "=", "AND )")),
    ("a = TRUE", Compare("a", "=", True)),
    ("a != false", Compare("a", "!=", False)),
    ("a EXISTS", Exists("a")),
    ("a exists", Exists("a")),
    ("NOT a Exists", Not(Exists("a"))),
    ("not not a EXISTS", Exists("a")),
    ("a IN (1)", In("a", (1.0,))),
    ("a in('x',\"y\" , 2, True)", In("a", ("x", "y", 2.0, True))),
    ("NOT a IN ('x') AND b EXISTS", And((Not(In("a", ("x",))), Exists("b")))),
    ("a EXISTS or b EXISTS and c EXISTS", Or((Exists("a"), And((Exists("b"), Exists("c")))))),
    (
        "(a EXISTS OR b EXISTS) AND NOT (c EXISTS AND d EXISTS)",
        And((Or((Exists("a"), Exists("b"))), Not(And((Exists("c"), Exists("d")))))),
    ),
    ("\n price\t<=\u00a01200 ", PRICE),
    ("not_a = 1 AND orb EXISTS", And((Compare("not_a", "=", 1.0), Exists("orb")))),
]


@pytest.mark.parametrize(("text", "tree"), TREES)
def test_a_where_is_read_as_the_guide_says(text, tree) -> None:
    assert parse(text) == tree
    check_where(tree)


@pytest.mark.parametrize(
    ("text", "position", "claim"),
    [
        ("", 0, "empty"),
        ("  ", 0, "empty"),
        ("price", 5, "nothing compares price"),
        ("price AND a = 1", 6, "nothing compares price"),
        ("price <", 7, "a value is missing"),
        ("price < AND", 8, "a value is missing"),
        ("price 5", 6, "nothing compares price"),
        ("price = flat", 8, "a value is missing"),
        ("price == 5", 6, "'=' has no meaning"),
        ("price <> 5", 6, "'<' has no meaning"),
        ("price ≤ 5", 6, "'≤' has no meaning"),
        ("price < 'a'", 8, "< compares numbers only"),
        ("price >= TRUE", 9, ">= compares numbers only"),
        ("price < 1,200", 9, "',' follows no name"),
        ("price < 007", 8, "number cannot be read"),
        ("price < .5", 8, "number cannot be read"),
        ("price < +5", 8, "number cannot be read"),
        ("price < 5 100", 10, "value stands where a name should"),
        ("price < 1e999", 8, "number is too large"),
        ("price < 12a", 8, "number cannot be read"),
        ("price < - 5", 8, "number cannot be read"),
        ("5 < price", 0, "value stands where a name should"),
        ("a = 'b", 4, "string is not closed"),
        ('a = "b', 4, "string is not closed"),
        ("a = 'b' c = 1", 8, "without AND or OR"),
        ("a = 1 NOT b = 1", 6, "without AND or OR"),
        ("a = 1 (b = 1)", 6, "without AND or OR"),
        ("(a = 1", 0, "not closed"),
        ("a = 1)", 5, "closes nothing"),
        ("()", 0, "parentheses are empty"),
        ("a = 1 AND", 9, "nothing follows AND"),
        ("AND a = 1", 0, "AND has nothing before it"),
        ("a = 1 OR AND b = 1", 9, "AND follows OR"),
        ("a IN 'x'", 5, "IN has no list"),
        ("a IN ()", 6, "a value is missing"),
        ("a IN ('x'", 9, "not closed"),
        ("a IN ('x' 'y')", 10, "not closed"),
        ("a IN ('x',)", 10, "a value is missing"),
        ("a NOT IN ('x')", 2, "nothing compares a"),
        ("EXISTS a", 0, "EXISTS is not a name"),
        ("in = 5", 0, "in is not a name"),
        ("TRUE", 0, "TRUE is not a name"),
        ("a && b = 1", 2, "'&' has no meaning"),
        ("a = 1 || b = 1", 6, "'|' has no meaning"),
        ("a = '\ud800'", 4, "lone surrogate"),
        ("é = 1", 0, "'é' has no meaning"),
    ],
)
def test_an_error_says_what_is_wrong_and_where(text, position, claim) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert claim in str(caught.value)
    assert caught.value.position == position
    assert caught.value.field == "where"
    assert pickle.loads(pickle.dumps(caught.value)).position == position


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("price == 5", "write ="),
        ("price <> 5", "write !="),
        ("price ≥ 5", "write >="),
        ("a && b", "write AND"),
        ("a || b", "write OR"),
        ("!a EXISTS", "write NOT"),
        ("sold", "sold = TRUE"),
        ("sold AND a = 1", "sold = TRUE"),
        ("type = flat", "'flat' in quotes"),
        ("type LIKE 'fl%'", "whole strings"),
        ("price BETWEEN 1 AND 2", ">="),
        ("price IS NULL", "EXISTS"),
        ("type NOT IN ('a')", "NOT comes before"),
        ("EXISTS price", "name comes first"),
        ("price < 1,200", "without separators"),
        ("5 < price", "name comes first"),
        ("a = 'it's'", "written twice"),
    ],
)
def test_what_looks_like_another_language_gets_a_hint(text, hint) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert hint in (caught.value.hint or "")


def test_what_is_not_a_string_is_refused() -> None:
    wrong: list[Any] = [5, None, ["a = 1"], b"a = 1", {}]
    for value in wrong:
        with pytest.raises(InvalidSubscriptionError, match="where is not a string"):
            parse(value)


def test_1024_comparisons_are_accepted_and_1025_are_not() -> None:
    text = " OR ".join(f"a{i} = {i}" for i in range(1024))
    check_where(parse(text))
    with pytest.raises(ExpressionError, match="too many comparisons"):
        parse(f"{text} OR b EXISTS")
    text = "a IN (" + ", ".join("1" for _ in range(1023)) + ") AND b = 1"
    check_where(parse(text))
    for longer in (f"{text} AND c EXISTS", text.replace("(1", "(1, 1")):
        with pytest.raises(ExpressionError, match="too many comparisons"):
            parse(longer)


HUGE = {
    "comparisons": " OR ".join("a = 1" for _ in range(300_000)),
    "values": "a IN (" + ",".join("1" for _ in range(300_000)) + ")",
    "parentheses": "(" * 100_000 + "a = 1" + ")" * 100_000,
    "quotes": "a = '" + "''" * 300_000,
    "string": "a = '" + "''" * 300_000 + "' b",
    "space": " " * 1_000_000,
}


@pytest.mark.parametrize("name", HUGE)
def test_a_huge_where_is_refused_at_once(name) -> None:
    started = time.perf_counter()
    with pytest.raises(ExpressionError):
        parse(HUGE[name])
    assert time.perf_counter() - started < 2


HERE = Attributes({"price": 1150, "type": "flat", "tags": ["new", "quiet"], "sold": False})


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("price = 1150", True),
        ("price != 1150", False),
        ("price != 1", True),
        ("price = '1150'", False),
        ("price != '1150'", False),
        ("price < 1150", False),
        ("price <= 1150", True),
        ("rooms < 5", False),
        ("rooms != 5", False),
        ("NOT rooms = 5", True),
        ("rooms EXISTS", False),
        ("NOT rooms EXISTS", True),
        ("sold EXISTS", True),
        ("sold = FALSE", True),
        ("sold = 0", False),
        ("sold IN (TRUE, FALSE)", True),
        ("type = 'flat'", True),
        ("type = 'Flat'", False),
        ("type IN ('house', 'flat')", True),
        ("tags = 'new'", True),
        ("tags != 'new'", False),
        ("tags != 'old'", True),
        ("tags IN ('old', 'quiet')", True),
        ("tags != 5", False),
        ("tags < 5", False),
        ("tags EXISTS", True),
        ("price IN (1, 1150, 'x')", True),
    ],
)
def test_a_comparison_holds_as_the_design_says(text, is_so) -> None:
    assert holds(parse(text), lambda leaf: compares(leaf, HERE)) is is_so

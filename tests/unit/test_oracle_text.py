"""The oracle, pinned by examples worked out by hand: keywords and texts (DESIGN 1.1)."""

from __future__ import annotations

import pytest
from oracle import (
    OracleRejects,
    analyze,
    dnf,
    matches,
)
from oracle_events import (
    clauses,
    publish,
    subscribe,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Free coffee at Bryant Park!", ["free", "coffee", "at", "bryant", "park"]),
        ("", []),
        ("🙂 - _ \u2028", []),
        ("AT&T rock-n-roll", ["at", "t", "rock", "n", "roll"]),
        ("a a A", ["a", "a", "a"]),
        ("Straße", ["strasse"]),
        ("ﬁre", ["fire"]),
        ("ＣＯＦＦＥＥ３", ["coffee3"]),
        ("cafe\u0301", ["caf\u00e9"]),
        ("q\u0301x", ["q\u0301x"]),  # a mark that composes with nothing stays in the token
        ("İ", ["i\u0307"]),
        ("٣ apples", ["٣", "apples"]),
        ("x²", ["x2"]),
        ("Ⅻ", ["xii"]),
        ("snake_case", ["snake", "case"]),  # an underscore is punctuation
        ("a🙂b\u200bc", ["a", "b", "c"]),
    ],
)
def test_tokens_are_runs_of_letters_marks_and_digits(text: str, expected: list[str]) -> None:
    assert analyze(text) == expected


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        (["a", "b"], ["a b"]),
        (["a b", "a"], ["a b"]),
        (["AND", "-a", "(OR"], ["and a or"]),  # no operators in a list
        ("a", ["a"]),
        ("a b", ["a b"]),
        ("a AND b", ["a b"]),
        ("a OR b", ["a", "b"]),
        ("a and b", ["a and b"]),  # operators are upper case
        ("a Or b", ["a or b"]),
        ('a "OR" b', ["a or b"]),
        ("a OR b c", ["a", "b c"]),  # AND before OR
        ("a AND b OR c AND d", ["a b", "c d"]),
        ("a NOT b OR c", ["a -b", "c"]),  # NOT first
        ("a NOT b c", ["a -b c"]),
        ("a -b", ["a -b"]),
        ("a --b", ["a b"]),
        ("a NOT NOT b", ["a b"]),
        ("a -(b OR c)", ["a -b -c"]),
        ("a -(b c)", ["a -b", "a -c"]),
        ("a -(b -c)", ["a -b", "a c"]),
        ('a -"b c"', ["a -b", "a -c"]),
        ("a-b", ["a b"]),  # a hyphen negates only at the start of a word
        ("a -b-c", ["a -b", "a -c"]),
        ('"a b"', ["a b"]),  # in any order, quoted or not
        ("x -AT&T", ["x -at", "x -t"]),
        ("AT&T", ["at t"]),
        ("(a OR b) (c OR d)", ["a c", "a d", "b c", "b d"]),
        ("coffee AND (free OR sale) -decaf", ["coffee free -decaf", "coffee sale -decaf"]),
        ("(a)(b)", ["a b"]),
        ('a"b"c', ["a b c"]),
        ('"a"-b', ["a -b"]),
        ("a(b)", ["a b"]),
        ("ANDa", ["anda"]),
        ("a -a", []),  # contradicts itself, is dropped
        ("a -a OR b", ["b"]),
        ("a OR a", ["a"]),
        ("a OR a b", ["a", "a b"]),
        ("Straße OR STRASSE", ["strasse"]),
        ("a\u00a0b\tc\nd", ["a b c d"]),
    ],
)
def test_keywords_become_clauses(keywords: object, expected: list[str]) -> None:
    assert dnf(keywords) == clauses(*expected)


@pytest.mark.parametrize(
    "keywords",
    [
        *([], ["a", "&"], [""], ["a", 3], None, 3, {"a": 1}),
        *("", "  ", "()", "(a", "a)", ")", "a AND", "AND a", "a OR", "OR", "NOT", "a OR OR b"),
        *("a AND OR b", "a (", '"a', 'a "', '""', "&", "a &", "-", "a -", "a - b", "a --", "(a -)"),
        *("a -AND", "a -)"),
        *("-a", "NOT a", "a OR -b", "-(a b)", "-(a -a)"),  # a clause without a positive keyword
    ],
)
def test_bad_keywords_are_an_error(keywords: object) -> None:
    with pytest.raises(OracleRejects):
        dnf(keywords)


def test_at_most_64_distinct_clauses_may_be_left() -> None:
    pairs = [f"(a{i} OR b{i})" for i in range(7)]
    assert len(dnf(" ".join(pairs[:6]))) == 64
    assert len(dnf(" ".join(pairs[:6]) + " OR " + " ".join(pairs[:6]))) == 64
    assert len(dnf(" ".join(pairs) + " -a6")) == 64
    with pytest.raises(OracleRejects):
        dnf(" ".join(pairs))
    with pytest.raises(OracleRejects):
        dnf(" OR ".join(f"w{i}" for i in range(65)))


@pytest.mark.parametrize(
    ("keywords", "text", "expected"),
    [
        ("a b", "b x a", True),
        ("a b", "a", False),
        ("a -b", "a", True),
        ("a -b", "a b", False),
        ("x -AT&T", "x at", True),
        ("x -AT&T", "x t at", False),
        ("a OR b", "b", True),
        ("a -a", "a", False),  # accepted, never matches
        (["STRASSE"], "straße", True),
        (["a"], "", False),
    ],
)
def test_a_message_satisfies_one_clause(keywords: object, text: str, expected: bool) -> None:
    assert matches(subscribe("s", keywords=keywords), publish("m", text)) is expected


def test_one_of_keywords_and_area_must_be_there() -> None:
    assert matches(subscribe("s", area=[0, 0, 1, 1]), publish("m", ""))
    assert not matches(subscribe("s", area=[1, 1, 2, 2]), publish("m", ""))
    assert matches(subscribe("s", keywords="a"), publish("m", at=[180, -90]))
    with pytest.raises(OracleRejects):
        matches(subscribe("s"), publish("m"))

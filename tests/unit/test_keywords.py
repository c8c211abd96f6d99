"""Keywords become the clauses that mean the same, or an error that says where it is."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearcast.errors import ExpressionError, InvalidSubscriptionError
from nearcast.keywords import MAX_CLAUSES, parse, plain
from nearcast.text import Analyzer

TOKENS = ("a", "b", "c", "d")
ALL_MESSAGES = [
    frozenset(message)
    for message in chain.from_iterable(combinations(TOKENS, n) for n in range(len(TOKENS) + 1))
]


def clauses(keywords) -> set[tuple[str, str]]:
    """Return clauses in a form that is short to write: tokens in order, joined by spaces."""
    return {(" ".join(sorted(p)), " ".join(sorted(n))) for p, n in parse(keywords)}


def is_satisfied(found, message) -> bool:
    return any(p <= message and not n & message for p, n in found)


# ---- the meaning, against trees that are evaluated, not parsed -------------------------------

words = st.sampled_from(TOKENS) | st.sampled_from(["a&b", "c.d"])
trees = st.recursive(
    words,
    lambda inner: (
        st.tuples(st.just("not"), inner)
        | st.tuples(st.just("and"), inner, inner)
        | st.tuples(st.just("or"), inner, inner)
    ),
    max_leaves=7,
)


def holds(tree, message) -> bool:
    if isinstance(tree, str):
        return all(token in message for token in tree.replace("&", ".").split("."))
    if tree[0] == "not":
        return not holds(tree[1], message)
    combine = all if tree[0] == "and" else any
    return combine(holds(branch, message) for branch in tree[1:])


PRECEDENCE = {"or": 0, "and": 1, "not": 2}


@st.composite
def written(draw, tree=None, outer=-1):
    """Write a tree with as few parentheses as its operators need, sometimes with more."""
    tree = draw(trees) if tree is None else tree
    if isinstance(tree, str):
        return draw(st.sampled_from([tree, f'"{tree}"', f"({tree})"]))
    level = PRECEDENCE[tree[0]]
    parts = [draw(written(branch, level)) for branch in tree[1:]]
    if tree[0] == "not":
        text = draw(st.sampled_from(["-", "NOT ", "NOT  "])) + parts[0]
    else:
        text = draw(st.sampled_from([" ", " AND "] if level else [" OR "])).join(parts)
    return f"({text})" if level < outer or draw(st.booleans()) else text


@st.composite
def tree_and_text(draw):
    tree = draw(trees)
    return tree, draw(written(tree))


@settings(deadline=None)
@given(tree_and_text())
def test_an_expression_is_true_of_exactly_the_messages_its_tree_is_true_of(case) -> None:
    tree, text = case
    # "z" is in every message, so that no alternative lacks a positive keyword.
    found = parse(f"z ({text})")
    for message in ALL_MESSAGES:
        assert is_satisfied(found, message | {"z"}) == holds(tree, message), (text, message)


@settings(deadline=None)
@given(written())
def test_clauses_are_distinct_consistent_and_positive(text) -> None:
    try:
        found = parse(text)
    except ExpressionError as error:
        assert "positive keyword" in str(error)  # noqa: PT017
        return
    assert len(set(found)) == len(found) <= MAX_CLAUSES
    assert all(p and not p & n for p, n in found)


@settings(deadline=None)
@given(st.lists(st.sampled_from([*TOKENS, "É", "a.b", "ANDY", "&"]), min_size=1, max_size=5))
def test_words_alone_mean_the_same_with_and_without_the_long_way(entries) -> None:
    text = " ".join(entries)
    if "&" in entries:
        with pytest.raises(ExpressionError, match="no letter or digit"):
            parse(text)
    else:
        assert parse(text) == parse(f"({text})") == parse(entries)


# ---- reading ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("coffee", {("coffee", "")}),
        ("coffee AND (free OR sale) -decaf", {("coffee free", "decaf"), ("coffee sale", "decaf")}),
        ("a b OR c", {("a b", ""), ("c", "")}),
        ("a OR b c", {("a", ""), ("b c", "")}),
        ("a AND NOT b OR c", {("a", "b"), ("c", "")}),
        ("a NOT b c", {("a c", "b")}),
        ("a and b or not c", {("a and b c not or", "")}),
        ("ANDROID ORB NOTE", {("android note orb", "")}),
        ('"AND" "OR" "NOT"', {("and not or", "")}),
        ("--a", {("a", "")}),
        ("a ---b", {("a", "b")}),
        ("NOT NOT a", {("a", "")}),
        ("NOT -a", {("a", "")}),
        ("-NOT a", {("a", "")}),
        ("x -(a b)", {("x", "a"), ("x", "b")}),
        ("x -(a OR b)", {("x", "a b")}),
        ("x -AT&T", {("x", "at"), ("x", "t")}),
        ('x -"at t"', {("x", "at"), ("x", "t")}),
        ("wi-fi", {("fi wi", "")}),
        ("a- b", {("a b", "")}),
        ("a (b)", {("a b", "")}),
        ("a(b)c", {("a b c", "")}),
        ("a-(b)", {("a b", "")}),
        ('a"b c"d', {("a b c d", "")}),
        ('a"b"-c', {("a b", "c")}),
        ("a\u00a0b\u2003c\td\n", {("a b c d", "")}),
        ("a OR a", {("a", "")}),
        ("a a", {("a", "")}),
        ("É é", {("é", "")}),
        ("a OR (a b)", {("a", ""), ("a b", "")}),
    ],
)
def test_an_expression_is_read_as_the_guide_says(text, expected) -> None:
    assert clauses(text) == expected


@pytest.mark.parametrize("text", ["a -a", "a AND NOT a", "(a OR b) -a -b", "a -(a OR b)"])
def test_an_expression_that_contradicts_itself_is_accepted_and_has_no_clause(text) -> None:
    assert parse(text) == ()


def test_a_contradictory_alternative_is_dropped_and_needs_no_positive_keyword() -> None:
    assert clauses("a OR (b -b)") == {("a", "")}


@pytest.mark.parametrize(
    ("text", "position", "claim"),
    [
        ("", 0, "empty"),
        (" \t ", 0, "empty"),
        ("()", 0, "parentheses are empty"),
        ("a ( )", 2, "parentheses are empty"),
        ("(a", 0, "not closed"),
        ("a (b (c)", 2, "not closed"),
        ("a (", 2, "not closed"),
        ("a)", 1, "closes nothing"),
        ("(a))", 3, "closes nothing"),
        (")", 0, "too early"),
        ("(a OR )", 6, "too early"),
        ("a AND", 5, "nothing follows AND"),
        ("a NOT", 5, "nothing follows NOT"),
        ("OR a", 0, "OR has nothing before it"),
        ("a AND OR b", 6, "OR follows AND"),
        ("a AND AND b", 6, "AND follows AND"),
        ("(AND a)", 1, "AND has nothing before it"),
        ("-AND a", 1, "AND follows NOT"),
        ("a NOT OR b", 6, "OR follows NOT"),
        ('a "b', 2, "quote is not closed"),
        ('a """', 2, "no letter or digit"),
        ('a ""', 2, "no letter or digit"),
        ('a "!" b', 2, "no letter or digit"),
        ("a & b", 2, "no letter or digit"),
        ("-", 0, "no letter or digit"),
        ("a - b", 2, "no letter or digit"),
        ("a (-)", 3, "no letter or digit"),
        ("a --", 3, "no letter or digit"),
        ("-a", 1, "every alternative needs a positive keyword"),
        ("a OR -b", 6, "every alternative needs a positive keyword"),
        ("a -b OR -c", 9, "every alternative needs a positive keyword"),
        ("NOT (a AND -a)", 5, "every alternative needs a positive keyword"),
    ],
)
def test_an_error_says_what_is_wrong_and_where(text, position, claim) -> None:
    with pytest.raises(ExpressionError, match=claim) as caught:
        parse(text)
    assert caught.value.position == position
    assert caught.value.field == "keywords"
    assert f"at position {position}" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).position == position


def test_stop_words_are_no_keywords() -> None:
    analyzer = Analyzer(stop_words=frozenset({"the"}))
    assert parse("the.cat", analyzer) == parse("cat")
    with pytest.raises(ExpressionError, match="no letter or digit"):
        parse("the cat", analyzer)


# ---- limits ----------------------------------------------------------------------------------


def alternatives(count: int, name: str = "a") -> str:
    return "(" + " OR ".join(f"{name}{i}" for i in range(count)) + ")"


def test_64_clauses_are_accepted_and_65_are_not() -> None:
    assert len(parse(alternatives(64))) == 64
    with pytest.raises(ExpressionError, match=r"too many clauses.*got 65, wanted at most 64"):
        parse(alternatives(65))


@pytest.mark.parametrize(
    "text",
    [
        alternatives(100) + " AND x AND -x",
        "x AND -x AND " + alternatives(100),
        f"{alternatives(1000)} {alternatives(1000, 'b')} x -x",
        f"{alternatives(1000)} {alternatives(1000, 'b')} -{alternatives(1000, 'b')}",
    ],
    ids=["last", "first", "two", "alternatives"],
)
def test_the_limit_counts_only_clauses_that_are_left(text) -> None:
    assert parse(text) == ()


@pytest.mark.parametrize("order", [1, -1], ids=["largest first", "smallest first"])
def test_small_factors_are_multiplied_first_wherever_they_stand(order) -> None:
    none_of_b = f"-{alternatives(150, 'b')}"
    factors = [alternatives(200), alternatives(150, "b"), f"(c {none_of_b} OR d {none_of_b})"]
    # 200 times 150 would be too many on the way; the pair leaves nothing of the second.
    assert parse(" ".join(factors[::order])) == ()


def test_the_limit_counts_only_distinct_clauses() -> None:
    assert len(parse(f"{alternatives(8)} {alternatives(8)}")) == 8 * 9 // 2
    assert len(parse(" OR ".join(["a", "b"] * 1000))) == 2


HUGE = {
    "parentheses": ("(" * 100_000 + "a" + ")" * 100_000, 1),
    "negations": ("-(" * 100_000 + "a" + ")" * 100_000, 1),
    "hyphens": ("-" * 100_000 + "a", 1),
    "nested ANDs": ("a (" * 100_000 + "b" + ")" * 100_000, 1),
    "nested ORs": ("a OR (" * 100_000 + "b" + ")" * 100_000, 2),
    "words": (" AND ".join(f"w{i}" for i in range(50_000)), 1),
    "unclosed": ("(" * 100_000, None),
    "unopened": ("a" + ")" * 100_000, None),
    "alternatives": (alternatives(100_000), None),
    "pairs": (" ".join(f"(a{i} OR b{i})" for i in range(1000)), None),
    "squares": (f"{alternatives(15_000)} {alternatives(15_000)}", None),
    "tautologies": ("z " + " ".join(f"(a{i % 9} OR -a{i % 9})" for i in range(9_000)), None),
    "staircase": ("".join(f"a{i} (b{i} OR " for i in range(9_000)) + "c" + ")" * 9_000, None),
    "wide clauses": (
        " ".join(
            "("
            + " OR ".join(f"({' '.join(f'{side}{i}x{j}' for j in range(100))})" for i in range(150))
            + ")"
            for side in "ab"
        ),
        None,
    ),
}


@pytest.mark.parametrize("name", HUGE)
def test_a_huge_expression_gets_an_answer_in_bounded_time(name) -> None:
    text, expected = HUGE[name]
    started = time.perf_counter()
    if expected is None:
        with pytest.raises(ExpressionError):
            parse(text)
    else:
        assert len(parse(text)) == expected
    assert time.perf_counter() - started < 20  # a slow machine; the usual is below 2


def test_the_order_of_clauses_is_the_same_in_every_process() -> None:
    code = (
        "from nearcast.keywords import parse\n"
        "print([(sorted(p), sorted(n)) for p, n in parse('(a OR b.c OR d) (e OR -f.g) -(h i)')])"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in "123"
    }
    assert len(runs) == 1


# ---- lists and plain words -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (["a"], {("a", "")}),
        (("b", "a", "b"), {("a b", "")}),
        (["AT&T"], {("at t", "")}),
        (["a OR b"], {("a b or", "")}),
        (["-a", "(b", '"c'], {("a b c", "")}),
    ],
)
def test_entries_of_a_list_are_all_required_and_have_no_operators(entries, expected) -> None:
    assert clauses(entries) == expected


@pytest.mark.parametrize(
    ("keywords", "claim"),
    [
        ([], "keywords are empty"),
        ([""], "entry 0 has no letter or digit: got ''"),
        (["a", "&"], "entry 1 has no letter or digit: got '&'"),
        (["a", 5], "entry 1 is not a string: got 5"),
        (["a", None], "entry 1 is not a string"),
        ([["a"]], "entry 0 is not a string"),
        (5, "neither an expression nor a list"),
        (None, "neither an expression nor a list"),
        (b"a", "neither an expression nor a list"),
        ({"a": 1}, "neither an expression nor a list"),
        ({"a"}, "neither an expression nor a list"),
    ],
)
def test_a_wrong_list_names_the_entry(keywords, claim) -> None:
    with pytest.raises(InvalidSubscriptionError, match=claim) as caught:
        parse(keywords)
    assert caught.value.field == "keywords"


@pytest.mark.parametrize("keywords", ["a b", "a AND b", ["a", "b"], "a.b", "(b) a a", "--a b"])
def test_plain_keywords_are_a_set_of_tokens(keywords) -> None:
    assert plain(keywords) == {"a", "b"}


@pytest.mark.parametrize("keywords", ["a OR b", "a -b", "a -a"])
def test_alternatives_and_negations_are_not_plain(keywords) -> None:
    with pytest.raises(InvalidSubscriptionError, match="plain words"):
        plain(keywords)

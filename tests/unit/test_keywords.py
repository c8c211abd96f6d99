"""Keywords become the tree that they say, or an error that says where it is."""

from __future__ import annotations

import pickle
import time
from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearcast.errors import ExpressionError, InvalidSubscriptionError
from nearcast.expressions import (
    MAX_KEYWORDS,
    MAX_NESTING,
    And,
    Not,
    Or,
    Phrase,
    Prefix,
    holds_without_words,
    leaves,
)
from nearcast.expressions import holds as holds_by
from nearcast.keywords import parse, plain
from nearcast.text import Analyzer
from nearcast.tree_checks import check_keywords

TOKENS = ("a", "b", "c", "d")
ALL_MESSAGES = [
    frozenset(message)
    for message in chain.from_iterable(combinations(TOKENS, n) for n in range(len(TOKENS) + 1))
]


def says(tree) -> str:
    """Write a tree in a form that is short to compare: words with dots, AND &, OR |, NOT !."""
    if isinstance(tree, Not):
        return f"!{says(tree.part)}"
    if isinstance(tree, And):
        return "(" + " & ".join(map(says, tree.parts)) + ")"
    if isinstance(tree, Or):
        return "(" + " | ".join(map(says, tree.parts)) + ")"
    if isinstance(tree, Prefix):
        return f"{tree.start}*"
    if isinstance(tree, Phrase):
        return '"' + " ".join(token or "_" for token in tree.tokens) + '"'
    return ".".join(tree.tokens)


def is_satisfied(tree, message) -> bool:
    return holds_by(tree, lambda word: set(word.tokens) <= message)


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
        return draw(
            st.sampled_from([tree, f"({tree})", *([f'"{tree}"'] if len(tree) == 1 else [])])
        )
    level = PRECEDENCE[tree[0]]
    parts = [draw(written(branch, level)) for branch in tree[1:]]
    if tree[0] == "not":
        text = draw(st.sampled_from(["-", "!", "–", "−", "NOT ", "not  "])) + parts[0]
    else:
        joins = [" ", " AND ", " and "] if level else [" OR ", " or ", " Or "]
        text = draw(st.sampled_from(joins)).join(parts)
    return f"({text})" if level < outer or draw(st.booleans()) else text


@st.composite
def tree_and_text(draw):
    tree = draw(trees)
    return tree, draw(written(tree))


@settings(deadline=None)
@given(tree_and_text())
def test_an_expression_is_true_of_exactly_the_messages_its_tree_is_true_of(case) -> None:
    tree, text = case
    found = parse(text)
    check_keywords(found)
    for message in ALL_MESSAGES:
        assert is_satisfied(found, message) == holds(tree, message), (text, message)
    assert holds_without_words(found) == holds(tree, frozenset())


@settings(deadline=None)
@given(st.lists(st.sampled_from([*TOKENS, "É", "a.b", "ANDY", "&"]), min_size=1, max_size=5))
def test_words_alone_mean_the_same_with_and_without_the_long_way(entries) -> None:
    text = " ".join(entries)
    if "&" in entries:
        with pytest.raises(ExpressionError, match="no operator"):
            parse(text)
    else:
        assert parse(text) == parse(f"({text})") == parse(entries)


# ---- reading ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("coffee", "coffee"),
        ("coffee AND (free OR sale) -decaf", "(coffee & (free | sale) & !decaf)"),
        ("a b OR c", "((a & b) | c)"),
        ("a OR b c", "(a | (b & c))"),
        ("a AND NOT b OR c", "((a & !b) | c)"),
        ("a NOT b c", "(a & !b & c)"),
        ("a and b or not c", "((a & b) | !c)"),
        ("a And b oR Not c", "((a & b) | !c)"),
        ("ANDROID ORB NOTE", "(android & orb & note)"),
        ('"AND" "OR" "NOT"', "(and & or & not)"),
        ("--a", "a"),
        ("a ---b", "(a & !b)"),
        ("NOT NOT a", "a"),
        ("NOT -a", "a"),
        ("-NOT a", "a"),
        ("-(-a)", "a"),
        ("-sold", "!sold"),
        ("!sold –b −c", "(!sold & !b & !c)"),
        ("a!b c! d–e", "(a.b & c & d.e)"),
        ("x -(a b)", "(x & !(a & b))"),
        ("x -(a OR b)", "(x & !(a | b))"),
        ("x -AT&T", "(x & !at.t)"),
        ('x -"at t"', '(x & !"at t")'),
        ('"new york" OR "New, York!"', '("new york" | "new york")'),
        ('"a"', "a"),
        ('"a a"', '"a a"'),
        ("balc*", "balc*"),
        ("-BALC* É́f*", "(!balc* & é́f*)"),
        ('"balc*"', "balc"),
        ("wi-fi", "wi.fi"),
        ("a- b", "(a & b)"),
        ("a (b)", "(a & b)"),
        ("a(b)c", "(a & b & c)"),
        ("a-(b)", "(a & b)"),
        ('a"b c"d', '(a & "b c" & d)'),
        ('a"b"-c', "(a & b & !c)"),
        ("a\u00a0b\u2003c\td\n", "(a & b & c & d)"),
        ("a OR a", "(a | a)"),
        ("a a", "(a & a)"),
        ("É é", "(é & é)"),
        ("a OR (a b)", "(a | (a & b))"),
        ("a OR (b OR (c OR d))", "(a | b | c | d)"),
        ("a (b (c d))", "(a & b & c & d)"),
        ("+a b+ c++ R&D", "(a & b & c & r.d)"),
        ("AT&AT", "at"),
    ],
)
def test_an_expression_is_read_as_the_guide_says(text, expected) -> None:
    tree = parse(text)
    assert says(tree) == expected
    check_keywords(tree)


@pytest.mark.parametrize("text", ["a -a", "a AND NOT a", "(a OR b) -a -b", "a -(a OR b)"])
def test_an_expression_that_contradicts_itself_is_accepted_and_never_holds(text) -> None:
    tree = parse(text)
    assert not any(is_satisfied(tree, message) for message in ALL_MESSAGES)


@pytest.mark.parametrize(
    ("text", "is_so"),
    [("-a", True), ("a OR -b", True), ("-a -b", True), ("a -b", False), ("-(a -a)", True)],
)
def test_whether_keywords_can_hold_without_a_word_is_known(text, is_so) -> None:
    assert holds_without_words(parse(text)) is is_so


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
        (")", 0, "closes nothing"),
        ("(a OR )", 6, "too early"),
        ("a AND", 5, "nothing follows AND"),
        ("a NOT", 5, "nothing follows NOT"),
        ("OR a", 0, "OR has nothing before it"),
        ("a AND OR b", 6, "OR follows AND"),
        ("a AND AND b", 6, "AND follows AND"),
        ("(AND a)", 1, "AND has nothing before it"),
        ("-AND a", 1, "AND follows NOT"),
        ("or a", 0, "OR has nothing before it"),
        ("a NOT OR b", 6, "OR follows NOT"),
        ('a "b', 2, "quote is not closed"),
        ('a """', 2, "no letter or digit"),
        ('a ""', 2, "no letter or digit"),
        ('a "!" b', 2, "no letter or digit"),
        ("a & b", 2, "'&' is no operator"),
        ("a && b", 2, "'&&' is no operator"),
        ("a || b", 2, r"'\|\|' is no operator"),
        ("a + b", 2, r"'\+' is no operator"),
        ("-", 0, "'-' stands alone"),
        ("a - b", 2, "'-' stands alone"),
        ("a – b", 2, "'–' stands alone"),
        ("a ! b", 2, "'!' stands alone"),
        ("a (-)", 3, "'-' stands alone"),
        ("a --", 3, "'-' stands alone"),
        ("a ☕", 2, "no letter or digit"),
        ("a *", 2, "prefix is not the beginning of one word"),
        ("b*", 0, "prefix is not the beginning of one word"),
        ("a x&balc*", 2, "prefix is not the beginning of one word"),
        ("*lcony", 0, "'\\*' has no meaning here"),
        ("a ba*c", 4, "'\\*' has no meaning here"),
        ("balc**", 4, "'\\*' has no meaning here"),
        ("what?", 4, "'\\?' has no meaning here"),
        ("coffee~2", 6, "'~' has no meaning here"),
        ("coffee^2", 6, "'\\^' has no meaning here"),
        ("type:flat", 4, "':' has no meaning here"),
        ("price<100", 5, "'<' has no meaning here"),
        ("a price >= 100", 8, "'>' has no meaning here"),
        ("price=100", 5, "'=' has no meaning here"),
    ],
)
def test_an_error_says_what_is_wrong_and_where(text, position, claim) -> None:
    with pytest.raises(ExpressionError, match=claim) as caught:
        parse(text)
    assert caught.value.position == position
    assert caught.value.field == "keywords"
    assert f"at position {position}" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).position == position


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("price<100", "where"),
        ("type:flat", "where"),
        ("a || b", "OR"),
        ("a && b", "AND"),
        ("what?", "quotes"),
        ("*lcony", "balc"),
        ("coffee~", "OR"),
        ("☕", "keep={'☕'}"),
        ("a OR", None),
    ],
)
def test_what_looks_like_another_language_gets_a_hint(text, hint) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert hint is None or hint in (caught.value.hint or "")


# ---- limits ----------------------------------------------------------------------------------


def alternatives(count: int, name: str = "a") -> str:
    return "(" + " OR ".join(f"{name}{i}" for i in range(count)) + ")"


@pytest.mark.parametrize("join", [" ", " AND ", " OR ", " -", "& "])
def test_1024_keywords_are_accepted_and_1025_are_not(join) -> None:
    def text(count):
        return join.join(f"w{i}" for i in range(count))

    assert len(list(leaves(parse(text(MAX_KEYWORDS))))) == MAX_KEYWORDS
    with pytest.raises(ExpressionError, match=r"too many keywords.*wanted at most 1,024") as caught:
        parse(text(MAX_KEYWORDS + 1))
    assert caught.value.position == len(text(MAX_KEYWORDS)) + len(join)


@pytest.mark.parametrize(("before", "after"), [("(", ")"), ("-", ""), ("a (", ")"), ("NOT ", "")])
def test_100_levels_are_accepted_and_101_are_not(before, after) -> None:
    check_keywords(parse(before * MAX_NESTING + "x" + after * MAX_NESTING))
    with pytest.raises(ExpressionError, match="nested too deeply"):
        parse(before * (MAX_NESTING + 1) + "x" + after * (MAX_NESTING + 1))


def test_the_deepest_tree_of_an_expression_is_a_tree_that_is_accepted() -> None:
    text = "a OR b (" * MAX_NESTING + "c OR d e" + ")" * MAX_NESTING
    check_keywords(parse(text))


def test_a_phrase_or_word_of_too_many_tokens_is_refused() -> None:
    for text in ('"' + "a " * 8191 + '"', "&".join(f"a{i}" for i in range(8191))):
        check_keywords(parse(text))
        with pytest.raises(ExpressionError, match="too many words"):
            parse(text + " b")


HUGE = {
    "parentheses": "(" * 100_000 + "a" + ")" * 100_000,
    "negations": "-(" * 100_000 + "a" + ")" * 100_000,
    "hyphens": "-" * 100_000 + "a",
    "words": " AND ".join(f"w{i}" for i in range(50_000)),
    "plain words": " ".join(f"w{i}" for i in range(500_000)),
    "unclosed": "(" * 100_000,
    "unopened": "a" + ")" * 100_000,
    "alternatives": alternatives(1_000_000),
    "squares": f"{alternatives(15_000)} {alternatives(15_000)}",
}


@pytest.mark.parametrize("name", HUGE)
def test_a_huge_expression_is_refused_at_once(name) -> None:
    started = time.perf_counter()
    with pytest.raises(ExpressionError):
        parse(HUGE[name])
    assert time.perf_counter() - started < 1  # a slow machine; the usual is below 0.02


def test_alternatives_are_not_multiplied_out() -> None:
    text = " ".join(f"(a{i} OR b{i})" for i in range(500))
    assert len(list(leaves(parse(text)))) == 1000


# ---- stop words ------------------------------------------------------------------------------

STOPPING = Analyzer(stop_words=frozenset({"the", "of"}))


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        ("the cat", "cat"),
        ("the.cat", "cat"),
        ("cat -the", "cat"),
        ("the OR cat", "cat"),
        ("(the OR of) cat", "cat"),
        ("cat (the)", "cat"),
        (["the", "cat"], "cat"),
        (["the cat"], "cat"),
        ('"the cat"', '"_ cat"'),
        ('"cat of the hat"', '"cat _ _ hat"'),
        ('"the" cat', "cat"),
        ("th*", "th*"),
        ("the*", "the*"),
    ],
)
def test_stop_words_are_dropped_and_keep_their_place_in_a_phrase(keywords, expected) -> None:
    assert says(parse(keywords, STOPPING)) == expected


@pytest.mark.parametrize("keywords", ["the", "the of", "the OR of", '"of the"', ["the"], "-the"])
def test_stop_words_alone_are_refused_with_the_true_reason(keywords) -> None:
    with pytest.raises(InvalidSubscriptionError, match="only stop words are left"):
        parse(keywords, STOPPING)


# ---- lists and plain words -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (["a"], "a"),
        (("b", "a", "b"), "(b & a & b)"),
        (["AT&T"], "at.t"),
        (["a OR b"], "a.or.b"),
        (["-a", "(b", '"c', "d*", "e:f"], "(a & b & c & d & e.f)"),
    ],
)
def test_entries_of_a_list_are_all_required_and_have_no_operators(entries, expected) -> None:
    assert says(parse(entries)) == expected


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


@pytest.mark.parametrize(
    "keywords", ["a b", "a AND b", ["a", "b"], "a.b", "(b) a a", "--a b", '"a" b']
)
def test_plain_keywords_are_a_set_of_tokens(keywords) -> None:
    assert plain(keywords) == {"a", "b"}


@pytest.mark.parametrize("keywords", ["a OR b", "a -b", "a -a", '"a b"', "ab*"])
def test_alternatives_and_negations_are_not_plain(keywords) -> None:
    with pytest.raises(InvalidSubscriptionError, match="plain words"):
        plain(keywords)

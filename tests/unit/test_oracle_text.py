"""The oracle, pinned by examples worked out by hand: keywords and texts (DESIGN 1.1)."""

from __future__ import annotations

import pytest
from oracle import (
    OracleRejects,
    analyze,
    matches,
)
from oracle.keywords import holds_without_words, plain_tokens, read_keywords
from oracle.text import places, read_stop_words
from oracle_events import (
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


def satisfied(keywords: object, text: str, stop_words: str = "") -> bool:
    """Decide a pair without a place in the way."""
    event = subscribe("s", keywords=keywords, area=[-180, -90, 180, 90])
    return matches(event, publish("m", text), None, read_stop_words(stop_words.split()))


@pytest.mark.parametrize(
    ("keywords", "yes", "no"),
    [
        (["a", "b"], ["b x a"], ["a", "b"]),
        (["a b", "a"], ["a b", "b a"], ["a"]),
        (["AND", "-a", "(OR"], ["and a or"], ["and or", "a or"]),  # no operators in a list
        (["balc*", "a:b"], ["balc a b"], ["balcony a b"]),
        (["new york"], ["york new"], ["york"]),
        ("a", ["a", "b a"], ["", "b", "ab"]),
        ("a b", ["a b", "b x a"], ["a", "b"]),
        ("a AND b", ["a b"], ["a", "a and"]),
        ("a and b", ["a b", "b a"], ["a and"]),  # operators in any letter case
        ("a Or b", ["a", "b"], ["or"]),
        ("a nOt b", ["a", "a not"], ["a b"]),
        ('a "OR" b', ["a or b"], ["a", "a b"]),  # quoted, they are words
        ("a OR b c", ["a", "b c"], ["b", "c"]),  # AND before OR
        ("a AND b OR c AND d", ["a b", "c d"], ["a c", "b c"]),
        ("a NOT b OR c", ["a", "c", "b c"], ["a b", "b"]),  # NOT first
        ("a NOT b c", ["a c"], ["a b c", "a"]),
        ("a -b", ["a"], ["a b", "b"]),
        ("a !b", ["a"], ["a b", "b"]),
        ("a \u2013b", ["a"], ["a b", "b"]),  # an en dash
        ("a \u2212b", ["a"], ["a b", "b"]),  # a minus sign
        ("a \u2014b", ["a b"], ["a"]),  # an em dash is no sign
        ("a --b", ["a b"], ["a"]),
        ("a -!\u2013b", ["a"], ["a b"]),
        ("a NOT NOT b", ["a b"], ["a"]),
        ("a -NOT b", ["a b"], ["a"]),
        ("a -(b OR c)", ["a"], ["a b", "a c"]),
        ("a !(b c)", ["a", "a b", "a c"], ["a b c"]),
        ("a -(b -c)", ["a", "a c", "a b c"], ["a b"]),
        ('a -"b c"', ["a", "a b", "c b a", "b a c"], ["a b c", "b c a"]),
        ("a-b", ["b a"], ["a"]),  # a sign negates only at the start of a word
        ("a!b wow!", ["b a wow"], ["a"]),
        ("a-(b)", ["a b"], ["a"]),
        ("a -b-c", ["a", "a b"], ["a c b"]),
        ("x -AT&T", ["x", "x at", "x t"], ["x t at"]),
        ("AT&T", ["t x at"], ["att"]),
        ("(a OR b) (c OR d)", ["a c", "b d"], ["a b", "c d"]),
        ("(a)(b)", ["a b"], ["a"]),
        ('a"b"c', ["c b a"], ["a b"]),
        ('"a"-b', ["a"], ["a b"]),
        ("ANDa", ["anda"], ["a"]),
        ("a -a", [], ["a", "b", ""]),  # contradicts itself
        ("a -a OR b", ["b"], ["a"]),
        ("Straße", ["STRASSE"], ["strase"]),
        ("a\u00a0b\tc\nd", ["d c b a"], ["a b c"]),
        ("-a", ["", "b"], ["a"]),
        ("a OR -b", ["a b", ""], ["b"]),
        ("+a b", ["b a"], ["a"]),  # only a word of such signs alone is an error
    ],
)
def test_an_expression_is_plain_boolean_logic(
    keywords: object, yes: list[str], no: list[str]
) -> None:
    assert [text for text in yes if not satisfied(keywords, text)] == []
    assert [text for text in no if satisfied(keywords, text)] == []


@pytest.mark.parametrize(
    ("keywords", "yes", "no"),
    [
        ('"new york"', ["new york", "in New-York, now"], ["york new", "new old york", "new"]),
        ('"a a"', ["a a", "b a a"], ["a", "a b a"]),  # twice means twice
        ('"a b a b c"', ["a b a b a b c"], ["a b a c"]),  # a false start does not hide it
        ('"AT&T"', ["x at t"], ["t at"]),
        ('"a"', ["b a"], ["b"]),
        ('-"a b" c', ["c b a", "a c b"], ["a b c"]),
        ('"a b" OR "b c"', ["b c", "a b"], ["a c", "b a"]),
        ("ba*", ["ba", "balcony", "x BALL"], ["b", "xba", "a"]),
        ("Straß*", ["strassen", "strass"], ["stras"]),
        ("-ba* c", ["c b", "c"], ["c bar"]),
        ("ba* bal*", ["bald"], ["bar"]),
        ("42*", ["421"], ["4"]),
    ],
)
def test_phrases_and_prefixes(keywords: object, yes: list[str], no: list[str]) -> None:
    assert [text for text in yes if not satisfied(keywords, text)] == []
    assert [text for text in no if satisfied(keywords, text)] == []


@pytest.mark.parametrize(
    "keywords",
    [
        *([], ["a", "&"], [""], ["a", 3], None, 3, {"a": 1}),
        *("", "  ", "()", "(a", "a)", ")", "a AND", "AND a", "a OR", "OR", "NOT", "a OR OR b"),
        *("a AND OR b", "a (", '"a', 'a "', '""', "&", "a &", "-", "a -", "a - b", "a --", "(a -)"),
        *("a -AND", "a -)", "a !", "a ! b", "\u2013", "a \u2212", "a and", "or a", "a or not"),
        *("a && b", "a || b", "a + b", "+", "|&"),
        *("*", "a*", "*ab", "ab**", "a*b", "ab* *", "a-b*", "(ab)*", '"ab"*', "ba*r"),
        *("a:b", "a?", "ab~", "ab~2", "ab^2", "a<b", "a > b", "a=b", "te?t", "title:(a)"),
        *('" "', '"&"', "🙂", "a 🙂", "_"),
    ],
)
def test_bad_keywords_are_an_error(keywords: object) -> None:
    with pytest.raises(OracleRejects):
        read_keywords(keywords)


def test_an_expression_has_at_most_1024_keywords() -> None:
    read_keywords(" OR ".join(f"w{i}" for i in range(1024)))
    read_keywords(" ".join(["a"] * 1023 + ['"b c"']))
    read_keywords([f"w{i}" for i in range(2000)])  # a list is no expression
    with pytest.raises(OracleRejects):
        read_keywords(" ".join(["a"] * 1025))
    with pytest.raises(OracleRejects):
        read_keywords(" OR ".join(["a"] * 1024 + ["ab*"]))


def test_parentheses_and_nots_nest_to_100() -> None:
    read_keywords("(" * 100 + "a" + ")" * 100)
    read_keywords("NOT " * 100 + "a")
    read_keywords("-(" * 50 + "a" + ")" * 50)
    read_keywords(" ".join(["-(a)"] * 500))  # beside each other they do not add up
    for deep in ("(" * 101 + "a" + ")" * 101, "-" * 101 + "a", "-(" * 50 + "(a)" + ")" * 50):
        with pytest.raises(OracleRejects):
            read_keywords(deep)


@pytest.mark.parametrize(
    ("keywords", "can"),
    [
        *[(text, True) for text in ("-a", "NOT a", "a OR -b", "-(a b)", "-(a -a)", '-"a b"')],
        *[(text, True) for text in ("-ab*", "(-a) (-b)", "-(a OR b)", "a OR (-b -c)")],
        *[(text, False) for text in ("a", "a -a", "--a", "a -b", '"a b"', "-(a OR -b)", "ab*")],
    ],
)
def test_what_holds_without_any_word_needs_an_area_or_a_where(keywords: str, can: bool) -> None:
    assert holds_without_words(read_keywords(keywords)) is can
    matches(subscribe("s", keywords=keywords, area=[0, 0, 1, 1]), publish("m", ""))
    matches(subscribe("s", keywords=keywords, where="x EXISTS"), publish("m", ""))
    if can:
        with pytest.raises(OracleRejects):
            matches(subscribe("s", keywords=keywords), publish("m", ""))
    else:
        matches(subscribe("s", keywords=keywords), publish("m", ""))


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        (["a b", "c"], "a b c"),
        ("a (b AND c)", "a b c"),
        ('AT&T "x"', "at t x"),
        ("a a", "a"),
        ("a NOT NOT b --(c)", "a b c"),
        *[(text, None) for text in ("a OR b", "a OR a", "-a", "---a", "a -b", '"a b"', "ab*")],
    ],
)
def test_plain_keywords_are_words_that_are_all_wanted(keywords: object, expected: str) -> None:
    tree = read_keywords(keywords)
    if expected is None:
        with pytest.raises(OracleRejects):
            plain_tokens(tree)
    else:
        assert plain_tokens(tree) == set(expected.split())


def test_stop_words_leave_their_places_empty() -> None:
    dropped = read_stop_words(["The", "of"])
    assert dropped == {"the", "of"}
    assert places("The cup OF tea", dropped) == (None, "cup", None, "tea")


@pytest.mark.parametrize(
    ("keywords", "yes", "no"),
    [
        ("the flat", ["flat", "a the flat"], ["the"]),
        ("flat -the", ["the flat"], ["the"]),
        ("flat OR the", ["flat"], ["the", "a"]),
        ("(the) flat (of -the)", ["flat"], ["the"]),
        ("the-flat", ["flat"], ["the"]),
        (["the flat", "of"], ["flat"], ["the of"]),
        ('flat -"the of"', ["flat the of"], ["the of"]),
        (
            '"cup of tea"',
            ["cup of tea", "cup for tea", "the cup the tea"],
            ["cup tea", "cup a b tea"],
        ),
        ('"the flat"', ["the flat", "a flat", "of flat"], ["flat", "flat the"]),
        ('"flat the"', ["flat the", "flat b"], ["flat", "the flat"]),
        ('"a the the b"', ["a x y b", "a the of b"], ["a the b", "a b"]),
        ("th* b", ["then b", "the then b"], ["the b", "b"]),  # a stop word is no token any more
        ("-the -flat", ["the", "b"], ["flat"]),
    ],
)
def test_stop_words_are_dropped_from_keywords(
    keywords: object, yes: list[str], no: list[str]
) -> None:
    assert [text for text in yes if not satisfied(keywords, text, "the of")] == []
    assert [text for text in no if satisfied(keywords, text, "the of")] == []


@pytest.mark.parametrize(
    "keywords", ["the", "the of", "-the", '"the of"', ["the", "OF"], "(the) OR NOT of", "the-of"]
)
def test_only_stop_words_are_an_error(keywords: object) -> None:
    read_keywords(keywords)
    with pytest.raises(OracleRejects):
        read_keywords(keywords, read_stop_words(["the", "of"]))


def test_one_of_keywords_area_and_where_must_be_there() -> None:
    assert matches(subscribe("s", area=[0, 0, 1, 1]), publish("m", ""))
    assert not matches(subscribe("s", area=[1, 1, 2, 2]), publish("m", ""))
    assert matches(subscribe("s", keywords="a"), publish("m", at=[180, -90]))
    assert matches(subscribe("s", where="NOT x EXISTS"), publish("m", ""))
    for nothing in ({}, {"except": [0, 0, 1, 1]}):
        with pytest.raises(OracleRejects):
            matches(subscribe("s", **nothing), publish("m"))

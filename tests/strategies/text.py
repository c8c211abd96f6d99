"""Texts and keywords: few words, so that they repeat, start alike and stand next to each other."""

from __future__ import annotations

from hypothesis import strategies as st
from oracle import OracleRejects, read_keywords
from oracle.keywords import holds_without_words

Strategy = st.SearchStrategy

_WORDS = (
    *("coffee", "coffees", "cof", "free", "sale", "jazz", "a", "b", "c", "ab", "abc"),
    *("Coffee", "ＣＯＦＦＥＥ", "straße", "STRASSE", "ﬁre", "fire", "İzmir", "izmir"),
    *("cafe\u0301", "café", "٣", "3", "x²", "e\u0301\u0323", "नमस्ते", "Ǆ", "ſ", "K"),
)
_COMPOUNDS = ("at&t", "AT&T", "rock-n-roll", "3.5", "a🙂b", "free/sale", "b\u200bc", "a–b", "c!")
_SEPARATORS = (" ", "  ", "-", "&", ", ", "🙂", "\u2028", "\u00a0", "_", "\n", "\u200d", "'", "")

tokens: Strategy[str] = st.sampled_from(("a", "b", "c", "coffee"))
words: Strategy[str] = st.one_of(tokens, st.sampled_from(_WORDS), st.sampled_from(_COMPOUNDS))


@st.composite
def _texts(draw: st.DrawFn) -> str:
    chosen = draw(st.lists(words, max_size=6))
    return "".join(word + draw(st.sampled_from(_SEPARATORS)) for word in chosen)


_wild_texts = st.text(st.characters(codec="utf-8"), max_size=8)
_plain_texts = st.lists(tokens, max_size=5).map(" ".join)
_repeating_texts = st.lists(st.sampled_from(("a", "b", "coffee")), max_size=9).map(" ".join)
_long_texts = st.tuples(
    st.lists(tokens, max_size=4), st.lists(words, max_size=4), st.sampled_from((7, 31, 32, 33, 70))
).map(lambda drawn: " ".join(drawn[0] * drawn[2] + [f"w{i}" for i in range(drawn[2])] + drawn[1]))
texts: Strategy[str] = st.one_of(
    *(_plain_texts, _plain_texts, _plain_texts, _repeating_texts),
    *(_texts(), _wild_texts, _long_texts),
)
keyword_lists: Strategy[list[str]] = st.one_of(
    st.lists(tokens, min_size=1, max_size=2),
    st.lists(tokens, min_size=1, max_size=3),
    st.lists(words, min_size=1, max_size=4),
)

# Expressions --------------------------------------------------------------------------------------

_one_token = st.sampled_from(("a", "b", "c", "coffee", "AND", "or", "Not"))
_phrases = st.one_of(
    st.lists(tokens, min_size=2, max_size=4).map(" ".join),
    st.lists(words, min_size=1, max_size=3).map(" ".join),
)
_prefixes = st.sampled_from(("co*", "cof*", "coffee*", "COFFEES*", "ab*", "st*", "ﬁ*", "fre*"))
_quoted = st.one_of(_one_token, _phrases, _phrases).map('"{}"'.format)
_keywords = st.one_of(tokens, tokens, tokens, words, _quoted, _prefixes)
_ands = st.sampled_from((" ", " ", " AND ", " and ", "\tAnd\n"))
_ors = st.sampled_from((" OR ", " or ", " oR "))
_nots = st.sampled_from(("-", "!", "–", "−", "NOT ", "not ", "--", "-NOT ", "!!!"))


@st.composite
def _combined(draw: st.DrawFn, inner: Strategy[str]) -> str:
    """Join two or three parts, or negate one; parentheses keep what is inside whole."""
    choice = draw(st.integers(0, 5))
    if choice == 0:
        return f"{draw(_nots)}({draw(inner)})"
    if choice == 1:
        return f"{draw(_nots)}{draw(_keywords)}"
    parts = [draw(st.one_of(inner, inner.map("({})".format))) for _ in range(draw(_few))]
    joint = _ors if choice == 2 else _ands
    return parts[0] + "".join(draw(joint) + part for part in parts[1:])


_few = st.integers(2, 3)
_any_expressions: Strategy[str] = st.recursive(_keywords, _combined, max_leaves=8)


def _needs_a_word(expression: str) -> bool:
    try:
        return not holds_without_words(read_keywords(expression))
    except OracleRejects:
        return False


def _is_accepted(expression: str) -> bool:
    try:
        read_keywords(expression)
    except OracleRejects:
        return False
    return True


expressions: Strategy[str] = _any_expressions.filter(_needs_a_word)
"""Expressions that a subscription may have by themselves."""

free_expressions: Strategy[str] = _any_expressions.filter(_is_accepted)
"""Expressions for subscriptions that have an area or a `where`: also such as ``-sold``."""

_LEXEMES = (
    *("AND", "OR", "NOT", "(", ")", "-", "-a", "a", "b", '"', '"a b"', "and", "&", "a-b", " "),
    *("!", "–", "−b", "ab*", "*", "a*", "or", "nOt", ":", "a:b", "||", "+", "🙂", "^2", "~", "a<b"),
)
wild_expressions: Strategy[str] = st.lists(st.sampled_from(_LEXEMES), max_size=8).flatmap(
    lambda lexemes: st.sampled_from(("", " ")).map(lambda glue: glue.join(lexemes))
)

plain_keywords: Strategy[list[str] | str] = st.one_of(
    keyword_lists,
    st.lists(tokens, min_size=1, max_size=3).flatmap(
        lambda given: _ands.map(lambda joint: joint.join(f'"{word}"' for word in given))
    ),
)
stop_words: Strategy[tuple[str, ...]] = st.sampled_from(((), (), ("b",), ("A", "Coffee"), ("c",)))

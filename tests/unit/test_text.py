"""Tokens are the maximal runs of letters, marks and digits after NFKC and casefold."""

from __future__ import annotations

import pickle
import sys
import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearcast.errors import InvalidParameterError
from nearcast.text import Analyzer

analyze = Analyzer().analyze


def tokens_by_category(text: str) -> list[str]:
    """Return the tokens as the definition reads, character by character."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = [c if unicodedata.category(c)[0] in "LMN" else " " for c in folded]
    return [token for token in "".join(kept).split(" ") if token]


def test_every_code_point_alone_is_read_by_its_category() -> None:
    wrong = [
        hex(code)
        for code in range(sys.maxunicode + 1)
        if analyze(chr(code)) != tokens_by_category(chr(code))
    ]
    assert wrong == []


def test_every_code_point_inside_a_word_that_is_not_ascii_separates_or_joins_by_its_category() -> (
    None
):
    # In one text per 4,096 code points: the finder sees each of them between two others.
    for start in range(0, sys.maxunicode + 1, 4096):
        text = "".join(f"é{chr(code)}é " for code in range(start, start + 4096))
        assert analyze(text) == tokens_by_category(text), hex(start)


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_read_as_the_definition_says(text) -> None:
    assert analyze(text) == tokens_by_category(text)


@settings(deadline=None)
@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=40))
def test_ascii_text_takes_the_short_way_to_the_same_tokens(text) -> None:
    assert analyze(text) == tokens_by_category(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("!?", []),
        ("Free coffee, FREE!", ["free", "coffee", "free"]),
        ("AT&T", ["at", "t"]),
        ("snake_case", ["snake", "case"]),
        ("don't", ["don", "t"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("ﬁsh", ["fish"]),
        ("x²", ["x2"]),
        ("①", ["1"]),
        ("Cafe\u0301", ["café"]),
        ("हिन्दी", ["हिन्दी"]),
        ("東京 タワー", ["東京", "タワー"]),
        ("a\ud800b", ["a", "b"]),
        ("𝐁𝐨𝐥𝐝", ["bold"]),
        ("a🎉b", ["a", "b"]),
    ],
)
def test_examples_are_read_as_a_person_would(text, tokens) -> None:
    assert analyze(text) == tokens


def test_stop_words_go_before_stems_and_empty_stems_are_dropped() -> None:
    analyzer = Analyzer(stop_words=frozenset({"the"}), stem=lambda token: token.rstrip("s"))
    assert analyzer.analyze("The cats, s, thes") == ["cat", "the"]


def test_stop_words_may_be_any_collection_but_not_one_string() -> None:
    words: list[Any] = [{"a"}, ["a"], frozenset("a")]
    for stop_words in words:
        assert Analyzer(stop_words=stop_words).analyze("a b") == ["b"]
    one: Any = "the"
    with pytest.raises(InvalidParameterError, match="stop_words is not a set"):
        Analyzer(stop_words=one)


def test_an_analyzer_can_be_pickled_and_compared() -> None:
    analyzer = Analyzer(stop_words=frozenset({"x"}))
    assert pickle.loads(pickle.dumps(analyzer)) == analyzer != Analyzer()

"""Tokens are runs of letters, marks and digits after NFKC and casefold, and what options make."""

from __future__ import annotations

import pickle
import sys
import unicodedata
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearcast as nc
from nearcast.errors import InvalidParameterError
from nearcast.expressions import And, Not, Phrase, Word
from nearcast.keywords import parse
from nearcast.stop_words import STOP_WORDS
from nearcast.text import Analyzer, languages
from nearcast.tokens import without_accents

analyze = Analyzer().analyze


def tokens_by_category(text: str) -> list[str]:
    """Return the tokens as the definition reads, character by character."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = [c if unicodedata.category(c)[0] in "LMN" else " " for c in folded]
    runs = "".join(kept).split(" ")
    return [run for run in runs if any(unicodedata.category(c)[0] in "LN" for c in run)]


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
        ("❤\ufe0f pizza❤\ufe0f", ["pizza"]),
        ("1\ufe0f\u20e3", ["1\ufe0f\u20e3"]),
        ("\u0301", []),
    ],
)
def test_examples_are_read_as_a_person_would(text, tokens) -> None:
    assert analyze(text) == tokens


def test_stop_words_go_before_stems_and_empty_stems_are_dropped() -> None:
    analyzer = Analyzer(stop_words=frozenset({"the"}), stem=lambda token: token.rstrip("s"))
    assert analyzer.analyze("The cats, s, thes") == ["cat", "the"]


def test_stop_words_may_be_any_collection_but_not_one_string() -> None:
    words: list[Any] = [{"a"}, ["a"], frozenset("a"), {"A"}, ("Á",)]
    for stop_words in words:
        analyzer = Analyzer(stop_words=stop_words, fold_accents=True)
        assert analyzer.analyze("a b") == ["b"]
        assert analyzer.places("A b a") == [None, "b", None]
    with pytest.raises(InvalidParameterError, match="neither a set of words nor a language"):
        Analyzer(stop_words="the")


def test_stop_words_of_several_tokens_stop_each_of_them() -> None:
    assert Analyzer(stop_words={"Don't"}).places("don t") == [None, None]


@pytest.mark.parametrize("language", STOP_WORDS)
def test_stop_words_of_a_language_are_words_and_do_not_repeat(language) -> None:
    words = STOP_WORDS[language].split()
    assert len(set(words)) == len(words) > 50
    assert all(analyze(word) == [word] for word in words)
    assert language in languages()
    assert Analyzer(language, stop_words=language).analyze(" ".join(words)) == []


# ---- languages -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("english", "Running runs RAN", ["run", "run", "ran"]),
        ("german", "Häuser Hauses", ["haus", "haus"]),
        ("french", "continuellement continuel", ["continuel", "continuel"]),
        ("russian", "книги книга", ["книг", "книг"]),
    ],
)
def test_a_language_has_its_stemmer(language, text, tokens) -> None:
    assert Analyzer(language).analyze(text) == tokens
    assert pickle.loads(pickle.dumps(Analyzer(language))).analyze(text) == tokens


def test_a_language_without_the_package_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    with pytest.raises(InvalidParameterError, match="needs the package PyStemmer") as caught:
        Analyzer("german")
    assert "nearcast[languages]" in (caught.value.hint or "")


def test_stems_are_of_folded_words_so_that_accents_never_matter() -> None:
    analyzer = Analyzer("french", fold_accents=True)
    for word in ("éléphants", "été", "crème", "où"):
        assert analyzer.analyze(word) == analyzer.analyze(without_accents(word))


# ---- accents, kept words, bigrams ------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("München", "munchen"),
        ("Crème Brûlée", "creme brulee"),
        ("Smørrebrød Łódź Þór Œuvre", "smorrebrod lodz thor oeuvre"),
        ("Ёлка", "елка"),
        ("ά", "α"),
        ("Việt Nam", "viet nam"),
        ("हिन्दी", "हिन्दी"),
        ("ที่", "ที่"),
        ("が 한국", "が 한국"),
        ("İstanbul", "istanbul"),
    ],
)
def test_accents_fold_and_vowel_signs_stay(text, folded) -> None:
    assert Analyzer(fold_accents=True).analyze(text) == folded.split()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("C++", ["c++"]),
        ("c++,c#;.NET", ["c++", "c#", ".net"]),
        ("C++17", ["c++", "17"]),
        ("abc++", ["abc"]),
        ("example.net", ["example", "net"]),
        (".network", ["network"]),
        ("(.net)", [".net"]),
        ("☕☕coffee☕", ["☕", "☕", "coffee", "☕"]),
        ("☕\ufe0f", ["☕"]),
        ("AT&T at&t", ["at&t", "at&t"]),
        ("great&t", ["great", "t"]),
        ("nothing here", ["nothing", "here"]),
    ],
)
def test_kept_words_are_tokens_where_they_stand_alone(text, tokens) -> None:
    analyzer = Analyzer(keep={"C++", "c#", ".net", "☕\ufe0f", "AT&T"})
    assert analyzer.analyze(text) == tokens


def test_of_two_kept_words_at_one_place_the_longer_counts() -> None:
    assert Analyzer(keep={"c", "c+", "c++"}).analyze("c++ c+ c") == ["c++", "c+", "c"]


def test_a_kept_word_can_be_looked_for_as_keyword_phrase_and_list() -> None:
    analyzer = Analyzer(keep={"c++", "☕"})
    assert parse("c++ -☕", analyzer) == And((Word(("c++",)), Not(Word(("☕",)))))
    assert parse('"c++ developer"', analyzer) == Phrase(("c++", "developer"))
    assert parse(["c++"], analyzer) == Word(("c++",))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("東京都", ["東京", "京都"]),
        ("猫", ["猫"]),
        ("東京abc", ["東京", "abc"]),
        ("食べる", ["食べ", "べる"]),
        ("한국어 맛집", ["한국", "국어", "맛집"]),
        ("ﾃﾚﾋﾞ", ["テレ", "レビ"]),
        ("𠮷野家", ["𠮷野", "野家"]),
        ("plain words", ["plain", "words"]),
        ("ไทย", ["ไท", "ทย"]),
    ],
)
def test_scripts_without_spaces_are_read_in_pairs(text, tokens) -> None:
    assert Analyzer(bigrams=True).analyze(text) == tokens


# ---- hooks -----------------------------------------------------------------------------------


def by_hyphen(text):
    return text.split("-")


class Letters(Analyzer):
    def analyze(self, text):
        return list(text.lower())


def test_a_tokenizer_of_ones_own_gets_normalized_text_and_is_followed_by_the_rest() -> None:
    analyzer = Analyzer(tokenizer=by_hyphen, stop_words={"b c"}, stem=str.upper)
    assert analyzer.places("A-B C--d") == ["A", None, "D"]
    assert analyzer.has_own_tokenizer
    assert pickle.loads(pickle.dumps(analyzer)) == analyzer


@pytest.mark.parametrize("wrong", ["text", None, 5, [5], ["\ud800"], [b"a"]])
def test_a_tokenizer_that_returns_no_tokens_is_blamed(wrong) -> None:
    with pytest.raises(InvalidParameterError, match="tokenizer returns what"):
        Analyzer(tokenizer=lambda _: wrong).analyze("a")


HOOKED = [Letters(), Analyzer(tokenizer=by_hyphen), Analyzer(keep={"a-b"}), Analyzer("english")]


@pytest.mark.parametrize("analyzer", HOOKED, ids=["subclass", "tokenizer", "keep", "language"])
def test_an_analyzer_gives_the_same_answer_to_one_message_and_to_a_table(analyzer) -> None:
    assert not analyzer.is_plain
    texts = ["a-b", "ab", "running a b", "É-b", ""]
    matcher = nc.Matcher(analyzer=analyzer)
    for number, word in enumerate(["a", "b", "ab", "a-b", "run", "é"]):
        matcher.subscribe(number, keywords=[word])
    table = pa.table({"text": texts, "lon": [0.0] * 5, "lat": [0.0] * 5})
    pairs = [tuple(row.values()) for row in matcher.match_table(table).to_pylist()]
    singles = [(row, id) for row, text in enumerate(texts) for id in matcher.match(text, at=(0, 0))]
    assert sorted(pairs) == sorted(singles)
    assert pairs


def test_a_phrase_over_a_stop_word_has_one_answer_for_a_message_and_for_a_table() -> None:
    matcher = nc.Matcher(analyzer=nc.Analyzer(stop_words={"of", "the"}))
    matcher.subscribe("s", keywords='"state of art"')
    texts = ["state of art", "state the art", "state fine art", "state art", "state of the art"]
    table = pa.table({"text": texts, "lon": [0.0] * 5, "lat": [0.0] * 5})
    assert matcher.match_table(table).column("message").to_pylist() == [0, 1, 2]
    assert [row for row, text in enumerate(texts) if matcher.match(text, at=(0, 0))] == [0, 1, 2]


# ---- identity --------------------------------------------------------------------------------


def test_parameters_tell_analyzers_apart() -> None:
    analyzers = [
        Analyzer(),
        Analyzer("german"),
        Analyzer("french"),
        Analyzer(stop_words={"a"}),
        Analyzer(stop_words={"b"}),
        Analyzer(fold_accents=True),
        Analyzer(bigrams=True),
        Analyzer(keep={"c++"}),
        Analyzer(stem=str.upper),
        Analyzer(stem=str.title),
        Analyzer(tokenizer=by_hyphen),
        Analyzer(tokenizer=by_hyphen, name="mine-2"),
        Letters(),
    ]
    saved = [analyzer.saved() for analyzer in analyzers]
    assert len(set(saved)) == len(saved)
    assert all(text.isascii() and "\n" not in text for text in saved)
    assert saved == [pickle.loads(pickle.dumps(each)).saved() for each in analyzers]


@pytest.mark.parametrize(
    ("options", "claim"),
    [
        ({"language": "klingon"}, "language is unknown"),
        ({"language": 5}, "language is unknown"),
        ({"language": "german", "stem": str.upper}, "both"),
        ({"stop_words": 5}, "stop_words is not a set"),
        ({"stop_words": [5]}, "stop_words is not a set"),
        ({"keep": "c++"}, "keep is not a set"),
        ({"keep": {""}}, "empty word"),
        ({"keep": {" "}}, "empty word"),
        ({"fold_accents": 1}, "fold_accents is not a truth value"),
        ({"bigrams": None}, "bigrams is not a truth value"),
        ({"stem": 5}, "stem cannot be called"),
        ({"tokenizer": 5}, "tokenizer cannot be called"),
        ({"name": 5}, "name is not a name"),
    ],
)
def test_a_wrong_option_is_named(options, claim) -> None:
    with pytest.raises(InvalidParameterError, match=claim):
        Analyzer(**options)


def test_an_analyzer_can_be_pickled_and_compared() -> None:
    analyzer = Analyzer(stop_words=frozenset({"x"}))
    assert pickle.loads(pickle.dumps(analyzer)) == analyzer != Analyzer()
    assert hash(analyzer) == hash(Analyzer(stop_words=["x"]))

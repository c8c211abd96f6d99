"""No expression, however broken, gives anything but a sound tree or an error of ours."""

from __future__ import annotations

from functools import partial

import pytest
from fuzz.mutate import ROUNDS, SEED, mutations, survives
from oracle.fields import OracleRejects
from oracle.keywords import holds as oracle_holds
from oracle.keywords import read_keywords

from nearcast.errors import ExpressionError, NearcastError
from nearcast.expressions import Prefix, Word, holds, plain_tokens
from nearcast.keywords import parse
from nearcast.text import Analyzer
from nearcast.tree_checks import check_keywords

CORPUS = [
    "coffee",
    "coffee AND (free OR sale) -decaf",
    "a b OR c -d",
    "(a OR b) (c OR d) (e OR f) -(g h)",
    'x -"at t" NOT y',
    "not (Not a or !b) and c",
    "--a ---b –c −d",
    '"AND" "OR" wi-fi AT&T balc*',
    '"new york" OR manh* "the flat of the year"',
    "((((a))))",
    "ß É 漢字 हिन्दी ☕",
    "price:100 a? b~ c^2 d<e >= || && +",
    " OR ".join(f"w{i}" for i in range(64)),
    " ".join(f"(a{i} OR b{i})" for i in range(6)),
    "(a OR -a) (b OR -b) (c OR -c) d",
]
STOP_WORDS = frozenset({"the", "of", "a", "w1"})
TEXTS = [
    "",
    "a b c d",
    "coffee free",
    "coffee sale decaf",
    "x at t",
    "new york manhattan",
    "flat the flat of the year",
    "and or wi fi AT&T balcony",
    "w0 w1 w2",
    "ß é 漢字",
]


def test_a_mutated_expression_gives_a_sound_tree_or_an_error_with_its_position() -> None:
    accepted = 0
    for text in mutations(SEED, CORPUS, ROUNDS):
        tree = survives(parse, text, NearcastError)
        if tree is None:
            with pytest.raises(ExpressionError) as caught:
                parse(text)
            assert 0 <= caught.value.position <= len(text), repr(text)
            continue
        accepted += 1
        check_keywords(tree)
    assert accepted > ROUNDS / 10, "the mutations are too wild to test anything but errors"


@pytest.mark.parametrize("stop_words", [frozenset[str](), STOP_WORDS], ids=["all", "stopped"])
def test_a_mutated_expression_means_what_the_oracle_says(stop_words) -> None:
    analyzer = Analyzer(stop_words=stop_words)
    for text in mutations(SEED + 1, CORPUS, ROUNDS // 2):
        tree = survives(lambda t: parse(t, analyzer), text, NearcastError)
        try:
            expected = read_keywords(text, stop_words)
        except OracleRejects:
            assert tree is None, repr(text)
            continue
        assert tree is not None, repr(text)
        for message in TEXTS:
            found = analyzer.places(message)
            is_so = holds(tree, partial(leaf_holds, found))
            assert is_so == oracle_holds(expected, tuple(found)), (text, message)


def leaf_holds(places, leaf) -> bool:
    if isinstance(leaf, Prefix):
        return any(place is not None and place.startswith(leaf.start) for place in places)
    if isinstance(leaf, Word):
        return set(leaf.tokens) <= set(places)
    wanted = leaf.tokens
    return any(
        all(w in (None, p) for w, p in zip(wanted, places[start:], strict=False))
        for start in range(len(places) - len(wanted) + 1)
    )


def test_a_mutated_list_gives_plain_words_or_an_error() -> None:
    for text in mutations(SEED + 2, CORPUS, ROUNDS // 2):
        tree = survives(lambda t: parse(t.split(" ")), text, NearcastError)
        assert tree is None or plain_tokens(tree), repr(text)

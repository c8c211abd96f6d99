"""No expression, however broken, gives anything but a sound tree or an error of ours."""

from __future__ import annotations

import pytest
from fuzz.mutate import ROUNDS, SEED, mutations, survives

from nearcast.errors import ExpressionError, NearcastError
from nearcast.expressions import leaves, plain_tokens
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
STOPPING = Analyzer(stop_words=frozenset({"the", "of", "a", "w1"}))


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


def test_a_mutated_expression_loses_nothing_but_stop_words() -> None:
    for text in mutations(SEED + 1, CORPUS, ROUNDS // 2):
        tree = survives(lambda t: parse(t, STOPPING), text, NearcastError)
        if tree is None:
            continue
        check_keywords(tree)
        words = [leaf for leaf in leaves(parse(text)) if not hasattr(leaf, "start")]
        kept = [leaf for leaf in leaves(tree) if not hasattr(leaf, "start")]
        expected = {token for word in words for token in word.tokens} - STOPPING.stop_words
        assert {t for word in kept for t in word.tokens if t is not None} == expected, repr(text)


def test_a_mutated_list_gives_plain_words_or_an_error() -> None:
    for text in mutations(SEED + 2, CORPUS, ROUNDS // 2):
        tree = survives(lambda t: parse(t.split(" ")), text, NearcastError)
        assert tree is None or plain_tokens(tree), repr(text)

"""Expressions and conditions, however broken, are refused or mean what the oracle says."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from fuzz.mutate import ROUNDS, SEED, mutations, survives
from oracle import OracleRejects, read_keywords
from oracle import attributes as on_attributes
from oracle import keywords as on_keywords
from oracle.text import Places, places, read_stop_words

from nearcast import expressions, keywords, where
from nearcast.errors import NearcastError
from nearcast.text import Analyzer

if TYPE_CHECKING:
    from collections.abc import Callable

EXPRESSIONS = [
    "coffee AND (free OR sale) -decaf",
    "(a OR b) (c OR d) (e OR f) -(g h)",
    'x -"at t" NOT y "a b" "b a b"',
    "not (Not a or !b) and c",
    "--a ---b –c −d a-b wow!",
    '"AND" "OR" wi-fi AT&T ab* a-b* b"a"c',
    '"a b" OR ab* "a of the b"',
    "((((a))))-(b)",
    "ß É 漢字 ☕ a",
    "a:b a? b~ c^2 d<e >= || && + a",
    "(a OR -a) (b OR -b) c",
    "the a of OR (the) -of",
]
CONDITIONS = [
    "price <= 1200 AND rooms >= 2 AND type IN ('flat', 'house')",
    "NOT (price > 5 OR type != 'flat') and tags = 'a'",
    "type = \"it\"\"s\" or type = 'it''s'",
    "pets = TRUE AND NOT pets != false",
    "a.b_1 EXISTS OR price IN (1, -2.5, 1e3, 'a', tRue)",
    "price=1.0 AND(rooms<-0)",
]
STOP_WORDS = ("the", "OF")
_TOKENS = ("a", "b", "c", "d", "ab", "abc", "x", "y", "at", "t", "wi", "fi", "the", "of", "coffee")
_VALUES: tuple[Any, ...] = (0, 1, 2, -2.5, 5, 1000.0, 1200, "flat", "house", "a", "it's", 'it"s')
_VALUES += (True, False, [], ["a"], ["flat", "a"])


def has(leaf: Any, text: Places) -> bool:
    """Decide one keyword, as it came out of nearcast."""
    if isinstance(leaf, expressions.Word):
        return all(token in text for token in leaf.tokens)
    if isinstance(leaf, expressions.Phrase):
        return on_keywords.holds(("phrase", leaf.tokens), text)
    return any(token is not None and token.startswith(leaf.start) for token in text)


def compares(leaf: Any, attributes: on_attributes.Attributes) -> bool:
    """Decide one comparison, as it came out of nearcast."""
    if isinstance(leaf, expressions.Exists):
        return leaf.name in attributes
    if isinstance(leaf, expressions.In):
        return on_attributes.holds(("in", leaf.name, leaf.values), attributes)
    return on_attributes.holds(("compare", leaf.name, leaf.op, leaf.value), attributes)


def accepted_by(read: Callable[[str], Any], text: str) -> Any:
    """Return what the oracle reads, None if it refuses."""
    try:
        return read(text)
    except OracleRejects:
        return None


def test_a_mutated_expression_means_what_the_oracle_says() -> None:
    rng = random.Random(SEED)
    accepted = 0
    for text in mutations(SEED + 5, EXPRESSIONS, ROUNDS):
        given = rng.choice(((), STOP_WORDS))
        dropped = read_stop_words(given)
        analyzer = Analyzer(stop_words=frozenset(given))
        tree = survives(lambda t, a=analyzer: keywords.parse(t, a), text, NearcastError)  # type: ignore[misc]
        expected = accepted_by(lambda t, d=dropped: read_keywords(t, d), text)  # type: ignore[misc]
        assert (tree is None) == (expected is None), f"{text!r}, {given}: the oracle: {expected}"
        if tree is None or expected is None:
            continue
        accepted += 1
        for _ in range(12):
            said = places(" ".join(rng.choices(_TOKENS, k=rng.randint(0, 9))), dropped)
            truth = on_keywords.holds(expected, said)
            assert expressions.holds(tree, lambda leaf, s=said: has(leaf, s)) == truth, (text, said)  # type: ignore[misc]
    assert accepted > ROUNDS / 10


def test_a_mutated_condition_means_what_the_oracle_says() -> None:
    rng = random.Random(SEED)
    names = ("price", "rooms", "type", "tags", "pets", "a.b_1")
    accepted = 0
    for text in mutations(SEED + 6, CONDITIONS, ROUNDS):
        tree = survives(where.parse, text, NearcastError)
        expected = accepted_by(on_attributes.read_where, text)
        assert (tree is None) == (expected is None), f"{text!r}: the oracle: {expected}"
        if tree is None or expected is None:
            continue
        accepted += 1
        for _ in range(12):
            chosen = {name: rng.choice(_VALUES) for name in names if rng.random() < 0.7}
            said = on_attributes.read_attributes(chosen)
            truth = on_attributes.holds(expected, said)
            found = expressions.holds(tree, lambda leaf, s=said: compares(leaf, s))  # type: ignore[misc]
            assert found == truth, (text, chosen)
    assert accepted > ROUNDS / 20

"""No expression, however broken, gives anything but clauses or an error of ours."""

from __future__ import annotations

import pytest
from fuzz.mutate import ROUNDS, SEED, mutations, survives
from oracle.fields import OracleRejects
from oracle.keywords import dnf

from nearcast.errors import ExpressionError, NearcastError
from nearcast.keywords import MAX_CLAUSES, parse

CORPUS = [
    "coffee",
    "coffee AND (free OR sale) -decaf",
    "a b OR c -d",
    "(a OR b) (c OR d) (e OR f) -(g h)",
    'x -"at t" NOT y',
    "NOT (NOT a OR -b) AND c",
    "--a ---b",
    '"AND" "OR" wi-fi AT&T',
    "((((a))))",
    "ß É 漢字 हिन्दी",
    " OR ".join(f"w{i}" for i in range(64)),
    " ".join(f"(a{i} OR b{i})" for i in range(6)),
    "(a OR -a) (b OR -b) (c OR -c) d",
]


def test_a_mutated_expression_gives_sound_clauses_or_an_error_with_its_position() -> None:
    accepted = 0
    for text in mutations(SEED, CORPUS, ROUNDS):
        clauses = survives(parse, text, NearcastError)
        if clauses is None:
            with pytest.raises(ExpressionError) as caught:
                parse(text)
            assert 0 <= caught.value.position <= len(text), repr(text)
            continue
        accepted += 1
        assert len(set(clauses)) == len(clauses) <= MAX_CLAUSES, repr(text)
        assert all(p and not p & n for p, n in clauses), repr(text)
    assert accepted > ROUNDS / 10, "the mutations are too wild to test anything but errors"


def test_a_mutated_expression_means_what_the_oracle_says() -> None:
    for text in mutations(SEED + 1, CORPUS[:-3], ROUNDS // 2):
        if sum(map(text.count, ("OR", "NOT", "-", "("))) > 20:
            continue  # the oracle recurses, and multiplies out without a limit
        clauses = survives(parse, text, NearcastError)
        try:
            expected = dnf(text)
        except OracleRejects:
            expected = None
        assert (None if clauses is None else {tuple(c) for c in clauses}) == expected, repr(text)


def test_a_mutated_list_gives_one_clause_or_an_error() -> None:
    for text in mutations(SEED + 2, CORPUS, ROUNDS // 2):
        clauses = survives(lambda t: parse(t.split(" ")), text, NearcastError)
        assert clauses is None or len(clauses) == 1, repr(text)

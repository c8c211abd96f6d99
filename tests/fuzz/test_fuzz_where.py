"""No `where`, however broken, gives anything but a sound tree or an error of ours."""

from __future__ import annotations

from functools import partial

import pytest
from fuzz.mutate import ROUNDS, SEED, mutations, survives
from oracle.attributes import holds as oracle_holds
from oracle.attributes import read_attributes, read_where
from oracle.fields import OracleRejects

from nearcast.attributes import Attributes
from nearcast.comparing import compares
from nearcast.errors import ExpressionError, NearcastError
from nearcast.expressions import holds
from nearcast.model import is_encodable
from nearcast.tree_checks import check_where
from nearcast.where import parse

CORPUS = [
    "price <= 1200",
    "price <= 1200 AND rooms >= 2 AND type IN ('flat', 'house')",
    "NOT (a = 1 OR b != 'x''y') and c.d EXISTS",
    '((new = TRUE) OR tags = "a ""b""") AND NOT NOT price > -0.5e3',
    "a<1 or a>2 or a=1.5",
    "tags in ('a', \"b\", 1, false, 1E2)",
    "flag != true AND NOT sold exists",
    "a == 1 && b <> 2 || c LIKE 'x' BETWEEN 1 AND 2",
    " OR ".join(f"a{i} = {i}" for i in range(40)),
]
MESSAGES = [
    {},
    {"price": 1200, "rooms": 2, "type": "flat"},
    {"price": 1e9, "type": ["house", "x"], "new": True},
    {"a": 1.5, "b": "x'y", "c.d": "", "tags": ["a", 'a "b"']},
    {"a": "1", "flag": False, "sold": 1, "tags": "b"},
    {"a": 1, "price": -500, "flag": "x", "a3": 3},
]


def test_a_mutated_where_gives_a_sound_tree_or_an_error_with_its_position() -> None:
    accepted = 0
    for text in mutations(SEED, CORPUS, ROUNDS):
        tree = survives(parse, text, NearcastError)
        if tree is None:
            with pytest.raises(ExpressionError) as caught:
                parse(text)
            assert 0 <= caught.value.position <= len(text), repr(text)
            continue
        accepted += 1
        check_where(tree)
    assert accepted > ROUNDS / 20, "the mutations are too wild to test anything but errors"


def test_a_mutated_where_means_what_the_oracle_says() -> None:
    for text in filter(is_encodable, mutations(SEED + 1, CORPUS, ROUNDS)):
        tree = survives(parse, text, NearcastError)
        try:
            expected = read_where(text)
        except OracleRejects:
            assert tree is None, repr(text)
            continue
        assert tree is not None, repr(text)
        for message in MESSAGES:
            attributes = Attributes(message)
            is_so = holds(tree, partial(compares, attributes=attributes))
            assert is_so == oracle_holds(expected, read_attributes(message)), (text, message)

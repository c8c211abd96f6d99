"""An explanation says why, in words; and what it says agrees with the verdict."""

from __future__ import annotations

from functools import partial

import pytest
from fuzz.mutate import SEED, mutations, survives
from fuzz.test_fuzz_keywords import CORPUS, TEXTS
from fuzz.test_fuzz_where import CORPUS as WHERES
from fuzz.test_fuzz_where import MESSAGES

from nearcast.attributes import Attributes
from nearcast.comparing import compares
from nearcast.errors import NearcastError
from nearcast.event_values import Subscribe
from nearcast.explain import explain
from nearcast.expressions import holds
from nearcast.keywords import parse
from nearcast.model import Bbox
from nearcast.reasons import explain_keywords, explain_where
from nearcast.text import Analyzer
from nearcast.where import parse as parse_where


@pytest.mark.parametrize(
    ("keywords", "text", "said"),
    [
        ("tea", "Tea!", "has tea"),
        ("tea cake", "cake tea", "has tea, cake"),
        ("tea free new", "free", "lacks tea, new"),
        ("AT&T", "at work", "lacks t"),
        ("tea -decaf -free", "free decaf", "lacks tea and has the excluded decaf, free"),
        ("x -(a OR b OR c)", "x a c", "has the excluded a, c"),
        ("x -(a b)", "x a b", "has the excluded a (best of 2 alternatives)"),
        ("-sold", "flat", "has nothing that is excluded"),
        ("-sold", "sold", "has the excluded sold"),
        ("tea OR jazz", "jazz", "has jazz"),
        ("(tea free) OR (tea new sale)", "free", "lacks tea (best of 2 alternatives)"),
        ("balc*", "balcony", "has balc*"),
        ("balc* tea", "tea", "lacks balc*"),
        ('"new york"', "New York City", 'has "new york"'),
        ('"new york"', "new", 'lacks "new york"'),
        ('"new york"', "york new", 'lacks "new york" (its words are not next to each other)'),
        ("tea tea", "x", "lacks tea"),
        ("tea -tea", "tea", "has the excluded tea"),
        (" ".join("abcdefghijkl"), "x", "lacks a, b, c, d, e, f, g, h, i, j and 2 more"),
    ],
)
def test_keywords_are_explained_in_words(keywords, text, said) -> None:
    assert explain_keywords(parse(keywords), Analyzer().places(text))[1] == said


def test_a_stop_word_in_a_phrase_is_any_word() -> None:
    analyzer = Analyzer(stop_words={"of"})
    tree = parse('"state of art"', analyzer)
    assert explain_keywords(tree, analyzer.places("state my art")) == (True, 'has "state … art"')
    assert explain_keywords(tree, analyzer.places("state of art"))[0]
    assert explain_keywords(tree, analyzer.places("state art"))[1] == (
        'lacks "state … art" (its words are not next to each other)'
    )


HERE = {"price": 1350, "type": "castle", "tags": ["new", "it's"], "sold": True, "size": 0.1}


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("price <= 1200", "price is 1,350, wanted <= 1,200"),
        ("price <= 1400", "price is 1,350"),
        ("rooms >= 2", "rooms is not there, wanted >= 2"),
        ("price = '5'", "price is 1,350, wanted = '5'"),
        ("type IN ('flat', 'house')", "type is 'castle', wanted IN ('flat', 'house')"),
        ("tags = 'old'", "tags is ['new', 'it''s'], wanted = 'old'"),
        ("NOT sold EXISTS", "sold is TRUE, wanted NOT EXISTS"),
        ("NOT sold = TRUE", "sold is TRUE, wanted NOT = TRUE"),
        ("NOT rooms EXISTS", "rooms is not there"),
        ("size > 0.25", "size is 0.1, wanted > 0.25"),
        (
            "price < 1000 AND rooms = 2 AND sold = TRUE",
            "price is 1,350, wanted < 1,000; rooms is not there, wanted = 2",
        ),
        (
            "(price < 5 AND size > 5) OR price = 9",
            "price is 1,350, wanted = 9 (best of 2 alternatives)",
        ),
    ],
)
def test_a_where_is_explained_in_words(where, said) -> None:
    assert explain_where(parse_where(where), Attributes(HERE))[1] == said


def test_an_explanation_has_a_reason_for_each_part() -> None:
    event = Subscribe(
        "s",
        "match",
        parse("tea"),
        Bbox(0, 0, 1, 1),
        where=parse_where("price < 5"),
        except_=Bbox(0, 0, 0.5, 0.5),
    )
    told = explain(
        event, ["tea"], (0.2, 0.2), {"price": 9.0}, is_match=False, is_inside=True, is_excluded=True
    )
    assert str(told) == (
        "no match: has tea; price is 9, wanted < 5; inside the area; inside the excluded area"
    )
    assert [reason.part for reason in told.reasons] == ["keywords", "where", "area", "except"]
    assert [reason.holds for reason in told.reasons] == [True, False, True, False]


def test_what_is_said_of_mutated_expressions_agrees_with_the_tree() -> None:
    for text in mutations(SEED + 3, CORPUS, 500):
        keywords = survives(parse, text, NearcastError)
        for message in TEXTS if keywords is not None else ():
            assert keywords is not None
            is_so, said = explain_keywords(keywords, Analyzer().places(message))
            assert is_so == said.startswith("has") or "has the excluded" in said, (text, message)
            assert said
    for text in mutations(SEED + 4, WHERES, 500):
        where = survives(parse_where, text, NearcastError)
        for given in MESSAGES if where is not None else ():
            assert where is not None
            attributes = Attributes(given)
            is_so, said = explain_where(where, attributes)
            assert is_so == holds(where, partial(compares, attributes=attributes))
            assert is_so or "wanted" in said

"""The oracle, pinned by examples worked out by hand: attributes and `where` (1.2.1)."""

from __future__ import annotations

from typing import Any

import pytest
from oracle import OracleRejects, matches
from oracle.attributes import holds, read_attributes, read_where
from oracle_events import publish, rank, subscribe, top

FLAT = {
    "price": 1150,
    "rooms": 2.5,
    "type": "flat",
    "pets": True,
    "tags": ["balcony", "it's", ""],
    "none": [],
    "a.b_1": -0.0,
    "number": "5",
}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("price <= 1200 AND rooms >= 2 AND type IN ('flat', 'house')", True),
        ("price <= 1150", True),
        ("price < 1150", False),
        ("price >= 1150.0", True),
        ("price > 1150", False),
        ("price = 1.15e3", True),
        ("price != 1150", False),
        ("price != 1151", True),
        ("price>1149.9999999999", True),
        ("absent = 1", False),
        ("absent != 1", False),  # it too needs it to be there
        ("absent < 1", False),
        ("absent IN (1, 'a')", False),
        ("absent EXISTS", False),
        ("NOT absent = 1", True),  # plain negation
        ("NOT absent != 1", True),
        ("none EXISTS", True),
        ("none = ''", False),
        ("none != ''", True),  # none of its strings is
        ("tags = 'balcony'", True),
        ("tags != 'balcony'", False),
        ("tags = ''", True),
        ("tags = 'it''s'", True),
        ('tags = "it\'s"', True),
        ("tags IN ('x', 'balcony')", True),
        ("tags IN ('x', 1, TRUE)", False),
        ("tags != 1", False),  # another type
        ("tags > 0", False),
        ("type = 'Flat'", False),  # exactly
        ("type != 'Flat'", True),
        ("type != 5", False),
        ('type = "flat"', True),
        ("number = 5", False),
        ("number != 5", False),
        ("number > 0", False),
        ("number = '5'", True),
        ("pets = TRUE", True),
        ("pets = true", True),
        ("pets != False", True),
        ("pets = 1", False),  # a truth value is no number
        ("pets != 1", False),
        ("pets IN (1, 'a', tRuE)", True),
        ("price IN (1, 1150)", True),
        ("a.b_1 = 0", True),  # 0 and -0 are equal
        ("a.b_1 < 0", False),
        ("a.b_1 >= -0", True),
        ("a.b_1 > -0.5 AND a.b_1<5E-1 AND rooms = 25.0e-1", True),
        ("Price EXISTS", False),  # names are compared exactly
        ("price exists aNd nOt rooms > 3 Or x Exists", True),
        ("price = 1 OR price = 1150 AND pets = FALSE", False),  # AND before OR
        ("(price = 1 OR price = 1150) AND pets = TRUE", True),
        ("NOT price = 1 AND NOT (pets = FALSE)", True),
        ("NOT NOT pets = TRUE", True),
        ("NOT (price EXISTS OR x EXISTS)", False),
        ("price EXISTS AND(pets=TRUE)", True),
    ],
)
def test_a_where_is_decided_by_the_attributes(where: str, expected: bool) -> None:
    assert holds(read_where(where), read_attributes(FLAT)) is expected


@pytest.mark.parametrize(
    "where",
    [
        *(None, 3, [], "", " ", "price", "price <", "< 5", "price < 5 AND", "AND price < 5"),
        *("price < 5 rooms > 2", "price < 5, rooms > 2", "(price < 5", "price < 5)", "()"),
        *("price == 5", "price <> 5", "price => 5", "price < five", "price < 'a'", "price >= TRUE"),
        *("price IN ()", "price IN (1", "price IN 1", "price IN (1,)", "price IN (,1)"),
        *("price IN (a)", "price NOT IN (1)", "price = NULL", "price IS NULL", "NOT", "NOT NOT"),
        *("not = 5", "AND = 5", "in = 5", "TRUE = 5", "exists EXISTS", "5 = price", "'price' = 5"),
        *(
            "price = .5",
            "price = 5.",
            "price = +5",
            "price = 05",
            "price = - 5",
            "price = 'a",
            "price = 'a'b'",
        ),
        *("price EXISTS 5", "EXISTS price", "EXISTS(price)", "pri-ce = 5", "é = 5", "1a = 5"),
        *("price = 1e999", "price = NaN", "price = Infinity", "price = 0x1", "price = 1_0"),
        *("price = 1;", "price LIKE 'a'", "price BETWEEN 1 AND 2", "price = 5 = 5", ".a = 5"),
    ],
)
def test_a_bad_where_is_an_error(where: object) -> None:
    with pytest.raises(OracleRejects):
        read_where(where)


def test_a_where_has_at_most_1024_comparisons_and_nests_to_100() -> None:
    read_where(" OR ".join(f"a = {i}" for i in range(1024)))
    read_where(f"a IN ({', '.join('1' for _ in range(1024))})")
    read_where("(" * 100 + "a = 1" + ")" * 100)
    read_where("NOT " * 100 + "a EXISTS")
    for wrong in (
        " OR ".join("a = 1" for _ in range(1025)),
        f"a IN ({', '.join('1' for _ in range(1024))}) AND b EXISTS",
        "(" * 101 + "a = 1" + ")" * 101,
        "NOT (" * 50 + "NOT a = 1" + ")" * 50,
    ):
        with pytest.raises(OracleRejects):
            read_where(wrong)


@pytest.mark.parametrize(
    "attributes",
    [
        *(None, [], "a", 5, {"a": None}, {"a": {}}, {"a": [1]}, {"a": ["x", None]}, {"a": [["x"]]}),
        *({"a": "\ud800"}, {"a": ["\ud800"]}),
        *({"": 1}, {"1a": 1}, {"a-b": 1}, {"é": 1}, {".a": 1}, {"a b": 1}),
        *({"a": float("nan")}, {"a": float("inf")}, {"a": 10**400}),
        {f"a{i}": i for i in range(65)},
    ],
)
def test_bad_attributes_are_an_error(attributes: object) -> None:
    with pytest.raises(OracleRejects):
        read_attributes(attributes)


def test_64_attributes_of_all_types_are_read() -> None:
    assert len(read_attributes({f"a{i}": i for i in range(64)})) == 64
    assert read_attributes({"A_.9": 1, "b": "", "c": False, "d": ["x", "x"]}) == {
        "A_.9": 1.0,
        "b": "",
        "c": False,
        "d": ("x", "x"),
    }


@pytest.mark.parametrize(
    "event", [subscribe("s", keywords="a"), rank(alpha=0.5, threshold=0.1), top()]
)
def test_a_where_counts_in_every_mode(event: dict[str, Any]) -> None:
    asking = {**event, "where": "price < 5"}
    assert matches(event, publish("m"))
    assert not matches(asking, publish("m"))
    assert matches(asking, publish("m", attributes={"price": 4.99}))
    assert not matches(asking, publish("m", attributes={"price": 5}))

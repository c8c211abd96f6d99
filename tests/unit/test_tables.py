"""What tables of subscriptions and messages may have, whatever library they are of."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest
from match_tables import BOX, HERE, boxes, points
from unit.test_arrow_capsules import LIBRARIES

import nearcast as nc
from nearcast import keywords

AT = {"lon": [1.0] * 3, "lat": [1.0] * 3}
WORDS = ["tea", "coffee", "tea and coffee"]


def drinks() -> nc.Matcher:
    matcher = nc.Matcher()
    matcher.subscribe_table(pa.table({"id": ["t", "c"], "keywords": [["tea"], ["coffee"]]}))
    return matcher


def rows(found):
    return [tuple(row.values()) for row in found.to_pylist()]


# ---- ids of messages ------------------------------------------------------------------------


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("ids", [["m1", "é", "m1"], [7, -1, 7]], ids=["words", "numbers"])
def test_messages_with_ids_are_named_by_them(library, ids) -> None:
    messages = LIBRARIES[library]({"id": ids, "text": WORDS, **AT})
    assert rows(drinks().match_table(messages)) == [
        (ids[0], "t"),
        (ids[1], "c"),
        (ids[2], "t"),
        (ids[2], "c"),
    ]


def test_ranked_messages_with_ids_are_named_by_them() -> None:
    ranker = nc.Matcher(mode="rank")
    ranker.subscribe("s", keywords="tea", area=BOX, alpha=0.5, threshold=0.9)
    found = ranker.rank_table(pa.table({"id": ["a", "b", "c"], "text": WORDS, **AT}))
    assert rows(found) == [("a", "s", 1.0), ("c", "s", 1.0)]


def test_ids_of_messages_count_through_batches() -> None:
    table = pa.table({"id": ["a", "b", "c"], "text": WORDS, **AT})
    batches = pa.Table.from_batches(table.to_batches(max_chunksize=1))
    assert rows(drinks().match_table(batches)) == rows(drinks().match_table(table))
    sliced = table.slice(1)
    assert rows(drinks().match_table(sliced)) == [("b", "c"), ("c", "t"), ("c", "c")]


def test_without_matches_the_kind_of_ids_is_known() -> None:
    found = drinks().match_table(pa.table({"id": ["a"], "text": ["x"], "lon": [1.0], "lat": [1.0]}))
    assert (found.num_rows, found.schema.field("message").type) == (0, pa.string())


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([None, "a", "b"], "row 0: id is null"),
        (["a", "", "b"], "row 1: id is not an id"),
        ([1.5, 2.0, 3.0], "column 'id' has the wrong type: got double, wanted int64 or string"),
    ],
)
def test_wrong_ids_of_messages_are_refused(ids, said) -> None:
    with pytest.raises(nc.InvalidMessageError, match=said):
        drinks().match_table(pa.table({"id": ids, "text": WORDS, **AT}))


# ---- columns that are not understood --------------------------------------------------------


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_column_that_is_not_understood_is_refused_by_name(library) -> None:
    make = LIBRARIES[library]
    wrong = make({"id": ["a"], "keywords": [["tea"]], "radius": [5.0]})
    with pytest.raises(nc.InvalidSubscriptionError, match="column 'radius' is not understood"):
        drinks().subscribe_table(wrong)
    with pytest.raises(nc.InvalidMessageError, match="column 'price' is not understood"):
        drinks().match_table(make({"text": WORDS, **AT, "price": [1, 2, 3]}))


def test_columns_of_the_other_mode_are_not_understood() -> None:
    table = pa.table({"id": ["a"], "keywords": [["tea"]], "alpha": [0.5], **boxes([BOX])})
    with pytest.raises(nc.InvalidSubscriptionError, match="column 'alpha' is not understood"):
        drinks().subscribe_table(table)


def test_the_index_of_a_frame_is_no_column() -> None:
    frame = pd.DataFrame({"id": ["x", "a", "b"], "keywords": [["x"], ["tea"], ["milk"]]})
    matcher = nc.Matcher()
    matcher.subscribe_table(frame[frame.id != "x"])
    messages = pd.DataFrame({"text": WORDS, **AT}, index=[5, 7, 9])
    assert rows(matcher.match_table(messages)) == [(0, "a"), (2, "a")]


# ---- numpy ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [object, str])
@pytest.mark.parametrize("library", ["pyarrow.Table", "polars", "pandas"])
def test_numpy_arrays_are_lists_of_keywords(library, dtype) -> None:
    lists = [np.array(["tea"], dtype), np.array(["tea", "milk"], dtype)]
    matcher = nc.Matcher()
    matcher.subscribe_table(LIBRARIES[library]({"id": [1, 2], "keywords": lists}))
    assert matcher.match("tea", at=HERE) == [1]
    assert sorted(matcher.match("milk tea", at=HERE)) == [1, 2]


def test_a_numpy_array_is_a_list_of_keywords() -> None:
    matcher = nc.Matcher()
    words: Any = np.array(["tea", "milk"])
    matcher.subscribe("s", keywords=words)
    assert matcher.match(words, at=HERE) == ["s"]
    hub = nc.Hub()
    hub.subscribe("s", keywords=words)
    assert hub.match("milk tea", at=HERE) == ["s"]


def test_points_are_places_of_messages() -> None:
    assert rows(drinks().match_table(points(["tea"], [HERE]))) == [(0, "t")]


# ---- expressions and where ------------------------------------------------------------------

WISHES: dict[str, list[Any]] = {
    "id": ["or", "not", "phrase", "prefix", "where", "all"],
    "expression": ["tea OR milk", "tea -milk", '"green tea"', "cof*", None, "tea"],
    "where": [None, None, None, None, "price <= 3", "price <= 3 AND type = 'leaf'"],
}
OFFERS: dict[str, list[Any]] = {
    "id": ["a", "b", "c", "d"],
    "text": ["green tea", "tea green milk", "coffee", "tea"],
    "lon": [1.0] * 4,
    "lat": [1.0] * 4,
    "attributes": [
        {"price": 2.0, "type": "leaf"},
        {"price": 5.0, "type": "leaf"},
        {"price": 3.0, "type": None},
        None,
    ],
}
WANTED = {
    "a": ["all", "not", "or", "phrase", "where"],
    "b": ["or"],
    "c": ["prefix", "where"],
    "d": ["not", "or"],
}


def by_message(found):
    answers: dict[object, list[object]] = {}
    for message, subscription in rows(found):
        answers.setdefault(message, []).append(subscription)
    return {message: sorted(map(str, ids)) for message, ids in answers.items()}


@pytest.mark.parametrize("library", LIBRARIES)
def test_expressions_where_and_attributes_in_tables_of_every_library(library) -> None:
    make = LIBRARIES[library]
    matcher = nc.Matcher()
    matcher.subscribe_table(make(WISHES))
    assert by_message(matcher.match_table(make(OFFERS))) == WANTED


def test_a_table_answers_as_single_calls_do() -> None:
    matcher = nc.Matcher()
    for id_, expression, where in zip(*WISHES.values(), strict=True):
        matcher.subscribe(id_, keywords=expression, where=where)
    assert by_message(matcher.match_table(pa.table(OFFERS))) == WANTED
    filled = nc.Matcher()
    filled.subscribe_table(pa.table(WISHES))
    for text, said, id_ in zip(OFFERS["text"], OFFERS["attributes"], OFFERS["id"], strict=True):
        there = {name: value for name, value in (said or {}).items() if value is not None}
        found = filled.match(text, at=HERE, attributes=there)
        assert sorted(map(str, found)) == WANTED[id_]


def test_each_distinct_expression_is_read_once(monkeypatch) -> None:
    read: list[str] = []

    def parse(text, analyzer):
        read.append(text)
        return keywords.parse(text, analyzer)

    monkeypatch.setattr("nearcast.matcher.parse", parse)
    matcher = nc.Matcher()
    words = ["tea OR milk", "cof*", None, "tea"] * 500
    table = {"id": list(range(2_000)), "expression": words, **boxes([BOX] * 2_000)}
    matcher.subscribe_table(pa.table(table))
    assert read == ["tea OR milk", "cof*", "tea"]
    assert len(matcher) == 2_000
    assert len(matcher.match("milk", at=HERE)) == 1_000


@pytest.mark.parametrize("is_plain", [True, False])
def test_lists_and_expressions_may_take_turns(is_plain) -> None:
    matcher = nc.Matcher()
    second = "tea milk" if is_plain else "tea OR milk"
    lists = [["tea"], None, None]
    table = {"id": [1, 2, 3], "keywords": lists, "expression": [None, second, None]}
    matcher.subscribe_table(pa.table(table | boxes([None, None, BOX])))
    assert sorted(matcher.match("tea", at=HERE)) == ([1, 3] if is_plain else [1, 2, 3])
    assert sorted(matcher.match("milk tea", at=(9, 9))) == [1, 2]


def test_circles_are_areas() -> None:
    matcher = nc.Matcher()
    circles = {"lon": [1.0, None, 1.0], "lat": [1.0, None, 1.0], "radius_m": [1e3, None, 1e6]}
    table = {"id": [1, 2, 3], "keywords": [["tea"], ["tea"], None], **circles}
    matcher.subscribe_table(pa.table(table))
    assert sorted(matcher.match("tea", at=(1.0, 1.001))) == [1, 2, 3]
    assert sorted(matcher.match("tea", at=(1.0, 2.0))) == [2, 3]
    assert matcher.match("milk", at=(50.0, 2.0)) == []


def test_rank_subscriptions_have_where_and_expressions_of_plain_words() -> None:
    ranker = nc.Matcher(mode="rank")
    terms = {"alpha": [0.5] * 2, "threshold": [0.6] * 2, **boxes([BOX] * 2)}
    table = {"id": [1, 2], "expression": ["green tea", "tea"], "where": [None, "price < 3"]}
    ranker.subscribe_table(pa.table(table | terms))
    told = pa.table(
        {
            "text": ["tea", "tea"],
            "lon": [1.0] * 2,
            "lat": [1.0] * 2,
            "attributes": [{"price": 2}, {}],
        }
    )
    assert rows(ranker.rank_table(told)) == [(0, 1, 0.75), (0, 2, 1.0), (1, 1, 0.75)]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"expression": ["tea", "(milk"]}, r"row 1: .*position"),
        ({"expression": ["tea", "-milk"]}, "row 1: got keywords that a message without any"),
        ({"expression": ["tea", None]}, "row 1: got neither keywords nor an area"),
        ({"where": ["price < 3", "price <"]}, r"row 1: where"),
        ({"expression": [1, 2]}, "column 'expression' has the wrong type"),
        (
            {"keywords": [["a"], ["b"]], "expression": [None, "b"]},
            "row 1: got keywords and an expression, wanted one of the two",
        ),
        ({"lon": [0.0, 0.0], "lat": [0.0, 0.0]}, "column 'radius_m' is missing"),
        (
            {"lon": [0.0, 0.0], "lat": [0.0, 0.0], "radius_m": [1.0, -1.0]},
            "row 1.*radius_m",
        ),
        (
            {"lon": [0.0, 0.0], "lat": [0.0, 99.0], "radius_m": [1.0, 1.0]},
            "row 1",
        ),
        (
            {"lon": [0.0] * 2, "lat": [0.0] * 2, "radius_m": [1.0] * 2, **boxes([None, BOX])},
            "columns of areas: got west and lon",
        ),
    ],
)
def test_a_wrong_row_is_named_and_nothing_is_subscribed(columns, said) -> None:
    matcher = drinks()
    with pytest.raises(nc.InvalidSubscriptionError, match=said):
        matcher.subscribe_table(pa.table({"id": ["x", "y"], **columns}))
    assert len(matcher) == 2
    matcher.check_invariants()


def test_a_table_with_expressions_is_subscribed_whole_or_not_at_all() -> None:
    matcher = drinks()
    table = {"id": ["x", "y", "t"], "expression": ["milk OR tea", "ju*", "a"]}
    with pytest.raises(nc.DuplicateIdError, match="subscription 't'"):
        matcher.subscribe_table(pa.table(table))
    assert len(matcher) == 2
    assert matcher.match("milk", at=HERE) == []
    matcher.check_invariants()


# ---- attributes -----------------------------------------------------------------------------


def priced(wheres):
    matcher = nc.Matcher()
    matcher.subscribe_table(pa.table({"id": list(wheres), "where": list(wheres)}))
    return matcher


def told(attributes, type_=None):
    column = attributes if isinstance(attributes, pa.Array) else pa.array(attributes, type_)
    here = {"lon": [1.0] * len(column), "lat": [1.0] * len(column)}
    return pa.table({"text": ["x"] * len(column), "attributes": column, **here})


ALL_KINDS = [
    "price = 3",
    "rooms >= 2",
    "pets = TRUE",
    "type IN ('flat', 'house')",
    "tags = 'new'",
    "tags != 'new'",
    "tags EXISTS",
]


@pytest.mark.parametrize("form", ["struct", "json", "large", "dictionary", "sliced"])
def test_attributes_of_every_kind(form) -> None:
    said: list[Any] = [
        {"price": 3.0, "rooms": 1, "pets": True, "type": "flat", "tags": ["new", "big"]},
        {"price": 2.5, "rooms": 2, "pets": False, "type": "é", "tags": []},
        {"price": None, "rooms": None, "pets": None, "type": None, "tags": None},
        None,
    ]
    text, tags = pa.string(), pa.list_(pa.string())
    if form == "large":
        text, tags = pa.large_string(), pa.large_list(pa.large_string())
    if form == "dictionary":
        text = pa.dictionary(pa.int8(), pa.string())
    fields = [("price", pa.float32()), ("rooms", pa.uint8()), ("pets", pa.bool_())]
    type_ = pa.struct([*fields, ("type", text), ("tags", tags)])
    if form == "json":
        there = [
            None if one is None else {k: v for k, v in one.items() if v is not None} for one in said
        ]
        column = pa.array([None if one is None else json.dumps(one) for one in there])
    elif form == "sliced":
        column = pa.array([said[1], said[0], *said], type_).slice(2)
    else:
        column = pa.array(said, type_)
    found = priced(ALL_KINDS).match_table(told(column))
    first = ["pets = TRUE", "price = 3", "tags = 'new'", "tags EXISTS", "type IN ('flat', 'house')"]
    assert by_message(found) == {0: first, 1: ["rooms >= 2", "tags != 'new'", "tags EXISTS"]}


@pytest.mark.parametrize("value", [pa.float64(), pa.string(), pa.list_(pa.string()), pa.bool_()])
def test_maps_are_attributes(value) -> None:
    one = {pa.float64(): 3.0, pa.string(): "new", pa.bool_(): True}.get(value, ["old", "new"])
    wheres = ["a = 3", "a = 'new'", "a = TRUE", "a != 'other'"]
    column = pa.array(
        [[("b", one)], [("a", one), ("b", None)], [], None], pa.map_(pa.string(), value)
    )
    found = by_message(priced(wheres).match_table(told(column.slice(1))))
    expected = {pa.float64(): ["a = 3"], pa.bool_(): ["a = TRUE"]}
    assert found == {0: expected.get(value, ["a != 'other'", "a = 'new'"])}


@pytest.mark.parametrize(
    ("attributes", "type_", "said"),
    [
        ([{"price": float("nan")}], None, "row 0: attribute price is not finite"),
        ([{"a b": 1}], None, "a name is not a name: got a b"),
        ([{"a": {"b": 1}}], None, "column 'attributes.a' has the wrong type"),
        ([[("a", 1.0), ("a", 2.0)]], pa.map_(pa.string(), pa.float64()), "row 0: .*twice"),
        ([[("1", 1.0)]], pa.map_(pa.string(), pa.float64()), "a name is not a name"),
        ([[(1, 1.0)]], pa.map_(pa.int32(), pa.float64()), "wanted string keys"),
        ([{f"a{i}": 1 for i in range(65)}], None, "too many names: got 65, wanted at most 64"),
        ([1.5], None, "column 'attributes' has the wrong type: got double, wanted struct, map"),
        (['{"a": null}'], None, "row 0: attributes: a is null"),
        (["{"], None, "row 0: attributes are not JSON"),
        (["[1]"], None, "row 0: attributes are not an object"),
    ],
)
def test_wrong_attributes_are_refused(attributes, type_, said) -> None:
    with pytest.raises(nc.InvalidMessageError, match=said):
        priced(["a = 1"]).match_table(told(attributes, type_))


def test_a_column_of_nulls_says_nothing() -> None:
    assert priced(["a = 1"]).match_table(told([{"a": None}, {}])).num_rows == 0
    assert priced(["a = 1"]).match_table(told(pa.nulls(2, pa.string()))).num_rows == 0

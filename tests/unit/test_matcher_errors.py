"""`Matcher`: whatever is wrong is refused by name, and changes nothing."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pytest
from match_tables import BOX, HERE, boxes, coded, pairs, points, table

import nearcast as nc

# ---- errors ---------------------------------------------------------------------------------

GOOD = {"id": ["a", "b"], "keywords": [["x"], ["y"]], **boxes([BOX, BOX])}


def bad(**columns):
    return {name: value for name, value in (GOOD | columns).items() if value is not None}


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (bad(id=None), "column 'id' is missing: got keywords, west"),
        (bad(north=None), "column 'north' is missing"),
        (bad(id=[1.5, 2]), "column 'id' has the wrong type: got double, wanted int64 or string"),
        (bad(id=["a", None]), "row 1: id is null"),
        (bad(id=["a", ""]), "row 1: id is not an id: got ''"),
        (
            bad(id=pa.array([1, 2**63], pa.uint64())),
            "row 1: id is not an id: got 9223372036854775808",
        ),
        (
            bad(keywords=["x", "y"]),
            "column 'keywords' has the wrong type: got string, wanted list<string>",
        ),
        (bad(keywords=[[1], [2]]), "column 'keywords' has the wrong type: got int64"),
        (bad(keywords=[["x", "y", "z"], ["x", None]]), "row 1: a word of keywords is null"),
        (bad(keywords=coded([["x", "y"], [None]])), "row 1: a word of keywords is null"),
        (bad(keywords=[["x"], []]), "row 1: keywords: got 0 keywords, wanted 1 to 8191"),
        (bad(keywords=[["x"], ["y"] * 8192]), "row 1: keywords: got 8192 keywords"),
        (bad(west=["0", "0"]), "column 'west' has the wrong type: got string, wanted double"),
        (bad(west=[0, None]), "row 1: west: got nan, wanted a number from -180 to 180"),
        (bad(north=[90, float("nan")]), "row 1: north: got nan, wanted a number from -90 to 90"),
        (bad(east=[0, float("inf")]), "row 1: east: got inf"),
        (bad(west=[0, -180.5]), "row 1: west: got -180.5"),
        (bad(west=[0, 2**60]), "row 1: west: got 115292"),
        (bad(south=[0, 3]), "row 1: south: got 3, wanted at most north, which is 2"),
        (
            bad(keywords=[["x"], None], **boxes([None, None])),
            "row 1: got neither keywords nor an area, wanted at least one of the two",
        ),
        ({"id": ["a"]}, "row 0: got neither keywords nor an area"),
    ],
    ids=lambda value: value[:50] if isinstance(value, str) else "",
)
def test_a_wrong_subscription_table_is_refused_whole(three, columns, said) -> None:
    before = three.stats() | {"vocabulary": 0, "vocabulary_bytes": 0}
    with pytest.raises(nc.InvalidSubscriptionError, match=re.escape(said)):
        three.subscribe_table(pa.table(columns))
    assert three.stats() | {"vocabulary": 0, "vocabulary_bytes": 0} == before
    assert three.match("x y", at=HERE) == ["box"]
    three.check_invariants()


def test_the_row_of_an_error_counts_from_the_start_of_a_slice(three) -> None:
    rows = pa.table(
        bad(id=["p", "q", "r"], keywords=[[None], ["x"], ["y", None]], **boxes([BOX] * 3))
    )
    with pytest.raises(nc.InvalidSubscriptionError, match=r"^row 1: a word of keywords is null"):
        three.subscribe_table(rows.slice(1))


def test_nulls_under_a_null_list_do_not_matter() -> None:
    values = pa.array(["a", None, "b"])
    lists = pa.ListArray.from_arrays(
        pa.array([0, 1, 2, 3], pa.int32()), values, mask=pa.array([False, True, False])
    )
    matcher = nc.Matcher()
    matcher.subscribe_table(pa.table({"id": [0, 1, 2], "keywords": lists, **boxes([BOX] * 3)}))
    assert sorted(matcher.match("b", at=HERE)) == [1, 2]


@pytest.mark.parametrize("ids", [["new", "tea"], ["new", "other", "new"]])
def test_a_table_with_an_id_in_use_is_refused_whole(three, ids) -> None:
    with pytest.raises(nc.DuplicateIdError, match=f"'{ids[-1]}'"):
        three.subscribe_table(table(ids, [["tea"]] * len(ids)))
    assert len(three) == 3
    assert "new" not in three
    assert three.match("tea", at=(9, 9)) == ["tea"]
    three.check_invariants()
    three.subscribe_table(table(["new"], [["tea"]]))
    assert sorted(three.match("tea", at=(9, 9))) == ["new", "tea"]


def test_ids_of_two_kinds_are_refused(three) -> None:
    with pytest.raises(
        nc.InvalidSubscriptionError, match="id 5: got a whole number, wanted a string"
    ):
        three.subscribe_table(table([5], [["a"]]))
    with pytest.raises(nc.InvalidSubscriptionError, match="id 5: got a whole number"):
        three.subscribe(5, keywords="a")
    numbered = nc.Matcher()
    numbered.subscribe(5, keywords="a")
    with pytest.raises(nc.InvalidSubscriptionError, match="id 's': got a string, wanted a whole"):
        numbered.subscribe_table(table(["s"], [["a"]]))
    assert (len(three), len(numbered)) == (3, 1)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"lon": [0.0], "lat": [0.0]}, "column 'text' is missing: got lon, lat"),
        ({"text": ["a"], "lon": [0.0]}, "column 'lat' is missing"),
        ({"text": ["a"], "west": [0.0], "south": [0.0], "east": [0.0]}, "column 'lon' is missing"),
        ({"text": [1], "lon": [0.0], "lat": [0.0]}, "column 'text' has the wrong type: got int64"),
        ({"text": ["a", None], "lon": [0.0] * 2, "lat": [0.0] * 2}, "row 1: text is null"),
        ({"tokens": [["a"], None], "lon": [0.0] * 2, "lat": [0.0] * 2}, "row 1: tokens is null"),
        (
            {"tokens": [["a"], ["b", None]], "lon": [0.0] * 2, "lat": [0.0] * 2},
            "row 1: a word of tokens",
        ),
        (
            {"tokens": ["a"], "lon": [0.0], "lat": [0.0]},
            "column 'tokens' has the wrong type: got string",
        ),
        ({"text": ["a"] * 2, "lon": [0, None], "lat": [0, 0]}, "row 1: lon: got nan"),
        ({"text": ["a"] * 2, "lon": [0, 0], "lat": [0, -90.1]}, "row 1: lat: got -90.1"),
        (
            {"text": ["a"] * 2, **boxes([BOX, [0.0, 1, 0, 0]])},
            "row 1: south: got 1, wanted at most",
        ),
        ({"text": ["a"] * 2, **boxes([BOX, [0.0, 0, 181, 0]])}, "row 1: east: got 181"),
    ],
    ids=lambda value: value[:50] if isinstance(value, str) else "",
)
@pytest.mark.parametrize("stop_words", [(), ("the",)], ids=["plain", "stop words"])
def test_a_wrong_message_table_is_refused(columns, said, stop_words) -> None:
    matcher = nc.Matcher(analyzer=nc.Analyzer(stop_words=stop_words))
    with pytest.raises(nc.InvalidMessageError, match=re.escape(said)):
        matcher.match_table(pa.table(columns))


def test_a_column_that_is_there_twice_is_refused(three) -> None:
    twice = pa.table([["a"], [0.0], [0.0], [0.0]], names=["text", "lon", "lat", "lat"])
    with pytest.raises(nc.InvalidMessageError, match="column 'lat' is there more than once"):
        three.match_table(twice)


@pytest.mark.parametrize("message", [None, 5, b"tea", [1], ["tea", None], ["\ud800"]])
def test_what_is_neither_text_nor_tokens_is_refused(three, message) -> None:
    with pytest.raises(nc.InvalidMessageError, match="neither a text nor tokens"):
        three.match(message, at=HERE)


@pytest.mark.parametrize(
    "place", [{}, {"at": HERE, "bbox": BOX}, {"at": (0, 91)}, {"bbox": [0, 1, 1, 0]}]
)
def test_a_message_has_one_good_place(three, place) -> None:
    with pytest.raises(nc.InvalidMessageError):
        three.match("tea", **place)


@pytest.mark.parametrize("id_", ["", None, 1.0, True, 2**63, -(2**63) - 1, "\ud800", b"s"])
def test_what_is_not_an_id_is_refused(id_) -> None:
    with pytest.raises(nc.InvalidSubscriptionError, match="id is not an id"):
        nc.Matcher().subscribe(id_, keywords="a")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "neither keywords nor area nor where is there"),
        ({"keywords": []}, "keywords"),
        (
            {"keywords": [f"w{i}" for i in range(8192)]},
            "got 8,192 words, wanted at most 8,191",
        ),
        ({"keywords": "a (b"}, "'(' is not closed"),
        ({"area": [0, 0, 0]}, "area: bbox has the wrong length"),
        ({"area": [0, 1, 0, 0]}, "area: south is greater than north"),
    ],
)
def test_a_wrong_subscription_changes_nothing(three, fields, said) -> None:
    with pytest.raises(nc.InvalidSubscriptionError, match=re.escape(said)):
        three.subscribe("new", **fields)
    assert len(three) == 3
    three.check_invariants()


def test_as_many_keywords_as_a_clause_can_hold_are_accepted() -> None:
    matcher = nc.Matcher()
    words = [f"w{i}" for i in range(8191)]
    matcher.subscribe("s", keywords=words)
    assert matcher.match(words, at=HERE) == ["s"]
    assert matcher.match(words[1:], at=HERE) == []


def test_a_subscription_with_an_id_in_use_changes_nothing(three) -> None:
    with pytest.raises(nc.DuplicateIdError, match=r"'tea'.*in use") as caught:
        three.subscribe("tea", keywords="coffee")
    assert caught.value.hint == "unsubscribe the old one first"
    assert three.match("coffee tea", at=(9, 9)) == ["tea"]


# ---- the whole ------------------------------------------------------------------------------


def test_an_unknown_index_kind_is_named_with_those_there_are() -> None:
    with pytest.raises(nc.InvalidParameterError, match=r"got 'fast', wanted one of .*brute-force"):
        nc.Matcher("fast")


@pytest.mark.parametrize(
    ("value", "said"),
    [(1, "unknown parameter: got 'depth'"), ([1], "has the wrong type"), (10**400, "not finite")],
    ids=["unknown", "list", "huge"],
)
def test_a_parameter_that_the_kind_does_not_have_is_refused(value, said) -> None:
    with pytest.raises(nc.InvalidParameterError, match=said):
        nc.Matcher("brute-force", index_parameters={"depth": value})


def test_a_parameter_out_of_its_range_is_refused_by_name() -> None:
    numbered = [
        (kind.name, spec)
        for kind in nc.indexes()
        for spec in kind.parameters
        if isinstance(spec.default, float)
    ]
    for kind, spec in numbered:
        wrongs: list[Any] = [spec.maximum + 1, spec.minimum - 1, "x", True]
        for wrong in wrongs:
            with pytest.raises(nc.InvalidParameterError, match=f"{re.escape(kind)}.*{spec.name}"):
                nc.Matcher(kind, index_parameters={spec.name: wrong})


@pytest.mark.parametrize("kind", [kind.name for kind in nc.indexes() if not kind.stands_for])
def test_stats_are_sizes_that_grow_with_what_is_subscribed(kind) -> None:
    matcher = nc.Matcher(kind)
    assert matcher.index == kind
    empty = matcher.stats()
    assert empty["subscriptions"] == empty["vocabulary"] == 0
    words = [["common", f"w{i}"] for i in range(300)]
    matcher.subscribe_table(table(list(range(300)), words, [BOX] * 300))
    full = matcher.stats()
    assert set(full) >= set(empty)
    assert full["subscriptions"] == len(matcher) == 300
    assert full["vocabulary"] == 301
    parts = ("store_bytes", "id_bytes", "index_bytes")
    assert full["memory_bytes"] == sum(full[part] for part in parts)
    assert full["index_bytes"] >= empty["index_bytes"]  # brute force has no structure
    assert all(full[part] > empty[part] for part in ("store_bytes", "id_bytes", "vocabulary_bytes"))


def test_a_custom_analyzer_reads_keywords_and_texts() -> None:
    matcher = nc.Matcher(
        analyzer=nc.Analyzer(stop_words=frozenset({"the", "and"}), stem=lambda t: t.rstrip("s"))
    )
    matcher.subscribe("s", keywords=["The Cats", "dog"])
    rows = ["cat & dogs", "the cat", "Dog éé CATS", "catdog"]
    assert pairs(matcher.match_table(points(rows, [HERE] * 4))) == [(0, "s"), (2, "s")]
    assert matcher.match("CATS and dogs", at=HERE) == ["s"]
    assert matcher.match(["cats", "dogs"], at=HERE) == []  # tokens are taken as they are
    with pytest.raises(nc.InvalidSubscriptionError):
        matcher.subscribe("t", keywords=["the"])


@pytest.mark.parametrize("kind", [kind.name for kind in nc.indexes() if not kind.stands_for])
def test_an_index_that_grows_by_tables_reports_each_match_once(kind) -> None:
    """Indexes choose anew at some sizes, which a table may pass on its way."""
    matcher = nc.Matcher(kind)
    words = [f"w{i}" for i in range(7)]
    for start in range(0, 9000, 300):
        ids = list(range(start, start + 300))
        rows = [[words[i % 7], words[i % 5]] for i in ids]
        matcher.subscribe_table(table(ids, rows, [[i % 9, 0.0, i % 9 + 2, 2.0] for i in ids]))
    matcher.check_invariants()
    expected = [i for i in range(9000) if {i % 7, i % 5} <= {1, 2, 3} and i % 9 <= 4 <= i % 9 + 2]
    assert sorted(matcher.match("w1 w2 w3", at=(4, 1))) == expected


def test_learning_from_messages_changes_no_answer() -> None:
    for kind in nc.indexes():
        matcher = nc.Matcher(kind.name)
        matcher.learn_table(points(["tea", "é free"] * 10, [HERE] * 20))
        matcher.subscribe_table(table([1, 2], [["tea"], ["coffee"]], [BOX, None]))
        assert matcher.match("tea coffee", at=HERE) in ([1, 2], [2, 1]), kind.name
        with pytest.raises(nc.InvalidMessageError, match="row 1: lon"):
            matcher.learn_table(points(["a", "b"], [HERE, (181, 0)]))

"""`Matcher`: tables and single calls mean the same, and a refused call changes nothing."""

from __future__ import annotations

import gc
import re

import numpy as np
import pyarrow as pa
import pytest

import nearcast as nc

SIDES = ("west", "south", "east", "north")
HERE = (1.0, 1.0)
BOX = [0.0, 0.0, 2.0, 2.0]


def boxes(rows):
    """Columns of boxes; None: anywhere."""
    return {
        side: pa.array([None if box is None else box[i] for box in rows], pa.float64())
        for i, side in enumerate(SIDES)
    }


def table(ids, keywords, areas=None, *, type_=None):
    columns = {"id": ids, "keywords": pa.array(keywords, type_ or pa.list_(pa.string()))}
    return pa.table(columns if areas is None else columns | boxes(areas))


def points(texts, at, *, name="text", type_=None):
    lons, lats = zip(*at, strict=True) if at else ((), ())
    return pa.table(
        {
            name: pa.array(texts, type_),
            "lon": pa.array(lons, pa.float64()),
            "lat": pa.array(lats, pa.float64()),
        }
    )


def pairs(found):
    return sorted((row["message"], row["subscription"]) for row in found.to_pylist())


@pytest.fixture
def three():
    matcher = nc.Matcher()
    matcher.subscribe_table(
        table(["tea", "free tea", "box"], [["tea"], ["free", "tea"], None], [None, BOX, BOX])
    )
    return matcher


# ---- subscribe_table ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([7, -(2**63)]),
        pa.array([7, 200], pa.uint8()),
        pa.array([7, 2**63 - 1], pa.uint64()),
        pa.array(["é", "b\0c"]),
        pa.array(["é", "b"], pa.large_string()),
        pa.array(["é", "a string that is too long to be inlined"], pa.string_view()),
    ],
    ids=lambda ids: str(ids.type),
)
def test_ids_come_back_as_they_were_given(ids):
    matcher = nc.Matcher()
    matcher.subscribe_table(table(ids, [["a"], ["b"]]))
    first, second = ids.to_pylist()
    assert matcher.match("b a", at=HERE) in ([first, second], [second, first])
    assert matcher.match("b", at=HERE) == [second]
    assert first in matcher
    assert len(matcher) == 2
    found = matcher.match_table(points(["a"], [HERE]))
    assert found["subscription"].to_pylist() == [first]
    assert found.schema.field("subscription").type == (
        pa.int64() if pa.types.is_integer(ids.type) else pa.string()
    )


WORD_TYPES = [
    pa.list_(pa.string()),
    pa.large_list(pa.string()),
    pa.list_(pa.large_string()),
    pa.list_(pa.string_view()),
    pa.list_(pa.dictionary(pa.int8(), pa.string())),
    pa.list_(pa.dictionary(pa.int32(), pa.large_string())),
    pa.large_list(pa.dictionary(pa.uint16(), pa.string())),
]


@pytest.mark.parametrize("type_", WORD_TYPES, ids=str)
def test_every_arrow_type_of_word_lists_says_the_same(type_):
    words = [["x", "a"], None, ["a", "a", "é"], ["b"]]
    made = pa.array(words, pa.list_(pa.string())) if "dictionary" in str(type_) else None
    if made is None:
        column = pa.array(words, type_)
    else:  # pyarrow has no direct way
        coded = made.values.dictionary_encode().cast(type_.value_type)
        kind = pa.LargeListArray if pa.types.is_large_list(type_) else pa.ListArray
        column = kind.from_arrays(made.offsets, coded, mask=made.is_null()).cast(type_)
    assert column.type == type_
    subscriptions = pa.table({"id": [0, 1, 2, 3], "keywords": column, **boxes([BOX] * 4)})
    matcher = nc.Matcher()
    matcher.subscribe_table(subscriptions)
    assert sorted(matcher.match(["é", "a"], at=HERE)) == [1, 2]

    messages = points([["a", "é"], ["b", "x"], []], [HERE] * 3, name="tokens")
    assert pairs(matcher.match_table(messages)) == [(0, 1), (0, 2), (1, 1), (1, 3), (2, 1)]
    asked = pa.table({"tokens": column.slice(2), "lon": [1.0, 1.0], "lat": [1.0, 1.0]})
    assert pairs(matcher.match_table(asked)) == [(0, 1), (0, 2), (1, 1), (1, 3)]


def coded(words):
    plain = pa.array(words, pa.list_(pa.string()))
    values = plain.values.dictionary_encode()
    return pa.ListArray.from_arrays(plain.offsets, values, mask=plain.is_null())


@pytest.mark.parametrize("encode", [lambda words: pa.array(words), coded], ids=["plain", "coded"])
@pytest.mark.parametrize("start", [0, 1, 4])
def test_a_slice_of_a_table_is_read_from_where_it_starts(encode, start):
    words = [["a"], ["b", "c"], None, ["d"], ["e"], ["f"]]
    ids = [f"s{i}" for i in range(6)]
    whole = pa.table({"id": ids, "keywords": encode(words), **boxes([BOX] * 6)})
    matcher = nc.Matcher()
    matcher.subscribe_table(whole.slice(start, 2))
    assert sorted(matcher.match("a b c d e f", at=HERE)) == ids[start : start + 2]

    messages = pa.table({"tokens": encode(words), "lon": [9.0] * 6, "lat": [9.0] * 6})
    everywhere = nc.Matcher()
    everywhere.subscribe_table(
        pa.table({"id": list("abcdef"), "keywords": [[w] for w in "abcdef"]})
    )
    expected = [[(0, "a"), (1, "b"), (1, "c")], [(0, "b"), (0, "c")], [(0, "e"), (1, "f")]]
    length = 1 if start == 1 else 2
    found = pairs(everywhere.match_table(messages.slice(start, length)))
    assert found == expected[(0, 1, 4).index(start)]


@pytest.mark.parametrize("encode", [lambda words: words, lambda words: words.dictionary_encode()])
def test_words_that_are_a_slice_themselves_are_read_from_where_they_start(encode):
    words = encode(pa.array(["x", "y", "a", "b", "c"])).slice(2)
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), words)
    matcher = nc.Matcher()
    matcher.subscribe_table(pa.table({"id": [1, 2], "keywords": lists}))
    assert matcher.match("a x y", at=HERE) == [1]
    assert matcher.match("c b", at=HERE) == [2]
    asked = pa.table({"tokens": lists, "lon": [0.0, 0.0], "lat": [0.0, 0.0]})
    assert pairs(matcher.match_table(asked)) == [(0, 1), (1, 2)]


def test_chunks_of_a_table_are_one_table():
    chunks = [
        table([1], [["a"]], [BOX]),
        table([2, 3], [None, ["b"]], [BOX, None]),
        table(pa.array([], pa.int64()), [], []),
        table([4], [["a", "b"]], [[5.0, 5.0, 6.0, 6.0]]),
    ]
    matcher = nc.Matcher()
    matcher.subscribe_table(pa.concat_tables(chunks))
    assert sorted(matcher.match("a b", at=HERE)) == [1, 2, 3]
    assert sorted(matcher.match("a b", at=(5.5, 5.5))) == [3, 4]


def test_chunks_with_different_dictionaries_keep_their_words():
    chunks = [
        pa.table({"id": [0, 1], "keywords": coded([["a"], ["b"]])}),
        pa.table({"id": [2, 3], "keywords": coded([["b"], ["c"]])}),
    ]
    matcher = nc.Matcher()
    matcher.subscribe_table(pa.concat_tables(chunks))
    assert [sorted(matcher.match(word, at=HERE)) for word in "abc"] == [[0], [1, 2], [3]]


def test_a_record_batch_is_a_table():
    matcher = nc.Matcher()
    matcher.subscribe_table(table(["s"], [["a"]], [BOX]).to_batches()[0])
    assert pairs(matcher.match_table(points(["A!"], [HERE]).to_batches()[0])) == [(0, "s")]


def test_null_keywords_mean_any_text_and_null_areas_anywhere(three):
    assert sorted(three.match("", at=HERE)) == ["box"]
    assert sorted(three.match("tea", at=(50, 50))) == ["tea"]
    assert sorted(three.match("free tea", at=HERE)) == ["box", "free tea", "tea"]


def test_columns_that_are_not_there_are_null():
    matcher = nc.Matcher()
    matcher.subscribe_table(pa.table({"id": ["words"], "keywords": [["a"]]}))
    matcher.subscribe_table(pa.table({"id": ["place"], **boxes([BOX])}))
    assert sorted(matcher.match("a", at=HERE)) == ["place", "words"]
    assert matcher.match("a", at=(9, 9)) == ["words"]


def test_whole_numbers_are_coordinates_too():
    matcher = nc.Matcher()
    matcher.subscribe_table(
        pa.table({"id": [1], "west": [0], "south": [0], "east": [2], "north": [2]})
    )
    assert pairs(matcher.match_table(pa.table({"text": ["x"], "lon": [2], "lat": [0]}))) == [(0, 1)]


def test_a_box_with_west_beyond_east_crosses_the_antimeridian():
    matcher = nc.Matcher()
    matcher.subscribe_table(table(["pacific"], [["a"]], [[170.0, -10.0, -170.0, 10.0]]))
    places = [(175, 0), (-175, 0), (180, 0), (-180, 0), (170, 10), (0, 0), (169.9, 0), (175, 11)]
    found = matcher.match_table(points(["a"] * len(places), places))
    assert pairs(found) == [(row, "pacific") for row in range(5)]
    crossing = pa.table(
        {"text": ["a", "a"], **boxes([[179.0, 0, -179.0, 1], [160.0, 0, 169.0, 1]])}
    )
    assert pairs(matcher.match_table(crossing)) == [(0, "pacific")]


def test_an_empty_table_subscribes_nothing():
    matcher = nc.Matcher()
    matcher.subscribe_table(table(pa.array([], pa.string()), [], []))
    assert len(matcher) == 0


def test_a_subscription_table_may_follow_another(three):
    three.subscribe_table(table(["more"], [["tea", "green"]]))
    assert sorted(three.match("green tea", at=(9, 9))) == ["more", "tea"]


# ---- match_table ----------------------------------------------------------------------------


def test_touching_a_border_counts_for_points_and_boxes():
    matcher = nc.Matcher()
    matcher.subscribe_table(table([1], [["a"]], [BOX]))
    assert pairs(matcher.match_table(points(["a"] * 3, [(0, 0), (2, 1), (2.0001, 1)]))) == [
        (0, 1),
        (1, 1),
    ]
    messages = pa.table(
        {"text": ["a"] * 3, **boxes([[2.0, 2, 3, 3], [-9.0, -9, 9, 9], [3.0, 0, 4, 1]])}
    )
    assert pairs(matcher.match_table(messages)) == [(0, 1), (1, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "Tea-FREE",
        "free,tea\0x",
        "x" * 5000 + " tea free",
        "ＦＲＥＥ tea",
        "é tea\u2028free",
        "TEA Free ß",
    ],
)
def test_text_is_analysed_ascii_or_not(three, text):
    rows = ["nothing", text, "Ünrelated", text]
    for type_ in (pa.string(), pa.large_string(), pa.string_view()):
        found = three.match_table(points(rows, [(9, 9), HERE, (9, 9), (9, 9)], type_=type_))
        assert pairs(found) == [(1, "box"), (1, "free tea"), (1, "tea"), (3, "tea")]


def test_unicode_keywords_meet_unicode_texts():
    matcher = nc.Matcher()
    matcher.subscribe("s", keywords=["STRASSE", "café"])
    rows = ["Cafe\u0301, straße 3", "cafe strasse", "CAFÉ STRASSE"]
    assert pairs(matcher.match_table(points(rows, [HERE] * 3))) == [(0, "s"), (2, "s")]


def test_a_slice_of_texts_is_read_from_where_it_starts(three):
    rows = points(["free", "tea", "é", "free é tea", "tea"], [(9, 9)] * 5)
    assert pairs(three.match_table(rows.slice(1, 3))) == [(0, "tea"), (2, "tea")]
    assert pairs(three.match_table(rows.slice(4))) == [(0, "tea")]


def test_tokens_are_taken_as_they_are(three):
    messages = points(
        [["Tea"], ["tea", "tea"], []], [(9, 9)] * 3, name="tokens", type_=pa.list_(pa.string())
    )
    assert pairs(three.match_table(messages)) == [(1, "tea")]


def test_tokens_come_before_text(three):
    both = points(["tea"], [(9, 9)]).append_column("tokens", pa.array([["coffee"]]))
    assert pairs(three.match_table(both)) == []


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_row_numbers_continue_over_batches(three, size):
    messages = points(["tea", "x", "free tea", "é", "tea"], [HERE, (9, 9), HERE, HERE, (9, 9)])
    batches = pa.Table.from_batches(messages.to_batches(max_chunksize=size))
    found = three.match_table(batches)
    assert pairs(found) == pairs(three.match_table(messages))
    assert found["message"].to_pylist() == sorted(found["message"].to_pylist())


def test_row_numbers_of_errors_continue_over_batches(three):
    messages = points(["tea"] * 4, [HERE] * 3 + [(0, 91)])
    batches = pa.Table.from_batches(messages.to_batches(max_chunksize=3))
    with pytest.raises(nc.InvalidMessageError, match=r"^from row 3 on: row 0: lat: got 91"):
        three.match_table(batches)


@pytest.mark.parametrize("name", ["text", "tokens"])
def test_an_empty_table_matches_nothing(three, name):
    type_ = pa.string() if name == "text" else pa.list_(pa.dictionary(pa.int32(), pa.string()))
    schema = pa.schema([(name, type_), ("lon", pa.float64()), ("lat", pa.float64())])
    for empty in (schema.empty_table(), pa.Table.from_batches([], schema)):
        found = three.match_table(empty)
        assert found.num_rows == 0
        assert found.schema.names == ["message", "subscription"]
        assert found.schema.types == [pa.int64(), pa.string()]


def test_a_matcher_without_subscriptions_matches_nothing():
    matcher = nc.Matcher()
    assert matcher.match("tea", at=HERE) == []
    assert matcher.match_table(points(["tea"], [HERE])).num_rows == 0


def test_a_dictionary_is_looked_up_again_when_new_words_were_subscribed():
    matcher = nc.Matcher()
    matcher.subscribe("s1", keywords=["a"])
    messages = points(coded([["a"], ["b"], ["c", "a"], ["b", "c"]]), [HERE] * 4, name="tokens")
    assert pairs(matcher.match_table(messages)) == [(0, "s1"), (2, "s1")]
    matcher.subscribe("s2", keywords=["b"])
    assert pairs(matcher.match_table(messages)) == [(0, "s1"), (1, "s2"), (2, "s1"), (3, "s2")]
    matcher.unsubscribe("s1")
    matcher.subscribe_table(table(["s3"], [["b", "c"]]))
    assert pairs(matcher.match_table(messages)) == [(1, "s2"), (3, "s2"), (3, "s3")]


def test_a_dictionary_that_was_matched_can_be_subscribed():
    words = coded([["a"], ["b"], ["a", "b"]])
    matcher = nc.Matcher()
    messages = points(words, [HERE] * 3, name="tokens")
    assert pairs(matcher.match_table(messages)) == []
    matcher.subscribe_table(pa.table({"id": [0, 1, 2], "keywords": words}))
    assert pairs(matcher.match_table(messages)) == [(0, 0), (1, 1), (2, 0), (2, 1), (2, 2)]


def test_another_dictionary_of_the_same_shape_is_another_dictionary():
    matcher = nc.Matcher()
    matcher.subscribe_table(pa.table({"id": [0, 1], "keywords": coded([["a"], ["b"]])}))
    one = points(coded([["a"], ["b"]]), [HERE] * 2, name="tokens")
    other = points(coded([["b"], ["a"]]), [HERE] * 2, name="tokens")
    for _ in range(3):
        assert pairs(matcher.match_table(one)) == [(0, 0), (1, 1)]
        assert pairs(matcher.match_table(other)) == [(0, 1), (1, 0)]


def test_match_table_and_match_agree():
    dice = np.random.default_rng(5)
    words = ["tea", "free", "é", "ß", "sale", "a"]

    def some(most):
        return [str(w) for w in dice.choice(words, dice.integers(1, most), replace=False)]

    def box():
        west, east, south, north = *dice.integers(-6, 6, 2), *sorted(dice.integers(-6, 6, 2))
        return [float(side) for side in (west, south, east, north)]

    matcher = nc.Matcher()
    matcher.subscribe_table(
        table(list(range(200)), [some(3) for _ in range(200)], [box() for _ in range(200)])
    )
    texts = [", ".join(some(6)).upper() for _ in range(60)]
    at = [tuple(map(float, dice.integers(-6, 6, 2))) for _ in texts]
    single = [
        (row, id_) for row, text in enumerate(texts) for id_ in matcher.match(text, at=at[row])
    ]
    assert len(single) > 50
    assert pairs(matcher.match_table(points(texts, at))) == sorted(single)
    areas = [box() for _ in texts]
    single = [
        (row, id_) for row, text in enumerate(texts) for id_ in matcher.match(text, bbox=areas[row])
    ]
    assert pairs(matcher.match_table(pa.table({"text": texts, **boxes(areas)}))) == sorted(single)


def test_measuring_counts_what_matching_finds(three):
    messages = points(["tea", "free tea", "x"], [HERE] * 3)
    found = three.match_table(messages).num_rows
    measured = three.measure_table(pa.Table.from_batches(messages.to_batches(max_chunksize=2)))
    assert measured.matches == measured.work["matches"] == found == 6
    assert len(measured.nanoseconds) == 3
    assert measured.work["candidates"] >= measured.matches


# ---- life -----------------------------------------------------------------------------------


def test_inputs_may_go_after_the_call():
    matcher = nc.Matcher()
    for kind in (pa.list_(pa.string()), None):
        words = [[f"w{i}", "common"] for i in range(500)]
        column = pa.array(words, kind) if kind else coded(words)
        ids = [f"{'plain' if kind else 'coded'} {i}" for i in range(500)]
        subscriptions = pa.table({"id": ids, "keywords": column, **boxes([BOX] * 500)})
        matcher.subscribe_table(subscriptions)
        matcher.match_table(points(column, [HERE] * 500, name="tokens"))
        del subscriptions, words, column, ids
    gc.collect()
    junk = [pa.array([[f"junk{i}"] * 3 for i in range(2000)]) for _ in range(3)]
    assert sorted(matcher.match("common w7", at=HERE)) == ["coded 7", "plain 7"]
    found = matcher.match_table(points(["common w499"], [HERE]))
    del matcher, junk
    gc.collect()
    assert sorted(found["subscription"].to_pylist()) == ["coded 499", "plain 499"]


def test_unsubscribing_a_table_takes_lists_arrays_and_chunks(three):
    three.unsubscribe_table(["tea"])
    three.unsubscribe_table(pa.array(["box"], pa.large_string()))
    three.unsubscribe_table(pa.chunked_array([["free tea"], []], pa.string()))
    three.unsubscribe_table([])
    assert len(three) == 0
    assert three.match("free tea", at=HERE) == []


@pytest.mark.parametrize(
    "ids", [["tea", "box", "none"], ["tea", "tea"], [1], ["tea", None], ["tea", 1]]
)
def test_unsubscribing_a_table_is_all_or_nothing(three, ids):
    with pytest.raises(nc.UnknownIdError):
        three.unsubscribe_table(ids)
    assert sorted(three.match("free tea", at=HERE)) == ["box", "free tea", "tea"]
    three.check_invariants()


def test_an_id_is_free_after_unsubscribing(three):
    three.unsubscribe("tea")
    assert "tea" not in three
    three.subscribe("tea", keywords="coffee")
    assert three.match("coffee", at=(9, 9)) == ["tea"]


def test_unsubscribing_what_is_not_there_is_an_error(three):
    with pytest.raises(nc.UnknownIdError, match="'none'"):
        three.unsubscribe("none")
    with pytest.raises(KeyError):
        three.unsubscribe(1)


def test_ids_may_become_of_the_other_kind_when_none_is_left(three):
    three.unsubscribe_table(["tea", "box", "free tea"])
    three.subscribe_table(table([1, 2], [["tea"], ["free"]]))
    assert sorted(three.match("free tea", at=HERE)) == [1, 2]


def test_what_cannot_be_an_id_is_not_in_a_matcher(three):
    assert not [x for x in ("", True, 2**70, "\ud800", None, 1.0, b"tea") if x in three]
    numbered = nc.Matcher()
    numbered.subscribe(1, keywords="a")
    assert np.int64(1) in numbered
    assert True not in numbered


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
        (bad(south=[0, 3]), "row 1: south: got 3.000000, wanted at most north, which is 2"),
        (
            bad(keywords=[["x"], None], **boxes([None, None])),
            "row 1: got neither keywords nor an area, wanted at least one of the two",
        ),
        ({"id": ["a"]}, "row 0: got neither keywords nor an area"),
    ],
    ids=lambda value: value[:50] if isinstance(value, str) else "",
)
def test_a_wrong_subscription_table_is_refused_whole(three, columns, said):
    before = three.stats() | {"vocabulary": 0, "vocabulary_bytes": 0}
    with pytest.raises(nc.InvalidSubscriptionError, match=re.escape(said)):
        three.subscribe_table(pa.table(columns))
    assert three.stats() | {"vocabulary": 0, "vocabulary_bytes": 0} == before
    assert three.match("x y", at=HERE) == ["box"]
    three.check_invariants()


def test_the_row_of_an_error_counts_from_the_start_of_a_slice(three):
    rows = pa.table(
        bad(id=["p", "q", "r"], keywords=[[None], ["x"], ["y", None]], **boxes([BOX] * 3))
    )
    with pytest.raises(nc.InvalidSubscriptionError, match=r"^row 1: a word of keywords is null"):
        three.subscribe_table(rows.slice(1))


def test_nulls_under_a_null_list_do_not_matter():
    values = pa.array(["a", None, "b"])
    lists = pa.ListArray.from_arrays(
        pa.array([0, 1, 2, 3], pa.int32()), values, mask=pa.array([False, True, False])
    )
    matcher = nc.Matcher()
    matcher.subscribe_table(pa.table({"id": [0, 1, 2], "keywords": lists, **boxes([BOX] * 3)}))
    assert sorted(matcher.match("b", at=HERE)) == [1, 2]


@pytest.mark.parametrize("ids", [["new", "tea"], ["new", "other", "new"]])
def test_a_table_with_an_id_in_use_is_refused_whole(three, ids):
    with pytest.raises(nc.DuplicateIdError, match=f"'{ids[-1]}'"):
        three.subscribe_table(table(ids, [["tea"]] * len(ids)))
    assert len(three) == 3
    assert "new" not in three
    assert three.match("tea", at=(9, 9)) == ["tea"]
    three.check_invariants()
    three.subscribe_table(table(["new"], [["tea"]]))
    assert sorted(three.match("tea", at=(9, 9))) == ["new", "tea"]


def test_ids_of_two_kinds_are_refused(three):
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
            "row 1: south: got 1.000000, wanted at most",
        ),
        ({"text": ["a"] * 2, **boxes([BOX, [0.0, 0, 181, 0]])}, "row 1: east: got 181"),
    ],
    ids=lambda value: value[:50] if isinstance(value, str) else "",
)
@pytest.mark.parametrize("stop_words", [(), ("the",)], ids=["plain", "stop words"])
def test_a_wrong_message_table_is_refused(columns, said, stop_words):
    matcher = nc.Matcher(analyzer=nc.Analyzer(stop_words=stop_words))
    with pytest.raises(nc.InvalidMessageError, match=re.escape(said)):
        matcher.match_table(pa.table(columns))


def test_a_column_that_is_there_twice_is_refused(three):
    twice = pa.table([["a"], [0.0], [0.0], [0.0]], names=["text", "lon", "lat", "lat"])
    with pytest.raises(nc.InvalidMessageError, match="column 'lat' is there more than once"):
        three.match_table(twice)


@pytest.mark.parametrize("message", [None, 5, b"tea", [1], ["tea", None], ["\ud800"]])
def test_what_is_neither_text_nor_tokens_is_refused(three, message):
    with pytest.raises(nc.InvalidMessageError, match="neither a text nor tokens"):
        three.match(message, at=HERE)


@pytest.mark.parametrize(
    "place", [{}, {"at": HERE, "bbox": BOX}, {"at": (0, 91)}, {"bbox": [0, 1, 1, 0]}]
)
def test_a_message_has_one_good_place(three, place):
    with pytest.raises(nc.InvalidMessageError):
        three.match("tea", **place)


@pytest.mark.parametrize("id_", ["", None, 1.0, True, 2**63, -(2**63) - 1, "\ud800", b"s"])
def test_what_is_not_an_id_is_refused(id_):
    with pytest.raises(nc.InvalidSubscriptionError, match="id is not an id"):
        nc.Matcher().subscribe(id_, keywords="a")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "neither keywords nor area is there"),
        ({"keywords": []}, "keywords"),
        (
            {"keywords": [f"w{i}" for i in range(8192)]},
            "got 8192 in one clause, wanted at most 8191",
        ),
        ({"keywords": "a (b"}, "'(' is not closed"),
        ({"area": [0, 0, 0]}, "area: bbox has the wrong length"),
        ({"area": [0, 1, 0, 0]}, "area: south is greater than north"),
    ],
)
def test_a_wrong_subscription_changes_nothing(three, fields, said):
    with pytest.raises(nc.InvalidSubscriptionError, match=re.escape(said)):
        three.subscribe("new", **fields)
    assert len(three) == 3
    three.check_invariants()


def test_as_many_keywords_as_a_clause_can_hold_are_accepted():
    matcher = nc.Matcher()
    words = [f"w{i}" for i in range(8191)]
    matcher.subscribe("s", keywords=words)
    assert matcher.match(words, at=HERE) == ["s"]
    assert matcher.match(words[1:], at=HERE) == []


def test_a_subscription_with_an_id_in_use_changes_nothing(three):
    with pytest.raises(nc.DuplicateIdError, match=r"'tea'.*in use") as caught:
        three.subscribe("tea", keywords="coffee")
    assert caught.value.hint == "unsubscribe the old one first"
    assert three.match("coffee tea", at=(9, 9)) == ["tea"]


# ---- the whole ------------------------------------------------------------------------------


def test_an_unknown_index_kind_is_named_with_those_there_are():
    with pytest.raises(nc.InvalidParameterError, match=r"got 'fast', wanted one of .*brute-force"):
        nc.Matcher("fast")


@pytest.mark.parametrize(
    ("value", "said"),
    [(1, "unknown parameter: got 'depth'"), ([1], "has the wrong type"), (10**400, "not finite")],
    ids=["unknown", "list", "huge"],
)
def test_a_parameter_that_the_kind_does_not_have_is_refused(value, said):
    with pytest.raises(nc.InvalidParameterError, match=said):
        nc.Matcher("brute-force", depth=value)


def test_a_parameter_out_of_its_range_is_refused_by_name():
    numbered = [
        (kind.name, spec)
        for kind in nc.indexes()
        for spec in kind.parameters
        if isinstance(spec.default, float)
    ]
    for kind, spec in numbered:
        for wrong in (spec.maximum + 1, spec.minimum - 1, "x", True):
            with pytest.raises(nc.InvalidParameterError, match=f"{kind}.*{spec.name}"):
                nc.Matcher(kind, **{spec.name: wrong})


@pytest.mark.parametrize("kind", [kind.name for kind in nc.indexes()])
def test_stats_are_sizes_that_grow_with_what_is_subscribed(kind):
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


def test_a_custom_analyzer_reads_keywords_and_texts():
    matcher = nc.Matcher(
        analyzer=nc.Analyzer(stop_words={"the", "and"}, stem=lambda t: t.rstrip("s"))
    )
    matcher.subscribe("s", keywords=["The Cats", "dog"])
    rows = ["cat & dogs", "the cat", "Dog éé CATS", "catdog"]
    assert pairs(matcher.match_table(points(rows, [HERE] * 4))) == [(0, "s"), (2, "s")]
    assert matcher.match("CATS and dogs", at=HERE) == ["s"]
    assert matcher.match(["cats", "dogs"], at=HERE) == []  # tokens are taken as they are
    with pytest.raises(nc.InvalidSubscriptionError):
        matcher.subscribe("t", keywords=["the"])


@pytest.mark.parametrize("kind", [kind.name for kind in nc.indexes()])
def test_an_index_that_grows_by_tables_reports_each_match_once(kind):
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


def test_learning_from_messages_changes_no_answer():
    for kind in nc.indexes():
        matcher = nc.Matcher(kind.name)
        matcher.learn_table(points(["tea", "é free"] * 10, [HERE] * 20))
        matcher.subscribe_table(table([1, 2], [["tea"], ["coffee"]], [BOX, None]))
        assert matcher.match("tea coffee", at=HERE) in ([1, 2], [2, 1]), kind.name
        with pytest.raises(nc.InvalidMessageError, match="row 1: lon"):
            matcher.learn_table(points(["a", "b"], [HERE, (181, 0)]))

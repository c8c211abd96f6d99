"""`Matcher`: tables and single calls mean the same."""

from __future__ import annotations

import gc

import numpy as np
import pyarrow as pa
import pytest
from match_tables import BOX, HERE, boxes, coded, pairs, points, table

import nearcast as nc
from nearcast.bench.measuring import measure_table

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
def test_ids_come_back_as_they_were_given(ids) -> None:
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
def test_every_arrow_type_of_word_lists_says_the_same(type_) -> None:
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


@pytest.mark.parametrize("encode", [lambda words: pa.array(words), coded], ids=["plain", "coded"])
@pytest.mark.parametrize("start", [0, 1, 4])
def test_a_slice_of_a_table_is_read_from_where_it_starts(encode, start) -> None:
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
def test_words_that_are_a_slice_themselves_are_read_from_where_they_start(encode) -> None:
    words = encode(pa.array(["x", "y", "a", "b", "c"])).slice(2)
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), words)
    matcher = nc.Matcher()
    matcher.subscribe_table(pa.table({"id": [1, 2], "keywords": lists}))
    assert matcher.match("a x y", at=HERE) == [1]
    assert matcher.match("c b", at=HERE) == [2]
    asked = pa.table({"tokens": lists, "lon": [0.0, 0.0], "lat": [0.0, 0.0]})
    assert pairs(matcher.match_table(asked)) == [(0, 1), (1, 2)]


def test_chunks_of_a_table_are_one_table() -> None:
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


def test_chunks_with_different_dictionaries_keep_their_words() -> None:
    chunks = [
        pa.table({"id": [0, 1], "keywords": coded([["a"], ["b"]])}),
        pa.table({"id": [2, 3], "keywords": coded([["b"], ["c"]])}),
    ]
    matcher = nc.Matcher()
    matcher.subscribe_table(pa.concat_tables(chunks))
    assert [sorted(matcher.match(word, at=HERE)) for word in "abc"] == [[0], [1, 2], [3]]


def test_a_record_batch_is_a_table() -> None:
    matcher = nc.Matcher()
    matcher.subscribe_table(table(["s"], [["a"]], [BOX]).to_batches()[0])
    assert pairs(matcher.match_table(points(["A!"], [HERE]).to_batches()[0])) == [(0, "s")]


def test_null_keywords_mean_any_text_and_null_areas_anywhere(three) -> None:
    assert sorted(three.match("", at=HERE)) == ["box"]
    assert sorted(three.match("tea", at=(50, 50))) == ["tea"]
    assert sorted(three.match("free tea", at=HERE)) == ["box", "free tea", "tea"]


def test_columns_that_are_not_there_are_null() -> None:
    matcher = nc.Matcher()
    matcher.subscribe_table(pa.table({"id": ["words"], "keywords": [["a"]]}))
    matcher.subscribe_table(pa.table({"id": ["place"], **boxes([BOX])}))
    assert sorted(matcher.match("a", at=HERE)) == ["place", "words"]
    assert matcher.match("a", at=(9, 9)) == ["words"]


def test_whole_numbers_are_coordinates_too() -> None:
    matcher = nc.Matcher()
    matcher.subscribe_table(
        pa.table({"id": [1], "west": [0], "south": [0], "east": [2], "north": [2]})
    )
    assert pairs(matcher.match_table(pa.table({"text": ["x"], "lon": [2], "lat": [0]}))) == [(0, 1)]


def test_a_box_with_west_beyond_east_crosses_the_antimeridian() -> None:
    matcher = nc.Matcher()
    matcher.subscribe_table(table(["pacific"], [["a"]], [[170.0, -10.0, -170.0, 10.0]]))
    places = [(175, 0), (-175, 0), (180, 0), (-180, 0), (170, 10), (0, 0), (169.9, 0), (175, 11)]
    found = matcher.match_table(points(["a"] * len(places), places))
    assert pairs(found) == [(row, "pacific") for row in range(5)]
    crossing = pa.table(
        {"text": ["a", "a"], **boxes([[179.0, 0, -179.0, 1], [160.0, 0, 169.0, 1]])}
    )
    assert pairs(matcher.match_table(crossing)) == [(0, "pacific")]


def test_an_empty_table_subscribes_nothing() -> None:
    matcher = nc.Matcher()
    matcher.subscribe_table(table(pa.array([], pa.string()), [], []))
    assert len(matcher) == 0


def test_a_subscription_table_may_follow_another(three) -> None:
    three.subscribe_table(table(["more"], [["tea", "green"]]))
    assert sorted(three.match("green tea", at=(9, 9))) == ["more", "tea"]


# ---- match_table ----------------------------------------------------------------------------


def test_touching_a_border_counts_for_points_and_boxes() -> None:
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
def test_text_is_analysed_ascii_or_not(three, text) -> None:
    rows = ["nothing", text, "Ünrelated", text]
    for type_ in (pa.string(), pa.large_string(), pa.string_view()):
        found = three.match_table(points(rows, [(9, 9), HERE, (9, 9), (9, 9)], type_=type_))
        assert pairs(found) == [(1, "box"), (1, "free tea"), (1, "tea"), (3, "tea")]


def test_unicode_keywords_meet_unicode_texts() -> None:
    matcher = nc.Matcher()
    matcher.subscribe("s", keywords=["STRASSE", "café"])
    rows = ["Cafe\u0301, straße 3", "cafe strasse", "CAFÉ STRASSE"]
    assert pairs(matcher.match_table(points(rows, [HERE] * 3))) == [(0, "s"), (2, "s")]


def test_a_slice_of_texts_is_read_from_where_it_starts(three) -> None:
    rows = points(["free", "tea", "é", "free é tea", "tea"], [(9, 9)] * 5)
    assert pairs(three.match_table(rows.slice(1, 3))) == [(0, "tea"), (2, "tea")]
    assert pairs(three.match_table(rows.slice(4))) == [(0, "tea")]


def test_tokens_are_taken_as_they_are(three) -> None:
    messages = points(
        [["Tea"], ["tea", "tea"], []], [(9, 9)] * 3, name="tokens", type_=pa.list_(pa.string())
    )
    assert pairs(three.match_table(messages)) == [(1, "tea")]


def test_tokens_come_before_text(three) -> None:
    both = points(["tea"], [(9, 9)]).append_column("tokens", pa.array([["coffee"]]))
    assert pairs(three.match_table(both)) == []


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_row_numbers_continue_over_batches(three, size) -> None:
    messages = points(["tea", "x", "free tea", "é", "tea"], [HERE, (9, 9), HERE, HERE, (9, 9)])
    batches = pa.Table.from_batches(messages.to_batches(max_chunksize=size))
    found = three.match_table(batches)
    assert pairs(found) == pairs(three.match_table(messages))
    assert found["message"].to_pylist() == sorted(found["message"].to_pylist())


def test_row_numbers_of_errors_continue_over_batches(three) -> None:
    messages = points(["tea"] * 4, [HERE] * 3 + [(0, 91)])
    batches = pa.Table.from_batches(messages.to_batches(max_chunksize=3))
    with pytest.raises(nc.InvalidMessageError, match=r"^from row 3 on: row 0: lat: got 91"):
        three.match_table(batches)


@pytest.mark.parametrize("name", ["text", "tokens"])
def test_an_empty_table_matches_nothing(three, name) -> None:
    type_ = pa.string() if name == "text" else pa.list_(pa.dictionary(pa.int32(), pa.string()))
    schema = pa.schema([(name, type_), ("lon", pa.float64()), ("lat", pa.float64())])
    for empty in (schema.empty_table(), pa.Table.from_batches([], schema)):
        found = three.match_table(empty)
        assert found.num_rows == 0
        assert found.schema.names == ["message", "subscription"]
        assert found.schema.types == [pa.int64(), pa.string()]


def test_a_matcher_without_subscriptions_matches_nothing() -> None:
    matcher = nc.Matcher()
    assert matcher.match("tea", at=HERE) == []
    assert matcher.match_table(points(["tea"], [HERE])).num_rows == 0


def test_a_dictionary_is_looked_up_again_when_new_words_were_subscribed() -> None:
    matcher = nc.Matcher()
    matcher.subscribe("s1", keywords=["a"])
    messages = points(coded([["a"], ["b"], ["c", "a"], ["b", "c"]]), [HERE] * 4, name="tokens")
    assert pairs(matcher.match_table(messages)) == [(0, "s1"), (2, "s1")]
    matcher.subscribe("s2", keywords=["b"])
    assert pairs(matcher.match_table(messages)) == [(0, "s1"), (1, "s2"), (2, "s1"), (3, "s2")]
    matcher.unsubscribe("s1")
    matcher.subscribe_table(table(["s3"], [["b", "c"]]))
    assert pairs(matcher.match_table(messages)) == [(1, "s2"), (3, "s2"), (3, "s3")]


def test_a_dictionary_that_was_matched_can_be_subscribed() -> None:
    words = coded([["a"], ["b"], ["a", "b"]])
    matcher = nc.Matcher()
    messages = points(words, [HERE] * 3, name="tokens")
    assert pairs(matcher.match_table(messages)) == []
    matcher.subscribe_table(pa.table({"id": [0, 1, 2], "keywords": words}))
    assert pairs(matcher.match_table(messages)) == [(0, 0), (1, 1), (2, 0), (2, 1), (2, 2)]


def test_another_dictionary_of_the_same_shape_is_another_dictionary() -> None:
    matcher = nc.Matcher()
    matcher.subscribe_table(pa.table({"id": [0, 1], "keywords": coded([["a"], ["b"]])}))
    one = points(coded([["a"], ["b"]]), [HERE] * 2, name="tokens")
    other = points(coded([["b"], ["a"]]), [HERE] * 2, name="tokens")
    for _ in range(3):
        assert pairs(matcher.match_table(one)) == [(0, 0), (1, 1)]
        assert pairs(matcher.match_table(other)) == [(0, 1), (1, 0)]


def test_match_table_and_match_agree() -> None:
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


def test_measuring_counts_what_matching_finds(three) -> None:
    messages = points(["tea", "free tea", "x"], [HERE] * 3)
    found = three.match_table(messages).num_rows
    measured = measure_table(three, pa.Table.from_batches(messages.to_batches(max_chunksize=2)))
    assert measured.matches == measured.work["matches"] == found == 6
    assert len(measured.nanoseconds) == 3
    assert measured.work["candidates"] >= measured.matches


# ---- life -----------------------------------------------------------------------------------


def test_inputs_may_go_after_the_call() -> None:
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


def test_unsubscribing_a_table_takes_lists_arrays_and_chunks(three) -> None:
    three.unsubscribe_table(["tea"])
    three.unsubscribe_table(pa.array(["box"], pa.large_string()))
    three.unsubscribe_table(pa.chunked_array([["free tea"], []], pa.string()))
    three.unsubscribe_table([])
    assert len(three) == 0
    assert three.match("free tea", at=HERE) == []


@pytest.mark.parametrize(
    "ids", [["tea", "box", "none"], ["tea", "tea"], [1], ["tea", None], ["tea", 1]]
)
def test_unsubscribing_a_table_is_all_or_nothing(three, ids) -> None:
    with pytest.raises(nc.UnknownIdError):
        three.unsubscribe_table(ids)
    assert sorted(three.match("free tea", at=HERE)) == ["box", "free tea", "tea"]
    three.check_invariants()


def test_an_id_is_free_after_unsubscribing(three) -> None:
    three.unsubscribe("tea")
    assert "tea" not in three
    three.subscribe("tea", keywords="coffee")
    assert three.match("coffee", at=(9, 9)) == ["tea"]


def test_unsubscribing_what_is_not_there_is_an_error(three) -> None:
    with pytest.raises(nc.UnknownIdError, match="'none'"):
        three.unsubscribe("none")
    with pytest.raises(KeyError):
        three.unsubscribe(1)


def test_ids_may_become_of_the_other_kind_when_none_is_left(three) -> None:
    three.unsubscribe_table(["tea", "box", "free tea"])
    three.subscribe_table(table([1, 2], [["tea"], ["free"]]))
    assert sorted(three.match("free tea", at=HERE)) == [1, 2]


def test_what_cannot_be_an_id_is_not_in_a_matcher(three) -> None:
    assert not [x for x in ("", True, 2**70, "\ud800", None, 1.0, b"tea") if x in three]
    numbered = nc.Matcher()
    numbered.subscribe(1, keywords="a")
    assert np.int64(1) in numbered
    assert True not in numbered


@pytest.mark.parametrize(
    ("message", "at"),
    [
        (["tea", "oolong"], (4.0, 4.0)),
        (("tea",), (4, 4)),
        (["tea"], [4.0, 4.0]),
        ("Tea!", (4.0, 4.0)),
    ],
)
def test_a_message_matches_however_plainly_it_is_given(message, at) -> None:
    matcher = nc.Matcher()
    matcher.subscribe(1, keywords=["tea"], area=[0, 0, 9, 9])
    assert matcher.match(message, at=at) == [1]


@pytest.mark.parametrize(
    ("message", "at"),
    [
        (["tea", 3], (4.0, 4.0)),
        (["\ud800"], (4.0, 4.0)),
        (["tea"], (181.0, 4.0)),
        (["tea"], (4.0, float("nan"))),
        (["tea"], (4.0,)),
        (["tea"], None),
    ],
)
def test_a_plain_message_that_is_wrong_is_refused(message, at) -> None:
    matcher = nc.Matcher()
    matcher.subscribe(1, keywords=["tea"], area=[0, 0, 9, 9])
    with pytest.raises(nc.InvalidMessageError):
        matcher.match(message, at=at)


def test_another_definition_takes_the_place_of_the_old_one() -> None:
    matcher = nc.Matcher()
    matcher.subscribe("s", keywords="tea", replace=True)
    matcher.subscribe("s", keywords="milk OR water", area=BOX, replace=True)
    assert (len(matcher), matcher.stats()["vocabulary"]) == (1, 2)
    assert matcher.match("tea milk", at=HERE) == ["s"]
    assert matcher.match("tea", at=HERE) == []
    with pytest.raises(nc.ExpressionError):
        matcher.subscribe("s", keywords="(", replace=True)
    with pytest.raises(nc.InvalidSubscriptionError, match="a string, like the ids"):
        matcher.subscribe(5, keywords="tea", replace=True)
    with pytest.raises(nc.InvalidSubscriptionError, match="replace is not a truth value"):
        matcher.subscribe("s", keywords="tea", replace=1)  # type: ignore[arg-type]
    assert matcher.match("water", at=HERE) == ["s"]
    matcher.check_invariants()


def test_another_rank_definition_takes_the_place_of_the_old_one() -> None:
    matcher = nc.Matcher(mode="rank")
    matcher.subscribe(1, keywords="tea", area=BOX, alpha=0, threshold=1)
    matcher.subscribe(1, keywords="milk", area=BOX, alpha=0, threshold=0.5, replace=True)
    assert matcher.rank("milk", at=HERE) == [(1, 1.0)]
    assert matcher.rank("tea", at=HERE) == []
    with pytest.raises(nc.InvalidSubscriptionError):
        matcher.subscribe(1, keywords="tea", area=BOX, alpha=0, threshold=5, replace=True)
    assert matcher.rank("milk", at=HERE) == [(1, 1.0)]
    matcher.check_invariants()

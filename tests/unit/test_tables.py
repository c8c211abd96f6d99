"""What tables of subscriptions and messages may have, whatever library they are of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest
from match_tables import BOX, HERE, boxes, points
from unit.test_arrow_capsules import LIBRARIES

import nearcast as nc

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

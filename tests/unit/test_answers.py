"""Answers leave the core as Arrow columns that own their memory, in as many batches as needed."""

from __future__ import annotations

import gc
from typing import Any

import pyarrow as pa
import pytest

import nearcast as nc
from nearcast import _core, columns

IDS = ["a" * 3, "b", "c" * 7, "d" * 2, "e" * 2, "f" * 5]
HERE = {"lon": [0.0] * 3, "lat": [0.0] * 3}
MESSAGES = pa.table({"tokens": [["jazz"], ["x"], ["jazz"]], **HERE})
LIMITS = (1, 2, 3, 4, 6, 7, 19)


def matcher(ids: object = IDS) -> nc.Matcher:
    made = nc.Matcher()
    made.subscribe_table(pa.table({"id": ids, "keywords": [["jazz"]] * 6}))
    return made


def ranker() -> nc.Matcher:
    made = nc.Matcher(mode="rank")
    ones = pa.array([1.0] * 6)
    sides = {"west": pa.array([-1.0] * 6), "south": pa.array([-1.0] * 6), "east": ones}
    terms = {"north": ones, "alpha": pa.array([0.5] * 6), "threshold": pa.array([0.9] * 6)}
    made.subscribe_table(pa.table({"id": IDS, "keywords": [["jazz"]] * 6, **sides, **terms}))
    return made


def check_chunks(column: pa.ChunkedArray, limit: int) -> None:
    assert column.type == pa.string()
    assert column.num_chunks > 1
    for chunk in column.chunks:
        chunk.validate(full=True)
        assert len(chunk) == 1 or sum(map(len, chunk.to_pylist())) <= limit


@pytest.mark.parametrize("limit", LIMITS)
def test_ids_of_more_bytes_than_offsets_reach_come_in_chunks(monkeypatch, limit) -> None:
    for target, ask in ((matcher(), "match_table"), (ranker(), "rank_table")):
        whole = getattr(target, ask)(MESSAGES)
        assert (whole.num_rows, whole.column("subscription").num_chunks) == (12, 1)
        with monkeypatch.context() as patched:
            patched.setattr(columns, "MAX_STRING_BYTES", limit)
            parted = getattr(target, ask)(MESSAGES)
        assert parted.to_pylist() == whole.to_pylist()
        check_chunks(parted.column("subscription"), limit)


@pytest.mark.parametrize("limit", LIMITS)
def test_changes_of_more_bytes_than_offsets_reach_come_in_chunks(monkeypatch, limit) -> None:
    subscribed = [{"op": "subscribe", "id": id_, "keywords": "jazz"} for id_ in IDS]
    top = {"op": "subscribe", "id": "top", "mode": "top", "keywords": "jazz", "at": [0, 0]}
    published = [
        {"op": "publish", "id": f"message {i}", "text": "jazz", "at": [0, 0]} for i in range(2)
    ]
    batch: list[Any] = [*subscribed, top | {"k": 2, "alpha": 0.5}, *published]
    whole = nc.Hub(window=nc.Window(count=9)).apply(batch, first=7)
    assert set(whole.column("event").to_pylist()) == {14, 15}
    assert {row["score"] is None for row in whole.to_pylist()} == {True, False}
    monkeypatch.setattr(columns, "MAX_STRING_BYTES", limit)
    parted = nc.Hub(window=nc.Window(count=9)).apply(batch, first=7)
    assert parted.to_pylist() == whole.to_pylist()
    assert parted.schema == whole.schema
    check_chunks(parted.column("subscription"), limit)


def test_columns_outlive_what_answered() -> None:
    target = matcher()
    found = target.match_table(MESSAGES)
    column = found.column("subscription").chunk(0)
    expected = column.to_pylist()
    del target, found
    gc.collect()
    assert column.to_pylist() == expected
    column.validate(full=True)


def test_a_batch_is_exported_as_often_as_it_is_asked_for() -> None:
    stream = _core.MessageStream(MESSAGES)
    batch = stream.next()
    assert batch is not None
    engine = _core.Matcher("auto", {})
    engine.subscribe("s", ["jazz"], None)
    answer = engine.match(batch, _core.TokenCache(), 5)
    (records,) = answer.batches(100)
    assert records.rows == 2
    first, second = pa.record_batch(records), pa.record_batch(records)
    assert first.to_pydict() == second.to_pydict() == {"message": [5, 7], "subscription": ["s"] * 2}
    assert pa.schema(records) == first.schema
    records.__arrow_c_array__()  # capsules that nobody takes are released
    del answer, records, second
    gc.collect()
    assert first.column(0).to_pylist() == [5, 7]


@pytest.mark.parametrize("ids", [IDS, list(range(6))], ids=["words", "numbers"])
def test_answers_without_rows_have_their_columns(ids) -> None:
    found = matcher(ids).match_table(MESSAGES.slice(1, 1))
    assert found.to_pydict() == {"message": [], "subscription": []}
    assert found.column("subscription").type == pa.array(ids).type

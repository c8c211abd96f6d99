"""Tables of any library that speaks Arrow's capsules, and structs made by hand with any damage."""

from __future__ import annotations

import gc
import re
from itertools import product
from typing import Any

import arrow_capsules as made
import duckdb
import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pytest
from arrow_capsules import Column, Streamed, Table, capsule
from match_tables import pairs

import nearcast as nc
from nearcast import _core
from nearcast.bench.measuring import measure_table

BOX = {"west": [0.0] * 3, "south": [0.0] * 3, "east": [2.0] * 3, "north": [2.0] * 3}
SUBSCRIPTIONS = {"id": ["a", "b", "c"], "keywords": [["jazz"], ["blues", "jazz"], ["é"]], **BOX}
TEXTS = {"text": ["jazz tonight", "Blues, JAZZ!", "É"], "lon": [1.0] * 3, "lat": [1.0] * 3}
TOKENS = {
    "tokens": [["jazz", "tonight"], ["blues", "jazz"], ["é"]],
    "lon": [1.0] * 3,
    "lat": [1.0] * 3,
}
PAIRS = [(0, "a"), (1, "a"), (1, "b"), (2, "c")]
HERE = {"lon": made.numbers([1.0, 1.0]), "lat": made.numbers([1.0, 1.0])}


def of_duckdb(columns: dict[str, list[object]]) -> object:
    """Return a relation with these columns; made from a table of pyarrow, read by DuckDB."""
    connection = duckdb.connect()
    connection.register("given", pa.table(columns))
    return connection.sql("SELECT * FROM given")


LIBRARIES = {
    "pyarrow.Table": pa.table,
    "pyarrow.RecordBatch": lambda columns: pa.table(columns).to_batches()[0],
    "pyarrow.RecordBatchReader": lambda columns: pa.table(columns).to_reader(2),
    "polars": pl.DataFrame,
    "polars chunks": lambda columns: pl.concat(
        [pl.DataFrame(columns)[:1], pl.DataFrame(columns)[1:]], rechunk=False
    ),
    "pandas": pd.DataFrame,
    "duckdb": of_duckdb,
}


def matcher() -> nc.Matcher:
    filled = nc.Matcher()
    filled.subscribe_table(pa.table(SUBSCRIPTIONS))
    return filled


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("messages", [TEXTS, TOKENS], ids=["text", "tokens"])
def test_tables_of_every_library_give_the_same_answers(library, messages) -> None:
    make = LIBRARIES[library]
    target = nc.Matcher()
    target.subscribe_table(make(SUBSCRIPTIONS))
    assert pairs(target.match_table(make(messages))) == PAIRS
    target.learn_table(make(messages))
    ranker = nc.Matcher(mode="rank")
    terms = {"alpha": [0.5] * 3, "threshold": [0.9] * 3}
    ranker.subscribe_table(make(SUBSCRIPTIONS | terms))
    ranked = ranker.rank_table(make(messages))
    assert pairs(ranked) == PAIRS
    assert ranked.column("score").to_pylist() == [1.0] * 4
    assert measure_table(target, make(messages)).matches == 4


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_ids_come_in_columns_of_every_library(library) -> None:
    target = matcher()
    series = {"polars": pl.Series, "pandas": pd.Series}[library]
    target.unsubscribe_table(series(["a", "c"]))
    assert (len(target), "b" in target) == (1, True)


def test_what_has_no_capsules_is_refused_by_its_type() -> None:
    nonsense: list[Any] = [None, 5, {"text": ["a"]}, [TEXTS]]
    for wrong in nonsense:
        with pytest.raises(nc.InvalidMessageError, match="messages are not a table: got"):
            matcher().match_table(wrong)
        with pytest.raises(nc.InvalidSubscriptionError, match="subscriptions are not a table"):
            matcher().subscribe_table(wrong)


# ---- layouts --------------------------------------------------------------------------------

WORDS = pa.array(["blues", "jazz", "jazz", "blues", "a word of more than twelve letters"])


def lists_of(kind: pa.DataType) -> pa.Array:
    return pa.array([["blues", "jazz"], ["jazz"], ["é"]], kind)


def view_lists() -> pa.Array:
    """Return lists that overlap and stand in another order than their items."""
    items = pa.array(["é", "blues", "jazz"]).cast(pa.string_view())
    return pa.ListViewArray.from_arrays([1, 2, 0], [2, 1, 1], items)


LAYOUTS = {
    "list": lists_of(pa.list_(pa.string())),
    "large_list": lists_of(pa.large_list(pa.large_string())),
    "string_view": pa.ListArray.from_arrays(
        [0, 2, 3, 4], pa.array(["blues", "jazz", "jazz", "é"], pa.string_view())
    ),
    "dictionary": pa.ListArray.from_arrays(
        [0, 2, 3, 4], pa.array(["blues", "jazz", "jazz", "é"]).dictionary_encode()
    ),
    "list_view": view_lists(),
    "large_list_view": pa.LargeListViewArray.from_arrays(
        [1, 2, 0], [2, 1, 1], pa.array(["é", "blues", "jazz"])
    ),
    "list_view of codes": pa.ListViewArray.from_arrays(
        [1, 2, 0], [2, 1, 1], pa.array(["é", "blues", "jazz"]).dictionary_encode()
    ),
    "fixed_size_list": pa.FixedSizeListArray.from_arrays(
        pa.array(["blues", "jazz", "jazz", "jazz", "é", "é"]), 2
    ),
    "slice": pa.concat_arrays([lists_of(pa.list_(pa.string()))] * 2).slice(3),
    "slice of fixed_size_list": pa.FixedSizeListArray.from_arrays(
        pa.array(["x", "y", "blues", "jazz", "jazz", "jazz", "é", "é"]), 2
    ).slice(1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_lists_of_every_layout_are_read(layout) -> None:
    lists = LAYOUTS[layout]
    places = {"lon": [1.0] * 3, "lat": [1.0] * 3}
    answer = matcher().match_table(pa.table({"tokens": lists, **places}))
    assert pairs(answer) == [(0, "a"), (0, "b"), (1, "a"), (2, "c")]
    target = nc.Matcher()
    target.subscribe_table(pa.table({"id": [5, 6, 7], "keywords": lists}))
    assert sorted(target.match("jazz blues é", at=(0, 0))) == [5, 6, 7]
    assert target.match("jazz", at=(0, 0)) == [6]


LONG = "a word of more than twelve letters"
STRINGS = {
    "string": pa.array(["jazz", LONG, "é"]),
    "large_string": pa.array(["jazz", LONG, "é"], pa.large_string()),
    "string_view": pa.array(["jazz", LONG, "é"], pa.string_view()),
    "dictionary": pa.array(["jazz", LONG, "é"]).dictionary_encode(),
    "slice": pa.array(["x", "jazz", LONG, "é"]).slice(1),
    "chunks": pa.chunked_array([["jazz"], [], [LONG, "é"]]),
}


@pytest.mark.parametrize("layout", STRINGS)
def test_strings_of_every_layout_are_read(layout) -> None:
    column = STRINGS[layout]
    target = nc.Matcher()
    target.subscribe_table(pa.table({"id": column, "keywords": [["jazz"], ["twelve"], ["é"]]}))
    places = {"lon": [1.0] * 3, "lat": [1.0] * 3}
    found = target.match_table(pa.table({"text": column, **places}))
    assert pairs(found) == [(0, "jazz"), (1, LONG), (2, "é")]
    target.unsubscribe_table(column)
    assert len(target) == 0


@pytest.mark.parametrize(
    "kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
)
def test_integers_of_every_width_are_ids_and_coordinates(kind) -> None:
    width = pa.type_for_alias(kind)
    target = nc.Matcher()
    ids = pa.array([99, 3, 4], width).slice(1)
    target.subscribe_table(pa.table({"id": ids, "keywords": [["a"], ["b"]]}))
    where = pa.array([1, 2], width)
    found = target.match_table(pa.table({"text": ["a", "b"], "lon": where, "lat": where}))
    assert pairs(found) == [(0, 3), (1, 4)]


@pytest.mark.parametrize("kind", ["halffloat", "float", "double"])
def test_numbers_of_every_width_are_coordinates(kind) -> None:
    sides = [-1.5, 0.0, 5e-08, 2.0, None]
    given = pa.array([None if s is None else np.float16(s) for s in sides], pa.float16())
    column = given if kind == "halffloat" else given.cast(pa.type_for_alias(kind))
    target = nc.Matcher()
    target.subscribe("s", area=[-1.5, -90, 5e-07, 90])
    rows = pa.table({"text": ["x"] * 4, "lon": column[:4], "lat": column[:4]})
    assert pairs(target.match_table(rows)) == [(0, "s"), (1, "s"), (2, "s")]
    nulls = pa.table({"text": ["x"] * 5, "lon": column, "lat": column})
    with pytest.raises(nc.InvalidMessageError, match="row 4: lon: got nan"):
        target.match_table(nulls)


@pytest.mark.parametrize("library", ["pyarrow.Table", "polars", "pyarrow.RecordBatchReader"])
def test_tables_without_rows_are_checked_and_answered(library) -> None:
    make = LIBRARIES[library]
    empty = {"text": pa.array([], pa.string()), "lon": pa.array([], pa.float64())}
    found = matcher().match_table(make(empty | {"lat": pa.array([], pa.float64())}))
    assert (found.num_rows, found.column_names) == (0, ["message", "subscription"])
    with pytest.raises(nc.InvalidMessageError, match="column 'lat' is missing: got text, lon"):
        matcher().match_table(make(empty))


def test_rows_of_errors_count_through_the_batches_of_a_stream() -> None:
    rows = pa.table({"text": ["a"] * 5, "lon": [0.0] * 4 + [500.0], "lat": [0.0] * 5})
    with pytest.raises(nc.InvalidMessageError, match=r"from row 4 on: row 0: lon: got 500"):
        matcher().match_table(rows.to_reader(2))


# ---- structs made by hand -------------------------------------------------------------------

JAZZ = made.lists([0, 1, 2], made.strings("jazz", "blues"))


def messages(tokens: Column = JAZZ, **columns: Column) -> Table:
    return Table({"tokens": tokens, **HERE, **columns})


def answer(given: Any) -> list[tuple[int, str]]:
    return pairs(matcher().match_table(given))


def test_structs_made_by_hand_are_read_and_released() -> None:
    given = messages()
    assert answer(given) == [(0, "a")]
    gc.collect()
    assert given.released == given.made == 10
    streamed = Streamed(messages(), messages())
    assert answer(streamed) == [(0, "a"), (2, "a")]
    assert streamed.is_released


def test_a_dictionary_outlives_its_batch_and_is_released_at_last() -> None:
    target = matcher()
    coded = messages(made.lists([0, 1, 2], made.codes([1, 0], "blues", "jazz")))
    assert pairs(target.match_table(coded)) == [(0, "a")]
    gc.collect()
    assert coded.made - coded.released == 7  # the dictionary's array, and all schemas with it
    del target
    gc.collect()
    assert coded.released == coded.made


def test_the_offset_of_the_whole_table_counts() -> None:
    three = made.lists([0, 1, 2, 3], made.strings("x", "jazz", "blues"))
    places = {name: made.numbers([9.0, 1.0, 1.0]) for name in ("lon", "lat")}
    given = Table({"tokens": three, **places}, {"offset": 1, "length": 2})
    assert answer(given) == [(0, "a")]


def test_buffers_that_are_not_aligned_are_read() -> None:
    for shift in range(1, 8):
        pad = b"\0" * shift
        data = np.array([1.0, 1.0]).tobytes()

        class Shifted(Table):
            def array(self, column: Column, shift: int = shift) -> made.Array:
                array = super().array(column)
                for i in range(1, len(column.buffers)):
                    if column.buffers[i] and column.name in ("lon", "lat"):
                        array.buffers[i] = array.buffers[i] + shift
                return array

        moved = Column("g", 2, (None, pad + data))
        assert answer(Shifted({"tokens": JAZZ, "lon": moved, "lat": moved})) == [(0, "a")]


DAMAGE = {
    "a negative length": (JAZZ.but(length=-1), "'tokens' is damaged"),
    "a negative offset": (JAZZ.but(offset=-1), "'tokens' is damaged"),
    "an enormous offset": (JAZZ.but(offset=2**62), "'tokens' is damaged"),
    "fewer rows than the table": (JAZZ.but(length=1), "'tokens' is damaged: got 1 rows, wanted 2"),
    "no buffers": (JAZZ.but(n_buffers=0), "'tokens' is damaged: got no buffer 1"),
    "negative buffers": (JAZZ.but(n_buffers=-1), "'tokens' is damaged"),
    "no offsets": (JAZZ.but(buffers=(None, None)), "'tokens' is damaged: got no buffer 1"),
    "no items": (JAZZ.but(n_children=0), "'tokens' is damaged: got lists without items"),
    "nulls without a map": (JAZZ.but(null_count=1), "'tokens' is damaged: got nulls without"),
    "more nulls than rows": (JAZZ.but(null_count=3), "'tokens' is damaged: got 3 nulls"),
    "fewer nulls than none": (JAZZ.but(null_count=-2), "'tokens' is damaged: got -2 nulls"),
    "a null row": (
        JAZZ.but(null_count=-1, buffers=(b"\x01", JAZZ.buffers[1])),
        "row 1: tokens is null",
    ),
    "offsets that descend": (
        made.lists([0, 2, 1], made.strings("jazz", "blues")),
        "row 1: column 'tokens': got offset 1, wanted one from 2 to 2",
    ),
    "offsets beyond the items": (
        made.lists([0, 1, 900], made.strings("jazz", "blues")),
        "row 1: column 'tokens': got offset 900",
    ),
    "negative offsets": (
        made.lists([-1, 1, 2], made.strings("jazz", "blues")),
        "column 'tokens': got offset -1",
    ),
    "words that descend": (
        made.lists(
            [0, 1, 2],
            Column("u", 2, (None, np.array([0, 7, 4], np.int32).tobytes(), b"jazzblues")),
        ),
        "column 'tokens': got offset 7, wanted one from 0 to 4",
    ),
    "words without letters": (
        made.lists(
            [0, 1, 2], Column("u", 2, (None, np.array([0, 4, 9], np.int32).tobytes(), None))
        ),
        "'tokens' is damaged: got no buffer of letters",
    ),
    "words that are not UTF-8": (
        made.lists([0, 1, 2], made.strings("jazz", b"\xff\xfe")),
        "row 1: column 'tokens': got a word that is not UTF-8",
    ),
    "half a character at the end of a word": (
        made.lists([0, 1, 2], made.strings(b"\xc3", b"\xa9")),
        "row 0: column 'tokens': got a word that is not UTF-8",
    ),
    "codes beyond the dictionary": (
        made.lists([0, 1, 2], made.codes([0, 2], "jazz", "blues")),
        "row 1: column 'tokens': got code 2",
    ),
    "negative codes": (
        made.lists([0, 1, 2], made.codes([-1, 0], "jazz", "blues")),
        "row 0: column 'tokens': got code -1",
    ),
    "codes without a dictionary": (
        made.lists(
            [0, 1, 2],
            made.codes([0, 1], "a").but(dictionary=made.strings("a").but(is_there=False)),
        ),
        "'tokens' is damaged: got no dictionary",
    ),
    "a null in the dictionary": (
        made.lists(
            [0, 1, 2],
            made.codes([0, 1], "a").but(
                dictionary=made.strings("jazz", "b", null_count=1).but(
                    buffers=(b"\x01", *made.strings("jazz", "b").buffers[1:])
                )
            ),
        ),
        "row 1: a word of the dictionary is null",
    ),
    "a dictionary that is not UTF-8": (
        made.lists([0, 1, 2], made.codes([0, 1], "a").but(dictionary=made.strings("a", b"\xff"))),
        "row 1: column 'dictionary': got bytes that are not UTF-8",
    ),
    "a dictionary of a negative length": (
        made.lists([0, 1, 2], made.codes([0, 1], "a").but(dictionary=made.strings("a", length=-5))),
        "'dictionary' is damaged",
    ),
    "codes that are no integers": (
        made.lists([0, 1, 2], made.codes([0, 1], "a").but(format="g")),
        "'tokens' has the wrong type: got dictionary<double, string>",
    ),
    "a dictionary of numbers": (
        made.lists([0, 1, 2], made.codes([0, 1], "a").but(dictionary=made.numbers([1.0]))),
        "'tokens' has the wrong type",
    ),
    "a type that nobody knows": (JAZZ.but(format="?"), "got the Arrow format '?'"),
    "a fixed size that is no number": (JAZZ.but(format="+w:x"), "'tokens' is damaged"),
    "a fixed size beyond the items": (JAZZ.but(format="+w:2"), "'tokens' is damaged: got 2 items"),
    "a fixed size that overflows": (
        JAZZ.but(format="+w:9223372036854775807"),
        "'tokens' is damaged: got 2 items",
    ),
    "list views beyond the items": (
        Column(
            "+vl",
            2,
            (None, np.array([0, 1], np.int32).tobytes(), np.array([1, 2], np.int32).tobytes()),
            children=JAZZ.children,
        ),
        "row 1: column 'tokens': got items 1 and 2 more, wanted some of 2",
    ),
    "list views of negative sizes": (
        Column(
            "+vl",
            2,
            (None, np.array([0, 1], np.int32).tobytes(), np.array([1, -1], np.int32).tobytes()),
            children=JAZZ.children,
        ),
        "row 1: column 'tokens': got items",
    ),
    "list views that wrap": (
        Column(
            "+vL",
            2,
            (None, np.array([0, 2**63 - 1]).tobytes(), np.array([1, 2**63 - 1]).tobytes()),
            children=JAZZ.children,
        ),
        "row 1: column 'tokens': got items",
    ),
    "list views without sizes": (
        Column("+vl", 2, (None, b"\0" * 8), children=JAZZ.children),
        "'tokens' is damaged: got no buffer 2",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_refused_by_column_and_row(damage) -> None:
    tokens, said = DAMAGE[damage]
    given = Table({"tokens": tokens, **HERE}, {"length": 2})
    with pytest.raises(nc.InvalidMessageError, match=re.escape(said)):
        matcher().match_table(given)
    gc.collect()
    assert given.released == given.made  # also what was refused is given back


def view(length: int, buffer: int, offset: int) -> bytes:
    return np.array([length, 0, buffer, offset], np.int32).tobytes()


@pytest.mark.parametrize(
    "wrong",
    [
        view(-1, 0, 0),
        view(20, 1, 0),
        view(20, -1, 0),
        view(20, 0, -1),
        view(20, 0, 1),
        view(2**31 - 1, 0, 2**31 - 1),
    ],
)
def test_string_views_must_lie_within_their_buffers(wrong) -> None:
    letters = b"twenty letters in it"
    good = view(20, 0, 0)
    sizes = np.array([20]).tobytes()
    texts = Column("vu", 2, (None, good + good, letters, sizes))
    assert answer(Table({"text": texts, **HERE})) == []
    damaged = texts.but(buffers=(None, good + wrong, letters, sizes))
    with pytest.raises(nc.InvalidMessageError, match="row 1: column 'text': got a view of letters"):
        answer(Table({"text": damaged, **HERE}))
    with pytest.raises(nc.InvalidMessageError, match="'text' is damaged: got too few buffers"):
        answer(Table({"text": texts.but(n_buffers=2), **HERE}))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"n_children": 2}, "damaged: got 2 columns, wanted 3"),
        ({"length": -1}, "is damaged"),
        ({"length": 3}, "'lon' is damaged: got 2 rows, wanted 3"),
        ({"offset": 1}, "'lon' is damaged: got 2 rows, wanted 3"),
        ({"null_count": 1, "buffers": (b"\0",)}, "rows of the table are null"),
        ({"format": "u"}, "messages are not a table"),
    ],
    ids=str,
)
def test_damage_of_the_whole_table_is_refused(parts, said) -> None:
    with pytest.raises(nc.InvalidMessageError, match=re.escape(said)):
        matcher().match_table(Table({"tokens": JAZZ, **HERE}, parts))


def test_columns_without_a_name_are_not_looked_at() -> None:
    assert answer(Table({None: JAZZ, "tokens": JAZZ, **HERE})) == [(0, "a")]


class Given:
    """Whatever it was made with, as if it were a table."""

    def __init__(self, stream: object = None, array: object = None) -> None:
        if stream is not None:
            self.__arrow_c_stream__ = lambda: stream
        if array is not None:
            self.__arrow_c_array__ = lambda: array


def test_capsules_that_are_none_are_refused() -> None:
    schema, array = messages().structs()
    used = Given(array=(capsule(schema, b"arrow_schema"), capsule(array, b"arrow_array")))
    assert answer(used) == [(0, "a")]
    for wrong in (
        used,
        Given(stream=5),
        Given(array=5),
        Given(array=(1, 2)),
        Given(array=(capsule(schema, b"arrow_array"), capsule(array, b"arrow_schema"))),
        Given(stream=capsule(array, b"nonsense")),
    ):
        with pytest.raises(nc.InvalidMessageError, match=r"messages: got .*, wanted "):
            answer(wrong)


def test_a_library_that_fails_is_quoted() -> None:
    class Failing:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise RuntimeError("no such column")

    with pytest.raises(nc.InvalidMessageError, match=r"cannot be read as Arrow.*no such column"):
        answer(Failing())
    mixed = pd.DataFrame({"text": ["a", 5], "lon": [0.0] * 2, "lat": [0.0] * 2})
    with pytest.raises(nc.InvalidMessageError, match="cannot be read as Arrow columns"):
        answer(mixed)
    with pytest.raises(nc.InvalidMessageError, match=r"stream of batches failed.*disk is gone"):
        answer(Streamed(messages(), messages(), fails_at=1))


def is_accepted(text: bytes) -> bool:
    offsets = pa.py_buffer(np.array([0, len(text)], np.int32).tobytes())
    column = pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(text)])
    rows = pa.record_batch([column, PLACE, PLACE], names=["text", "lon", "lat"])
    try:
        _core.MessageStream(rows).next()
    except nc.InvalidMessageError:
        return False
    return True


def is_text(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


PLACE = pa.array([0.0])
FIRST = bytes.fromhex("00 7f 80 bf c0 c1 c2 df e0 e1 ec ed ee ef f0 f1 f3 f4 f5 ff")
SECOND = bytes.fromhex("7f 80 8f 90 9f a0 bf c0")
LATER = bytes.fromhex("7f 80 bf c0")


@pytest.mark.parametrize("length", range(1, 5))
def test_text_is_what_python_decodes(length) -> None:
    for letters in product(*(FIRST, SECOND, LATER, LATER)[:length]):
        text = bytes(letters)
        assert is_accepted(text) == is_text(text), text
        if length < 3:  # behind other characters too
            assert is_accepted("aé€😀".encode() + text) == is_text(text), text


def test_damage_in_subscriptions_changes_nothing() -> None:
    target = matcher()
    for name, (keywords, _) in DAMAGE.items():
        if name == "a null row":
            continue  # the area decides
        given = Table({"id": made.numbers([1, 2], np.int64), "keywords": keywords}, {"length": 2})
        with pytest.raises(nc.InvalidSubscriptionError):
            target.subscribe_table(given)
    assert len(target) == 3
    target.check_invariants()

"""Arrow arrays that are not what they say are refused by column and row."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import nearcast as nc

WORDS = ["jazz", "blues", "rock"]
HERE = {"lon": [0.5, 0.5], "lat": [0.5, 0.5]}
DICTIONARY = pa.array(WORDS)
CODES = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
UNSIGNED = [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]


def matcher():
    made = nc.Matcher()
    made.subscribe_table(pa.table({"id": [1, 2], "keywords": [["jazz"], ["blues"]]}))
    return made


def buffer(values, width):
    return pa.py_buffer(np.array(values, width).tobytes())


def coded(codes, *, kind=None, ends=(0, 1, 2), valid=None, dictionary=DICTIONARY, lists=None):
    """Return list<dictionary> of these codes, unchecked: pyarrow's own constructors would look."""
    kind = kind or pa.int32()
    mask = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little").tobytes())
    values = pa.DictionaryArray.from_buffers(
        pa.dictionary(kind, pa.string()),
        len(codes),
        [mask, buffer(codes, kind.to_pandas_dtype())],
        dictionary,
    )
    large = lists == pa.int64()
    whole = pa.large_list(values.type) if large else pa.list_(values.type)
    offsets = buffer(ends, np.int64 if large else np.int32)
    return pa.Array.from_buffers(whole, len(ends) - 1, [None, offsets], children=[values])


def strings(ends, letters=b"jazzblues", kind=None):
    kind = kind or pa.string()
    width = np.int64 if kind == pa.large_string() else np.int32
    buffers = [None, buffer(ends, width), pa.py_buffer(letters)]
    return pa.Array.from_buffers(kind, len(ends) - 1, buffers)


def found(tokens, rows=2):
    places = pa.array([0.5] * rows, pa.float64())
    table = pa.table({"tokens": tokens, "lon": places, "lat": places})
    return matcher().match_table(table).to_pydict()


BOTH = {"message": [0, 1], "subscription": [1, 2]}


@pytest.mark.parametrize("kind", [*CODES, *UNSIGNED], ids=str)
@pytest.mark.parametrize("lists", [pa.int32(), pa.int64()], ids=["list", "large_list"])
def test_codes_of_every_width_lead_to_words(kind, lists) -> None:
    assert found(coded([0, 1], kind=kind, lists=lists)) == BOTH
    sliced = coded([2, 2, 0, 1], kind=kind, lists=lists, ends=(0, 1, 2, 3, 4)).slice(2)
    assert found(sliced) == BOTH


@pytest.mark.parametrize("kind", [*CODES, *UNSIGNED], ids=str)
def test_a_code_beyond_the_dictionary_is_refused_by_its_row(kind) -> None:
    largest = np.iinfo(kind.to_pandas_dtype()).max
    for code in (3, 100, int(largest)):
        with pytest.raises(nc.InvalidMessageError, match="row 1: column 'tokens': got code"):
            found(coded([0, code], kind=kind))
        with pytest.raises(nc.InvalidSubscriptionError, match="row 1: column 'keywords': got code"):
            matcher().subscribe_table(
                pa.table({"id": [7, 8], "keywords": coded([0, code], kind=kind)})
            )


@pytest.mark.parametrize("kind", CODES, ids=str)
def test_a_negative_code_is_refused(kind) -> None:
    with pytest.raises(nc.InvalidMessageError, match="row 0: column 'tokens': got code -1"):
        found(coded([-1, 1], kind=kind))


def test_a_code_that_32_bits_would_wrap_is_not_another_word() -> None:
    with pytest.raises(nc.InvalidMessageError, match="row 0"):
        found(coded([2**32, 1], kind=pa.int64()))


def test_what_lies_under_null_may_be_anything() -> None:
    ids = pa.array([7, 8])
    hidden = coded([0, -5], valid=[1, 0])
    with pytest.raises(nc.InvalidSubscriptionError, match="row 1: a word of keywords is null"):
        matcher().subscribe_table(pa.table({"id": ids, "keywords": hidden}))
    values = coded([0, 99]).values
    mask = pa.py_buffer(b"\x01")
    lists = pa.Array.from_buffers(
        pa.list_(values.type), 2, [mask, buffer((0, 1, 2), np.int32)], children=[values]
    )
    box = {name: [0.0, 0.0] for name in ("west", "south")} | {"east": [1.0] * 2, "north": [1.0] * 2}
    made = matcher()
    made.subscribe_table(pa.table({"id": ids, "keywords": lists, **box}))
    assert sorted(made.match("jazz", at=(0.5, 0.5))) == [1, 7, 8]


@pytest.mark.parametrize(
    ("ends", "claim"),
    [((0, 2, 1), "row 1"), ((0, 9, 2), "row 0"), ((-1, 1, 2), ""), ((0, 1, 900), "")],
)
def test_offsets_of_lists_must_ascend_within_the_words(ends, claim) -> None:
    """Arrow refuses some when the array is made; the others come through."""
    try:
        damaged = coded([0, 1], ends=ends)
    except pa.ArrowInvalid:
        return
    with pytest.raises(nc.InvalidMessageError, match=f"{claim}.*tokens"):
        found(damaged)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("ends", [(0, 7, 4, 9), (0, 900, 4, 9), (4, 0, 4, 9)])
def test_offsets_of_words_must_ascend_within_the_letters(kind, ends) -> None:
    words = strings(ends, kind=kind)
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 3], pa.int32()), words)
    with pytest.raises(nc.InvalidMessageError, match=r"row .: column 'tokens': got offset"):
        found(lists)
    with pytest.raises(nc.InvalidSubscriptionError, match=r"row .: column 'keywords': got offset"):
        matcher().subscribe_table(pa.table({"id": [7, 8], "keywords": lists}))
    with pytest.raises(
        nc.InvalidSubscriptionError, match=r"row .: column 'id': got (offset|bytes)"
    ):
        nc.Matcher().subscribe_table(pa.table({"id": words, "keywords": [["a"]] * 3}))
    with pytest.raises(nc.UnknownIdError, match=r"row .: column 'id': got (offset|bytes)"):
        matcher().unsubscribe_table(words)
    with pytest.raises(nc.InvalidMessageError, match=r"row .: column 'text': got offset"):
        matcher().match_table(pa.table({"text": words, "lon": [0.5] * 3, "lat": [0.5] * 3}))


def test_text_that_is_not_utf_8_is_refused() -> None:
    broken = strings((0, 4, 9), b"jazz\xff\xfe\xfd\xfcx")
    with pytest.raises(
        nc.InvalidMessageError, match="row 1: column 'text': got bytes that are not UTF-8"
    ):
        matcher().match_table(pa.table({"text": broken, **HERE}))
    with pytest.raises(
        nc.InvalidSubscriptionError, match=r"row .: column 'id': got (offset|bytes)"
    ):
        nc.Matcher().subscribe_table(pa.table({"id": broken, "keywords": [["a"]] * 2}))
    binary = pa.array([b"jazz", b"\xff"])
    with pytest.raises(nc.InvalidMessageError, match="wrong type"):
        matcher().match_table(pa.table({"text": binary, **HERE}))


def test_a_dictionary_that_is_damaged_is_refused() -> None:
    damaged = strings((0, 7, 4, 9))
    with pytest.raises(nc.InvalidMessageError, match="row 1: column 'dictionary': got offset 4"):
        found(coded([0, 1], dictionary=damaged))


@pytest.mark.parametrize("rows", [0, 2])
def test_chunked_sliced_and_empty_columns_are_read(rows) -> None:
    parts = [coded([0, 1]).slice(0, 0), coded([2, 0, 1], ends=(0, 1, 2, 3)).slice(1)]
    chunked = pa.chunked_array(parts if rows else parts[:1])
    assert found(chunked, rows) == (BOTH if rows else {"message": [], "subscription": []})


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.list_(pa.string())], ids=str)
def test_no_rows_may_come_without_buffers(kind) -> None:
    children = [pa.array([], pa.string())] if pa.types.is_list(kind) else None
    buffers = [None, None] if children else [None, None, pa.py_buffer(b"")]
    empty = pa.Array.from_buffers(kind, 0, buffers, children=children)
    name = "tokens" if children else "text"
    table = pa.table(
        {name: empty, "lon": pa.array([], pa.float64()), "lat": pa.array([], pa.float64())}
    )
    assert matcher().match_table(table).num_rows == 0


def test_views_are_read_too() -> None:
    views = pa.array(["jazz", "blues"]).cast(pa.string_view())
    assert matcher().match_table(pa.table({"text": views, **HERE})).to_pydict() == BOTH

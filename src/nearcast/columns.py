"""How do Arrow tables and Python values become what the core reads? The only place that knows.

Columns go in without a copy: the core reads Arrow's own buffers. A string column is handed over as
(offsets, bytes), a list column as (offsets, items), and a dictionary column as codes with the
tokens of its words, so that a word is looked up once per dictionary instead of once per use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.errors import (
    CapacityError,
    InvalidParameterError,
    InvalidSubscriptionError,
    NearcastError,
    Verbatim,
)
from nearcast.model import Bbox, Circle, MultiPolygon, Point, Polygon, is_encodable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nearcast._core import Engine, RankEngine
    from nearcast.model import Area, Clause, Place
    from nearcast.text import Analyzer

Words: TypeAlias = tuple[np.ndarray, np.ndarray]
_Error: TypeAlias = type[NearcastError]

BOX = ("west", "south", "east", "north")
POINT = ("lon", "lat")

MAX_TOKENS = 8191  # per clause and sign; what a record of the core can count


# ---- single values --------------------------------------------------------------------------


def core_counts(df: Mapping[str, int]) -> tuple[Any, np.ndarray]:
    """Return words and how many documents have them, as the core reads them."""
    known = {word: count for word, count in df.items() if is_encodable(word)}  # others: no tokens
    try:
        listed = pa.array(list(known), pa.large_string())
        counts = np.fromiter(known.values(), np.int64, len(known))
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        what = "weights: df is not what it was checked to be"
        raise InvalidParameterError(what, got=df, wanted="counts that nobody changes") from None
    return words(listed, "df", InvalidParameterError), counts


def core_area(area: Area | None) -> tuple[Any, ...] | None:
    """Return an area as the core reads it."""
    if area is None:
        return None
    if isinstance(area, Bbox):
        return (area.west, area.south, area.east, area.north)
    if isinstance(area, Circle):
        return (*area.center, area.radius_m)
    polygons = (area,) if isinstance(area, Polygon) else area.polygons
    points: list[Point] = []
    ring_ends: list[int] = []
    polygon_ends: list[int] = []
    for polygon in polygons:
        for ring in polygon.rings:
            points.extend(ring)
            ring_ends.append(len(points))
        polygon_ends.append(len(ring_ends))
    return (points, ring_ends, polygon_ends)


def area_of_core(area: tuple[Any, ...] | None) -> Area | None:
    """Return what the core says an area is; the inverse of `core_area`."""
    if area is None:
        return None
    if len(area) == 4:
        return Bbox(*area)
    points, *ends = area
    if not isinstance(points, list):
        return Circle((points, ends[0]), ends[1])
    rings = [tuple(points[a:b]) for a, b in zip([0, *ends[0]], ends[0], strict=False)]
    polygons = [Polygon(tuple(rings[a:b])) for a, b in zip([0, *ends[1]], ends[1], strict=False)]
    return polygons[0] if len(polygons) == 1 else MultiPolygon(tuple(polygons))


def core_place(place: Place) -> tuple[float, ...]:
    """Return a message's place as the core reads it."""
    if isinstance(place, Bbox):
        return (place.west, place.south, place.east, place.north)
    return place


def core_clauses(clauses: Iterable[Clause] | None) -> list[tuple[list[str], list[str]]]:
    """Return clauses as the core reads them; no keywords are one clause that always holds."""
    if clauses is None:
        return [([], [])]
    clauses = tuple(clauses)
    most = max((len(part) for clause in clauses for part in clause), default=0)
    if most > MAX_TOKENS:
        what = "keywords are too many"
        got = Verbatim(f"{most} in one clause")
        raise InvalidSubscriptionError(what, got=got, wanted=f"at most {MAX_TOKENS}")
    return [(list(clause.positive), list(clause.negative)) for clause in clauses]


# ---- columns --------------------------------------------------------------------------------


def column(batch: pa.RecordBatch | pa.Table, name: str, error: _Error) -> pa.Array:
    """Return a column as one array, or say which columns there are."""
    if name not in batch.schema.names:
        what = f"column {name!r} is missing"
        raise error(what, got=Verbatim(", ".join(batch.schema.names) or "no columns"), wanted=name)
    if batch.schema.names.count(name) > 1:
        what = f"column {name!r} is there more than once"
        raise error(what, wanted=f"one {name}")
    found = batch.column(name)
    if isinstance(found, pa.ChunkedArray):
        found = combined(found, name)
    validate(found, name, error)
    return found


def combined(chunks: pa.ChunkedArray, name: str) -> pa.Array:
    """Return chunks as one array."""
    if chunks.num_chunks == 1:
        return chunks.chunk(0)
    try:
        return chunks.combine_chunks()
    except pa.ArrowInvalid as problem:  # offsets of 32 bits do not reach
        what = f"column {name!r} is too large"
        got, wanted = Verbatim(str(problem)), "chunks of less than 2 GiB together"
        raise CapacityError(what, got=got, wanted=wanted, hint="give smaller tables") from None


def validate(array: pa.Array, name: str, error: _Error, *, full: bool = False) -> None:
    """Refuse an array whose buffers are not what it says; `full` looks at each value.

    Without `full` it costs nothing: offsets and codes in between are left to the core.
    """
    try:
        array.validate(full=full)
    except pa.ArrowException as problem:
        what = f"column {name!r} is damaged"
        wanted = "a valid Arrow array"
        raise error(what, got=Verbatim(str(problem)), wanted=wanted) from None


def refuse_nulls(array: pa.Array, name: str, error: _Error) -> None:
    """Refuse a column with nulls by its first row that has one."""
    if array.null_count:
        row = int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
        what = f"row {row}: {name} is null"
        raise error(what, wanted="a value")


def numbers(array: pa.Array, name: str, error: _Error) -> np.ndarray:
    """Return a numeric column as float64; nulls become NaN, which the core refuses by row."""
    if not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        what = f"column {name!r} has the wrong type"
        raise error(what, got=Verbatim(str(array.type)), wanted="double")
    values = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(values, dtype=np.float64)


def _offsets(array: pa.Array, buffer: pa.Buffer | None, width: type) -> np.ndarray:
    if buffer is None or len(array) == 0:
        return np.zeros(1, np.int64)
    return _items(buffer, width, array.offset, len(array) + 1).astype(np.int64, copy=False)


def _items(buffer: pa.Buffer, width: type, start: int, count: int) -> np.ndarray:
    """Return `count` numbers of a buffer, whose size need not be a multiple of theirs."""
    if count == 0:
        return np.zeros(0, width)
    return np.frombuffer(buffer, width, count, start * np.dtype(width).itemsize)


def words(array: pa.Array, name: str, error: _Error, *, wanted: str = "string") -> Words:
    """Return a string column as (offsets, bytes); values under nulls are whatever lies there."""
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        if str(array.type) != "string_view":
            what = f"column {name!r} has the wrong type"
            raise error(what, got=Verbatim(str(array.type)), wanted=wanted)
        validate(array, name, error, full=True)  # a cast follows each view
        array = array.cast(pa.large_string())
    width = np.int64 if pa.types.is_large_string(array.type) else np.int32
    _, offsets, letters = array.buffers()
    data = np.frombuffer(letters, np.uint8) if letters else np.zeros(0, np.uint8)
    return _offsets(array, offsets, width), data


def ids(array: pa.Array, error: _Error) -> np.ndarray | Words:
    """Return an id column: int64 as it is, strings as words."""
    refuse_nulls(array, "id", error)
    if pa.types.is_integer(array.type):
        values = array.to_numpy()
        if pa.types.is_uint64(array.type):
            _refuse_rows(values > np.iinfo(np.int64).max, array, "an int64", error)
        return np.ascontiguousarray(values, dtype=np.int64)
    offsets, letters = words(array, "id", error, wanted="int64 or string")
    validate(array, "id", error, full=True)  # ids are given back, as text
    _refuse_rows(offsets[1:] == offsets[:-1], array, "a string that is not empty", error)
    return offsets, letters


def _refuse_rows(are_wrong: np.ndarray, array: pa.Array, wanted: str, error: _Error) -> None:
    if are_wrong.any():
        row = int(np.flatnonzero(are_wrong)[0])
        what = f"row {row}: id is not an id"
        raise error(what, got=array[row].as_py(), wanted=wanted)


class _Lookup(NamedTuple):
    """The tokens of a dictionary's words."""

    dictionary: pa.Array  # kept: its memory cannot become another dictionary's
    words: Words
    tokens: np.ndarray
    version: int  # of the vocabulary: words come and go, and their tokens with them


class TokenCache:
    """The tokens of the last dictionary seen, so that batches that share it look it up once.

    Threads may share it: what is cached is replaced as a whole. The core compares versions once
    more when it uses the tokens, and looks the words up itself if the vocabulary has changed.
    """

    def __init__(self, engine: Engine | RankEngine) -> None:
        self._engine = engine
        self._last: _Lookup | None = None

    def look_up(self, dictionary: pa.Array, error: _Error) -> tuple[Words, np.ndarray, int]:
        """Return the dictionary's words, their tokens by position, and the version of both."""
        last = self._last
        if last is None or not self._is_current(last, dictionary):
            found = dictionary_words(dictionary, error)
            last = _Lookup(dictionary, found, *self._engine.tokens_of(found))
            self._last = last
        return last.words, last.tokens, last.version

    def _is_current(self, last: _Lookup, dictionary: pa.Array) -> bool:
        known = last.dictionary
        if len(known) != len(dictionary) or known.offset != dictionary.offset:
            return False
        addresses = [buffer.address if buffer else 0 for buffer in dictionary.buffers()]
        if addresses != [buffer.address if buffer else 0 for buffer in known.buffers()]:
            return False
        return last.version == self._engine.vocabulary_version


def dictionary_words(dictionary: pa.Array, error: _Error) -> Words:
    """Return the words of a dictionary."""
    validate(dictionary, "dictionary", error, full=True)
    refuse_nulls(dictionary, "a word of the dictionary", error)
    return words(dictionary, "dictionary", error)


def word_lists(
    array: pa.Array, name: str, error: _Error, cache: TokenCache, *, is_growing: bool
) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Return a column of lists of words as (offsets, items)."""
    if not (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)):
        what = f"column {name!r} has the wrong type"
        raise error(what, got=Verbatim(str(array.type)), wanted="list<string>")
    width = np.int64 if pa.types.is_large_list(array.type) else np.int32
    offsets = _offsets(array, array.buffers()[1], width)
    values = array.values
    _refuse_null_words(array, offsets, name, error)
    if pa.types.is_dictionary(values.type):
        if is_growing:  # the core makes those words known that are used
            known = dictionary_words(values.dictionary, error), np.zeros(0, np.uint32), 0
        else:
            known = cache.look_up(values.dictionary, error)
        return offsets, ("codes", _codes(values.indices, len(values.dictionary)), *known)
    if is_growing:
        validate(values, name, error, full=True)  # words are kept, and given back as text
    return offsets, ("words", *words(values, name, error))


def _codes(indices: pa.Array, size: int) -> np.ndarray:
    """Return codes as int32. The core refuses those that are not below `size`, by their row."""
    if len(indices) == 0:
        return np.zeros(0, np.int32)
    width = indices.type.to_pandas_dtype()
    codes = _items(indices.buffers()[1], width, indices.offset, len(indices))
    if codes.dtype.itemsize > 4 or codes.dtype == np.uint32:
        # What 32 bits cannot hold must not become a code that exists.
        codes = np.where((codes >= 0) & (codes < size), codes, -1)
    return np.ascontiguousarray(codes, dtype=np.int32)


def _refuse_null_words(lists: pa.Array, offsets: np.ndarray, name: str, error: _Error) -> None:
    if not lists.values.null_count:
        return
    validate(lists, name, error, full=True)
    used = lists.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    if not used.null_count:
        return
    nulls = np.flatnonzero(used.is_null().to_numpy(zero_copy_only=False)) + offsets[0]
    rows = np.searchsorted(offsets, nulls, side="right") - 1
    is_there = ~lists.is_null().to_numpy(zero_copy_only=False)  # others may cover anything
    if is_there[rows].any():
        what = f"row {rows[is_there[rows]][0]}: a word of {name} is null"
        raise error(what, wanted="a value")


def texts(array: pa.Array, analyzer: Analyzer, error: _Error) -> Words | list[list[str]]:
    """Return texts that the core may split by itself, or their tokens if it may not.

    The core knows no Unicode. Rows beyond ASCII are analysed here and joined by spaces, which it
    splits into the same tokens; an analyzer with options does all rows here.
    """
    refuse_nulls(array, "text", error)
    words(array, "text", error)  # or it has the wrong type
    validate(array, "text", error, full=True)
    if not analyzer.is_plain:
        return [analyzer.analyze(text) for text in array.to_pylist()]
    if str(array.type) == "string_view":
        array = array.cast(pa.large_string())
    is_foreign = pc.invert(pc.string_is_ascii(array))
    if pc.any(is_foreign).as_py():
        rows = array.filter(is_foreign).to_pylist()
        joined = pa.array([" ".join(analyzer.analyze(text)) for text in rows], array.type)
        array = pc.replace_with_mask(array, is_foreign, joined)
    return words(array, "text", error)


def check_table(table: object, name: str, error: _Error) -> None:
    """Refuse what is neither a table nor a record batch."""
    if not isinstance(table, (pa.Table, pa.RecordBatch)):
        what = f"{name} are not a table"
        raise error(what, got=table, wanted="a pyarrow.Table or a pyarrow.RecordBatch")


def has_columns(batch: pa.RecordBatch | pa.Table, names: Sequence[str]) -> bool:
    """Whether all of these columns are there."""
    return all(name in batch.schema.names for name in names)


def places(batch: pa.RecordBatch | pa.Table, error: _Error) -> tuple[np.ndarray, ...]:
    """Return the places of messages: lon and lat, or west, south, east and north."""
    names = BOX if has_columns(batch, BOX) else POINT
    return tuple(numbers(column(batch, name, error), name, error) for name in names)


def match_table(
    messages: np.ndarray,
    found: np.ndarray | tuple[np.ndarray, bytes],
    scores: np.ndarray | None = None,
) -> pa.Table:
    """Return matches as a table of message (row), subscription (id) and, where ranked, score."""
    matches = {"message": messages, "subscription": id_array(found)}
    return pa.table(matches if scores is None else matches | {"score": scores})


def id_array(found: np.ndarray | tuple[np.ndarray, bytes]) -> pa.Array:
    """Return the core's ids as an Arrow array."""
    if isinstance(found, np.ndarray):
        return pa.array(found)
    offsets, letters = found
    make = pa.StringArray if offsets.dtype == np.int32 else pa.LargeStringArray
    return make.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(letters))


MAX_STRING_BYTES = 2**31 - 1  # of one array of type string, whose offsets have 32 bits


def string_column(found: tuple[np.ndarray, bytes]) -> pa.Array | pa.ChunkedArray:
    """Return the core's words as type string: one array, or as many as 32 bits of offsets need."""
    whole = id_array(found)
    offsets = found[0]
    if offsets[-1] <= MAX_STRING_BYTES:
        return whole.cast(pa.string())
    chunks, start = [], 0
    while start < len(whole):
        reach = int(offsets[start]) + MAX_STRING_BYTES
        end = max(start + 1, int(np.searchsorted(offsets, reach, side="right")) - 1)
        chunks.append(pa.concat_arrays([whole.slice(start, end - start)]).cast(pa.string()))
        start = end
    return pa.chunked_array(chunks, pa.string())

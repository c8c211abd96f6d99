"""How do Arrow tables and Python values become what the core reads? The only place that knows.

Columns go in without a copy: the core reads Arrow's own buffers. A string column is handed over as
(offsets, bytes), a list column as (offsets, items), and a dictionary column as codes with the
tokens of its words, so that a word is looked up once per dictionary instead of once per use.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, cast

import numpy as np
import pyarrow as pa

from nearcast import _core
from nearcast.attributes import Attributes
from nearcast.errors import (
    CapacityError,
    InvalidMessageError,
    NearcastError,
    Verbatim,
)
from nearcast.expressions import (
    And,
    Compare,
    In,
    Not,
    Or,
    Phrase,
    Prefix,
    Word,
    plain_tokens,
)
from nearcast.model import Areas, Bbox, Circle, MultiPolygon, Point, Polygon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from nearcast.areas import SingleArea
    from nearcast.expressions import Comparison, Keyword, Keywords, Where
    from nearcast.model import Area, Place
    from nearcast.text import Analyzer

Words: TypeAlias = tuple[np.ndarray, np.ndarray]
_Error: TypeAlias = type[NearcastError]
_Answer = TypeVar("_Answer")


class ArrowStreamable(Protocol):
    """A table that comes in batches, of any library that speaks Arrow's capsules."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a capsule with a stream of batches."""


class ArrowBatch(Protocol):
    """A table of one batch."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Return capsules with a schema and an array."""


ArrowTable: TypeAlias = ArrowStreamable | ArrowBatch

CoreNode: TypeAlias = tuple[Any, ...]
_WORDS, _PHRASE, _PREFIX, _COMPARE, _IN, _EXISTS, _NOT, _AND, _OR = range(9)
_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")

BOX = ("west", "south", "east", "north")
POINT = ("lon", "lat")


# ---- single values --------------------------------------------------------------------------


CoreArea: TypeAlias = "tuple[Any, ...] | list[tuple[Any, ...]]"


def core_area(area: Area | None) -> CoreArea | None:
    """Return an area as the core reads it: a tuple, or of a union a list of them."""
    if area is None:
        return None
    if isinstance(area, Areas):
        parts = [_core_part(part) for part in area.parts]
        return parts[0] if len(parts) == 1 else parts
    return _core_part(area)


def _core_part(area: SingleArea) -> tuple[Any, ...]:
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


def area_of_core(area: CoreArea | None) -> Area | None:
    """Return what the core says an area is; the inverse of `core_area`."""
    if area is None:
        return None
    if isinstance(area, list):
        return Areas(tuple(_part_of_core(part) for part in area))
    return _part_of_core(area)


def _part_of_core(area: tuple[Any, ...]) -> SingleArea:
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


def core_keywords(keywords: Keywords | None) -> list[str] | tuple[CoreNode, ...] | None:
    """Return keywords as the core reads them: a list of words that are all wanted, or a tree."""
    if keywords is None:
        return None
    tokens = plain_tokens(keywords)
    return core_expression(keywords) if tokens is None else list(tokens)


def core_expression(tree: Keywords | Where) -> tuple[CoreNode, ...]:
    """Return a tree as the core reads it: its nodes in postfix order."""
    nodes: list[CoreNode] = []
    waiting: list[Keywords | Where] = [tree]
    while waiting:  # each before its parts, the last part first: backwards, that is postfix
        node = waiting.pop()
        if isinstance(node, Not):
            nodes.append((_NOT,))
            waiting.append(node.part)
        elif isinstance(node, (And, Or)):
            nodes.append((_OR if isinstance(node, Or) else _AND, len(node.parts)))
            waiting.extend(node.parts)
        else:
            nodes.append(_core_leaf(node))
    return tuple(reversed(nodes))


def _core_leaf(leaf: Keyword | Comparison) -> CoreNode:
    if isinstance(leaf, Word):
        return (_WORDS, list(leaf.tokens))
    if isinstance(leaf, Phrase):
        return (_PHRASE, list(leaf.tokens))
    if isinstance(leaf, Prefix):
        return (_PREFIX, leaf.start)
    if isinstance(leaf, Compare):
        return (_COMPARE, leaf.name, _COMPARISONS.index(leaf.op), leaf.value)
    if isinstance(leaf, In):
        return (_IN, leaf.name, list(leaf.values))
    return (_EXISTS, leaf.name)


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


def string_array(words: Iterable[str]) -> pa.Array:
    """Return words as an array; unlike `pyarrow.array` it does not import pandas."""
    encoded = [word.encode() for word in words]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = (pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded)))
    return pa.StringArray.from_buffers(len(encoded), *buffers)


# ---- messages -------------------------------------------------------------------------------


def by_batch(
    table: ArrowTable, analyzer: Analyzer, answer: Callable[[_core.MessageBatch, int], _Answer]
) -> list[_Answer]:
    """Return what `answer` says to each batch of messages and the number of its first row.

    Batches are read and checked, and their texts are ready for the core.
    """
    validate_own(table, InvalidMessageError)
    stream = _core.MessageStream(table)
    answers: list[_Answer] = []
    start = 0
    try:
        while (batch := stream.next()) is not None:
            _analyze(batch, analyzer)
            _read_attributes(batch)
            answers.append(answer(batch, start))
            start += batch.rows
    except NearcastError as error:
        if start:
            error.locate(f"from row {start} on")
        raise
    return answers


def one_message_batch(table: ArrowTable, analyzer: Analyzer) -> _core.MessageBatch:
    """Return a table of messages as one batch."""
    whole = one_batch(table, "messages", InvalidMessageError)
    return by_batch(whole, analyzer, lambda batch, _: batch)[0]


def _analyze(batch: _core.MessageBatch, analyzer: Analyzer) -> None:
    """Analyse what the core cannot: it knows no Unicode, and no options.

    Tokens of texts beyond ASCII are joined by spaces, which the core splits into the same tokens.
    An empty token is the place of a stop word.
    """
    if not batch.has_texts:
        return
    if not analyzer.is_plain:
        places = map(analyzer.places, batch.texts())
        batch.put_tokens([[token or "" for token in each] for each in places])
        return
    foreign = batch.texts_beyond_ascii()
    if foreign:
        batch.put_texts([" ".join(analyzer.analyze(text)) for text in foreign])


def _read_attributes(batch: _core.MessageBatch) -> None:
    """Read attributes that came as JSON."""
    texts = batch.attribute_texts()
    if texts:
        batch.put_attributes([_attributes_in(row, text) for row, text in enumerate(texts)])


def _attributes_in(row: int, text: str | None) -> Attributes | None:
    if text is None:
        return None
    try:
        return attributes_of(text)
    except NearcastError as error:
        error.locate(f"row {row}")
        raise


def attributes_of(text: str) -> Attributes:
    """Return attributes that came as JSON.

    Raises
    ------
    InvalidMessageError
        If they are not JSON, or not attributes.
    """
    try:
        return Attributes(json.loads(text))
    except (ValueError, RecursionError) as error:
        if isinstance(error, NearcastError):
            raise
        what = "attributes are not JSON"
        raise InvalidMessageError(what, got=text, wanted="an object") from None


def one_batch(table: ArrowTable, name: str, error: _Error) -> ArrowBatch:
    """Return a table of any library as one batch; its chunks are joined, if it has several."""
    if hasattr(table, "__arrow_c_array__"):
        return cast("ArrowBatch", table)
    whole = table if isinstance(table, pa.Table) else imported(table, name, error)
    arrays = [combined(whole.column(i), each) for i, each in enumerate(whole.schema.names)]
    return cast("ArrowBatch", pa.RecordBatch.from_arrays(arrays, schema=whole.schema))


def id_array(values: object, error: _Error) -> pa.Array:
    """Return ids in a column of any library, or in a sequence, as one array."""
    try:
        if isinstance(values, pa.Array):
            array = values
        elif hasattr(values, "__arrow_c_stream__"):
            array = combined(pa.chunked_array(values), "id")
        else:
            array = pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        what = "ids are not ids of one kind"
        raise error(what, got=values, wanted="all int64 or all strings") from None
    validate(array, "id", error)
    return array


def check_arrow(table: object, name: str, error: _Error) -> None:
    """Refuse what cannot be read as Arrow columns."""
    if not (hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")):
        what = f"{name} are not a table"
        wanted = "a table or record batch of pyarrow, Polars, DuckDB or pandas"
        raise error(what, got=table, wanted=wanted)


def imported(table: ArrowTable, name: str, error: _Error) -> pa.Table:
    """Return a table of any library as one of pyarrow; nothing is copied."""
    check_arrow(table, name, error)
    try:
        return pa.table(table)
    except (pa.ArrowException, TypeError, ValueError, KeyError) as problem:
        what = f"{name} cannot be read as Arrow columns"
        raise error(what, got=Verbatim(str(problem)), wanted="a table of columns") from None


def validate_own(table: object, error: _Error) -> None:
    """Refuse a table of pyarrow whose buffers are too small for what it says.

    Arrow's interface between libraries does not tell the sizes of buffers, pyarrow's tables do. It
    costs nothing per row: offsets and codes in between are left to the core.
    """
    if not isinstance(table, (pa.Table, pa.RecordBatch)):
        return
    try:
        table.validate()
    except pa.ArrowException:
        for name, column in zip(table.schema.names, table.columns, strict=True):
            validate(column, name, error)
        raise


# ---- answers --------------------------------------------------------------------------------

MAX_STRING_BYTES = 2**31 - 1  # of one array of type string, whose offsets have 32 bits


def batches_of(answer: _core.Answer) -> list[pa.RecordBatch]:
    """Return the rows of an answer; nothing is copied. Only ids of 2 GiB take more than a batch."""
    return [pa.record_batch(part) for part in answer.batches(MAX_STRING_BYTES)]


def match_table(answers: Iterable[_core.Answer]) -> pa.Table:
    """Return matches as a table of message (row), subscription (id) and, where ranked, score."""
    batches = [batch for answer in answers for batch in batches_of(answer)]
    # Before the first subscription nothing says of which kind ids are.
    return pa.Table.from_batches([batch for batch in batches if batch.num_rows] or batches[-1:])

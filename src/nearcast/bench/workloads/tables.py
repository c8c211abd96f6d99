"""From arrays to Arrow tables: the form in which workloads reach a matcher.

Token columns are lists of dictionary values. The dictionary holds only the words that occur, in
the order of their first occurrence, as if the table had been read from a file of texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from nearcast.bench.workloads.tokens import Ragged

    Part = tuple[Ragged, NDArray[np.float64]]
    WordsOf = Callable[[NDArray[np.integer]], pa.Array]

POINT_COLUMNS = ("lon", "lat")
BOX_COLUMNS = ("west", "south", "east", "north")


def words_of_ranks(ranks: NDArray[np.integer]) -> pa.Array:
    """Return the word for each token rank: w0 is the most frequent."""
    return pc.binary_join_element_wise("w", pa.array(ranks).cast(pa.string()), "")


def gather(
    parts: Iterable[Part], shape: tuple[int, int], words_of: WordsOf
) -> tuple[pa.ListArray, NDArray[np.float64]]:
    """Join parts into one token column and one array of coordinates of the given shape."""
    places = np.empty(shape, order="F")
    lengths = np.empty(shape[0], dtype=np.int32)
    tokens = [np.empty(0, dtype=np.int32)]
    row = 0
    for sets, part in parts:
        rows = slice(row, row + sets.row_count)
        places[rows] = part
        lengths[rows] = sets.lengths()
        tokens.append(sets.tokens.astype(np.int32))
        row = rows.stop
    return token_lists(lengths, np.concatenate(tokens), words_of), places


def token_lists(
    lengths: NDArray[np.integer], tokens: NDArray[np.integer], words_of: WordsOf
) -> pa.ListArray:
    """Return tokens as lists of words, `lengths[i]` of them in row i."""
    codes, used = _renumber_by_first_use(tokens)
    return code_lists(lengths, codes, words_of(used))


def code_lists(
    lengths: NDArray[np.integer], codes: NDArray[np.int32], words: pa.Array
) -> pa.ListArray:
    """Return codes into `words` as lists, `lengths[i]` of them in row i."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int32)
    np.cumsum(lengths, out=offsets[1:])
    values = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), words)
    return pa.ListArray.from_arrays(pa.array(offsets), values)


def compact(table: pa.Table, column: str) -> pa.Table:
    """Return a table whose token dictionary holds only the words of its own rows.

    A slice of a large table drags the whole dictionary along, and a matcher would look up every
    word of it for a handful of rows.
    """
    lists = table.column(column).combine_chunks()
    if isinstance(lists, pa.ChunkedArray):
        lists = pa.concat_arrays(lists.chunks)
    values = lists.flatten()
    lengths = pc.list_value_length(lists).to_numpy()
    codes, used = _renumber_by_first_use(values.indices.to_numpy())
    shrunk = code_lists(lengths, codes, values.dictionary.take(pa.array(used)))
    return table.set_column(table.schema.get_field_index(column), column, shrunk)


def coordinates(values: NDArray[np.float64]) -> dict[str, pa.Array]:
    """Return points (two columns) or boxes (four) under their column names."""
    names = POINT_COLUMNS if values.shape[1] == len(POINT_COLUMNS) else BOX_COLUMNS
    return {name: pa.array(values[:, i]) for i, name in enumerate(names)}


def _renumber_by_first_use(
    ranks: NDArray[np.integer],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return dense codes for ranks, and the rank of each code in order of first occurrence."""
    if len(ranks) == 0:
        return np.empty(0, np.int32), np.empty(0, np.int64)
    unused = len(ranks)
    first_use = np.full(int(ranks.max()) + 1, unused, dtype=np.int64)
    # Written back to front, so the earliest occurrence is the one that stays.
    first_use[ranks[::-1]] = np.arange(unused - 1, -1, -1)
    used = np.flatnonzero(first_use < unused)
    used = used[np.argsort(first_use[used])]
    code_of_rank = np.zeros(len(first_use), dtype=np.int32)
    code_of_rank[used] = np.arange(len(used), dtype=np.int32)
    return code_of_rank[ranks], used

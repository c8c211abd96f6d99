"""Lists of different lengths, flat: the items of row i are at `offsets[i]` to `offsets[i + 1]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray


def list_parts(array: pa.Array | pa.ChunkedArray) -> tuple[NDArray[np.int64], pa.Array]:
    """Return offsets (from 0) and items of a column of lists; null is an empty list."""
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks != 1 else array.chunk(0)
    lengths = np.nan_to_num(
        array.value_lengths().to_numpy(zero_copy_only=False).astype(np.float64)
    ).astype(np.int64)
    return offsets_of(lengths), array.flatten()


def offsets_of(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each row begins, and the end."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def rows_of(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row of each item."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def suffix_sums(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return for each item the sum of the items behind it in its row."""
    # One running sum for all rows: in double its rounding would show in the last of many rows.
    running = np.cumsum(values, dtype=np.longdouble)
    row_end = running[np.maximum(offsets[1:] - 1, 0)][rows_of(offsets)] if len(values) else running
    return (row_end - running).astype(np.float64)

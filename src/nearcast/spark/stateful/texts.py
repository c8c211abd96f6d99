"""The words of many texts at once, as the default analyzer reads them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.text import DEFAULT_ANALYZER


def token_lists(texts: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return the tokens of each text; those of ASCII without a Python object for each.

    Examples
    --------
    >>> token_lists(pa.array(["Free coffee!", "Café"])).to_pylist()
    [['free', 'coffee'], ['café']]
    """
    column = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    column = column.cast(pa.string())
    foreign = np.flatnonzero(~pc.string_is_ascii(column).to_numpy(zero_copy_only=False))
    # Only the others are split: in ASCII a token is a run of letters and digits.
    plain = pc.replace_substring_regex(pc.ascii_lower(column), "[^a-z0-9]+", " ")
    found = pc.ascii_split_whitespace(pc.ascii_trim_whitespace(plain))
    is_empty = pc.equal(pc.binary_length(pc.ascii_trim_whitespace(plain)), 0)
    nothing = pa.scalar([], pa.list_(pa.string()))
    found = pc.if_else(is_empty, nothing, found)
    if not len(foreign):
        return found
    analysed = [DEFAULT_ANALYZER.analyze(column[row].as_py()) for row in foreign.tolist()]
    mask = np.zeros(len(column), bool)
    mask[foreign] = True
    order = np.arange(len(column))
    order[foreign] = len(column) + np.arange(len(foreign))
    both = pa.concat_arrays([found, pa.array(analysed, pa.list_(pa.string()))])
    return both.take(pa.array(order))

"""Changes as tables, and as values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from nearcast import columns
from nearcast.model import CHANGE_KINDS, REASONS, Change

if TYPE_CHECKING:
    from nearcast import _core

_KIND_WORDS = columns.string_array(CHANGE_KINDS)
_REASON_WORDS = columns.string_array(REASONS)

CHANGES = pa.schema(
    [
        ("event", pa.int64()),
        ("subscription", pa.string()),
        ("message", pa.string()),
        ("change", pa.dictionary(pa.int8(), pa.string())),
        ("reason", pa.dictionary(pa.int8(), pa.string())),
        ("score", pa.float64()),
    ]
)
# Not `CHANGES.empty_table()`, which imports pandas.
_NOTHING = pa.Table.from_arrays([pa.nulls(0, field.type) for field in CHANGES], schema=CHANGES)


def change_table(changed: _core.Answer) -> pa.Table:
    """Return the changes that the core tells of as a table."""

    def worded(codes: pa.Array, words: pa.Array) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(codes, words, safe=False)  # the core's own codes

    parts = changed.batches(columns.MAX_STRING_BYTES)
    if len(parts) == 1 and parts[0].rows == 0:
        return _NOTHING  # which is most of what single events change
    tables = []
    for batch in map(pa.record_batch, parts):
        event, subscription, message, kind, reason, score = batch.columns
        worded_columns = (worded(kind, _KIND_WORDS), worded(reason, _REASON_WORDS))
        arrays = [event, subscription, message, *worded_columns, score]
        tables.append(pa.Table.from_arrays(arrays, schema=CHANGES))
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables)


def changes_of(table: pa.Table) -> list[Change]:
    """Return the rows of a table of changes as values."""
    return [Change(**row) for row in table.to_pylist()]

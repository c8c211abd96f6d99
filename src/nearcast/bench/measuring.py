"""What did it take? Matching and applying, with times and work counted by the core.

These calls reach behind `Matcher` and `Hub`: users of the two need none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearcast import _core, columns
from nearcast.changes import change_table
from nearcast.errors import InvalidParameterError, Verbatim

if TYPE_CHECKING:
    from nearcast.columns import ArrowTable
    from nearcast.hub import Hub
    from nearcast.matcher import Matcher
    from nearcast.records import Record


@dataclass(frozen=True, slots=True)
class TableMeasurement:
    """What it took to match a table of messages."""

    nanoseconds: np.ndarray
    """Per message, by a steady clock."""
    cpu_seconds: float
    """Of this thread, for the whole table."""
    matches: int
    work: dict[str, int]
    """Nodes visited, candidates looked at, matches."""


def measure_table(matcher: Matcher, messages: ArrowTable) -> TableMeasurement:
    """Match or rank messages, as `match_table` and `rank_table` do, and say what it took."""
    nanoseconds, cpu_seconds = [], 0.0
    work = {"nodes_visited": 0, "candidates": 0, "matches": 0}
    engine, cache = matcher._engine, matcher._cache
    for taken, times, seconds in columns.by_batch(
        messages, matcher._analyzer, lambda batch, _: engine.measure(batch, cache)
    ):
        nanoseconds.append(times)
        cpu_seconds += seconds
        work = {name: work[name] + count for name, count in taken.items()}
    return TableMeasurement(np.concatenate(nanoseconds), cpu_seconds, work["matches"], work)


def floor_table(matcher: Matcher, messages: ArrowTable, answer: pa.Table) -> TableMeasurement:
    """Measure what no index can beat: touch each message's lists and copy the known answer.

    Parameters
    ----------
    matcher
        Of mode "match".
    messages
        As for `match_table`, in one batch.
    answer
        What `match_table` returned for them, with ids that are numbers.
    """
    engine = matcher._engine
    if not isinstance(engine, _core.Matcher):
        what = "matcher does not match"
        raise InvalidParameterError(what, got=matcher.mode, wanted="mode 'match'")
    batch = columns.one_message_batch(messages, matcher._analyzer)
    rows = columns.column(answer, "message", InvalidParameterError).to_numpy()
    ends = np.searchsorted(rows, np.arange(batch.rows), side="right").astype(np.int64)
    found = columns.column(answer, "subscription", InvalidParameterError)
    if not (pa.types.is_integer(found.type) and np.issubdtype(rows.dtype, np.integer)):
        what, wanted = "answer is not of numbers", "what match_table returned, ids being numbers"
        raise InvalidParameterError(what, got=Verbatim(str(answer.schema)), wanted=wanted)
    known = np.ascontiguousarray(found.to_numpy(), dtype=np.int64)
    work, nanoseconds, cpu_seconds = engine.floor(batch, matcher._cache, ends, known)
    return TableMeasurement(nanoseconds, cpu_seconds, work["matches"], dict(work))


def measure_events(hub: Hub, records: list[Record]) -> tuple[pa.Table, np.ndarray, float]:
    """Apply events, as `core_record` gives them, and say what they took.

    Returns
    -------
    tuple
        The changes, the nanoseconds of each event, and the processor seconds of all.
    """
    (changed, _, refused), nanoseconds, seconds = hub._core.measure(records)
    for _, error in refused:
        raise error
    return change_table(changed), nanoseconds, seconds


def measure_promises(hub: Hub, records: list[Record]) -> tuple[dict[str, float], float]:
    """Apply events to a hub with safe regions, and say what it promised and what it took.

    Returns
    -------
    tuple
        The latest promise of each subscription that got one, and the processor seconds.
    """
    (_, promised, refused), _, seconds = hub._core.measure(records)
    for _, error in refused:
        raise error
    return {id: distance for _, id, distance in promised}, seconds

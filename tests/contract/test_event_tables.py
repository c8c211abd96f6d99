"""Lines, events and tables of events do the same to a hub, and to life alone."""

from __future__ import annotations

import warnings
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest
import strategies as some
from contract.changes import rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import replay

import nearcast as nc
from nearcast import event_reader
from nearcast.event_table import EVENTS, OUTLINE, read_events
from nearcast.events import read_event
from nearcast.life import Life

# Logs are drawn with and without a window, which a hub without one warns of.
pytestmark = pytest.mark.filterwarnings("ignore::nearcast.KeepsNothingWarning")

EXAMPLES = 15
LOGS = some.event_logs(("match", "rank", "top"), bad_lines=True)
ANALYZERS = st.sampled_from(
    [nc.Analyzer(), nc.Analyzer(stop_words={"a"}), nc.Analyzer(tokenizer=str.split)]
)


def apply(hub: nc.Hub, batch: Any) -> tuple[list[dict[str, Any]], dict[int, str]]:
    """Return the changes, and why events were rejected."""
    rejected: dict[int, str] = {}
    table = hub.apply(batch, on_error=lambda n, error: rejected.update({n: str(error)}))
    hub.check_invariants()
    return table.to_pylist(), rejected


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(log=LOGS, window=some.windows, chunk=st.integers(1, 4), analyzer=ANALYZERS)
def test_lines_events_and_tables_do_the_same(
    log: list[Any], window: dict[str, Any], chunk: int, analyzer: nc.Analyzer
) -> None:
    lines = some.ndjson(log)
    one, two, three, four = (
        nc.Hub(window=some.window_of(window), analyzer=analyzer) for _ in range(4)
    )
    with mock.patch.object(event_reader, "CHUNK_LINES", chunk):
        found = apply(one, lines)
    with mock.patch.object(event_reader, "CHUNK_BYTES", 40 * chunk):
        assert apply(two, b"\n".join(lines)) == found
    unread: dict[int, str] = {}
    table = read_events(
        lines, analyzer=analyzer, on_error=lambda n, error: unread.update({n: str(error)})
    )
    changes, rejected = apply(three, table)
    assert (changes, {**unread, **rejected}) == found
    events = [read_event(line, analyzer) for n, line in enumerate(lines, 1) if n not in unread]
    changes, _ = apply(four, events)
    numbers = [n for n in range(1, len(lines) + 1) if n not in unread]
    assert [row | {"event": numbers[row["event"] - 1]} for row in changes] == found[0]


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(log=LOGS, window=some.windows)
def test_a_table_gives_the_changes_of_the_oracle(log: list[Any], window: dict[str, Any]) -> None:
    lines = some.ndjson(log)
    expected, rejected = replay(lines, on_error="skip", weights=None, **window)
    hub = nc.Hub(window=some.window_of(window))
    bad: list[int] = []
    table = read_events(lines, on_error=lambda number, _: bad.append(number))
    changes = hub.apply(table, on_error=lambda number, _: bad.append(number))
    assert sorted(bad) == rejected
    assert rows(changes.to_pylist()) == rows(expected)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(log=LOGS, window=some.windows)
def test_life_on_a_table_is_life_on_events(log: list[Any], window: dict[str, Any]) -> None:
    lines = some.ndjson(log)
    table = read_events(lines, on_error=lambda _number, _error: None)
    events = [read_event(lines[number - 1]) for number in table["event"].to_pylist()]
    one, two = Life(some.window_of(window)), Life(some.window_of(window))
    by_events, by_table = one.apply(events), two.apply(table.select(OUTLINE))
    assert by_table.gone == by_events.gone
    assert by_table.clock.tolist() == by_events.clock.tolist()
    assert by_table.is_kept.tolist() == by_events.is_kept.tolist()
    assert {n: str(e) for n, e in by_table.rejected.items()} == {
        n: str(e) for n, e in by_events.rejected.items()
    }


def decided(table: pa.Table, window: nc.Window | None) -> pa.Table:
    """Return what a hub that keeps no window is told, once life has decided."""
    outcome = Life(window).apply(table.select(OUTLINE))
    told = table.to_pylist()
    gone = {(each.row, each.id) for each in outcome.departures if each.is_message}
    expired = {(each.row, each.id) for each in outcome.departures if each.is_expired} & gone
    ends: dict[str, float] = {}
    for row, event in enumerate(told):
        event["time"] = outcome.clock[row]
        if event["op"] != "publish":
            continue
        # What goes because of its time is gone before this happens; what has no such end goes now.
        left = [id_ for at, id_ in expired if at == row and ends[id_] > outcome.clock[row]]
        event["surplus"] = left[0] if left else None
        event["expires"] = outcome.end[row] if outcome.is_kept[row] else None
        if outcome.is_kept[row]:
            ends[event["id"]] = outcome.end[row]
    return pa.Table.from_pylist(
        [row for n, row in enumerate(told) if n not in outcome.rejected], EVENTS
    )


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(log=LOGS, window=some.windows)
def test_rows_that_life_has_decided_need_no_window(log: list[Any], window: dict[str, Any]) -> None:
    lines = some.ndjson(log)
    single = nc.Hub(window=some.window_of(window))
    expected = single.apply(lines, on_error=lambda _number, _error: None)
    table = read_events(lines, on_error=lambda _number, _error: None)
    part = nc.Hub()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        changes = part.apply(decided(table, some.window_of(window)))
    assert rows(changes.to_pylist()) == rows(expected.to_pylist())
    assert part.clock == single.clock

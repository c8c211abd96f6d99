"""A log of events gives the oracle's changes with every index kind, bad lines included."""

from __future__ import annotations

from typing import Any

import pytest
import strategies as some
from contract.variants import EXAMPLES, name_of, variants
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import replay

import nearcast as nc
from nearcast.hub import changes_of

_windows = st.one_of(
    st.just({}),
    st.builds(lambda n: {"window_count": n}, st.integers(1, 4)),
    st.builds(lambda t: {"window_seconds": t}, st.sampled_from((1, 2, 5))),
)


def _rows(changes: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    names = ("event", "subscription", "message", "change", "reason")
    return sorted(tuple(change[name] for name in names) for change in changes)


@pytest.mark.parametrize("variant", variants(), ids=name_of)
def test_log_gives_the_changes_of_the_oracle(variant: tuple[str, dict[str, Any]]) -> None:
    kind, parameters = variant

    @settings(max_examples=2 * EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        log=some.event_logs(bad_lines=True),
        window=_windows,
        on_error=st.sampled_from(("stop", "skip")),
    )
    def check(log: list[Any], window: dict[str, Any], on_error: str) -> None:
        lines = some.ndjson(log)
        expected, rejected = replay(lines, on_error=on_error, **window)
        given_window = {name.removeprefix("window_"): size for name, size in window.items()}
        hub = nc.Hub(index=kind, window=nc.Window(**given_window) if window else None, **parameters)
        changes, bad = _apply(hub, b"\n".join(lines), on_error)
        assert bad == rejected
        assert _rows(changes) == _rows(expected)

    check()


def _apply(hub: nc.Hub, log: bytes, on_error: str) -> tuple[list[dict[str, Any]], list[int]]:
    bad: list[int] = []
    if on_error == "skip":
        table = hub.apply(log, on_error=lambda number, _: bad.append(number))
        return table.to_pylist(), bad
    try:
        return hub.apply(log).to_pylist(), []
    except nc.NearcastError as error:
        return error.changes.to_pylist(), [error.event]


def test_changes_read_back_as_values() -> None:
    hub = nc.Hub()
    hub.subscribe("s", keywords="a")
    (change,) = changes_of(hub.apply([{"op": "publish", "id": "m", "text": "A", "at": [0, 0]}]))
    assert change == nc.Change(1, "s", "m", "added", "published")

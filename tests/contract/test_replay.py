"""A log of events gives the oracle's changes with every index kind, bad lines included."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import Any

import pytest
import strategies as some
from contract.variants import EXAMPLES, name_of, variants
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import Oracle, OracleRejects, replay

import nearcast as nc
from nearcast.hub import changes_of

_windows = st.one_of(
    st.just({}),
    st.builds(lambda n: {"window_count": n}, st.integers(1, 4)),
    st.builds(lambda t: {"window_seconds": t}, st.sampled_from((1, 2, 5))),
)


_weights = st.one_of(
    st.none(),
    st.builds(
        lambda df: {"documents": 9, "df": df},
        st.dictionaries(st.sampled_from(("a", "b", "c", "coffee", "fire")), st.integers(0, 9)),
    ),
)


def _rows(changes: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return changes in one order, with scores in the units in which they are compared."""
    names = ("event", "subscription", "message", "change", "reason")
    return sorted(
        (*(change[name] for name in names), _units(change.get("score"))) for change in changes
    )


def _units(score: float | None) -> int:
    return -1 if score is None else round(score * 1e9)


@pytest.mark.parametrize("variant", variants(), ids=name_of)
def test_log_gives_the_changes_of_the_oracle(variant: tuple[str, dict[str, Any]]) -> None:
    kind, parameters = variant

    @settings(max_examples=2 * EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        log=some.event_logs(("match", "match", "rank"), bad_lines=True),
        window=_windows,
        weights=_weights,
        on_error=st.sampled_from(("stop", "skip")),
    )
    def check(
        log: list[Any], window: dict[str, Any], weights: dict[str, Any] | None, on_error: str
    ) -> None:
        lines = some.ndjson(log)
        expected, rejected = replay(lines, on_error=on_error, weights=weights, **window)
        given_window = {name.removeprefix("window_"): size for name, size in window.items()}
        hub = nc.Hub(
            index=kind,
            window=nc.Window(**given_window) if window else None,
            weights=_epoch(weights),
            **parameters,
        )
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


@settings(max_examples=4 * EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    before=some.event_logs(("match", "rank", "rank")),
    after=some.event_logs(("match", "rank", "rank")),
    first=_weights,
    second=_weights,
)
def test_another_epoch_changes_what_the_oracle_says(
    before: list[Any],
    after: list[Any],
    first: dict[str, Any] | None,
    second: dict[str, Any] | None,
) -> None:
    oracle = Oracle(window_count=4, weights=first)
    hub = nc.Hub(window=nc.Window(count=4), weights=_epoch(first))
    assert _rows(_applied(oracle, before)) == _rows(_apply_skipping(hub, before))
    expected = oracle.reweigh(1, second)
    assert _rows([asdict(change) for change in hub.set_weights(_epoch(second))]) == _rows(expected)
    assert _rows(_applied(oracle, after)) == _rows(_apply_skipping(hub, after))


def _epoch(weights: dict[str, Any] | None) -> nc.Weights | None:
    return None if weights is None else nc.Weights(**weights)


def _applied(oracle: Oracle, log: list[Any]) -> list[dict[str, Any]]:
    changes: list[dict[str, Any]] = []
    for number, event in enumerate(log, start=1):
        with suppress(OracleRejects):
            changes += oracle.apply(number, event)
    return changes


def _apply_skipping(hub: nc.Hub, log: list[Any]) -> list[dict[str, Any]]:
    return _apply(hub, b"\n".join(some.ndjson(log)), "skip")[0]


def test_changes_read_back_as_values() -> None:
    hub = nc.Hub()
    hub.subscribe("s", keywords="a")
    (change,) = changes_of(hub.apply([{"op": "publish", "id": "m", "text": "A", "at": [0, 0]}]))
    assert change == nc.Change(1, "s", "m", "added", "published")

"""A log of events gives the oracle's changes with every index kind, bad lines included."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import Any, Literal

import pytest
import strategies as some
from contract.changes import rows
from contract.variants import EXAMPLES, TOP_EXAMPLES, name_of, top_name, top_variants, variants
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import Oracle, OracleRejects, replay

import nearcast as nc
from nearcast.changes import changes_of

# Logs are drawn with and without a window, which a hub without one warns of.
pytestmark = pytest.mark.filterwarnings("ignore::nearcast.KeepsNothingWarning")


@pytest.mark.parametrize("variant", variants(), ids=name_of)
def test_log_gives_the_changes_of_the_oracle(variant: tuple[str, dict[str, Any]]) -> None:
    kind, parameters = variant
    _check_logs(("match", "rank", "top"), {"index": kind, "index_parameters": parameters}, EXAMPLES)


@pytest.mark.parametrize("hub_settings", top_variants(), ids=top_name)
def test_log_gives_the_top_lists_of_the_oracle(hub_settings: dict[str, Any]) -> None:
    _check_logs(("top",), hub_settings, TOP_EXAMPLES)


def _check_logs(modes: tuple[str, ...], hub_settings: dict[str, Any], examples: int) -> None:
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        log=some.event_logs(modes, bad_lines=True),
        window=some.windows,
        weights=some.weights,
        on_error=st.sampled_from(("stop", "skip")),
    )
    def check(
        log: list[Any],
        window: dict[str, Any],
        weights: dict[str, Any] | None,
        on_error: Literal["stop", "skip"],
    ) -> None:
        lines = some.ndjson(log)
        expected, rejected = replay(lines, on_error=on_error, weights=weights, **window)
        hub = nc.Hub(
            window=some.window_of(window), weights=some.weights_of(weights), **hub_settings
        )
        changes, bad = _apply(hub, b"\n".join(lines), on_error)
        assert bad == rejected
        assert rows(changes) == rows(expected)

    check()


def _apply(hub: nc.Hub, log: bytes, on_error: str) -> tuple[list[dict[str, Any]], list[int]]:
    bad: list[int] = []
    if on_error == "skip":
        table = hub.apply(log, on_error=lambda number, _: bad.append(number))
        return table.to_pylist(), bad
    try:
        return hub.apply(log).to_pylist(), []
    except nc.NearcastError as caught:
        error = caught
    assert error.event is not None
    assert error.changes is not None
    return error.changes.to_pylist(), [error.event]


@settings(max_examples=4 * EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    before=some.event_logs(("match", "rank", "top")),
    after=some.event_logs(("match", "rank", "top")),
    first=some.weights,
    second=some.weights,
)
def test_another_epoch_changes_what_the_oracle_says(
    before: list[Any],
    after: list[Any],
    first: dict[str, Any] | None,
    second: dict[str, Any] | None,
) -> None:
    oracle = Oracle(window_count=4, weights=first)
    hub = nc.Hub(window=nc.Window(count=4), weights=some.weights_of(first))
    assert rows(_applied(oracle, before)) == rows(_apply_skipping(hub, before))
    expected = oracle.reweigh(1, second)
    assert rows([asdict(change) for change in hub.set_weights(some.weights_of(second))]) == rows(
        expected
    )
    assert rows(_applied(oracle, after)) == rows(_apply_skipping(hub, after))


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

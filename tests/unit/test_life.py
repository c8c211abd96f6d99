"""Life alone does what a hub does: it rejects the same events, with the same errors."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import nearcast as nc
from nearcast.errors import NearcastError, SnapshotError
from nearcast.events import event_from
from nearcast.life import Life

if TYPE_CHECKING:
    from pathlib import Path

    from nearcast.events import Event

# Logs are drawn with and without a window, which a hub without one warns of.
pytestmark = pytest.mark.filterwarnings("ignore::nearcast.KeepsNothingWarning")

IDS = st.sampled_from(["a", "b", "c"])
TIMES = st.none() | st.sampled_from([0.0, 1.0, 2.0, 3.0, 5.0, 8.0])
BOX = [0, 0, 1, 1]
CIRCLE = {"type": "Circle", "center": [0, 0], "radius_m": 1000}
DEFINITIONS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"keywords": "x", "area": BOX},
        {"keywords": "x", "area": BOX, "live": True},
        {"mode": "rank", "keywords": ["x"], "area": BOX, "alpha": 0.5, "threshold": 0.5},
        {"mode": "top", "keywords": ["x"], "at": [0, 0], "k": 2, "alpha": 0.5},
    ]
)
TARGETS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{"area": BOX}, {"area": CIRCLE}, {"at": [0, 0]}]
)


@st.composite
def fields(draw: st.DrawFn) -> dict[str, object]:
    """Return the fields of an event that may or may not happen."""
    op = draw(st.sampled_from(["subscribe", "publish", "move", "retract", "unsubscribe"]))
    event: dict[str, object] = {"op": op, "id": draw(IDS), "time": draw(TIMES)}
    if op == "retract" and draw(st.booleans()):
        return {"op": "advance", "time": draw(st.sampled_from([0.0, 2.0, 5.0, 8.0]))}
    if op == "subscribe":
        event |= {**draw(DEFINITIONS), "expires": draw(TIMES), "replace": draw(st.booleans())}
    elif op == "publish":
        event |= {"text": "x", "at": [0, 0], "expires": draw(TIMES), "replace": draw(st.booleans())}
    elif op == "move":
        event |= draw(TARGETS)
    return {name: value for name, value in event.items() if value is not None}


WINDOWS = st.sampled_from([None, nc.Window(count=1), nc.Window(count=2), nc.Window(seconds=2.0)])


def refusals(life: Life, events: list[Event]) -> dict[int, str]:
    """Return why events are rejected, by row."""
    return {row: str(error) for row, error in life.apply(events).rejected.items()}


@settings(deadline=None)  # on a busy machine 40 events take longer than a deadline
@given(WINDOWS, st.lists(fields(), max_size=40), st.integers(0, 40))
def test_life_alone_is_the_life_of_a_hub(
    window: nc.Window | None, drawn: list[dict[str, object]], cut: int
) -> None:
    events = [event_from(each) for each in drawn]
    hub, life = nc.Hub(window=window), Life(window)
    rejected: dict[int, str] = {}
    hub.apply(events, on_error=lambda row, error: rejected.update({row: str(error)}), first=0)
    found = refusals(life, events[:cut])
    found |= {row + cut: error for row, error in refusals(life, events[cut:]).items()}
    assert found == rejected
    assert life.clock == hub.clock
    for id_ in ("a", "b", "c"):
        assert life.mode(id_) == hub.mode(id_)
        assert life.is_live(id_) == hub._core.is_live(id_)


@settings(deadline=None)  # how long a file takes is not its claim
@given(WINDOWS, st.lists(fields(), max_size=30), st.lists(fields(), max_size=30))
def test_life_goes_on_after_it_was_saved(
    window: nc.Window | None, before: list[dict[str, object]], after: list[dict[str, object]]
) -> None:
    life = Life(window)
    life.apply([event_from(each) for each in before])
    with TemporaryDirectory() as folder:
        life.save(f"{folder}/life")
        opened = Life.open(f"{folder}/life")
    events = [event_from(each) for each in after]
    assert refusals(opened, events) == refusals(life, events)
    assert opened.clock == life.clock
    assert [opened.mode(id_) for id_ in "abc"] == [life.mode(id_) for id_ in "abc"]


def test_what_goes_is_told_in_order_with_its_cause() -> None:
    life = Life(nc.Window(count=2))
    at = [0, 0]
    lines: list[dict[str, Any]] = [
        {"op": "publish", "id": "m1", "text": "x", "at": at, "expires": 5},
        {"op": "publish", "id": "m2", "text": "x", "at": at},
        {"op": "subscribe", "id": "s1", "keywords": "x", "expires": 5},
        {"op": "publish", "id": "m3", "text": "x", "at": at, "time": 5},
        {"op": "publish", "id": "m4", "text": "x", "at": at, "time": 6},
        {"op": "retract", "id": "m3"},
    ]
    outcome = life.apply([event_from(line) for line in lines])
    told = [(gone.row, gone.id, gone.is_message, gone.is_expired) for gone in outcome.departures]
    assert told == [
        (3, "m1", True, True),
        (3, "s1", False, True),
        (4, "m2", True, True),
        (5, "m3", True, False),
    ]
    assert outcome.is_kept.tolist() == [1, 1, 0, 1, 1, 0]
    assert outcome.clock.tolist() == [0, 0, 0, 5, 6, 6]


def test_what_is_replaced_goes_because_of_its_successor_and_pushes_nothing_out() -> None:
    life = Life(nc.Window(count=2))
    lines: list[dict[str, Any]] = [
        {"op": "publish", "id": "m1", "text": "x", "at": [0, 0]},
        {"op": "publish", "id": "m2", "text": "x", "at": [0, 0]},
        {"op": "publish", "id": "m1", "text": "x", "at": [0, 0], "replace": True},
        {"op": "subscribe", "id": "s1", "keywords": "x", "expires": 5, "replace": True},
        {"op": "subscribe", "id": "s1", "keywords": "y", "replace": True},
        {"op": "advance", "time": 5},
        {"op": "publish", "id": "m3", "text": "x", "at": [0, 0]},
    ]
    outcome = life.apply([event_from(line) for line in lines])
    told = [(gone.row, gone.id, gone.is_message, gone.is_expired) for gone in outcome.departures]
    assert told == [(2, "m1", True, False), (4, "s1", False, False), (6, "m2", True, True)]
    assert outcome.clock.tolist() == [0, 0, 0, 0, 0, 5, 5]
    assert life.mode("s1") == "match"  # its old end is forgotten


def test_a_snapshot_of_a_hub_is_not_life_alone(tmp_path: Path) -> None:
    nc.Hub().save(tmp_path / "hub")
    with pytest.raises(SnapshotError, match="another kind"):
        Life.open(tmp_path / "hub")
    Life().save(tmp_path / "life")
    for open_ in (nc.Hub.open, nc.Matcher.open):
        with pytest.raises(NearcastError, match="another kind"):
            open_(tmp_path / "life")


def test_life_remembers_who_holds_what(tmp_path: Path) -> None:
    life = Life(nc.Window(count=1), width=1)
    at = [0, 0]

    def apply(*told: tuple[int, dict[str, Any]]) -> list[tuple[int, int]]:
        nonlocal life
        places = np.array([bits for bits, _ in told], np.uint8)
        done = life.apply([event_from(event) for _, event in told], places=places)
        assert done.gone_from.shape == (done.gone.num_rows, 1)
        life.save(tmp_path / "life")
        life = Life.open(tmp_path / "life")
        assert all(value == 0 for row, value in enumerate(done.places) if row in done.rejected)
        gone.extend(done.gone_from[:, 0].tolist())
        return list(zip(done.places[:, 0].tolist(), done.places_were[:, 0].tolist(), strict=True))

    gone: list[int] = []
    message = {"op": "publish", "id": "m", "text": "x", "at": at}
    wish: dict[str, Any] = {"op": "subscribe", "id": "s", "keywords": "x", "area": BOX}
    assert apply((1, message), (2, wish), (4, message), (4, wish)) == [
        (1, 0),
        (2, 0),
        (0, 0),
        (0, 0),
    ]
    assert apply(
        (4, {**message, "replace": True}), (8, {"op": "move", "id": "s", "area": BOX})
    ) == [
        (5, 1),
        (10, 2),
    ]
    assert apply((1, {**wish, "replace": True}), (16, {**message, "id": "n"})) == [
        (11, 10),
        (16, 0),
    ]
    assert apply((0, {"op": "retract", "id": "m"}), (0, {"op": "retract", "id": "n"})) == [
        (0, 0),
        (16, 16),
    ]
    assert apply((0, {"op": "unsubscribe", "id": "s"}), (32, wish)) == [(11, 11), (32, 0)]
    assert gone == [1, 10, 5, 16, 11]
    with pytest.raises(nc.InvalidParameterError, match="places"):
        life.apply([event_from(message)], places=np.zeros(2, np.uint8))
    with pytest.raises(nc.InvalidParameterError, match="width"):
        Life(width=513)

"""The oracle, pinned by examples worked out by hand: whole logs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import (
    Oracle,
    area_touches,
    read_subscription,
    replay,
)
from oracle.events import decide
from strategies import accepted, areas, event_logs, message_places, ndjson, subscribe_events

if TYPE_CHECKING:
    from oracle_events import (
        Event,
    )

_windows = st.sampled_from(({}, {"window_count": 3}, {"window_seconds": 4}))
_all_modes = ("match", "rank", "top")


@settings(max_examples=80, deadline=None)
@given(event_logs(_all_modes, bad_lines=True), _windows)
def test_adding_up_the_changes_of_a_log_gives_the_sets_held(
    log: list[Event | bytes], window: Event
) -> None:
    """The signed changes of live and top subscriptions never add twice or remove what is absent."""
    oracle = Oracle(**window)
    held: Counter[tuple[str, str]] = Counter()
    for number, event in enumerate(accepted(log, **window), start=1):
        before = oracle._state.subscriptions.get(event.get("id", ""))
        changes = oracle.apply(number, event)
        fresh = event["id"] if event["op"] == "subscribe" else None
        if before is not None and (before.expires is None or before.expires > oracle.clock):
            fresh = None  # it takes the place of another
        held = Counter({pair: n for pair, n in held.items() if pair[0] != fresh})
        for change in changes:
            if not (change["subscription"] == fresh and change["change"] == "removed"):
                pair = (change["subscription"], change["message"])
                assert change["change"] != "updated" or held[pair] == 1
                held[pair] += {"added": 1, "removed": -1, "updated": 0}[change["change"]]
        sets = sets_held(oracle)
        held = Counter({pair: n for pair, n in held.items() if n and pair[0] in sets})
        once = event["id"] if event["op"] == "publish" else None
        if once not in oracle.live_messages():  # delivered, not kept
            held = Counter({pair: n for pair, n in held.items() if pair[1] != once})
        assert held == Counter((name, message) for name in sets for message in sets[name])


def sets_held(oracle: Oracle) -> dict[str, set[str]]:
    """Recompute the sets of the live and top subscriptions."""
    state = oracle._state
    sets: dict[str, set[str]] = {}
    for name, subscription in state.subscriptions.items():
        if subscription.mode == "top":
            sets[name] = {message for message, _ in oracle.top(name)}
        elif subscription.live:
            every = state.messages.values()
            sets[name] = {m.id for m in every if decide(subscription, m, None)[0]}
    return sets


@settings(max_examples=60, deadline=None)
@given(event_logs(_all_modes, bad_lines=True))
def test_a_log_with_rejected_lines_gives_the_changes_of_one_without(
    log: list[Event | bytes],
) -> None:
    changes, rejected = replay(ndjson(log), "skip", window_count=3)
    blanked = [
        b"" if number in rejected else line for number, line in enumerate(ndjson(log), start=1)
    ]
    assert replay(blanked, window_count=3) == (changes, [])


@settings(max_examples=100, deadline=None)
@given(subscribe_events(_all_modes))
def test_generated_subscriptions_are_valid(event: Event) -> None:
    read_subscription(event)


@settings(max_examples=200, deadline=None)
@given(areas, message_places)
def test_a_message_touches_an_area_if_a_corner_of_it_does(area: object, place: Event) -> None:
    if "bbox" in place:
        west, south, east, north = place["bbox"]
        corners = [[lon, lat] for lon in (west, east) for lat in (south, north)]
        if any(area_touches(area, {"at": corner}) for corner in corners):
            assert area_touches(area, place)

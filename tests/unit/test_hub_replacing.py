"""`Hub`: definitions and messages that take the place of others, and time that passes alone."""

from __future__ import annotations

from typing import Any

import pytest
from hub_events import BOX, HERE

import nearcast as nc

AWAY = (50, 50)
TOP: dict[str, Any] = {"mode": "top", "keywords": ["tea"], "at": HERE, "alpha": 0.5, "k": 1}
RANK: dict[str, Any] = {
    "mode": "rank",
    "keywords": ["tea", "milk"],
    "area": BOX,
    "alpha": 0.0,
    "threshold": 0.5,
    "live": True,
}


def told(changes: list[nc.Change]) -> list[tuple[str, str, str, str]]:
    return sorted((c.subscription, c.message, c.change, c.reason) for c in changes)


def hub_of(window: int = 9, **messages: str) -> nc.Hub:
    hub = nc.Hub(window=nc.Window(count=window))
    for id_, text in messages.items():
        hub.publish(id_, text, at=HERE)
    return hub


# ---- subscriptions --------------------------------------------------------------------------


def test_another_definition_changes_a_live_set_by_the_net_difference() -> None:
    hub = hub_of(a="tea", b="tea milk", c="milk")
    hub.subscribe("s", keywords="tea", live=True)
    assert told(hub.subscribe("s", keywords="milk", live=True, replace=True)) == [
        ("s", "a", "removed", "changed"),
        ("s", "c", "added", "changed"),
    ]
    assert sorted(hub.results("s")) == [("b", None), ("c", None)]
    assert len(hub) == 1
    hub.check_invariants()


def test_a_free_id_is_subscribed_plainly() -> None:
    hub = hub_of(a="tea")
    assert told(hub.subscribe("s", keywords="tea", live=True, replace=True)) == [
        ("s", "a", "added", "subscribed")
    ]


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({"keywords": "tea", "live": True}, TOP, [("b", "removed", None)]),
        (
            {"keywords": "milk", "live": True},
            TOP,
            [("a", "added", 1.0), ("b", "removed", None), ("c", "removed", None)],
        ),
        (TOP, {"keywords": "tea", "live": True}, [("b", "added", None)]),
        (TOP, {**TOP, "k": 2}, [("b", "added", 0.853553)]),
        (TOP, {**TOP, "keywords": ["milk"]}, [("a", "removed", 1.0), ("c", "added", 1.0)]),
        (TOP, RANK, [("b", "added", 1.0), ("c", "added", 0.5)]),
        (RANK, TOP, [("b", "removed", 1.0), ("c", "removed", 0.5)]),
        ({**RANK, "threshold": 0.9}, RANK, [("a", "added", 0.5), ("c", "added", 0.5)]),
        ({"keywords": "tea"}, {"keywords": "milk"}, []),
        (TOP, {"keywords": "tea"}, [("a", "removed", 1.0)]),
        ({"keywords": "tea"}, TOP, [("a", "added", 1.0)]),
    ],
)
def test_a_definition_of_another_mode_too_tells_the_net_difference(before, after, changes) -> None:
    hub = hub_of(a="tea", b="tea milk", c="milk")
    hub.subscribe("s", **before)
    found = hub.subscribe("s", **after, replace=True)
    rounded = [(c.message, c.change, c.score and round(c.score, 6)) for c in found]
    assert all(c.reason == "changed" for c in found)
    assert sorted(rounded) == changes
    assert hub.subscription("s").mode == after.get("mode", "match")
    hub.check_invariants()


def test_what_left_in_the_same_event_says_why_it_left() -> None:
    for definition in ({"keywords": "tea", "live": True}, TOP, {**RANK, "threshold": 0.1}):
        hub = nc.Hub(window=nc.Window(count=9))
        hub.publish("short", "tea", at=HERE, expires=5)
        hub.subscribe("s", **definition)
        assert told(hub.subscribe("s", **TOP, replace=True, time=5)) == [
            ("s", "short", "removed", "expired")
        ]


def test_a_definition_that_is_wrong_leaves_the_old_one() -> None:
    hub = hub_of(a="tea")
    hub.subscribe("s", keywords="tea", live=True, expires=60)
    for wrong, error in (
        ({"keywords": "(", "live": True}, nc.ExpressionError),
        ({"keywords": "milk", "expires": 0}, nc.InvalidSubscriptionError),
        ({**TOP, "k": 0}, nc.InvalidSubscriptionError),
    ):
        with pytest.raises(error):
            hub.subscribe("s", **wrong, replace=True)
    assert hub.subscription("s") == nc.Definition("s", "match", "tea", live=True, expires=60.0)
    assert hub.results("s") == [("a", None)]


def test_an_end_is_that_of_the_new_definition() -> None:
    hub = hub_of()
    hub.subscribe("s", keywords="tea", expires=5)
    hub.subscribe("s", keywords="tea", replace=True)
    hub.advance(6)
    assert "s" in hub
    hub.subscribe("s", keywords="tea", expires=9, replace=True)
    hub.advance(9)
    assert "s" not in hub
    # Before an event everything due has gone: this id is free then.
    hub.subscribe("t", keywords="tea", live=True, expires=12)
    hub.publish("a", "tea", at=HERE)
    assert told(hub.subscribe("t", keywords="tea", live=True, replace=True, time=12)) == [
        ("t", "a", "added", "subscribed")
    ]


def test_a_promise_ends_with_the_definition_it_was_made_to() -> None:
    hub = nc.Hub(window=nc.Window(count=9), safe_region=True)
    hub.publish("a", "tea", at=(2.5, 1))
    hub.subscribe("s", keywords="tea", area=[0, 0, 2, 2], live=True)
    assert [promise.subscription for promise in hub.take_promises()] == ["s"]
    hub.subscribe("s", keywords="tea", area=[0, 0, 1, 1], live=True, replace=True)
    assert hub.safe_distance("s") == pytest.approx(1.5)
    assert [promise.safe_distance for promise in hub.take_promises()] == [pytest.approx(1.5)]
    hub.subscribe("s", keywords="tea", area=[0, 0, 2, 2], live=True, replace=True)
    hub.subscribe("s", keywords="tea", area=[0, 0, 2, 2], replace=True)
    assert hub.safe_distance("s") is None
    assert hub.take_promises() == []
    hub.check_invariants()


# ---- messages -------------------------------------------------------------------------------


def watched() -> nc.Hub:
    hub = nc.Hub(window=nc.Window(count=3))
    hub.subscribe("plain", keywords="tea")
    hub.subscribe("live", keywords="tea", live=True)
    hub.subscribe("rank", **RANK)
    hub.subscribe("top", **TOP)
    return hub


def test_a_new_version_is_told_as_what_it_changes() -> None:
    hub = watched()
    hub.publish("a", "tea", at=HERE)
    assert told(hub.publish("a", "tea milk", at=HERE, replace=True)) == [
        ("live", "a", "updated", "changed"),
        ("rank", "a", "updated", "changed"),
        ("top", "a", "updated", "changed"),
    ]
    assert told(hub.publish("a", "milk", at=HERE, replace=True)) == [
        ("live", "a", "removed", "changed"),
        ("rank", "a", "updated", "changed"),
        ("top", "a", "removed", "changed"),
    ]
    assert told(hub.publish("a", "tea", at=AWAY, replace=True)) == [
        ("live", "a", "added", "changed"),
        ("plain", "a", "added", "changed"),
        ("rank", "a", "updated", "changed"),
        ("top", "a", "added", "changed"),
    ]
    hub.check_invariants()


def test_scores_are_those_of_the_version_that_is_told_of() -> None:
    hub = watched()
    hub.publish("a", "tea milk", at=HERE)
    changes = {c.subscription: c for c in hub.publish("a", "tea", at=HERE, replace=True)}
    assert (changes["rank"].score, changes["top"].score) == (0.5, 1.0)
    changes = {c.subscription: c for c in hub.publish("a", "water", at=HERE, replace=True)}
    assert (changes["rank"].score, changes["top"].score) == (0.5, 1.0)
    assert changes["live"].score is None


def test_lists_of_other_messages_change_as_ever() -> None:
    hub = watched()
    hub.publish("a", "tea", at=HERE)
    hub.publish("b", "tea", at=AWAY)
    of_top = [t for t in told(hub.publish("a", "water", at=HERE, replace=True)) if t[0] == "top"]
    assert of_top == [("top", "a", "removed", "changed"), ("top", "b", "added", "refilled")]
    of_top = [t for t in told(hub.publish("a", "tea", at=HERE, replace=True)) if t[0] == "top"]
    assert of_top == [("top", "a", "added", "changed"), ("top", "b", "removed", "displaced")]


def test_a_new_version_is_the_newest_and_pushes_nothing_out() -> None:
    hub = hub_of(3, a="tea", b="tea", c="tea")
    hub.subscribe("top", **{**TOP, "k": 2})
    assert [id_ for id_, _ in hub.results("top")] == ["c", "b"]
    hub.publish("a", "tea", at=HERE, replace=True)
    assert hub.stats()["live_messages"] == 3
    assert [id_ for id_, _ in hub.results("top")] == ["a", "c"]
    assert ("top", "b", "removed", "expired") not in told(hub.publish("d", "tea", at=AWAY))
    assert not hub._core.is_live("b")  # the oldest then


def test_a_version_that_is_not_kept_takes_the_old_one_back() -> None:
    hub = watched()
    hub.publish("a", "tea", at=HERE)
    assert told(hub.publish("a", "tea", at=HERE, expires=0, replace=True)) == [
        ("live", "a", "added", "published"),
        ("live", "a", "removed", "retracted"),
        ("plain", "a", "added", "published"),
        ("rank", "a", "added", "published"),
        ("rank", "a", "removed", "retracted"),
        ("top", "a", "removed", "retracted"),
    ]
    assert hub.stats()["live_messages"] == 0


def test_what_is_not_live_is_published_plainly() -> None:
    hub = watched()
    assert ("live", "a", "added", "published") in told(
        hub.publish("a", "tea", at=HERE, expires=5, replace=True)
    )
    assert told(hub.publish("a", "tea", at=HERE, replace=True, time=5)) == [
        ("live", "a", "added", "published"),
        ("live", "a", "removed", "expired"),
        ("plain", "a", "added", "published"),
        ("rank", "a", "added", "published"),
        ("rank", "a", "removed", "expired"),
        ("top", "a", "added", "published"),
        ("top", "a", "removed", "expired"),
    ]


def test_without_replace_an_id_in_use_is_refused_with_a_hint() -> None:
    hub = hub_of(a="tea")
    hub.subscribe("s", keywords="tea")
    with pytest.raises(nc.DuplicateIdError, match="hint: replace it, or retract the old one first"):
        hub.publish("a", "tea", at=HERE)
    with pytest.raises(nc.DuplicateIdError, match="hint: replace it, or unsubscribe the old one"):
        hub.subscribe("s", keywords="tea")


def test_replacing_leaves_nothing_behind() -> None:
    hub = watched()
    sizes = []
    for i in range(400):
        hub.publish("a", f"tea word{i}", at=HERE, replace=True)
        hub.subscribe("s", keywords=f"word{i} OR other{i}", live=i % 2 == 0, replace=True)
        hub.subscribe("t", **{**TOP, "keywords": [f"word{i}"]}, replace=True)
        sizes.append((hub.stats()["vocabulary"], hub.stats()["subscriptions"]))
    assert len(set(sizes[10:])) == 1
    hub.check_invariants()


# ---- time -----------------------------------------------------------------------------------


def test_advance_moves_the_clock_and_lets_go_what_is_due() -> None:
    hub = nc.Hub(window=nc.Window(seconds=10))
    hub.subscribe("live", keywords="tea", live=True)
    hub.publish("a", "tea", at=HERE, time=0)
    assert hub.advance(9) == []
    assert told(hub.advance("1970-01-01T00:00:10Z")) == [("live", "a", "removed", "expired")]
    assert hub.advance(3) == []  # is past
    assert hub.clock == 10
    with pytest.raises(nc.InvalidEventError, match="advance: time is missing"):
        hub.advance()


def test_an_event_without_time_happens_when_the_wall_clock_says() -> None:
    times = iter([100.0, 105.0, 103.0, 111.0, 120.0])
    hub = nc.Hub(window=nc.Window(seconds=10), clock=lambda: next(times))
    hub.subscribe("live", keywords="tea", live=True)  # at 100
    hub.publish("a", "tea", at=HERE)  # at 105
    hub.publish("b", "tea", at=HERE)  # a clock that was set back: late, and for 10 seconds from 103
    assert hub.clock == 105
    hub.publish("c", "tea", at=HERE, time=110)  # has a time of its own
    assert hub.clock == 110
    assert hub.advance() == []  # at 111
    changes = hub.apply([{"op": "retract", "id": "x"}])  # at 120
    assert sorted(changes["message"].to_pylist()) == ["a", "b", "c"]
    assert hub.clock == 120
    assert hub.results("live") == []


def test_the_wall_clock_is_that_of_the_machine(tmp_path) -> None:
    hub = nc.Hub(clock="wall")
    hub.publish("a", "tea", at=HERE)
    assert 1.7e9 < hub.clock < 1e11
    hub.save(tmp_path / "hub")
    assert nc.Hub.open(tmp_path / "hub", clock="wall").advance() == []
    assert nc.Hub.open(tmp_path / "hub").clock == hub.clock


@pytest.mark.parametrize("clock", ["sun", None, 5, b"wall"])
def test_what_is_no_clock_is_refused(clock) -> None:
    with pytest.raises(nc.InvalidParameterError, match="clock is not a clock"):
        nc.Hub(clock=clock)


@pytest.mark.parametrize("now", [None, "noon", 1e12, float("nan")])
def test_a_clock_that_tells_no_time_rejects_the_event(now) -> None:
    hub = nc.Hub(clock=lambda: now)
    with pytest.raises(nc.InvalidEventError, match="clock"):
        hub.subscribe("s", keywords="tea")
    assert len(hub) == 0

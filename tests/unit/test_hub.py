"""`Hub`: the life of messages and subscriptions, one event at a time."""

from __future__ import annotations

from typing import Any

import pytest
from hub_events import BOX, HERE, live, reached

import nearcast as nc

# ---- one event ------------------------------------------------------------------------------


def test_a_message_reaches_whom_it_matches_as_added_and_published(hub) -> None:
    hub.subscribe("elsewhere", keywords="tea", area=[5, 5, 6, 6])
    hub.subscribe("anywhere", keywords="tea OR coffee")
    hub.subscribe("never", keywords="tea -tea")
    changes = hub.publish("m", "Free TEA", at=HERE)
    assert sorted(changes, key=lambda change: change.subscription) == [
        nc.Change(1, "anywhere", "m", "added", "published"),
        nc.Change(1, "s", "m", "added", "published"),
    ]


def test_a_subscription_with_several_clauses_gets_a_message_once(hub) -> None:
    hub.subscribe("either", keywords="tea OR free OR (tea free)")
    assert reached(hub.publish("m", "free tea", at=(9, 9))) == ["either"]


def test_only_publishing_delivers(hub) -> None:
    assert hub.subscribe("t", keywords="tea") == []
    assert hub.move("t", area=BOX) == []
    assert hub.unsubscribe("t") == []
    assert hub.retract("m") == []


def test_a_message_may_be_a_box(hub) -> None:
    assert reached(hub.publish("m", "tea", bbox=[2, 2, 3, 3])) == ["s"]
    assert reached(hub.publish("m", "tea", bbox=nc.Bbox(3, 3, 4, 4))) == []


def test_areas_may_be_values() -> None:
    hub = nc.Hub()
    hub.subscribe("s1", keywords="coffee AND (free OR sale)", area=nc.Circle((-73.98, 40.75), 800))
    assert reached(hub.publish("m1", "Free coffee!", at=(-73.9836, 40.7536))) == ["s1"]
    assert reached(hub.publish("m1", "Free coffee!", at=(-73.96, 40.7536))) == []


def test_fields_that_are_none_are_not_there(hub) -> None:
    hub.subscribe("t", keywords="x", area=None, expires=None)
    assert reached(hub.publish("m", "x", at=HERE, bbox=None, time=None)) == ["t"]


def test_an_unknown_field_is_an_error_that_names_it(hub) -> None:
    with pytest.raises(nc.InvalidEventError, match="unknown field 'keyword'") as caught:
        hub.apply([{"op": "subscribe", "id": "t", "keyword": "x"}])
    assert caught.value.field == "keyword"
    with pytest.raises(TypeError, match="keyword"):
        hub.subscribe("t", keyword="x")


def test_length_and_membership_are_those_of_subscriptions(hub) -> None:
    hub.publish("m", "tea", at=HERE, expires=9)
    assert len(hub) == 1
    assert "s" in hub
    assert not [id_ for id_ in ("m", "x", "", 5, None, "\ud800") if id_ in hub]


def test_a_window_is_a_window() -> None:
    wrong: Any = 5
    with pytest.raises(nc.InvalidParameterError, match="window is not a window: got 5"):
        nc.Hub(window=wrong)


@pytest.mark.parametrize("kind", [kind.name for kind in nc.indexes() if not kind.stands_for])
def test_every_index_kind_serves_a_hub(kind) -> None:
    hub = nc.Hub(index=kind, window=nc.Window(count=2))
    hub.subscribe("s", keywords="tea", area=BOX)
    hub.move("s", area=[5, 5, 6, 6])
    assert hub.publish("m1", "tea", at=HERE) == []
    assert reached(hub.publish("m2", "tea", at=(5, 5))) == ["s"]


# ---- the clock ------------------------------------------------------------------------------


def test_the_clock_starts_at_zero_and_is_the_largest_time_seen(hub) -> None:
    assert hub.clock == 0
    hub.publish("m", "x", at=HERE, time=-5)
    assert hub.clock == 0
    hub.retract("m", time=7.5)
    assert hub.clock == 7.5
    hub.publish("m", "x", at=HERE, time=3)
    assert hub.clock == 7.5
    hub.subscribe("t", keywords="x", time="1970-01-01T00:00:10Z")
    assert hub.clock == 10
    hub.move("t", area=BOX, time=11)
    hub.unsubscribe("t", time=12)
    assert hub.clock == 12


def test_an_event_without_time_happens_at_the_clock(hub) -> None:
    hub.retract("none", time=100)
    hub.publish("m", "tea", at=HERE, expires=100)
    assert live(hub) == 0
    hub.publish("m", "tea", at=HERE, expires=101)
    assert live(hub) == 1


def test_a_late_message_is_delivered(hub) -> None:
    hub.retract("none", time=100)
    assert reached(hub.publish("m", "tea", at=HERE, time=1)) == ["s"]


def test_a_subscription_that_is_late_subscribes_at_the_clock(hub) -> None:
    hub.retract("none", time=100)
    with pytest.raises(
        nc.InvalidSubscriptionError, match="a time after the clock, which is at 100"
    ):
        hub.subscribe("t", keywords="x", time=1, expires=50)
    hub.subscribe("t", keywords="x", time=1, expires=100.5)
    assert "t" in hub


# ---- the life of messages -------------------------------------------------------------------


def test_without_window_and_expiry_a_message_is_delivered_and_its_id_free_again(hub) -> None:
    for _ in range(3):
        assert reached(hub.publish("m", "tea", at=HERE)) == ["s"]
    assert live(hub) == 0


def test_a_message_that_has_expired_already_is_delivered_and_not_kept(hub) -> None:
    hub.retract("none", time=10)
    for expires in (10, 9, -1):
        assert reached(hub.publish("m", "tea", at=HERE, expires=expires)) == ["s"]
    assert live(hub) == 0


def test_the_id_of_a_live_message_is_in_use_until_it_expires(hub) -> None:
    hub.publish("m", "tea", at=HERE, expires=10)
    with pytest.raises(nc.DuplicateIdError, match="message 'm': got the id of a live message"):
        hub.publish("m", "tea", at=HERE, time=9.999)
    assert reached(hub.publish("m", "tea", at=HERE, time=10, expires=20)) == ["s"]
    assert live(hub) == 1


def test_a_message_lives_its_seconds_from_its_own_time() -> None:
    hub = nc.Hub(window=nc.Window(seconds=10))
    hub.publish("m1", "x", at=HERE, time=100)
    hub.publish("late", "x", at=HERE, time=95)
    hub.publish("too late", "x", at=HERE, time=90)
    assert live(hub) == 2
    hub.retract("none", time=105)
    assert live(hub) == 1
    with pytest.raises(nc.DuplicateIdError):
        hub.publish("m1", "x", at=HERE, time=109.9)
    hub.publish("m1", "x", at=HERE, time=110)
    assert live(hub) == 1


def test_of_window_and_own_expiry_the_first_ends_a_message() -> None:
    hub = nc.Hub(window=nc.Window(seconds=10))
    hub.publish("own", "x", at=HERE, expires=5)
    hub.publish("window", "x", at=HERE, expires=50)
    hub.retract("none", time=5)
    assert live(hub) == 1
    hub.retract("none", time=10)
    assert live(hub) == 0


def test_the_oldest_message_leaves_a_full_window() -> None:
    hub = nc.Hub(window=nc.Window(count=2))
    for id_ in ("m1", "m2", "m3"):
        hub.publish(id_, "x", at=HERE)
    assert live(hub) == 2
    hub.publish("m1", "x", at=HERE)  # has left, its id is free; now m2 leaves
    hub.publish("m2", "x", at=HERE)
    with pytest.raises(nc.DuplicateIdError, match="'m1'"):
        hub.publish("m1", "x", at=HERE)


def test_a_message_with_an_expiry_leaves_a_full_window_too() -> None:
    hub = nc.Hub(window=nc.Window(count=1))
    hub.publish("m1", "x", at=HERE, expires=1000)
    hub.publish("m2", "x", at=HERE)
    hub.publish("m1", "x", at=HERE, expires=5)
    assert live(hub) == 1
    hub.retract("none", time=5)
    assert live(hub) == 0


def test_retracting_frees_the_id_and_is_harmless_twice() -> None:
    hub = nc.Hub(window=nc.Window(count=5))
    hub.publish("m", "x", at=HERE)
    for _ in range(2):
        assert hub.retract("m") == []
        assert live(hub) == 0
    hub.publish("m", "x", at=HERE)
    assert live(hub) == 1


def test_messages_and_subscriptions_have_separate_ids() -> None:
    hub = nc.Hub(window=nc.Window(count=5))
    hub.publish("x", "tea", at=HERE)
    hub.subscribe("x", keywords="tea")
    assert reached(hub.publish("y", "tea", at=HERE)) == ["x"]
    hub.retract("x")
    assert "x" in hub
    hub.unsubscribe("x")
    hub.subscribe("y", keywords="tea")


# ---- the life of subscriptions --------------------------------------------------------------


def test_a_subscription_expires_before_the_event_at_that_time(hub) -> None:
    hub.subscribe("t", keywords="tea", expires=10)
    assert reached(hub.publish("m", "tea", at=HERE, time=9.9)) == ["s", "t"]
    assert reached(hub.publish("m", "tea", at=HERE, time=10)) == ["s"]
    assert "t" not in hub
    hub.subscribe("t", keywords="tea", expires=20)
    assert reached(hub.publish("m", "tea", at=HERE, time=19)) == ["s", "t"]


def test_an_id_that_expires_now_can_be_used_by_the_event_that_ends_it(hub) -> None:
    hub.subscribe("t", keywords="tea", expires=10)
    hub.subscribe("t", keywords="coffee", time=10)
    assert reached(hub.publish("m", "tea coffee", at=(9, 9))) == ["t"]
    hub.retract("none", time=1000)
    assert "t" in hub  # the old expiry is not the new one's


def test_what_has_expired_can_be_neither_moved_nor_unsubscribed(hub) -> None:
    hub.subscribe("t", keywords="tea", expires=10)
    for op in (lambda: hub.move("t", area=BOX, time=10), lambda: hub.unsubscribe("t", time=11)):
        with pytest.raises(nc.UnknownIdError):
            op()
        assert hub.clock == 0
        assert "t" in hub


def test_unsubscribing_takes_the_expiry_along(hub) -> None:
    hub.subscribe("t", keywords="tea", expires=10)
    hub.unsubscribe("t")
    hub.subscribe("t", keywords="tea")
    hub.retract("none", time=10)
    assert "t" in hub


def test_moving_keeps_keywords_and_expiry(hub) -> None:
    hub.subscribe("t", keywords="tea OR (coffee -decaf)", area=BOX, expires=10)
    hub.move("t", area={"type": "Circle", "center": [50, 50], "radius_m": 1000})
    assert reached(hub.publish("m", "coffee", at=HERE)) == []
    assert reached(hub.publish("m", "coffee", at=(50, 50))) == ["t"]
    assert reached(hub.publish("m", "decaf coffee", at=(50, 50))) == []
    hub.retract("none", time=10)
    assert "t" not in hub


def test_a_subscription_without_an_area_can_get_one(hub) -> None:
    hub.subscribe("t", keywords="tea")
    hub.move("t", area=[5, 5, 6, 6])
    assert reached(hub.publish("m", "tea", at=HERE)) == ["s"]

"""The oracle, pinned by examples worked out by hand: replacing, advance, times (1.4)."""

from __future__ import annotations

import pytest
from oracle_events import Hub, advance, move, publish, rank, retract, subscribe, top, unsubscribe


def replacing(event: dict[str, object]) -> dict[str, object]:
    return {**event, "replace": True}


def filled(**options: object) -> Hub:
    """Return a hub with three live messages at increasing distances."""
    hub = Hub(**({"window_count": 9} | options))
    hub(publish("m1", "a", at=[1, 0]))
    hub(publish("m2", "a b", at=[2, 0]))
    hub(publish("m3", "b", at=[3, 0]))
    return hub


def test_replacing_a_free_id_is_a_plain_subscription() -> None:
    hub = filled()
    assert hub(replacing(subscribe("s", keywords="a", live=True))) == {
        "s +m1 subscribed",
        "s +m2 subscribed",
    }
    hub(subscribe("x", keywords="a", expires=5))
    assert hub.rejects(subscribe("x", keywords="a", replace=False))
    assert hub(replacing(subscribe("x", keywords="b", live=True, time=5))) == {
        "x +m2 subscribed",
        "x +m3 subscribed",
    }


def test_a_live_subscription_changes_by_the_net_difference() -> None:
    hub = filled()
    hub(subscribe("s", keywords="a", live=True))
    assert hub(replacing(subscribe("s", keywords="b", live=True))) == {
        "s -m1 changed",
        "s +m3 changed",
    }
    assert hub(replacing(subscribe("s", keywords="b"))) == {"s -m2 changed", "s -m3 changed"}
    assert hub(replacing(subscribe("s", keywords="a"))) == set()
    assert hub(replacing(subscribe("s", keywords="a", live=True))) == {
        "s +m1 changed",
        "s +m2 changed",
    }
    assert hub(publish("m4", "b")) == set()


def test_a_subscription_may_change_its_mode() -> None:
    hub = filled()
    hub(subscribe("s", keywords="a", live=True))
    assert hub(replacing(top("s", keywords=["b"], k=1))) == {"s -m1 changed"}  # m2 is kept
    assert hub(replacing(rank("s", area=[0, -1, 2, 1], keywords=["b"], live=True))) == {
        "s +m1 changed",  # by its place
        "s +m3 changed",  # by its text
    }
    assert hub(replacing(rank("s", area=[3, 0, 3, 0], alpha=1, threshold=1, live=True))) == {
        "s -m1 changed",
        "s -m2 changed",
    }
    assert hub(move("s", area=[1, 0, 1, 0])) == {"s -m3 moved", "s +m1 moved"}


def test_scores_are_those_with_which_a_message_was_and_is_held() -> None:
    hub = filled()
    hub(top("s", keywords=["b"], k=1, alpha=0))
    changes = hub.oracle.apply(9, replacing(top("s", keywords=["a"], k=1, alpha=0)))
    assert [(c["message"], c["change"], c["score"]) for c in changes] == [
        ("m3", "removed", 1.0),
        ("m1", "added", 1.0),
    ]
    (gone,) = hub.oracle.apply(10, replacing(subscribe("s", keywords="a b", live=True)))[:1]
    assert (gone["message"], gone["score"]) == ("m1", 1.0)


def test_a_message_that_leaves_in_the_same_event_has_its_own_reason() -> None:
    for first in (subscribe("s", keywords="a", live=True), top("s", k=2)):
        hub = Hub()
        hub(publish("m1", "a", expires=5))
        hub(publish("m2", "a", expires=9))
        hub(publish("m3", "b", expires=9))
        hub(first)
        later = subscribe("s", keywords="b", live=True, time=5, replace=True)
        assert hub(later) == {"s -m1 expired", "s -m2 changed", "s +m3 changed"}


def test_nothing_of_the_old_definition_stays() -> None:
    hub = filled()
    hub(subscribe("s", keywords="a", expires=5, where="x = 1", **{"except": [0, 0, 1, 1]}))
    hub(replacing(subscribe("s", keywords="a")))
    assert hub(advance(7)) == set()
    assert hub(publish("m", "a", at=[1, 1])) == {"s +m published"}


def test_a_wrong_definition_leaves_the_old_one() -> None:
    hub = filled()
    hub(subscribe("s", keywords="a", live=True))
    assert hub.rejects(replacing(subscribe("s", keywords="(a")))
    assert hub.rejects(replacing(subscribe("s", keywords="a", expires=0)))
    assert hub.rejects(subscribe("s", keywords="b", replace="yes"))
    assert hub(publish("m4", "a")) == {"s +m4 published"}


def test_a_replaced_message_is_added_removed_or_updated() -> None:
    hub = filled()
    hub(subscribe("a", keywords="a", live=True))
    hub(subscribe("b", keywords="b", live=True))
    hub(subscribe("c", keywords="c", live=True))
    hub(subscribe("once", keywords="a"))
    hub(subscribe("new", keywords="c"))
    assert hub(replacing(publish("m1", "a c"))) == {
        "a =m1 changed",
        "c +m1 changed",
        "new +m1 changed",
    }
    assert hub(replacing(publish("m1", "c b"))) == {
        "a -m1 changed",
        "b +m1 changed",
        "c =m1 changed",
    }
    assert hub(replacing(publish("m1", "a"))) == {
        "a +m1 changed",
        "b -m1 changed",
        "c -m1 changed",
        "once +m1 changed",  # news again: the version before did not match
    }


def test_a_price_that_falls_is_news_once() -> None:
    hub = Hub(window_count=5)
    hub(subscribe("s", keywords="flat", where="price <= 1200"))
    assert hub(publish("m", "flat", attributes={"price": 1300})) == set()
    fallen = replacing(publish("m", "flat", attributes={"price": 1150}))
    assert hub(fallen) == {"s +m changed"}
    assert hub(replacing(publish("m", "flat", attributes={"price": 1100}))) == set()
    assert hub(replacing(publish("m", "flat"))) == set()
    assert hub(fallen) == {"s +m changed"}


def test_both_versions_are_judged_by_what_the_subscription_is_now() -> None:
    hub = Hub(window_count=5)
    hub(publish("m", "a"))
    hub(subscribe("s", keywords="a"))  # too late for the first version
    assert hub(replacing(publish("m", "a"))) == set()
    assert hub(replacing(publish("m", "b"))) == set()
    hub(replacing(subscribe("s", keywords="b")))
    assert hub(replacing(publish("m", "b c"))) == set()


def test_a_replaced_message_is_the_newest() -> None:
    hub = filled(window_count=3)
    assert hub(replacing(publish("m1", "a"))) == set()
    assert hub.oracle.live_messages() == ["m2", "m3", "m1"]
    hub(publish("m4", "a"))
    assert hub.oracle.live_messages() == ["m3", "m1", "m4"]
    hub(top(k=1, alpha=0))
    assert [name for name, _ in hub.oracle.top("t")] == ["m4"]
    assert hub(replacing(publish("m1", "a"))) == {"t +m1 changed", "t -m4 displaced"}


def test_top_lists_follow_a_replaced_message() -> None:
    hub = filled()
    hub(top(k=1))
    assert hub(replacing(publish("m1", "a", at=[1.5, 0]))) == {"t =m1 changed"}
    assert hub(replacing(publish("m1", "a", at=[5, 0]))) == {"t -m1 changed", "t +m2 refilled"}
    assert hub(replacing(publish("m1", "a", at=[0, 0]))) == {"t +m1 changed", "t -m2 displaced"}
    assert hub(replacing(publish("m1", "b", at=[0, 0]))) == {"t -m1 changed", "t +m2 refilled"}
    assert hub(replacing(publish("m1", "b", at=[0, 1]))) == set()


def test_a_new_version_that_is_not_kept_retracts_the_old_one() -> None:
    hub = filled()
    hub(subscribe("s", keywords="a"))
    hub(subscribe("live", keywords="a", live=True))
    hub(top(k=1))
    assert hub(replacing(publish("m1", "a", expires=0))) == {
        "live -m1 retracted",
        "live +m1 published",
        "s +m1 published",
        "t -m1 retracted",
        "t +m2 refilled",
    }
    assert hub.oracle.live_messages() == ["m2", "m3"]


def test_replacing_what_is_not_live_publishes_it() -> None:
    hub = Hub()
    hub(subscribe("live", keywords="a", live=True))
    assert hub(replacing(publish("m", "a", expires=5))) == {"live +m published"}
    assert hub.rejects(publish("m", "a", expires=9, replace=False))
    assert hub(replacing(publish("m", "a", time=5, expires=9))) == {
        "live -m expired",
        "live +m published",
    }
    assert hub(retract("m")) == {"live -m retracted"}


def test_the_life_of_a_replaced_message_is_that_of_the_new_version() -> None:
    hub = Hub(window_seconds=10)
    hub(subscribe("live", keywords="a", live=True))
    hub(publish("m", "a", time=0, expires=4))
    assert hub(replacing(publish("m", "a", time=3))) == {"live =m changed"}
    assert hub(advance(12.9)) == set()
    assert hub(advance(13)) == {"live -m expired"}


def test_advance_only_moves_the_clock() -> None:
    hub = Hub(window_seconds=10)
    hub(subscribe("live", keywords="a", live=True))
    hub(publish("m", "a", time=1))
    assert hub(advance(5)) == set()
    assert hub(advance(3)) == set()
    assert hub.oracle.clock == 5
    assert hub(advance("1970-01-01T00:00:11Z")) == {"live -m expired"}
    assert hub.rejects({"op": "advance"})
    assert hub.rejects({"op": "advance", "time": None})
    assert hub.rejects({**advance(20), "id": "m"})


@pytest.mark.parametrize("time", [1e11, 10**11, 1.7e12, 1e300, "5138-11-16T09:46:40Z"])
def test_a_time_in_milliseconds_is_an_error(time: object) -> None:
    hub = Hub()
    assert hub.rejects(advance(time))
    assert hub.rejects(publish("m", time=time))
    assert hub.rejects(publish("m", expires=time))
    assert hub.rejects(subscribe("s", keywords="a", expires=time))
    assert hub.rejects({**unsubscribe("s"), "time": time})
    hub(advance(99_999_999_999.9))
    assert hub.oracle.clock == 99_999_999_999.9
    hub(advance(-1e300))

"""The oracle, pinned by examples worked out by hand: life of messages and subscriptions (1.4)."""

from __future__ import annotations

from typing import Any

import pytest
from oracle import (
    Oracle,
)
from oracle_events import (
    Hub,
    move,
    publish,
    rank,
    retract,
    short,
    subscribe,
    top,
    unsubscribe,
)


def test_without_window_and_expires_a_message_is_delivered_but_not_kept() -> None:
    hub = Hub()
    hub(subscribe("s", keywords="a"))
    hub(subscribe("live", keywords="a", live=True))
    hub(top())
    assert hub(publish("m")) == {"s +m published", "live +m published"}
    assert hub(retract("m")) == set()
    assert hub(publish("m")) == {"s +m published", "live +m published"}  # the id is free again
    assert hub.oracle.live_messages() == []


def test_with_expires_it_is_kept_until_then() -> None:
    hub = Hub()
    hub(subscribe("s", keywords="a"))
    hub(subscribe("live", keywords="a", live=True))
    hub(top())
    assert hub(publish("m", time=1, expires=5)) == {
        "s +m published",
        "live +m published",
        "t +m published",
    }
    assert hub(retract("nothing", time=4.9)) == set()
    assert hub(retract("nothing", time=5)) == {"live -m expired", "t -m expired"}


def test_a_message_that_has_expired_already_is_not_kept() -> None:
    hub = Hub(window_count=5)
    hub(subscribe("live", keywords="a", live=True))
    hub(top())
    assert hub(publish("m", time=5, expires=5)) == {"live +m published"}
    assert hub(publish("m", expires=4)) == {"live +m published"}
    assert hub(publish("m", time=2, expires=3)) == {"live +m published"}  # judged by the clock
    assert hub.oracle.live_messages() == []


def test_a_message_that_is_not_kept_pushes_nothing_out_of_the_window() -> None:
    hub = Hub(window_count=1)
    hub(publish("m1"))
    hub(publish("m2", expires=0))
    assert hub.oracle.live_messages() == ["m1"]


def test_a_count_window_lets_the_oldest_published_go_first() -> None:
    hub = Hub(window_count=2)
    hub(subscribe("live", keywords="a", live=True))
    hub(publish("m1", time=9))
    hub(publish("m2", time=3))
    assert hub(publish("m3")) == {"live +m3 published", "live -m1 expired"}
    hub(retract("m3"))
    assert hub(publish("m4")) == {"live +m4 published"}
    assert hub(publish("m5")) == {"live +m5 published", "live -m2 expired"}


def test_a_seconds_window_counts_from_the_message_s_own_time() -> None:
    hub = Hub(window_seconds=10)
    hub(subscribe("live", keywords="a", live=True))
    hub(publish("m1", time=20))
    hub(publish("late", time=12))
    hub(publish("undated"))
    hub(publish("brief", expires=21))
    hub(publish("long", expires=99))
    hub(publish("too-late", time=10))
    assert hub.oracle.live_messages() == ["m1", "late", "undated", "brief", "long"]
    assert hub(retract("x", time=21)) == {"live -brief expired"}
    assert hub(retract("x", time=22)) == {"live -late expired"}
    assert hub(retract("x", time=30)) == {
        "live -m1 expired",
        "live -undated expired",
        "live -long expired",
    }


def test_ids_in_use_cannot_be_used_again() -> None:
    hub = Hub(window_count=5)
    hub(publish("x"))
    assert not hub.rejects(subscribe("x", keywords="a"))  # separate ids
    assert hub.rejects(subscribe("x", keywords="b"))
    assert hub.rejects(publish("x"))
    assert hub.rejects(publish("x", expires=0))
    assert hub(retract("x")) == set()
    assert not hub.rejects(publish("x"))


def test_an_id_freed_by_an_expiry_is_free_for_the_event_that_causes_it() -> None:
    hub = Hub()
    hub(subscribe("live", keywords="a", live=True))
    hub(subscribe("brief", keywords="a", live=True, expires=5))
    hub(top())
    hub(publish("m", expires=5))
    assert hub.rejects(publish("m", time=4))
    assert hub.rejects(subscribe("brief", keywords="a", time=4))
    assert hub(publish("m", time=5, expires=9)) == {
        "live -m expired",
        "live +m published",
        "brief -m expired",
        "t -m expired",
        "t +m published",
    }
    assert hub(subscribe("brief", keywords="a", live=True)) == {"brief +m subscribed"}


def test_retracting_what_is_not_live_only_moves_the_clock() -> None:
    hub = Hub()
    hub(publish("m", expires=5))
    assert hub(retract("unknown", time=3)) == set()
    assert hub.oracle.clock == 3
    assert hub.oracle.live_messages() == ["m"]


def test_live_sets_gain_and_lose() -> None:
    hub = Hub(window_count=9)
    hub(publish("here"))
    hub(publish("there", at=[5, 5]))
    hub(publish("other", "b"))
    around = {"keywords": "a", "area": [-1, -1, 1, 1]}
    assert hub(subscribe("live", live=True, **around)) == {"live +here subscribed"}
    assert hub(subscribe("once", **around)) == set()
    elsewhere = [4, 4, 6, 6]
    assert hub(move("once", area=elsewhere)) == set()
    assert hub(move("live", area=elsewhere)) == {"live -here moved", "live +there moved"}
    assert hub(move("live", area=[-9, -9, 9, 9])) == {"live +here moved"}
    assert hub(publish("more", at=[5, 5])) == {"once +more published", "live +more published"}
    assert hub(retract("there")) == {"live -there retracted"}
    assert hub(unsubscribe("live")) == set()
    assert hub(publish("last", at=[0, 0])) == set()


def test_a_live_rank_set_follows_the_score() -> None:
    hub = Hub(window_count=9)
    hub(publish("m", "a b", bbox=[0, 0, 1, 2]))
    oracle = hub.oracle
    [gained] = oracle.apply(2, rank(keywords=["a", "c"], alpha=0.5, threshold=0.5, live=True))
    assert gained["reason"] == "subscribed"
    assert gained["score"] == pytest.approx(0.5)
    [lost] = oracle.apply(3, move("r", area=[0, 0, 4, 2]))
    assert (lost["change"], lost["reason"]) == ("removed", "moved")
    assert lost["score"] == pytest.approx(0.5)  # the score with which it was held
    [back] = oracle.apply(4, move("r", area=[0, 0, 1, 1]))
    assert back["score"] == pytest.approx(0.75)
    [gone] = oracle.apply(5, retract("m"))
    assert (gone["reason"], gone["score"]) == ("retracted", pytest.approx(0.75))


def test_a_top_list_displaces_and_refills() -> None:
    hub = Hub(window_count=9)
    hub(top(k=2))
    assert hub(publish("m3", at=[3, 0])) == {"t +m3 published"}
    assert hub(publish("m2", at=[2, 0])) == {"t +m2 published"}
    assert hub(publish("m4", at=[4, 0])) == set()
    assert hub(publish("m1", at=[1, 0])) == {"t +m1 published", "t -m3 displaced"}
    assert hub(retract("m2")) == {"t -m2 retracted", "t +m3 refilled"}
    assert hub(move("t", at=[9, 0])) == {"t -m1 moved", "t +m4 moved"}
    assert hub(retract("m1")) == set()
    assert hub(unsubscribe("t")) == set()


def test_a_newer_message_displaces_its_equal() -> None:
    hub = Hub(window_count=9)
    hub(top(k=1))
    hub(publish("m1"))
    assert hub(publish("m2")) == {"t +m2 published", "t -m1 displaced"}


def test_a_top_list_changes_once_per_event() -> None:
    hub = Hub(window_count=9)
    hub(publish("m1", at=[1, 0], expires=5))
    hub(publish("m2", at=[2, 0], expires=6))
    hub(publish("m3", at=[3, 0]))
    hub(publish("m4", at=[4, 0]))
    assert hub(top(k=1)) == {"t +m1 subscribed"}
    # m2 would have refilled the list between the two expiries, m3 before the arrival of m5.
    assert hub(publish("m5", at=[0, 0], time=7)) == {"t -m1 expired", "t +m5 published"}
    assert hub(retract("m5")) == {"t -m5 retracted", "t +m3 refilled"}


def test_falling_out_of_the_window_refills_a_top_list() -> None:
    hub = Hub(window_count=2)
    hub(publish("m1", at=[1, 0]))
    hub(publish("m2", at=[2, 0]))
    hub(top(k=1))
    assert hub(publish("m3", at=[3, 0])) == {"t -m1 expired", "t +m2 refilled"}


def test_a_top_subscription_that_is_gone_after_the_event_hears_nothing() -> None:
    hub = Hub()
    hub(publish("m", expires=5))
    hub(top())
    hub(top("brief", expires=6))
    assert hub(unsubscribe("t", time=7)) == set()


def test_subscriptions_expire() -> None:
    hub = Hub(window_count=9)
    hub(subscribe("s", keywords="a", expires=5))
    assert hub(publish("m1", time=4.5)) == {"s +m1 published"}
    assert hub(publish("m2", time=5)) == set()
    assert hub.rejects(unsubscribe("s"))


def test_things_expire_in_order_and_messages_before_subscriptions_at_the_same_moment() -> None:
    hub = Hub()
    for name, expires in [("s3", 3), ("s4", 4), ("s5", 5)]:
        hub(subscribe(name, keywords="a", live=True, expires=expires))
    hub(publish("m", expires=4))
    assert hub(retract("x", time=9)) == {"s4 -m expired", "s5 -m expired"}


def test_an_expiry_is_told_before_the_unsubscribe_that_causes_it() -> None:
    hub = Hub()
    hub(subscribe("s", keywords="a", live=True))
    hub(publish("m", expires=4))
    assert hub(unsubscribe("s", time=4)) == {"s -m expired"}


def test_the_clock_starts_at_zero_and_never_goes_back() -> None:
    hub = Hub()
    assert hub.oracle.clock == 0
    hub(publish("m1", time=-5))
    assert hub.oracle.clock == 0
    hub(publish("m1", time=7))
    hub(publish("m1", time=3))
    hub(publish("m1"))
    assert hub.oracle.clock == 7
    assert hub.rejects(subscribe("s", keywords="a", time=6, expires=7))
    assert not hub.rejects(subscribe("s", keywords="a", time=6, expires=7.5))


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("1970-01-01T00:00:12.5Z", 12.5),
        ("1970-01-01t05:30:01+05:30", 1),
        ("1969-12-31T23:00:00-01:00", 0),
        ("2024-02-29T00:00:00z", 1709164800),
        (12, 12),
    ],
)
def test_times_are_numbers_or_rfc_3339(written: object, seconds: float) -> None:
    hub = Hub()
    hub(publish("m", time=written))
    assert hub.oracle.clock == seconds


def test_a_new_epoch_weighs_everything_at_once() -> None:
    hub = Hub(window_count=9)
    hub(publish("common", "a"))
    hub(publish("rare", "b"))
    hub(top(keywords=["a", "b"], alpha=0))
    hub(rank(keywords=["a", "b"], area=[0, 0, 1, 1], alpha=0, threshold=0.5, live=True))
    assert short(hub.oracle.reweigh(5, {"documents": 9, "df": {"b": 9}})) == {
        "t -rare displaced",
        "t +common refilled",
        "r -rare moved",
    }
    assert short(hub.oracle.reweigh(6, None)) == {
        "t -common displaced",
        "t +rare refilled",
        "r +rare moved",
    }


@pytest.mark.parametrize(
    "options",
    [
        {"window_count": 0},
        {"window_seconds": 0},
        {"window_count": 1, "window_seconds": 1},
        {"space": (0, 0, 0, 0)},
        {"space": (1, 0, 0, 1)},
        {"space": (0, 1, 1, 0)},
    ],
)
def test_bad_settings_are_an_error(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"window|space"):
        Oracle(**options)


def test_a_space_may_be_a_line() -> None:
    assert Oracle(space=(0, 0, 1, 0)).clock == Oracle(space=(0, 0, 0, 1)).clock == 0

"""However long a hub runs, it is as large as what lives in it: every kind, by bytes."""

from __future__ import annotations

import pytest

import nearcast as nc
from nearcast.bench.soak import PARTS, SNAPSHOT, Soak, SoakPlan, until
from nearcast.bench.workloads.churn import Churn, ChurnPlan

BYTES = (*PARTS, SNAPSHOT)
STEPS = 24


def soaked(step_events=60, **settings):
    soak = Soak(SoakPlan(subscriptions=40, window=40, step_events=step_events, **settings))
    soak.run(until(None, STEPS * step_events, soak))
    return soak


@pytest.mark.parametrize("kind", [kind.name for kind in nc.indexes() if not kind.stands_for])
def test_no_index_grows_while_everything_is_replaced(kind) -> None:
    soak = soaked(index=kind, modes=("match", "live", "rank", "live rank"))
    assert soak.growing(BYTES) == {}


@pytest.mark.parametrize("kind", [kind.name for kind in nc.topk_kinds()])
def test_no_kind_of_arrival_grows_while_everything_is_replaced(kind) -> None:
    assert soaked(topk=kind, modes=("top",)).growing(BYTES) == {}


@pytest.mark.parametrize("kind", [kind.name for kind in nc.expiry_kinds() if not kind.stands_for])
def test_no_kind_of_expiry_grows_while_everything_is_replaced(kind) -> None:
    assert soaked(expiry=kind, modes=("top",)).growing(BYTES) == {}


def test_no_mode_grows_and_neither_does_resident_memory() -> None:
    soak = soaked(step_events=400)
    assert soak.growing() == {}
    assert all(soak.sizes[-1][part] > 0 for part in BYTES)


def test_what_grows_is_found() -> None:
    soak = Soak(SoakPlan())
    steady = dict.fromkeys((*BYTES, "resident_bytes"), 10_000_000)
    soak.sizes = [{**steady, "top_bytes": 1_000_000 * (1 + step)} for step in range(16)]
    assert soak.growing() == {"top_bytes": (8_000_000, 16_000_000)}
    soak.sizes = [steady] * 3
    assert soak.growing() == {}


def test_bytes_by_part_add_up() -> None:
    soak = soaked()
    stats = soak._hub.stats()
    assert stats["total_bytes"] == sum(stats[part] for part in PARTS)
    assert stats["memory_bytes"] == sum(
        stats[part] for part in ("store_bytes", "id_bytes", "index_bytes")
    )
    matcher = nc.Matcher()
    matcher.subscribe(1, keywords="tea")
    stats = matcher.stats()
    assert stats["total_bytes"] == stats["memory_bytes"] + stats["vocabulary_bytes"]


def test_the_churn_has_ever_new_words_and_every_event_is_accepted() -> None:
    events = Churn(ChurnPlan(subscriptions=50)).take(2_000)
    assert events == Churn(ChurnPlan(subscriptions=50)).take(2_000)
    assert {event["op"] for event in events} == {
        "publish",
        "retract",
        "subscribe",
        "unsubscribe",
        "move",
    }
    hub = nc.Hub(window=nc.Window(count=50))
    hub.apply(events)  # raises if one is rejected
    said = {word for event in events for word in event.get("text", "").split()}
    assert hub.stats()["vocabulary"] < len(said) / 2


def test_a_huge_message_is_not_paid_for_ever_after() -> None:
    hub = nc.Hub(window=nc.Window(count=1))
    hub.subscribe("s", keywords="w1 w2")
    hub.publish("m1", " ".join(f"w{i}" for i in range(200_000)), at=(0, 0))
    assert [change.subscription for change in hub.publish("m2", "w1 w2", at=(0, 0))] == ["s"]
    hub.check_invariants()
    assert hub.stats()["vocabulary"] == 2

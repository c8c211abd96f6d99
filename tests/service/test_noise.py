"""How often a subscription hears: at most n, digests, quiet hours, a last event."""

from __future__ import annotations

import time
from datetime import datetime, timezone

import pytest
from service.harness import running, wait_for

from nearcast import InvalidSubscriptionError
from nearcast.service.noise import Listener, Quiet, noise_from


def at(hour, minute=0):
    return datetime(2026, 3, 1, hour, minute, tzinfo=timezone.utc).timestamp()


def listener_of(said):
    noise = noise_from(said)
    assert noise
    return Listener(noise)


def test_the_first_ones_come_at_once_and_the_rest_waits() -> None:
    listener = listener_of({"at_most": 2, "per_seconds": 60})
    assert [listener.judge(100 + n) for n in range(4)] == ["send", "send", "hold", "hold"]
    assert listener.state.due == 160
    listener.digest(160)
    assert [listener.judge(161), listener.judge(162)] == ["send", "hold"]
    listener.digest(220)
    assert [listener.judge(280), listener.judge(281)] == ["send", "send"]


def test_a_digest_comes_so_long_after_the_first_change() -> None:
    listener = listener_of({"digest_seconds": 60})
    assert [listener.judge(100), listener.judge(150)] == ["hold", "hold"]
    assert listener.state.due == 160


@pytest.mark.parametrize(
    ("now", "until"),
    [(at(22), 7), (at(23, 59), 7), (at(6, 59), 7), (at(7), None), (at(21, 59), None)],
)
def test_quiet_hours_go_over_midnight(now, until) -> None:
    end = Quiet("22:00", "07:00").ends_at(now)
    assert (end is None) == (until is None)
    if end is not None:
        assert datetime.fromtimestamp(end, timezone.utc).hour == until
        assert 0 < end - now <= 9 * 3600


def test_quiet_hours_are_those_of_a_time_zone() -> None:
    berlin = Quiet("22:00", "07:00", "Europe/Berlin")
    assert berlin.ends_at(at(21)) is not None
    assert berlin.ends_at(at(6)) is None


@pytest.mark.parametrize(
    "wrong",
    [
        1,
        {"at_most": 1},
        {"per_seconds": 1},
        {"at_most": 0, "per_seconds": 1},
        {"digest_seconds": -1},
        {"unknown": 1},
        {"quiet": {"from": "25:00", "to": "07:00"}},
        {"quiet": {"from": "07:00", "to": "07:00"}},
        {"quiet": {"from": "22:00", "to": "07:00", "zone": "Nowhere/Else"}},
        {"quiet": {"from": "22:00", "to": "07:00", "zone": "../../etc"}},
    ],
)
def test_nonsense_is_refused(wrong) -> None:
    with pytest.raises(InvalidSubscriptionError):
        noise_from(wrong)


def test_a_digest_arrives_and_survives_a_restart(database) -> None:
    noise = {"at_most": 1, "per_seconds": 3600}
    with running(database) as service:
        service.subscribe("s1", keywords="coffee", noise=noise)
        for number in range(4):
            service.publish(f"m{number}")
        assert [one["message"] for one in service.deliveries()] == ["m0"]
    with running(database) as service:
        service.service.engine.clock._wall = lambda: time.time() + 4000
        found = wait_for(lambda: [d for d in service.deliveries() if d["type"] == "digest"])
        assert [one["number"] for one in found] == [2]
        assert [one["message"] for one in found[0]["changes"]] == ["m1", "m2", "m3"]
        assert found[0]["changes"][0]["published"]["text"] == "coffee"
        assert found[0]["omitted"] == 0
        assert service.get("/v1/subscriptions/s1")["noise"] == noise
    with running(database) as service:
        assert len(service.deliveries()) == 2


def test_the_last_event_ends_the_subscription(database) -> None:
    with running(database) as service:
        service.subscribe("s1", keywords="coffee", noise={"ends_after": 2})
        for number in range(4):
            service.publish(f"m{number}")
        found = service.deliveries()
        assert [one.get("message") for one in found] == ["m0", "m1", None]
        assert (found[-1]["type"], found[-1]["reason"]) == ("ended", "limit")
        wait_for(lambda: service.client.get("/v1/subscriptions/s1").status_code == 404)


def test_quiet_hours_hold_everything(sqlite) -> None:
    hour = time.gmtime().tm_hour
    quiet = {"from": f"{hour:02}:00", "to": f"{(hour + 2) % 24:02}:00"}
    with running(sqlite) as service:
        service.subscribe("s1", keywords="coffee", noise={"quiet": quiet})
        service.subscribe("s2", keywords="coffee")
        service.publish("m1")
        assert [one["subscription"] for one in service.deliveries()] == ["s2"]

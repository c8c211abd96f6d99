"""Deliveries: numbers, cursors, Server-Sent Events, sockets, newcomers, slow readers."""

from __future__ import annotations

import json
import socket
import threading
import time

import httpx
import pytest
from service.harness import running, sse_events, wait_for
from sqlalchemy import select
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from nearcast.service import fanout
from nearcast.service.schema import CURSORS
from nearcast.service.store import Store


def publish_some(service, count, first=0) -> None:
    lines = [{"id": f"m{n}", "text": "coffee", "at": [0, 0]} for n in range(first, first + count)]
    service.lines("/v1/messages", lines)


def written(service, name):
    statement = select(CURSORS.c.number).where(CURSORS.c.name == name)
    return dict(enumerate(row.number for row in service.service.store.rows(statement))).get(0)


def socket_of(service):
    return service.url.replace("http", "ws") + "/v1/socket"


def take(events, count):
    return [next(events) for _ in range(count)]


def test_a_pull_waits_for_what_comes(service) -> None:
    service.subscribe("s1", keywords="coffee")
    with httpx.Client(base_url=service.url, timeout=60) as other:
        assert other.get("/v1/deliveries", params={"wait": 1}).json() == {
            "deliveries": [],
            "next": 0,
        }
    publish_some(service, 3)
    page = service.get("/v1/deliveries", params={"after": 1, "limit": 1, "wait": 5})
    assert [one["number"] for one in page["deliveries"]] == [2]
    assert page["next"] == 2


def test_what_is_being_committed_is_neither_delivered_nor_gone(database, monkeypatch) -> None:
    with running(database) as service:
        service.subscribe("s1", keywords="coffee")
        service.publish("m1")
        goes_on, real = threading.Event(), Store.commit

        def waits(self, row, records) -> None:
            goes_on.wait(60)
            real(self, row, records)

        monkeypatch.setattr(Store, "commit", waits)
        publishing = threading.Thread(target=publish_some, args=(service, 1, 1))
        publishing.start()
        wait_for(lambda: service.service.engine.streams.numbers.get("default") == 2)
        with httpx.Client(base_url=service.url, timeout=60) as other:
            page = other.get("/v1/deliveries", params={"after": 1}).json()
        assert page == {"deliveries": [], "next": 1}
        goes_on.set()
        publishing.join(60)
        assert [one["number"] for one in service.deliveries()] == [1, 2]


def test_a_stream_resumes_after_the_last_event(service) -> None:
    service.subscribe("s1", keywords="coffee")
    publish_some(service, 5)
    headers = {"last-event-id": "2"}
    events = sse_events(service.client, "/v1/stream", headers=headers)
    assert [id for _, id, _ in take(events, 3)] == ["3", "4", "5"]
    publish_some(service, 2, first=5)
    assert [one["message"] for _, _, one in take(events, 2)] == ["m5", "m6"]
    events.close()


def test_a_newcomer_gets_the_current_set_first(database) -> None:
    with running(database, hub={"window_count": 100}) as service:
        service.subscribe("s1", keywords="coffee", live=True)
        publish_some(service, 3)
        events = sse_events(service.client, "/v1/stream")
        kind, id, current = next(events)
        assert (kind, id, current["subscription"]) == ("current", None, "s1")
        assert sorted(one["message"] for one in current["messages"]) == ["m0", "m1", "m2"]
        assert current["messages"][0]["published"]["text"] == "coffee"
        kind, id, ready = next(events)
        assert (kind, id, ready["number"]) == ("ready", "3", 3)
        publish_some(service, 1, first=3)
        assert next(events)[2]["number"] == 4
        events.close()


def test_a_socket_goes_on_after_what_was_acknowledged(database) -> None:
    with running(database) as service:
        address = service.url.replace("http", "ws") + "/v1/socket?consumer=phone"
        service.subscribe("s1", keywords="coffee")
        with connect(address) as socket:
            assert json.loads(socket.recv()) == {"type": "ready", "number": 0}
            publish_some(service, 4)
            assert [json.loads(socket.recv())["number"] for _ in range(4)] == [1, 2, 3, 4]
            socket.send('{"ack": 2}')
            wait_for(lambda: written(service, "socket/default/phone") == 2)
    with running(database) as service:
        address = service.url.replace("http", "ws") + "/v1/socket?consumer=phone"
        with connect(address) as socket:
            assert [json.loads(socket.recv())["number"] for _ in range(2)] == [3, 4]


def test_a_socket_that_talks_nonsense_is_closed(sqlite) -> None:
    with running(sqlite) as service, connect(socket_of(service)) as socket:
        socket.recv()
        socket.send("nonsense")
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=30)


def test_a_reader_that_does_not_acknowledge_gets_no_more_than_a_window(sqlite) -> None:
    with running(sqlite) as service:
        service.subscribe("s1", keywords="coffee")
        with connect(service.url.replace("http", "ws") + "/v1/socket") as socket:
            socket.recv()
            publish_some(service, 2500)
            found: list[int] = []
            while len(found) < 2500:
                number = json.loads(socket.recv(timeout=60))["number"]
                found.append(number)
                if number % 100 == 0:
                    socket.send(json.dumps({"ack": number}))
            assert found == list(range(1, 2501))


def test_a_slow_reader_falls_back_to_a_cursor_and_misses_nothing(database, monkeypatch) -> None:
    monkeypatch.setattr(fanout, "WAITING", 5)
    with running(database, retention={"tail_changes": 50}) as service:
        service.subscribe("s1", keywords="coffee")
        events = sse_events(service.client, "/v1/stream", params={"after": 0})
        for start in range(0, 600, 100):
            publish_some(service, 100, first=start)
        numbers = [one["number"] for _, _, one in take(events, 600)]
        assert numbers == list(range(1, 601))
        events.close()


def test_a_client_that_does_not_read_costs_no_memory_and_delays_no_other(sqlite) -> None:
    """Two subscribers get the same; one of them never reads from its connection."""
    size, count = 20_000, 300
    with running(sqlite, retention={"tail_changes": 50}) as service:
        for owner in ("anna", "ben"):
            service.subscribe("s1", keywords="coffee", owner=owner)
        with socket.create_connection(address_of(service)) as idle:
            idle.sendall(b"GET /v1/stream?owner=anna&after=0 HTTP/1.1\r\nhost: x\r\n\r\n")
            assert b" 200 " in idle.recv(100)
            events = sse_events(service.client, "/v1/stream", params={"owner": "ben", "after": 0})
            text = "coffee " + "x" * size
            for start in range(0, count, 10):
                some = range(start, start + 10)
                service.lines(
                    "/v1/messages", [{"id": f"m{n}", "text": text, "at": [0, 0]} for n in some]
                )
                assert [one["number"] for _, _, one in take(events, 10)] == [n + 1 for n in some]
                assert service.run(_waiting_bytes(service, "anna")) <= fanout.WAITING_BYTES
            events.close()
            behind = [tap for tap in service.service.fanout._taps["anna"] if tap._is_behind]
            assert behind, "300 messages of 20 kB are more than may wait"
            # It reads after all: everything is there, in order.
            wanted, found = b'"number":%d,' % count, b""
            while wanted not in found:
                found = found[-100:] + idle.recv(1 << 20)
        assert service.service.metrics.fallbacks._value.get() >= 1


async def _waiting_bytes(service, owner):
    return sum(tap.waiting_bytes for tap in service.service.fanout._taps[owner])


def address_of(service):
    return "127.0.0.1", int(service.url.rpartition(":")[2])


def test_what_left_memory_is_read_from_the_database(database) -> None:
    with running(database, retention={"tail_changes": 20}) as service:
        service.subscribe("s1", keywords="coffee")
        service.subscribe("s2", keywords="coffee", owner="anna")
        for start in range(0, 300, 30):
            publish_some(service, 30, first=start)
        wait_for(lambda: service.service.engine.streams.changes <= 20 + 60)
        wait_for(lambda: service.service.engine.streams.flushed > 0)
        first = service.deliveries()
        assert [one["number"] for one in first] == list(range(1, 301))
        assert first[0]["published"]["id"] == "m0"
        assert len(service.deliveries(owner="anna", after=100)) == 200
    with running(database) as service:
        assert service.deliveries() == first


def test_what_is_not_kept_any_more_is_said(sqlite) -> None:
    keeps = {"tail_changes": 10, "events": 50, "snapshot_events": 10}
    with running(sqlite, retention=keeps) as service:
        service.subscribe("s1", keywords="coffee")
        starts = iter(range(0, 1_000_000, 30))

        def answer() -> httpx.Response:  # only what a snapshot has may be trimmed
            publish_some(service, 30, first=next(starts))
            service.run(service.service._maintenance.flush())
            service.run(service.service._maintenance.trim())
            found: httpx.Response = service.client.get("/v1/deliveries", params={"after": 1})
            return found

        wait_for(lambda: answer().status_code == 410)
        assert answer().json()["code"] == "gone"
        events = sse_events(service.client, "/v1/stream", params={"after": 1})
        assert [kind for kind, _, _ in take(events, 2)] == ["reset", "ready"]
        events.close()


def test_numbers_go_on_after_a_restart(database) -> None:
    with running(database) as service:
        service.subscribe("s1", keywords="coffee")
        publish_some(service, 3)
    with running(database, retention={"tail_changes": 2}) as service:
        publish_some(service, 3, first=3)
        wait_for(lambda: service.service.engine.streams.flushed > 0)
    with running(database) as service:
        publish_some(service, 1, first=6)
        assert [one["number"] for one in service.deliveries()] == list(range(1, 8))


def test_the_feed_shows_messages_and_deliveries(sqlite) -> None:
    with running(sqlite) as service:
        service.subscribe("s1", keywords="coffee")
        service.publish("m1")
        events = sse_events(service.client, "/v1/feed")
        assert next(events)[2]["published"]["id"] == "m1"
        service.publish("m2")
        found = [one for _, _, one in take(events, 2)]
        assert [one["type"] for one in found] == ["message", "change"]
        events.close()


def test_an_open_stream_does_not_hold_up_the_end(sqlite) -> None:
    started = time.monotonic()
    with running(sqlite) as service:
        events = sse_events(service.client, "/v1/stream")
        next(events)
        service._server.should_exit = True
        assert [kind for kind, _, _ in events] == ["bye"]
    assert time.monotonic() - started < 20

"""What is acknowledged survives: kill -9, a failed commit, a full disk, clocks that jump."""

from __future__ import annotations

import os
import time

import pytest
from service.faults import run_cycles
from service.harness import running, wait_for

from nearcast.service.clock import Clock
from nearcast.service.store import Store, StoreError

CYCLES = int(os.environ.get("NEARCAST_FAULT_CYCLES", "50"))


@pytest.mark.slow
def test_kill_9_at_any_moment_loses_nothing(tmp_path) -> None:
    acked, delivered, _ = run_cycles(tmp_path, f"sqlite:///{tmp_path}/nearcast.db", CYCLES)
    assert acked > CYCLES
    assert delivered > 0


@pytest.mark.slow
def test_kill_9_loses_nothing_on_postgresql(tmp_path, postgresql) -> None:
    from service.postgres import new_database

    database = new_database(postgresql, f"faults_{os.getpid()}")
    acked, _, _ = run_cycles(tmp_path, database, max(3, CYCLES // 10))
    assert acked > 3


def test_a_failed_commit_is_not_answered_and_everything_goes_on(database, monkeypatch) -> None:
    with running(database) as service:
        service.subscribe("s1", keywords="coffee")
        service.publish("m1")
        real = Store.commit
        failures = iter([True, False])

        def fails(self, row, records) -> None:
            if row is not None and next(failures, False):
                what = "commit failed"
                raise StoreError(what, got="disk is full")
            real(self, row, records)

        monkeypatch.setattr(Store, "commit", fails)
        answer = service.client.post(
            "/v1/messages", json={"id": "m2", "text": "coffee", "at": [0, 0]}
        )
        assert answer.status_code == 503
        assert "retry-after" in answer.headers
        wait_for(lambda: service.client.get("/readyz").status_code == 200)
        service.publish("m3")
        found = service.deliveries()
        assert [(one["number"], one["message"]) for one in found] == [(1, "m1"), (2, "m3")]


def test_a_full_disk_refuses_writes_and_is_survived(tmp_path) -> None:
    """SQLite is given a size that it may not exceed: it fails as on a full disk."""
    from sqlalchemy import event

    with running(f"sqlite:///{tmp_path}/nearcast.db") as service:
        service.subscribe("s1", keywords="coffee")
        engine = service.service.store.engine
        pages = {"most": 60}

        @event.listens_for(engine, "checkout")
        def limit(connection, _record, _proxy) -> None:
            connection.execute(f"pragma max_page_count={pages['most']}")

        service.run(_reconnect(service.service))
        acked, status = [], 201
        for number in range(2000):
            body = {"id": f"m{number}", "text": "coffee " * 200, "at": [0, 0]}
            status = service.client.post("/v1/messages", json=body).status_code
            if status != 201:
                break
            acked.append(f"m{number}")
        assert status == 503
        pages["most"] = 1_000_000
        wait_for(lambda: service.client.get("/readyz").status_code == 200)
        wait_for(
            lambda: (
                service.client.post(
                    "/v1/messages", json={"id": "last", "text": "coffee", "at": [0, 0]}
                ).status_code
                == 201
            )
        )
        found = [one["message"] for one in service.deliveries()]
        assert found[: len(acked)] == acked
        assert found[-1] == "last"


async def _reconnect(service) -> None:
    async with service.writer.turn:
        service.store._forget_open()
        service.store.engine.dispose()


def test_a_clock_that_is_set_back_goes_on_slowly_until_it_is_right() -> None:
    now = {"wall": 1000.0, "steady": 0.0}
    clock = Clock(wall=lambda: now["wall"], steady=lambda: now["steady"])
    assert clock.now() == 1000
    now.update(wall=400.0, steady=10.0)
    assert clock.now() == 1005
    now.update(wall=1002.0, steady=20.0)
    assert clock.now() == 1010
    now.update(wall=1011.0, steady=29.0)
    assert clock.now() == 1011


def test_a_clock_that_jumps_breaks_nothing(sqlite) -> None:
    with running(sqlite, hub={"window_seconds": 100}) as service:
        service.subscribe("s1", keywords="coffee", live=True)
        clock = service.service.engine.clock
        service.publish("m1")
        clock._wall = lambda: time.time() + 1000
        service.publish("m2")
        wait_for(lambda: [d for d in service.deliveries() if d["change"] == "removed"])
        clock._wall = lambda: time.time() - 1000
        service.publish("m3")
        clock._wall = time.time
        service.publish("m4")
        held = service.get("/v1/subscriptions/s1/results")["results"]
        assert {one["message"] for one in held} == {"m2", "m3", "m4"}
        times = [d["at"] for d in service.deliveries()]
        assert times == sorted(times)


def test_a_database_is_made_as_a_whole_or_not_at_all(sqlite, monkeypatch) -> None:
    def fails(*_) -> None:
        what = "killed while it was made"
        raise KeyboardInterrupt(what)

    monkeypatch.setattr(Store, "_put", fails)
    with pytest.raises(KeyboardInterrupt):
        Store(sqlite, is_exclusive=False)
    monkeypatch.undo()
    with running(sqlite) as service:
        service.publish("m1")


def test_a_second_service_is_kept_away(database) -> None:
    with running(database), pytest.raises(StoreError, match="in use"):
        Store(database)


def test_a_start_replays_no_more_than_the_tail(database) -> None:
    keeps = {"snapshot_events": 50}
    with running(database, hub={"window_count": 10}, retention=keeps) as service:
        service.subscribe("s1", keywords="coffee", live=True)
        for number in range(120):
            service.publish(f"m{number}")
        wait_for(lambda: service.service.engine.last - service.service.engine.snapshot < 100)
        held = service.get("/v1/subscriptions/s1/results")["results"]
    with running(database, hub={"window_count": 10}, retention=keeps) as service:
        assert service.service.engine.snapshot == service.service.engine.last
        again = service.get("/v1/subscriptions/s1/results")["results"]
        assert sorted(one["message"] for one in again) == sorted(one["message"] for one in held)


def test_everything_that_grows_is_trimmed(database) -> None:
    keeps = {"events": 100, "snapshot_events": 50, "tail_changes": 20, "answers": 10}
    with running(database, hub={"window_count": 5}, retention=keeps) as service:
        service.subscribe("s1", keywords="coffee")
        for number in range(300):
            headers = {"idempotency-key": f"k{number}"}
            body = {"id": f"m{number}", "text": "coffee", "at": [0, 0]}
            service.post("/v1/messages", body, 201, headers=headers)
        maintenance = service.service._maintenance
        service.run(maintenance.snapshot())
        service.run(maintenance.flush())
        service.run(maintenance.trim())
        assert rows_in(service, "log") <= 101
        assert rows_in(service, "answers") <= 11
        assert rows_in(service, "messages") <= 5
        assert rows_in(service, "segments") <= 64 * 10
        assert service.service.engine.streams.changes <= 20
        assert service.deliveries(after=250)[0]["number"] == 251


def rows_in(service, name):
    from sqlalchemy import func, select

    from nearcast.service.schema import METADATA

    return service.service.store.rows(select(func.count()).select_from(METADATA.tables[name]))[0][0]

"""A real service that is killed again and again while clients publish, subscribe and follow.

In the end: what clients hold is compared with what one hub says about the events of the log.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import threading
import time
from collections import Counter
from itertools import count
from typing import Any

import httpx
from service.nursery import Nursery

import nearcast as nc
from nearcast.client import Client
from nearcast.service.store import Store

OWNERS = ("anna", "ben")
WORDS = ("coffee", "tea", "milk", "sugar")
WINDOW = 50
GUARD_S = 300.0


class Server:
    """`nearcast serve` as a process that dies and comes back on the same port."""

    def __init__(self, folder, database) -> None:
        self._nursery = Nursery()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._database = database
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = folder / "server.log"
        self._child: int | None = None

    def start(self) -> None:
        settings = {
            "NEARCAST_HUB__WINDOW_COUNT": str(WINDOW),
            "NEARCAST_RETENTION__SNAPSHOT_EVENTS": "150",
            "NEARCAST_RETENTION__TAIL_CHANGES": "300",
            "NEARCAST_LOG_FORMAT": "text",
        }
        listen = ["--listen", f"127.0.0.1:{self.port}", "--database", self._database]
        self._child = self._nursery.start(["serve", *listen], settings, self._log)

    def check_alive(self) -> None:
        """Fail with what it said if it ended by itself."""
        assert self._child is not None
        assert self._nursery.is_alive(self._child), self._log.read_text()[-3000:]

    def wait_ready(self) -> None:
        end = time.monotonic() + GUARD_S
        while time.monotonic() < end:
            self.check_alive()
            try:
                if httpx.get(f"{self.url}/readyz", timeout=5).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.02)
        raise TimeoutError

    def end(self, how=signal.SIGKILL) -> None:
        assert self._child is not None
        os.kill(self._child, how)
        self._nursery.wait(self._child)
        self._child = None

    def close(self) -> None:
        """End everything, in good order."""
        if self._child is not None:
            self.end(signal.SIGTERM)
        self._nursery.close()


class Crew:
    """Threads that never give up: each write is repeated until its answer has come."""

    def __init__(self, url, seed) -> None:
        self._url = url
        self._seed = seed
        self.is_done = threading.Event()
        self.errors: list[BaseException] = []
        self.acked: list[tuple[str, str, dict[str, Any]]] = []
        self.held: dict[str, dict[int, dict[str, Any]]] = {owner: {} for owner in OWNERS}
        self.repeated = 0
        self._threads = [threading.Thread(target=self._guarded, args=(self._publish,), daemon=True)]
        for work in (self._subscribe, self._follow):
            for owner in OWNERS:
                arguments = (work, owner)
                self._threads.append(
                    threading.Thread(target=self._guarded, args=arguments, daemon=True)
                )
        for thread in self._threads:
            thread.start()

    def _guarded(self, work, *arguments) -> None:
        try:
            work(*arguments)
        except BaseException as error:
            self.errors.append(error)

    def _publish(self) -> None:
        draw = random.Random(self._seed)
        with Client(self._url, attempts=10_000) as client:
            for number in count():
                if self.is_done.is_set():
                    return
                text = " ".join(draw.choices(WORDS, k=2))
                id = f"m{number}"
                answer = client.publish(id, text, at=[draw.uniform(0, 2), draw.uniform(0, 2)])
                self.acked.append(("publish", id, answer))
                if number % 7 == 3:
                    gone = f"m{number - 2}"
                    self.acked.append(("retract", gone, client.retract(gone)))

    def _subscribe(self, owner) -> None:
        draw = random.Random(f"{self._seed}{owner}")
        with Client(self._url, owner=owner, attempts=10_000) as client:
            alive: list[str] = []
            for number in count():
                if self.is_done.is_set():
                    return
                if len(alive) < 12:
                    id = f"{owner}{number}"
                    word = draw.choice(WORDS)
                    box = [0, 0, draw.uniform(0.5, 2), draw.uniform(0.5, 2)]
                    is_live = draw.random() < 0.5
                    answer = client.subscribe(id, keywords=word, area=box, live=is_live)
                    self.acked.append(("subscribe", f"{owner}/{id}", answer))
                    alive.append(id)
                elif draw.random() < 0.5:
                    id = draw.choice(alive)
                    box = [0, 0, draw.uniform(0.5, 2), draw.uniform(0.5, 2)]
                    self.acked.append(("move", f"{owner}/{id}", client.move(id, area=box)))
                else:
                    id = alive.pop(draw.randrange(len(alive)))
                    self.acked.append(("unsubscribe", f"{owner}/{id}", client.unsubscribe(id)))

    def _follow(self, owner) -> None:
        """Follow, and now and then go back a little, as a client that crashed would."""
        held = self.held[owner]
        draw = random.Random(f"{self._seed}{owner}f")
        with Client(self._url, owner=owner) as client:
            while not self.is_done.is_set():
                after = max(0, max(held, default=0) - draw.randrange(20))
                for delivery in client.deliveries(after=after):
                    if self.is_done.is_set():
                        return
                    self._hold(held, delivery)
                    if draw.random() < 0.01:
                        break

    def _hold(self, held, delivery) -> None:
        if delivery["type"] != "change":
            assert delivery["type"] in ("ready",), delivery
            return
        number = delivery["number"]
        if number in held:
            self.repeated += 1
            assert held[number] == delivery, "the same number with another content"
        held[number] = delivery

    def stop(self) -> None:
        """Let the writers finish; followers may wait for ever, and what they miss is drained."""
        self.is_done.set()
        for thread in self._threads[: -len(OWNERS)]:
            thread.join(GUARD_S)


def drain(url, crew) -> None:
    """Pull what followers have not seen yet."""
    for owner in OWNERS:
        after = 0
        while True:
            query: dict[str, Any] = {"owner": owner, "after": after, "limit": 1000}
            page = httpx.get(f"{url}/v1/deliveries", params=query, timeout=60).json()
            if not page["deliveries"]:
                break
            for delivery in page["deliveries"]:
                crew._hold(crew.held[owner], delivery)
            after = page["next"]


def events_of(database):
    """Return all events of the log, by number."""
    store = Store(database, is_exclusive=False)
    try:
        found, last = {}, 0
        while rows := store.log_after(last):
            for row in rows:
                for number, line in enumerate(row.events.split(b"\n"), row.first):
                    if line:
                        found[number] = json.loads(line)
            last = rows[-1].last
        return found
    finally:
        store.close()


def compare(database, crew) -> None:
    """Hold what was acknowledged and delivered against the log and one hub."""
    events = events_of(database)
    for op, id, answer in crew.acked:
        logged = events[answer["event"]]
        assert (logged["op"], logged["id"]) == (op, id), "acknowledged, and not in the log"
    made = Counter(
        (e["op"], e["id"]) for e in events.values() if e["op"] in ("publish", "subscribe")
    )
    assert all(times == 1 for times in made.values()), "something happened twice"

    hub = nc.Hub(window=nc.Window(count=WINDOW))
    wanted: dict[str, Counter[tuple[Any, ...]]] = {owner: Counter() for owner in OWNERS}
    for number, event in sorted(events.items()):
        table = hub.apply([event], first=number)
        for row in table.to_pylist():
            owner, _, id = row["subscription"].partition("/")
            wanted[owner][number, id, row["message"], row["change"], row["reason"]] += 1
    for owner in OWNERS:
        held = crew.held[owner]
        assert sorted(held) == list(range(1, len(held) + 1)), "a number is missing"
        names = ("event", "subscription", "message", "change", "reason")
        found = Counter(tuple(one[name] for name in names) for one in held.values())
        assert found == wanted[owner]


def run_cycles(folder, database, cycles, seed=1):
    """Kill and start so often; return how many writes were acknowledged, and what was delivered."""
    server = Server(folder, database)
    server.start()
    server.wait_ready()
    crew = Crew(server.url, seed)
    draw = random.Random(seed)
    try:
        for _ in range(cycles):
            before = len(crew.acked)
            end = time.monotonic() + GUARD_S
            # Some progress in each life, then death at any moment.
            while len(crew.acked) < before + draw.randrange(1, 40) and not crew.errors:
                assert time.monotonic() < end, "no progress"
                server.check_alive()
                time.sleep(0.005)
            time.sleep(draw.random() * 0.05)
            server.end()
            server.start()
        server.wait_ready()
        if crew.errors:
            raise crew.errors[0]
        crew.stop()
        drain(server.url, crew)
    finally:
        crew.is_done.set()
        server.close()
    compare(database, crew)
    return len(crew.acked), sum(len(held) for held in crew.held.values()), crew.repeated

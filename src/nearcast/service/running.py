"""All parts of one service, and how they begin and end together."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import defaultdict
from typing import TYPE_CHECKING

from nearcast.service.answers import Answers
from nearcast.service.delivery.kafka import KafkaSink
from nearcast.service.delivery.webhooks import Webhooks
from nearcast.service.engine import Engine
from nearcast.service.fanout import Fanout
from nearcast.service.feed import Feed
from nearcast.service.history import History
from nearcast.service.jobs import Job, Outcome, Reply
from nearcast.service.keys import Keys
from nearcast.service.maintenance import Maintenance
from nearcast.service.metrics import Metrics, resident_bytes
from nearcast.service.problems import UnavailableError
from nearcast.service.schema import CURSORS
from nearcast.service.store import Store
from nearcast.service.writer import Writer

if TYPE_CHECKING:
    from nearcast.service.engine import Commit
    from nearcast.service.settings import Settings
    from nearcast.service.store import Records


class Service:
    """A service that is open: `start` lets it work, `stop` ends it."""

    def __init__(self, settings: Settings, store: Store | None = None) -> None:
        self.settings = settings
        self.store = store or Store(settings.database, synchronous=settings.synchronous)
        self.metrics = Metrics()
        try:
            engine = Engine(self.store, settings)
        except BaseException:
            self.store.close()
            raise
        self.writer = Writer(engine, self.metrics, self._hand_on)
        self.fanout = Fanout(lambda: self.engine, self.metrics)
        self.writer.on_reopen = lambda: self.fanout.wake_all(is_reopened=True)
        self.keys = Keys(settings.limits, settings.admin_key)
        self.keys.load(self.store)
        self.answers = Answers(self.store)
        self.webhooks = Webhooks(self)
        self.feed = Feed(self.metrics)
        self.history = History(self.metrics)
        self.kafka = KafkaSink(self) if settings.kafka.topic else None
        self.cursors: dict[str, int] = {}
        """Positions of consumers that are not written yet."""
        self.status_counts: dict[int, int] = defaultdict(int)
        self.is_stopping = False
        self._tasks: list[asyncio.Task[None]] = []
        self._maintenance = Maintenance(self)
        self._add_gauges()

    @property
    def engine(self) -> Engine:
        """The state, as it is now: another one after a commit has failed."""
        return self.writer.engine

    async def start(self) -> None:
        """Begin to work; if something cannot begin, nothing does."""
        try:
            await self._start()
        except BaseException:
            await self.webhooks.stop()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self.store.close()
            raise

    async def _start(self) -> None:
        self._tasks.append(asyncio.create_task(self.writer.run()))
        self._tasks.append(asyncio.create_task(self._maintenance.run()))
        self._tasks.append(asyncio.create_task(self.history.run()))
        await self.webhooks.start()
        if self.kafka is not None:
            await self.kafka.start()
            self._tasks.append(asyncio.create_task(self.kafka.run()))

    def begin_stop(self) -> None:
        """Let streams end, so that their connections can close."""
        self.is_stopping = True
        self.fanout.wake_all()
        self.feed.wake_all()

    async def stop(self) -> None:
        """Finish what is under way, write what is not written, and save a snapshot."""
        self.begin_stop()
        await self.webhooks.stop()
        if self.kafka is not None:
            await self.kafka.stop()
        self._maintenance.stop()
        for task in self._tasks[1:]:
            task.cancel()
        await asyncio.gather(*self._tasks[1:], return_exceptions=True)
        with contextlib.suppress(UnavailableError):
            await self.write_soon()
        self.writer.close()
        await self._tasks[0]
        if self.writer.is_ready and self.engine.last > self.engine.snapshot:
            await self._maintenance.snapshot()
        self.store.close()

    async def write_soon(self) -> None:
        """Write positions and dead letters; done when they are durable."""

        def note(_: Outcome, records: Records) -> None:
            cursors, self.cursors = self.cursors, {}
            for name, number in cursors.items():
                records.put(CURSORS, {"name": name, "number": number})
            self.webhooks.write(records)

        await self.writer.submit(Job([], lambda _: Reply(204, b""), note))

    def _hand_on(self, commit: Commit) -> None:
        if commit.batch is not None:
            self.fanout.hand_on(commit.batch)
            if self.kafka is not None:
                self.kafka.wake()
        self.feed.hand_on(commit)

    def _add_gauges(self) -> None:
        gauge = self.metrics.gauge
        gauge("subscriptions", "Subscriptions.", lambda: len(self.engine.hub))
        gauge(
            "waiting_events", "Events that wait for the writer.", lambda: self.writer.waiting_events
        )
        gauge("streams", "Open streams.", lambda: self.fanout.count)
        gauge("tail_changes", "Changes in memory.", lambda: self.engine.streams.changes)
        gauge("outbox_lag", "Deliveries that endpoints have still to get.", self._lag)
        gauge("delivery_lag_seconds", "Age of the oldest delivery under way.", self._oldest)
        gauge("outbox_age_seconds", "Age of the oldest delivery in memory.", self._age)
        gauge("hub_bytes", "Memory of the hub.", lambda: self.engine.hub.stats()["total_bytes"])
        gauge("resident_bytes", "Memory of the process.", resident_bytes)
        gauge("ready", "Whether the service takes events.", lambda: float(self.writer.is_ready))

    def _lag(self) -> float:
        numbers = self.engine.streams.numbers
        return sum(numbers.get(e.owner) - e.position for e in self.webhooks.endpoints.values())

    def _oldest(self) -> float:
        """Return how old the oldest delivery is that an endpoint has not taken yet."""
        moments = [e.trying for e in self.webhooks.endpoints.values() if e.trying is not None]
        return max(0.0, time.time() - min(moments)) if moments else 0.0

    def _age(self) -> float:
        tail = self.engine.streams.tail
        return self.engine.clock.now() - tail[0].at if tail else 0.0

"""What has to be done now and then: time that passes, memory that fills, rows that are old.

Every rule of retention is applied here, and nowhere else.
"""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, delete, func, or_, select

from nearcast.service.jobs import Job, Reply
from nearcast.service.noise import forget_noise
from nearcast.service.problems import UnavailableError
from nearcast.service.schema import ANSWERS, DEAD_LETTERS, LOG, MESSAGES, SEGMENTS, SUBSCRIPTIONS
from nearcast.service.store import PART_BYTES, Records, StoreError
from nearcast.service.streams import flush_records

if TYPE_CHECKING:
    from nearcast.service.running import Service

log = logging.getLogger("nearcast.service")

TICK_S = 0.5
KEYS_EVERY_S = 2.0
BEAT_EVERY_S = 15.0
TRIM_EVERY_S = 30.0
CHUNK_ROWS = 2_000


class Maintenance:
    """The task that does it."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._due = {"keys": 0.0, "beat": BEAT_EVERY_S, "trim": TRIM_EVERY_S}
        self._is_stopping = False
        self._turn = asyncio.Lock()

    def stop(self) -> None:
        """Begin nothing more."""
        self._is_stopping = True

    async def run(self) -> None:
        """Work until it is cancelled. What fails is logged and tried again."""
        started = time.monotonic()
        while not self._is_stopping:
            await asyncio.sleep(TICK_S)
            try:
                await self._once(time.monotonic() - started)
            except (StoreError, UnavailableError, OSError) as error:
                log.warning("maintenance failed: %s", error)
            except Exception:
                log.exception("maintenance failed")

    def _is_due(self, name: str, now: float, every: float) -> bool:
        if now < self._due[name]:
            return False
        self._due[name] = now + every
        return True

    async def _once(self, now: float) -> None:
        service = self._service
        await self.tick()
        if service.cursors or service.webhooks.is_dirty:
            await service.write_soon()
        if self._is_due("keys", now, KEYS_EVERY_S):
            await asyncio.to_thread(service.keys.load, service.store)
        if self._is_due("beat", now, BEAT_EVERY_S):
            service.fanout.wake_all()
            service.feed.wake_all()
        await self.flush()
        if service.engine.last - service.engine.snapshot >= self._retention.snapshot_events:
            await self.snapshot()
        if self._is_due("trim", now, TRIM_EVERY_S):
            await self.trim()

    @property
    def _retention(self) -> Any:  # noqa: ANN401
        return self._service.settings.retention

    async def tick(self) -> None:
        """Let pass what is due: expiries and digests."""
        service = self._service
        if not service.writer.is_ready:
            return
        tick = service.engine.tick()
        events = [] if tick is None else [tick]
        await service.writer.submit(Job(events, lambda _: Reply(204, b"")))

    # ---- memory -----------------------------------------------------------------------------

    async def flush(self) -> None:
        """Write what leaves memory to segments, then drop it."""
        async with self._turn:
            await self._flush()

    async def _flush(self) -> None:
        engine = self._service.engine
        moment = engine.clock.now() - self._retention.seconds
        number = engine.last - self._retention.events
        leaving = engine.streams.leaving(moment, number)
        if not leaving:
            return
        records = await asyncio.to_thread(flush_records, leaving)
        await asyncio.to_thread(engine.store.write, None, records)
        engine.streams.forget(leaving)

    async def snapshot(self) -> None:
        """Save the hub, and write it to the database in pieces."""
        async with self._turn:
            await self._snapshot()

    async def _snapshot(self) -> None:
        service = self._service
        handle, name = tempfile.mkstemp(".nearcast", "saving-", service.store.folder)
        os.close(handle)
        path = Path(name)
        try:
            async with service.writer.turn:
                engine = service.engine
                last = engine.last
                await asyncio.to_thread(engine.hub.save, path)
            await asyncio.to_thread(_put_parts, service, path, last)
            engine.snapshot = last
        finally:
            path.unlink(missing_ok=True)

    # ---- rows -------------------------------------------------------------------------------

    async def trim(self) -> None:
        """Delete what is older, or more, than is kept."""
        async with self._turn:
            await self._trim()

    async def _trim(self) -> None:
        engine = self._service.engine
        now = engine.clock.now()
        keeps = self._retention
        safe = min(engine.snapshot, engine.streams.flushed)
        old = LOG.c.at < now - keeps.seconds
        many = LOG.c.last <= engine.last - keeps.events
        trimmed = await self._delete(LOG, LOG.c.last, and_(LOG.c.last <= safe, or_(old, many)))
        self._service.metrics.trimmed.inc(trimmed)
        old, many = (
            SEGMENTS.c.at < now - keeps.seconds,
            SEGMENTS.c.last <= engine.last - keeps.events,
        )
        await self._delete(SEGMENTS, SEGMENTS.c.last, or_(old, many))
        await self._trim_answers(now)
        await self._trim_messages()
        await self._trim_subscriptions()
        await self._trim_letters()

    async def _delete(self, table: Any, key: Any, condition: Any) -> int:  # noqa: ANN401
        """Delete rows in pieces, so that commits come in between."""
        total = 0
        while True:
            some = select(key).where(condition).distinct().limit(CHUNK_ROWS).scalar_subquery()
            statement = delete(table).where(key.in_(some))
            count = await asyncio.to_thread(self._run, statement)
            total += count
            if count < CHUNK_ROWS:
                return total

    def _run(self, statement: Any) -> int:  # noqa: ANN401
        with self._service.store.engine.begin() as connection:
            return int(connection.execute(statement).rowcount)

    async def _trim_answers(self, now: float) -> None:
        own, keeps = ANSWERS.c, self._retention
        await self._delete(ANSWERS, own.at, own.at < now - keeps.answer_seconds)
        border = await self._nth(own.at, keeps.answers)
        if border is not None:
            await self._delete(ANSWERS, own.at, own.at < border)

    async def _nth(self, column: Any, count: int) -> Any:  # noqa: ANN401
        """Return the count-th greatest value; None: there are fewer."""
        statement = select(column).order_by(column.desc()).offset(count).limit(1)
        rows = await asyncio.to_thread(self._service.store.rows, statement)
        return rows[0][0] if rows else None

    async def _trim_messages(self) -> None:
        """Delete bodies of messages that are not live any more."""
        own = MESSAGES.c
        await self._delete(MESSAGES, own.id, own.expires <= self._service.engine.hub.clock)
        window = self._service.settings.hub.window_count
        border = None if window is None else await self._nth(own.event, window)
        if border is not None:
            await self._delete(MESSAGES, own.event, own.event <= border)

    async def _trim_subscriptions(self) -> None:
        """Delete the rows of subscriptions that have expired."""
        own, engine = SUBSCRIPTIONS.c, self._service.engine
        statement = select(own.owner, own.id).where(own.expires <= engine.hub.clock)
        rows = await asyncio.to_thread(engine.store.rows, statement.limit(CHUNK_ROWS))
        gone = [(owner, id) for owner, id in rows if f"{owner}/{id}" not in engine.hub]
        if not gone:
            return

        def note(_: object, records: Records) -> None:
            for owner, id in gone:
                records.remove(SUBSCRIPTIONS, owner=owner, id=id)
                if engine.listeners.remove(owner, id):
                    forget_noise(records, owner, id)

        await self._service.writer.submit(Job([], lambda _: Reply(204, b""), note))

    async def _trim_letters(self) -> None:
        """Keep the newest dead letters of each endpoint."""
        own = DEAD_LETTERS.c
        statement = select(own.owner, own.endpoint).group_by(own.owner, own.endpoint)
        statement = statement.having(func.count() > self._retention.dead_letters)
        for owner, endpoint in await asyncio.to_thread(self._service.store.rows, statement):
            mine = and_(own.owner == owner, own.endpoint == endpoint)
            border = select(own.number).where(mine).order_by(own.number.desc())
            border = border.offset(self._retention.dead_letters).limit(1)
            rows = await asyncio.to_thread(self._service.store.rows, border)
            if rows:
                await asyncio.to_thread(
                    self._run, delete(DEAD_LETTERS).where(mine, own.number <= rows[0][0])
                )


def _put_parts(service: Service, path: Path, last: int) -> None:
    with path.open("rb") as file:
        part = 0
        while content := file.read(PART_BYTES):
            service.store.put_part(last, part, content)
            part += 1
    service.store.adopt_snapshot(last)

"""Deliveries to a topic of Kafka: every one of them, in order, the key being the subscriber.

A position in the log is written when everything up to it was taken by the broker. After a crash
some deliveries come again, with the same id.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from nearcast.errors import InvalidParameterError
from nearcast.service.batches import batch_of
from nearcast.service.schema import CURSORS

if TYPE_CHECKING:
    from nearcast.service.batches import Batch
    from nearcast.service.running import Service

log = logging.getLogger("nearcast.kafka")

CURSOR = "kafka"
RETRY_S = 1.0


def topic_of(address: str) -> tuple[str, str]:
    """Read `kafka://host:port,host:port/topic`.

    Examples
    --------
    >>> topic_of("kafka://one:9092,two:9092/alerts")
    ('one:9092,two:9092', 'alerts')
    """
    servers, _, name = address.removeprefix("kafka://").partition("/")
    if not address.startswith("kafka://") or not name or ":" not in servers:
        what, wanted = "address is not that of a topic", "kafka://host:port/topic"
        raise InvalidParameterError(what, got=address, wanted=wanted)
    return servers, name


class KafkaSink:
    """The task that sends."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._servers, self._topic = topic_of(service.settings.kafka.topic or "")
        self._wake = asyncio.Event()
        self._producer: Any = None
        self.position = 0

    async def start(self) -> None:
        """Find out where it was. The broker is connected to later: it may be away."""
        statement = select(CURSORS.c.number).where(CURSORS.c.name == CURSOR)
        rows = await asyncio.to_thread(self._service.store.rows, statement)
        self.position = rows[0][0] if rows else 0

    def wake(self) -> None:
        """Something was committed."""
        self._wake.set()

    async def run(self) -> None:
        """Send until it is cancelled; a broker that is away is waited for."""
        while True:
            try:
                await self._connect()
                await self._send_all()
                await self._wake.wait()
                self._wake.clear()
            except asyncio.CancelledError:
                raise
            except Exception as error:
                log.warning("broker failed: %s", error)
                await self._disconnect()
                await asyncio.sleep(RETRY_S)

    async def stop(self) -> None:
        """End the connection."""
        await self._disconnect()

    async def _connect(self) -> None:
        if self._producer is not None:
            return
        from aiokafka import AIOKafkaProducer

        producer = AIOKafkaProducer(
            bootstrap_servers=self._servers, acks="all", enable_idempotence=True, linger_ms=5
        )
        await producer.start()
        self._producer = producer

    async def _disconnect(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.stop()

    async def _send_all(self) -> None:
        while batches := await self._next():
            futures = []
            for batch in batches:
                for owner in sorted(batch.owners):
                    key = owner.encode()
                    for _, body in batch.entries(owner):
                        futures.append(await self._producer.send(self._topic, body, key=key))
            await asyncio.gather(*futures)
            self.position = batches[-1].last
            self._service.cursors[CURSOR] = self.position
            self._service.metrics.streamed.labels("kafka").inc(len(futures))

    async def _next(self) -> list[Batch]:
        """Return the next commits: from memory, or from the log if it is far behind."""
        streams = self._service.engine.streams
        if self.position >= streams.flushed:
            return [batch for batch in streams.tail if batch.last > self.position][:100]
        store = self._service.store
        rows = await asyncio.to_thread(store.log_after, self.position, limit=100)
        return [batch_of(row) for row in rows]

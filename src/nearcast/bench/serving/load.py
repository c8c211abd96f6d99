"""Load over loopback, as cheap as it can be: bytes that were made before, answers hardly read."""

from __future__ import annotations

import asyncio
import re
import time
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LENGTH = re.compile(rb"content-length: (\d+)", re.I)


def request_bytes(path: str, body: bytes, kind: str = "application/json") -> bytes:
    """Return a whole request."""
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: {kind}\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


class _Poster(asyncio.Protocol):
    """One connection that sends the next request when the answer to the one before is there."""

    def __init__(self, run: PostRun) -> None:
        self._run = run
        self._buffer = b""
        self._sent = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._next()

    def _next(self) -> None:
        request = self._run.take()
        if request is None:
            self._transport.close()
            return
        self._sent = time.perf_counter()
        self._transport.write(request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = _LENGTH.search(head)
        if length is None or len(rest) < int(length[1]):
            return
        self._buffer = b""
        self._run.note(head, time.perf_counter() - self._sent)
        self._next()

    def connection_lost(self, _: Exception | None) -> None:
        self._run.lost()


class PostRun:
    """Requests that many connections share."""

    def __init__(self, requests: Iterator[bytes], connections: int) -> None:
        self._requests = requests
        self._open = connections
        self.connections = connections
        self.times: list[float] = []
        self.refused = 0
        self._done: asyncio.Future[None] | None = None

    def take(self) -> bytes | None:
        """Return the next request; None: there are no more."""
        return next(self._requests, None)

    def note(self, head: bytes, seconds: float) -> None:
        """Note an answer."""
        self.times.append(seconds)
        if not head.startswith(b"HTTP/1.1 20"):
            self.refused += 1

    def lost(self) -> None:
        """Note that a connection has ended."""
        self._open -= 1
        if self._open == 0 and self._done is not None:
            self._done.set_result(None)

    async def run(self, port: int) -> float:
        """Send everything; return the seconds that took."""
        loop = asyncio.get_running_loop()
        self._done = loop.create_future()
        started = time.perf_counter()
        for _ in range(self.connections):
            await loop.create_connection(lambda: _Poster(self), "127.0.0.1", port)
        await self._done
        return time.perf_counter() - started


_STAMP = re.compile(rb'"message":"t(\d+)')


class _Reader(asyncio.Protocol):
    """One SSE client: counts deliveries, and how long after the publication they came."""

    def __init__(self, path: str, run: ReadRun) -> None:
        self._path = path
        self._run = run
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        head = f"GET {self._path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
        transport.write(head.encode())  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter_ns()
        data = self._rest + data
        end = data.rfind(b"\n\n") + 2
        whole, self._rest = data[:end], data[end:]
        self._run.times += [now - int(stamp) for stamp in _STAMP.findall(whole)]
        if b"event: ready" in whole:
            self._run.ready += 1


def _same(reader: _Reader) -> _Reader:
    return reader


class ReadRun:
    """Many SSE clients."""

    def __init__(self) -> None:
        self.times: list[int] = []
        self.ready = 0
        self._transports: list[asyncio.BaseTransport] = []

    async def open(self, port: int, owners: int) -> None:
        """Connect one client for each owner, and wait until all are ready."""
        loop = asyncio.get_running_loop()
        for number in range(owners):
            reader = _Reader(f"/v1/stream?owner=o{number}", self)
            transport, _ = await loop.create_connection(partial(_same, reader), "127.0.0.1", port)
            self._transports.append(transport)
        while self.ready < owners:
            await asyncio.sleep(0.01)

    def close(self) -> None:
        """Go."""
        for transport in self._transports:
            transport.close()


class Sink(asyncio.Protocol):
    """An endpoint that takes every webhook, and counts."""

    count = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = transport
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        """Answer a whole request."""
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        length = _LENGTH.search(head) if found else None
        if length is None or len(rest) < int(length[1]):
            return
        self._buffer = b""
        Sink.count += 1
        self._transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")  # type: ignore[attr-defined]


class Silence(asyncio.Protocol):
    """An endpoint that never answers."""


def percentile(values: list[float], share: float) -> float:
    """Return a percentile; 0 if there is nothing."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0

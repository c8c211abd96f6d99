"""A subscriber's stream: pulled with a cursor, or pushed as Server-Sent Events."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.responses import Response

from nearcast.service.delivery.current import begin
from nearcast.service.delivery.lag import Lag, committed_at
from nearcast.service.http.context import context_of, query_number
from nearcast.service.problems import GoneError, MalformedError, TooManyError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Message, Receive, Scope, Send

    from nearcast.service.fanout import Tap
    from nearcast.service.http.context import Context
    from nearcast.service.running import Service

MOST_PULLED = 1_000
MOST_WAITED_S = 60


async def pull(request: Request) -> Response:
    """`GET /v1/deliveries`: what comes after a number; `wait` waits for it."""
    context = context_of(request)
    context.principal.needs("subscribe")
    owner = context.principal.owner_for(request.query_params.get("owner"))
    limit = query_number(request, "limit", 100, 1, MOST_PULLED)
    wait_s = query_number(request, "wait", 0, 0, MOST_WAITED_S)
    after = query_number(request, "after", 0, 0, 1 << 62)
    service = context.service
    check_room(service, owner)
    tap = service.fanout.open(owner, after)
    try:
        entries = await tap.take(wait_s or 0.001, limit)
    finally:
        service.fanout.close(tap)
    last = entries[-1][0] if entries else after
    service.metrics.streamed.labels("pull").inc(len(entries))
    body = b'{"deliveries":[%s],"next":%d}' % (b",".join(body for _, body in entries), last)
    return Response(body, 200, None, "application/json")


def check_room(service: Service, owner: str) -> None:
    """Refuse one more stream than there may be."""
    limits = service.settings.limits
    if service.fanout.count_of(owner) >= limits.streams_per_owner:
        wanted = f"at most {limits.streams_per_owner} of one subscriber"
        msg = "too many streams"
        raise TooManyError(msg, wanted=wanted)
    if service.fanout.count >= limits.streams:
        msg = "too many streams"
        raise TooManyError(msg, wanted=f"at most {limits.streams}")


def cursor_of(text: str | None) -> int | None:
    """Read where a reader was: the last number it has."""
    if text is None or text == "":
        return None
    if text.isascii() and text.isdigit() and len(text) < 20:
        return int(text)
    msg = "cursor is not a number"
    raise MalformedError(msg, got=text, wanted="the number of a delivery")


async def stream(scope: Scope, receive: Receive, send: Send, context: Context) -> None:
    """`GET /v1/stream`: Server-Sent Events, resumed by `Last-Event-ID`, or by `after`."""
    context.principal.needs("subscribe")
    query = parse_qs(scope["query_string"].decode("latin-1"))
    owner = context.principal.owner_for(query.get("owner", [None])[0])
    given = dict(scope["headers"]).get(b"last-event-id", b"").decode("latin-1")
    after = cursor_of(given or query.get("after", [None])[0])
    check_room(context.service, owner)
    sender = EventSender(context.service, owner, send)
    await sender.run(after, receive)


class EventSender:
    """One connection that gets events; ends when the client goes or the service stops."""

    def __init__(self, service: Service, owner: str, send: Send) -> None:
        self._service = service
        self._owner = owner
        self._send = send
        self._tap: Tap | None = None
        self._sent = service.metrics.streamed.labels("sse")
        self._lag = Lag(service.metrics.lag, "sse")

    async def run(self, after: int | None, receive: Receive) -> None:
        """Send until the end."""
        watching = asyncio.create_task(self._watch(receive))
        try:
            await self._start()
            await self._begin(after, is_reset=False)
            while not (watching.done() or self._service.is_stopping):
                await self._step()
            await self._write(b"event: bye\ndata: {}\n\n")
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            watching.cancel()
            if self._tap is not None:
                self._service.fanout.close(self._tap)

    async def _watch(self, receive: Receive) -> None:
        message: Message = {}
        while message.get("type") != "http.disconnect":
            message = await receive()
        if self._tap is not None:
            self._tap.wake()

    async def _start(self) -> None:
        headers = [(b"content-type", b"text/event-stream"), (b"x-accel-buffering", b"no")]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._write(b"retry: 1000\n\n")

    async def _begin(self, after: int | None, *, is_reset: bool) -> None:
        """Go on after a number, or begin with what is held now."""
        if after is not None and after <= self._service.engine.streams.last(self._owner):
            self._tap = self._service.fanout.open(self._owner, after)
            return
        self._tap, lines = await begin(self._service, self._owner)
        if is_reset or after is not None:
            await self._write(b"event: reset\ndata: {}\n\n")
        for line in lines:
            await self._write(b"event: current\ndata: %s\n\n" % line)
        number = self._tap.position
        ready = b'{"type":"ready","number":%d}' % number
        await self._write(b"id: %d\nevent: ready\ndata: %s\n\n" % (number, ready))

    async def _step(self) -> None:
        tap = self._tap
        if tap is None:
            return
        try:
            entries = await tap.take()
        except GoneError:
            self._service.fanout.close(tap)
            await self._begin(None, is_reset=True)
            return
        if entries:
            await self._write(b"".join([b"id: %d\ndata: %s\n\n" % entry for entry in entries]))
            self._sent.inc(len(entries))
            self._lag.note(committed_at(entries[0][1]))
        else:
            await self._write(b":\n\n")

    async def _write(self, body: bytes) -> None:
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

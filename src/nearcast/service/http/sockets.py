"""A subscriber's stream over a WebSocket, with acknowledgements that are durable.

The server sends deliveries as text frames, `WINDOW` of them at most before one is acknowledged. The
client sends ``{"ack": n}``: it has everything up to n. A consumer (`?consumer=name`) that comes
back without `after` goes on after what it acknowledged last.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import msgspec
from sqlalchemy import select
from starlette.websockets import WebSocket, WebSocketDisconnect

from nearcast.errors import NearcastError
from nearcast.service.delivery.current import begin
from nearcast.service.delivery.lag import Lag, committed_at
from nearcast.service.http.deliveries import check_room, cursor_of
from nearcast.service.problems import GoneError, MalformedError, status_of
from nearcast.service.schema import CURSORS

if TYPE_CHECKING:
    from nearcast.service.fanout import Tap
    from nearcast.service.http.context import Context
    from nearcast.service.running import Service

WINDOW = 1_000
MAX_CONSUMER = 64


class Ack(msgspec.Struct, forbid_unknown_fields=True):
    """What a client says."""

    ack: int


async def socket(websocket: WebSocket) -> None:
    """`/v1/socket`: deliveries out, acknowledgements in."""
    context: Context = websocket.scope["nearcast"]
    await websocket.accept()
    try:
        context.principal.needs("subscribe")
        owner = context.principal.owner_for(websocket.query_params.get("owner"))
        check_room(context.service, owner)
        consumer = websocket.query_params.get("consumer", "default")
        if not 0 < len(consumer) <= MAX_CONSUMER or "\x00" in consumer:
            msg = "consumer is not a name"
            raise MalformedError(msg, got=consumer, wanted="1 to 64 characters")
        after = cursor_of(websocket.query_params.get("after"))
        await Conversation(context.service, websocket, owner, consumer).run(after)
    except NearcastError as error:
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            await websocket.close(4000 + status_of(error), str(error)[:120])


def cursor_name(owner: str, consumer: str) -> str:
    """Return the name under which a consumer's position is kept."""
    return f"socket/{owner}/{consumer}"


class Conversation:
    """One socket."""

    def __init__(self, service: Service, websocket: WebSocket, owner: str, consumer: str) -> None:
        self._service = service
        self._socket = websocket
        self._owner = owner
        self._name = cursor_name(owner, consumer)
        self._acked = 0
        self._room = asyncio.Event()
        self._tap: Tap | None = None

    async def run(self, after: int | None) -> None:
        """Talk until one of both ends it."""
        if after is None:
            own = CURSORS.c
            statement = select(own.number).where(own.name == self._name)
            rows = await asyncio.to_thread(self._service.store.rows, statement)
            after = self._service.cursors.get(self._name, rows[0][0] if rows else None)
        listening = asyncio.create_task(self._listen())
        sending = asyncio.create_task(self._talk(after))
        try:
            await asyncio.wait([listening, sending], return_when=asyncio.FIRST_COMPLETED)
            for task in (listening, sending):
                if task.done() and (error := task.exception()):
                    raise error
            if self._service.is_stopping:
                await self._socket.close(1001)
        except (WebSocketDisconnect, ConnectionError):
            pass
        finally:
            for task in (listening, sending):
                task.cancel()
            await asyncio.gather(listening, sending, return_exceptions=True)
            if self._tap is not None:
                self._service.fanout.close(self._tap)

    async def _listen(self) -> None:
        while True:
            text = await self._socket.receive_text()
            try:
                acked = msgspec.json.decode(text, type=Ack).ack
            except msgspec.DecodeError:
                what = "frame is not an acknowledgement"
                raise MalformedError(what, got=text, wanted='{"ack": number}') from None
            most = self._tap.position if self._tap else 0
            if not 0 <= acked <= most:
                msg = "ack is out of range"
                raise MalformedError(msg, got=acked, wanted=f"0 to {most}")
            if acked > self._acked:
                self._acked = acked
                self._service.cursors[self._name] = acked
                self._room.set()

    async def _talk(self, after: int | None) -> None:
        await self._begin(after)
        sent = self._service.metrics.streamed.labels("websocket")
        lag = Lag(self._service.metrics.lag, "websocket")
        while not self._service.is_stopping and self._tap is not None:
            await self._wait_for_room(self._tap)
            try:
                entries = await self._tap.take(limit=WINDOW // 2)
            except GoneError:
                self._service.fanout.close(self._tap)
                await self._socket.send_text('{"type":"reset"}')
                await self._begin(None)
                continue
            for _, body in entries:
                await self._socket.send_text(body.decode())
            sent.inc(len(entries))
            if entries:
                lag.note(committed_at(entries[0][1]))

    async def _begin(self, after: int | None) -> None:
        known = self._service.engine.streams.last(self._owner)
        if after is not None and after <= known:
            self._tap = self._service.fanout.open(self._owner, after)
            self._acked = after
            return
        self._tap, lines = await begin(self._service, self._owner)
        self._acked = self._tap.position
        for line in lines:
            await self._socket.send_text(line.decode())
        await self._socket.send_text(f'{{"type":"ready","number":{self._tap.position}}}')

    async def _wait_for_room(self, tap: Tap) -> None:
        while tap.position - self._acked > WINDOW // 2 and not self._service.is_stopping:
            self._room.clear()
            with contextlib.suppress(asyncio.TimeoutError):  # to see whether the service stops
                await asyncio.wait_for(self._room.wait(), 2)

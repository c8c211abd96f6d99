"""The client for programs with an event loop; as the other one, and everything is awaited."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Any

import httpx

from nearcast.client.calls import (
    ClientError,
    Follower,
    is_temporary,
    read_answer,
    unreachable,
    wait_s,
)
from nearcast.client.connection import Connection

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterable
    from types import TracebackType

    from typing_extensions import Self

    from nearcast.client.calls import Call, Json


class AsyncClient(Connection[httpx.AsyncClient]):
    """As `Client`, for programs with an event loop: everything is awaited."""

    def _connect(self, url: str, headers: dict[str, str], timeout_s: float) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout_s)

    async def close(self) -> None:
        """End all connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        """Return the client itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """End all connections."""
        await self.close()

    async def _send(self, call: Call) -> Any:  # noqa: ANN401 — JSON
        for attempt in count():
            is_last = attempt + 1 >= self._attempts
            try:
                answer = await self._http.request(
                    call.method,
                    call.path,
                    params=call.query,
                    json=call.body,
                    content=call.content,
                    headers=call.headers(),
                )
            except httpx.TransportError as error:
                if is_last:
                    raise unreachable(self._url, error) from error
            else:
                if is_last or not is_temporary(answer.status_code):
                    kind = answer.headers.get("content-type", "")
                    return read_answer(answer.status_code, answer.content, kind)
            await asyncio.sleep(wait_s(attempt))
        raise AssertionError

    # ---- subscriptions ----------------------------------------------------------------------

    async def subscribe(self, id: str, **fields: object) -> Json:
        """Subscribe; `fields` are those of the event format, and `metadata`, `noise`."""
        return dict(await self._send(self._calls.subscribe(id, fields)))

    async def replace(self, id: str, **fields: object) -> Json:
        """Put another definition in the place of the one that is there."""
        return dict(await self._send(self._calls.replace(id, fields)))

    async def move(self, id: str, **fields: object) -> Json:
        """Give a subscription another `area`, or another point `at`."""
        return dict(await self._send(self._calls.move(id, fields)))

    async def unsubscribe(self, id: str) -> Json:
        """End a subscription."""
        return dict(await self._send(self._calls.unsubscribe(id)))

    async def subscription(self, id: str) -> Json:
        """Return the definition as it was said."""
        return dict(await self._send(self._calls.subscription(id)))

    async def results(self, id: str) -> list[Json]:
        """Return what a live or top subscription holds now."""
        return list((await self._send(self._calls.subscription(id, "/results")))["results"])

    async def subscriptions(self, *, bbox: Iterable[float] | None = None) -> AsyncIterator[Json]:
        """Yield all subscriptions, or those that touch a box."""
        box, after = (None if bbox is None else tuple(bbox)), None
        while True:
            page = await self._send(self._calls.subscriptions(after, box))
            for one in page["subscriptions"]:
                yield one
            after = page.get("next")
            if after is None:
                return

    async def subscribe_many(self, some: Iterable[Json]) -> AsyncIterator[Json]:
        """Send many subscriptions; yield the result of each line."""
        async for answer in self._send_lines("/v1/subscriptions", some):
            yield answer

    # ---- messages ---------------------------------------------------------------------------

    async def publish(self, id: str | None, text: str, **fields: object) -> Json:
        """Publish a message; without an id the service makes one."""
        return dict(await self._send(self._calls.publish(id, text, fields)))

    async def publish_many(self, some: Iterable[Json]) -> AsyncIterator[Json]:
        """Send many messages; yield the result of each line."""
        async for answer in self._send_lines("/v1/messages", some):
            yield answer

    async def _send_lines(self, path: str, some: Iterable[Json]) -> AsyncIterator[Json]:
        for before, call in self._bulk_calls(path, some):
            for answer in await self._send(call):
                yield {**answer, "line": before + answer["line"]}

    async def retract(self, id: str) -> Json:
        """Take a message back."""
        return dict(await self._send(self._calls.retract(id)))

    # ---- questions --------------------------------------------------------------------------

    async def match(self, messages: list[Json], *, explain: list[str] | None = None) -> list[Json]:
        """Ask which subscriptions messages would reach; nothing changes."""
        return list((await self._send(self._calls.match(messages, explain)))["matches"])

    async def draft(self, **fields: object) -> Json:
        """Ask how many recent messages a subscription would have had."""
        return dict(await self._send(self._calls.draft(fields)))

    async def stats(self) -> Json:
        """Return sizes of the service."""
        return dict(await self._send(self._calls.stats()))

    # ---- deliveries -------------------------------------------------------------------------

    async def deliveries(self, after: int | None = None) -> AsyncGenerator[Json, None]:
        """Yield deliveries as they come, for ever; a lost connection is made again.

        Parameters
        ----------
        after
            The number of the last delivery that is known. Without it the current set comes first
            (`type` is "current"), then "ready" with its number, then what is new.
        """
        follower = Follower(after)
        attempt = 0
        while True:
            follower.begin()
            try:
                async for delivery in self._connected(follower):
                    attempt = 0
                    yield delivery
            except ClientError as error:
                if not is_temporary(error.status):
                    raise
            except httpx.TransportError:
                pass
            await asyncio.sleep(wait_s(attempt))
            attempt += 1

    async def _connected(self, follower: Follower) -> AsyncIterator[Json]:
        call = self._calls.stream(follower.position)
        timeout = httpx.Timeout(30.0, read=60.0)  # the service says something every 15 seconds
        async with self._http.stream(
            "GET", call.path, params=call.query, timeout=timeout
        ) as answer:
            if answer.status_code >= 400:
                await answer.aread()
                read_answer(answer.status_code, answer.content, "")
            async for line in answer.aiter_lines():
                for delivery in follower.feed(line):
                    yield delivery

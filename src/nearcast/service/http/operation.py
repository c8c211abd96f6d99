"""Is it alive, is it ready, how does it do? And what happens right now, for those who watch."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.responses import Response

from nearcast.service.feed import Watcher
from nearcast.service.http.context import context_of, json_response, query_number
from nearcast.service.metrics import CONTENT_TYPE
from nearcast.service.problems import TooManyError, UnavailableError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from nearcast.service.http.context import Context
    from nearcast.service.running import Service

MOST_WATCHERS = 100


async def healthz(request: Request) -> Response:
    """`GET /healthz`: the process answers."""
    return json_response({"status": "ok", "event": context_of(request).service.engine.last})


async def readyz(request: Request) -> Response:
    """`GET /readyz`: events are taken and written."""
    service = context_of(request).service
    if service.is_stopping or not service.writer.is_ready:
        msg = "service is not ready"
        raise UnavailableError(msg, wanted="a database that can be written")
    return json_response({"status": "ready"})


def _count_requests(service: Service) -> None:
    """Move the gateway's counts into the metrics: a counter per request would cost more."""
    for kind, count in list(service.status_counts.items()):
        service.metrics.requests.labels(f"{kind}xx").inc(count)
        service.status_counts[kind] -= count


async def metrics(request: Request) -> Response:
    """`GET /metrics`: as Prometheus reads them."""
    context = context_of(request)
    context.principal.needs("read")
    service = context.service
    _count_requests(service)
    text = await asyncio.to_thread(service.metrics.text)
    return Response(text, 200, {"content-type": CONTENT_TYPE})


async def history(request: Request) -> Response:
    """`GET /v1/history`: the metrics of the last half hour, those after a moment."""
    context = context_of(request)
    context.principal.needs("read")
    after = query_number(request, "after", 0, 0, 1 << 40)
    _count_requests(context.service)
    return json_response({"samples": context.service.history.after(after)})


async def feed(scope: Scope, receive: Receive, send: Send, context: Context) -> None:
    """`GET /v1/feed`: recent messages and deliveries, as far as the caller may see them."""
    principal, service = context.principal, context.service
    principal.needs("read", "subscribe", "publish")
    query = parse_qs(scope["query_string"].decode("latin-1"))
    asked = query.get("owner", [None])[0]
    owner = asked if principal.sees_all() else principal.owner
    if service.feed.count >= MOST_WATCHERS:
        msg = "too many watch"
        raise TooManyError(msg, wanted=f"at most {MOST_WATCHERS}")
    sees = principal.sees_all() or "publish" in principal.roles
    watcher = Watcher(owner if owner or principal.sees_all() else "", sees_messages=sees)
    headers = [(b"content-type", b"text/event-stream"), (b"x-accel-buffering", b"no")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    service.feed.open(watcher, list(service.engine.recent))
    watching = asyncio.create_task(_gone(receive, watcher))
    try:
        while not (watching.done() or service.is_stopping):
            lines = await watcher.take()
            body = b"".join(b"data: %s\n\n" % line for line in lines) or b":\n\n"
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        watching.cancel()
        service.feed.close(watcher)


async def _gone(receive: Receive, watcher: Watcher) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    watcher.wake()

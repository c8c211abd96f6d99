"""The one list of what can be asked for: path, handler, and how OpenAPI describes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import Response
from starlette.routing import Route, Router, WebSocketRoute

from nearcast.service.http import (
    admin,
    deliveries,
    endpoints,
    messages,
    operation,
    page,
    questions,
    sockets,
    subscriptions,
)
from nearcast.service.http.gateway import Gateway
from nearcast.service.http.openapi import document
from nearcast.service.store import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from nearcast.service.running import Service


@dataclass(frozen=True, slots=True)
class Entry:
    """One operation: `body` and `answers` name schemas; `*` in a body: lines too."""

    method: str
    path: str
    handler: Callable[..., Any]
    answers: dict[int, str]
    body: str | None = None
    query: tuple[str, ...] = ()
    is_bare: bool = False
    is_hot: bool = False
    kind: str = "application/json"


_SUBSCRIPTION = "/v1/subscriptions/{id:path}"
_OWNER = ("owner",)
SSE = "text/event-stream"

ENTRIES: tuple[Entry, ...] = (
    Entry("POST", "/v1/messages", messages.publish, {201: "Done"}, "Message*", is_hot=True),
    Entry("PUT", "/v1/messages/{id:path}", messages.put_message, {201: "Done"}, "Message"),
    Entry("GET", "/v1/messages/{id:path}", messages.get_message, {200: "StoredMessage"}),
    Entry("DELETE", "/v1/messages/{id:path}", messages.retract, {200: "Done"}),
    Entry("POST", "/v1/subscriptions", subscriptions.create, {201: "Done"}, "Subscription*"),
    Entry("GET", "/v1/subscriptions", subscriptions.list_all, {200: "SubscriptionPage"},
          query=("owner", "bbox", "limit", "after")),
    Entry("POST", "/v1/subscriptions/draft", questions.draft, {200: "DraftCount"}, "Subscription"),
    Entry("POST", _SUBSCRIPTION + "/move", subscriptions.move, {200: "Done"}, "Move", _OWNER),
    Entry("GET", _SUBSCRIPTION + "/results", questions.results, {200: "Results"}, query=_OWNER),
    Entry("GET", _SUBSCRIPTION + "/safe-region", page.safe_region, {200: "SafeRegion"},
          query=_OWNER),
    Entry("PUT", _SUBSCRIPTION, subscriptions.replace, {200: "Done"}, "Subscription", _OWNER),
    Entry("GET", _SUBSCRIPTION, subscriptions.read, {200: "StoredSubscription"}, query=_OWNER),
    Entry("DELETE", _SUBSCRIPTION, subscriptions.end, {200: "Done"}, query=_OWNER),
    Entry("POST", "/v1/match", questions.match, {200: "Matches"}, "DryRun"),
    Entry("GET", "/v1/me", page.me, {200: "Me"}),
    Entry("GET", "/v1/stats", questions.stats, {200: "Stats"}),
    Entry("GET", "/v1/deliveries", deliveries.pull, {200: "Deliveries"},
          query=("owner", "after", "limit", "wait")),
    Entry("GET", "/v1/stream", deliveries.stream, {200: "Delivery"}, query=("owner", "after"),
          is_bare=True, kind=SSE),
    Entry("GET", "/v1/feed", operation.feed, {200: "Delivery"}, query=_OWNER,
          is_bare=True, kind=SSE),
    Entry("POST", "/v1/endpoints", endpoints.create, {201: "Endpoint"}, "EndpointBody", _OWNER),
    Entry("GET", "/v1/endpoints", endpoints.list_all, {200: "Endpoints"}, query=_OWNER),
    Entry("GET", "/v1/endpoints/{id}", endpoints.read, {200: "Endpoint"}, query=_OWNER),
    Entry("PATCH", "/v1/endpoints/{id}", endpoints.change, {200: "Endpoint"}, "EndpointBody",
          _OWNER),
    Entry("DELETE", "/v1/endpoints/{id}", endpoints.remove, {200: "Endpoint"}, query=_OWNER),
    Entry("GET", "/v1/endpoints/{id}/dead-letters", endpoints.dead_letters, {200: "DeadLetters"},
          query=("owner", "after", "limit")),
    Entry("POST", "/v1/endpoints/{id}/dead-letters/replay", endpoints.replay, {200: "Replayed"},
          query=_OWNER),
    Entry("POST", "/v1/keys", admin.create, {201: "Key"}, "KeyBody"),
    Entry("GET", "/v1/keys", admin.list_all, {200: "Keys"}),
    Entry("DELETE", "/v1/keys/{id}", admin.remove, {200: "Key"}),
    Entry("GET", "/v1/history", operation.history, {200: "History"}, query=("after",)),
    Entry("GET", "/metrics", operation.metrics, {200: "Text"}, kind="text/plain"),
    Entry("GET", "/healthz", operation.healthz, {200: "Status"}),
    Entry("GET", "/readyz", operation.readyz, {200: "Status"}),
)  # fmt: skip


async def openapi(_: Request) -> Response:
    """`GET /openapi.json`: this list, for programs."""
    return Response(encode(document(ENTRIES)), 200, None, "application/json")


def make_app(service: Service) -> Gateway:
    """Return the ASGI application of a service."""
    routes: list[Any] = [
        Route(entry.path, entry.handler, methods=[entry.method])
        for entry in ENTRIES
        if not (entry.is_bare or entry.is_hot)
    ]
    routes.append(Route("/openapi.json", openapi, methods=["GET"]))
    routes += page.routes()
    routes.append(WebSocketRoute("/v1/socket", sockets.socket))
    bare = {(entry.method, entry.path): entry.handler for entry in ENTRIES if entry.is_bare}
    hot = {(entry.method, entry.path): entry.handler for entry in ENTRIES if entry.is_hot}
    return Gateway(service, hot, bare, Router(routes, redirect_slashes=False))

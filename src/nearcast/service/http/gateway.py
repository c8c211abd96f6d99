"""What happens to every request, before and after its handler? Bare ASGI, for the sake of time.

It gets an id, is counted and logged; who asks is found out; an error becomes problem details; the
answer gets the headers that keep browsers from doing more than they should. Publishing and streams
are handled without Starlette, whose objects would cost more than the hub.
"""

from __future__ import annotations

import logging
import os
import time
from itertools import count
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from nearcast.errors import InternalError, NearcastError
from nearcast.service.http.context import Context
from nearcast.service.keys import ANYBODY
from nearcast.service.problems import (
    PROBLEM_TYPE,
    ForbiddenError,
    MalformedError,
    NotAllowedError,
    NotFoundError,
    ServiceError,
    problem_bytes,
    status_of,
)
from nearcast.service.store import StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from nearcast.service.running import Service

    BareHandler = Callable[[Scope, Receive, Send, Context], Awaitable[None]]
    AnsweringHandler = Callable[[Scope, Receive, Context], Awaitable[tuple[int, bytes, bytes]]]
    Headers = list[tuple[bytes, bytes]]

log = logging.getLogger("nearcast.http")

OPEN_PATHS = frozenset({"/healthz", "/readyz", "/openapi.json"})
SLOW_S = 1.0
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
]
_STRICT = [
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
]


_FEW = [(b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store")]
"""Of answers on hot paths, which no browser shows: each header takes the server microseconds."""


class Gateway:
    """The ASGI application.

    Parameters
    ----------
    service
        What handlers work with.
    answering
        Handlers of hot paths, by method and path, that give status, body and content type.
    bare
        Handlers that send by themselves.
    others
        Everything else.
    """

    def __init__(
        self,
        service: Service,
        answering: dict[tuple[str, str], AnsweringHandler],
        bare: dict[tuple[str, str], BareHandler],
        others: ASGIApp,
    ) -> None:
        self.service = service
        self._answering = answering
        self._bare = bare
        self._others = others
        self._bare_paths = {path for _, path in [*bare, *answering]}
        self._prefix = os.urandom(4).hex()
        self._count = count(1)
        self._headers = list(_HEADERS)
        if service.settings.tls.certificate:
            self._headers.append((b"strict-transport-security", b"max-age=31536000"))
        self._strict = [*self._headers, *_STRICT]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            hot = self._answering.get((scope["method"], scope["path"]))
            if hot is not None:
                await self._answer(hot, scope, receive, send)
            else:
                await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        names = _named_headers(scope["headers"])
        request_id = self._request_id(names)
        headers = self._strict if scope["path"].startswith("/v1/") else self._headers
        headers = [*headers, (b"x-request-id", request_id.encode())]
        status = await self._others_answer(scope, receive, send, (names, request_id), headers)
        self._note(scope, status, time.perf_counter() - started, request_id)

    def _request_id(self, names: dict[bytes, bytes]) -> str:
        given = _clean_id(names[b"x-request-id"]) if b"x-request-id" in names else None
        return given or f"{self._prefix}-{next(self._count)}"

    async def _answer(
        self, handler: AnsweringHandler, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer as hot paths do: all that is needed and nothing more, in one place."""
        started = time.perf_counter()
        names = _named_headers(scope["headers"])
        request_id = self._request_id(names)
        headers = [*_FEW, (b"x-request-id", request_id.encode())]
        try:
            context = self._context(scope, names, request_id)
            status, body, kind = await handler(scope, receive, context)
        except Exception as error:
            told = _told(error, request_id)
            status = status_of(told)
            await send_problem(send, told, request_id, headers)
        else:
            headers += ((b"content-type", kind), (b"content-length", b"%d" % len(body)))
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": body})
        self._note(scope, status, time.perf_counter() - started, request_id)

    async def _others_answer(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        known: tuple[dict[bytes, bytes], str],
        headers: Headers,
    ) -> int:
        """Let a stream or Starlette answer, and add our headers."""
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *headers]
            await send(message)

        try:
            scope["nearcast"] = context = self._context(scope, *known)
            scope["app"] = self  # so that the router raises what it does not know
            handler = self._bare.get((scope["method"], scope["path"]))
            if handler is not None:
                await handler(scope, receive, sending, context)
            else:
                if scope["path"] in self._bare_paths:
                    _refuse_method(scope)
                await self._others(scope, receive, sending)
        except Exception as error:
            told = _told(error, known[1])
            if not status:  # if it has begun, nothing can be taken back
                await send_problem(sending, told, known[1], [])
        return status

    def _context(self, scope: Scope, names: dict[bytes, bytes], request_id: str) -> Context:
        path = scope["path"]
        keys = self.service.keys
        if not keys.are_needed or path in OPEN_PATHS or not path.startswith(("/v1/", "/metrics")):
            principal = ANYBODY
        else:
            principal = keys.recognise(_token(names.get(b"authorization"), scope))
        if b"origin" in names:
            _check_origin(names)
        key = names.get(b"idempotency-key")
        said = None if key is None else key.decode("latin-1")
        return Context(self.service, principal, request_id, said, names.get(b"content-type", b""))

    def _note(self, scope: Scope, status: int, seconds: float, request_id: str) -> None:
        self.service.status_counts[status // 100] += 1
        level = logging.DEBUG
        if status >= 500 or status == 0:
            level = logging.WARNING
        elif status >= 400 or seconds > SLOW_S:
            level = logging.INFO
        if log.isEnabledFor(level):
            fields = {"method": scope["method"], "path": scope["path"], "status": status}
            fields |= {"seconds": round(seconds, 4), "request_id": request_id}
            log.log(level, "request", extra={"fields": fields})

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        names = _named_headers(scope["headers"])
        request_id = f"{self._prefix}-{next(self._count)}"
        try:
            if b"origin" in names:
                _check_origin(names)
            token = _token(names.get(b"authorization"), scope)
            principal = self.service.keys.recognise(token)
            scope["nearcast"] = Context(self.service, principal, request_id, None)
            scope["app"] = self
            await self._others(scope, receive, send)
        except NearcastError as error:
            log.info("socket refused: %s", error)
            await receive()
            await send({"type": "websocket.close", "code": 4000 + status_of(error)})


def _refuse_method(scope: Scope) -> None:
    what = f"method {scope['method']} is not there"
    error = NotAllowedError(what, got=scope["path"], wanted="another", hint="see /openapi.json")
    error.headers = {"allow": "POST" if "messages" in scope["path"] else "GET"}
    raise error


_NAMED = frozenset(
    {
        b"authorization",
        b"content-type",
        b"host",
        b"idempotency-key",
        b"origin",
        b"x-request-id",
    }
)


def _named_headers(headers: list[tuple[bytes, bytes]]) -> dict[bytes, bytes]:
    return {name: value for name, value in headers if name in _NAMED}


def _check_origin(names: dict[bytes, bytes]) -> None:
    """Refuse what a page of another site asks for: a browser may be nearer to us than its user."""
    host = names[b"origin"].rpartition(b"//")[2]
    if host != names.get(b"host"):
        what = "page of another site"
        got = names[b"origin"].decode("latin-1")
        raise ForbiddenError(what, got=got, wanted="a page that this service serves")


def _clean_id(given: bytes) -> str | None:
    """Return a request id of the client's, if it can stand in a log and in a header."""
    if not 0 < len(given) <= 64:
        return None
    text = given.decode("latin-1")
    return text if text.isascii() and text.replace("-", "").replace("_", "").isalnum() else None


def _token(header: bytes | None, scope: Scope) -> str | None:
    """Return the key: a bearer token, or `?key=` where a browser cannot send headers."""
    if header is not None:
        scheme, _, token = header.decode("latin-1").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else None
    is_stream = scope["type"] == "websocket" or scope["path"] in ("/v1/stream", "/v1/feed")
    query = scope["query_string"]
    if is_stream and b"key=" in query:
        from urllib.parse import parse_qs

        found = parse_qs(query.decode("latin-1")).get("key")
        return found[0] if found else None
    return None


def _told(error: Exception, request_id: str) -> NearcastError:
    """Return what the client is told about an error. What is our fault is logged, not shown."""
    if isinstance(error, StoreError):
        log.error("database: %s", error, extra={"fields": {"request_id": request_id}})
        from nearcast.service.problems import UnavailableError

        return UnavailableError("database cannot be read now", hint="try again")
    if isinstance(error, InternalError) or not isinstance(error, (NearcastError, HTTPException)):
        log.error("failed", exc_info=error, extra={"fields": {"request_id": request_id}})
        return InternalError("the service failed", hint=f"it logged why, as request {request_id}")
    if isinstance(error, HTTPException):
        kinds: dict[int, type[ServiceError]] = {404: NotFoundError, 405: NotAllowedError}
        kind = kinds.get(error.status_code, MalformedError)
        told = kind(str(error.detail).lower(), hint="see /openapi.json")
        told.headers = dict(error.headers or {})
        return told
    return error


async def send_problem(send: Send, error: NearcastError, request_id: str, more: Headers) -> None:
    """Answer with problem details."""
    body = problem_bytes(error, request_id)
    headers = [*more, (b"content-type", PROBLEM_TYPE.encode())]
    if status_of(error) == 401:
        headers.append((b"www-authenticate", b'Bearer realm="nearcast"'))
    if isinstance(error, ServiceError):
        headers += [(k.lower().encode(), v.encode()) for k, v in error.headers.items()]
    if status_of(error) == 503:
        headers.append((b"retry-after", b"1"))
    headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": status_of(error), "headers": headers})
    await send({"type": "http.response.body", "body": body})

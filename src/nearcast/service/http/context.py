"""What does a handler know about the request that it answers?"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from starlette.responses import Response

from nearcast.service.jobs import AnswerKey, Job, Reply
from nearcast.service.problems import (
    PROBLEM_TYPE,
    MalformedError,
    TooLargeError,
)
from nearcast.service.store import encode

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope

    from nearcast.service.keys import Principal
    from nearcast.service.running import Service

MAX_KEY = 255
JSON = "application/json"


class Context:
    """One request: the service, who asks, and under which id it stands in the logs."""

    __slots__ = ("idempotency_key", "kind", "principal", "request_id", "service")

    def __init__(
        self,
        service: Service,
        principal: Principal,
        request_id: str,
        idempotency_key: str | None,
        kind: bytes = b"",
    ) -> None:
        if idempotency_key is not None and not 0 < len(idempotency_key) <= MAX_KEY:
            what, wanted = "idempotency key is empty or too long", f"1 to {MAX_KEY} characters"
            raise MalformedError(what, got=idempotency_key, wanted=wanted)
        self.service = service
        self.principal = principal
        self.request_id = request_id
        self.idempotency_key = idempotency_key
        self.kind = kind
        """What the header of the body's type says."""

    @property
    def content_type(self) -> str:
        """The type of the body, without parameters; "" if none is given."""
        return str(self.kind.split(b";", 1)[0].strip().lower().decode("latin-1"))

    async def run(self, job: Job, scope: Scope, body: bytes, step: int = 0) -> Reply:
        """Do a job once: under an idempotency key that was seen, its answer is given again."""
        if self.idempotency_key is None:
            return await self.service.writer.submit(job)
        fingerprint = fingerprint_of(scope, body)
        key = AnswerKey(self.principal.id, self.idempotency_key, step, fingerprint)
        job.answer = key
        return await self.service.answers.once(key, lambda: self.service.writer.submit(job))


def fingerprint_of(scope: Scope, body: bytes) -> str:
    """Return what tells two requests apart."""
    digest = hashlib.blake2b(digest_size=16)
    for part in (scope["method"].encode(), scope["path"].encode(), scope["query_string"], body):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def context_of(request: Request) -> Context:
    """Return what the gateway has noted about a request."""
    found: Context = request.scope["nearcast"]
    return found


def reply_response(reply: Reply, headers: dict[str, str] | None = None) -> Response:
    """Return an answer of the writer as a response."""
    kind = PROBLEM_TYPE if reply.status >= 400 else JSON
    return Response(reply.body, reply.status, headers, kind)


def json_response(value: object, status: int = 200) -> Response:
    """Return a value as JSON."""
    return Response(encode(value), status, None, JSON)


async def read_body(receive: Receive, most: int) -> bytes:
    """Return the body of a request, if it is not too large."""
    message = await receive()
    body: bytes = message.get("body", b"")
    if not message.get("more_body"):
        if len(body) > most:
            raise _too_large(most)
        return body
    parts, size = [body], len(body)
    while message.get("more_body"):
        if size > most:
            raise _too_large(most)
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        parts.append(message.get("body", b""))
        size += len(parts[-1])
    if size > most:
        raise _too_large(most)
    return b"".join(parts)


def _too_large(most: int) -> TooLargeError:
    return TooLargeError("body is too large", wanted=f"at most {most} bytes")


def query_number(request: Request, name: str, default: int, low: int, high: int) -> int:
    """Return a whole number of the query."""
    text = request.query_params.get(name)
    if text is None:
        return default
    wanted = f"a whole number from {low} to {high}"
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        msg = f"{name} is not a number"
        raise MalformedError(msg, got=text, wanted=wanted, field=name)
    if not low <= int(text) <= high:
        msg = f"{name} is out of range"
        raise MalformedError(msg, got=text, wanted=wanted, field=name)
    return int(text)

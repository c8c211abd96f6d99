"""Webhooks: endpoints of a subscriber, their secrets, and what they could not be given."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec
from sqlalchemy import select

from nearcast.service import wire
from nearcast.service.delivery.webhooks import Failed, Refused
from nearcast.service.http.context import (
    context_of,
    json_response,
    query_number,
    read_body,
    reply_response,
)
from nearcast.service.jobs import Job, Outcome, Reply
from nearcast.service.problems import MalformedError, NotFoundError, TooManyError
from nearcast.service.schema import DEAD_LETTERS, ENDPOINTS
from nearcast.service.store import encode

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from nearcast.service.delivery.webhooks import Endpoint
    from nearcast.service.http.context import Context
    from nearcast.service.store import Records

MOST_LETTERS = 1_000


class EndpointBody(msgspec.Struct, forbid_unknown_fields=True):
    """What a client says about an endpoint."""

    url: str | None = None
    id: str | None = None
    owner: str | None = None
    is_paused: bool = False
    after: int | None = None
    rotate: bool = False


class Row(msgspec.Struct):
    """An endpoint as the database has it."""

    owner: str
    id: str
    url: str
    secrets: str
    is_paused: bool
    number: int
    created: float


def _read(body: bytes) -> EndpointBody:
    try:
        return msgspec.json.decode(body, type=EndpointBody)
    except msgspec.ValidationError as error:
        what = "endpoint is wrong"
        raise MalformedError(what, got=str(error), wanted="url, and maybe id, after") from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return msgspec.convert(wire.decode_object(body), EndpointBody)


def _owner(request: Request, asked: str | None = None) -> str:
    context = context_of(request)
    context.principal.needs("subscribe")
    return context.principal.owner_for(asked or request.query_params.get("owner"))


def _find(request: Request) -> Endpoint:
    owner, id = _owner(request), request.path_params["id"]
    found = context_of(request).service.webhooks.endpoints.get((owner, id))
    if found is None:
        msg = "endpoint is not there"
        raise NotFoundError(msg, got=id, wanted=f"one of {owner!r}")
    return found


async def create(request: Request) -> Response:
    """`POST /v1/endpoints`: a webhook; the answer has its secret, this once."""
    context = context_of(request)
    body = await read_body(request.receive, context.service.settings.limits.body_bytes)
    said = _read(body)
    owner = _owner(request, said.owner)
    webhooks = context.service.webhooks
    webhooks.rule.check_url(said.url or "")
    id = said.id or uuid4().hex
    wire.check_id(id)
    known = [key for key in webhooks.endpoints if key[0] == owner]
    if (owner, id) in webhooks.endpoints:
        msg = "endpoint is there already"
        raise MalformedError(msg, got=id, wanted="a new id", field="id")
    if len(known) >= context.service.settings.limits.endpoints_per_owner:
        msg = "too many endpoints"
        raise TooManyError(msg, got=len(known), wanted="fewer")
    last = context.service.engine.streams.last(owner)
    number = last if said.after is None else min(max(0, said.after), last)
    kept = webhooks.keys.make()
    row = Row(owner, id, said.url or "", encode([kept]).decode(), said.is_paused, number, 0.0)
    secret = webhooks.keys.secret(owner, id, kept)
    reply = await _put(context, request, body, row, 201, secret)
    return reply_response(reply)


async def _put(
    context: Context, request: Request, body: bytes, row: Row, status: int, secret: str | None
) -> Reply:
    """Write an endpoint, and let it be called as it says when that is durable."""

    def note(outcome: Outcome, records: Records) -> None:
        row.created = row.created or outcome.at
        records.put(ENDPOINTS, msgspec.to_builtins(row))

    answer = {"id": row.id, "owner": row.owner, "url": row.url, "is_paused": row.is_paused}
    shown = Reply(status, encode({**answer, "secret": secret} if secret else answer))
    job = Job(
        [], lambda _: shown, note, remembered=lambda reply: Reply(reply.status, encode(answer))
    )
    reply = await context.run(job, request.scope, body)
    if reply is shown:  # and not the memory of an earlier one
        context.service.webhooks.put(row)
    return reply


def _row(endpoint: Endpoint) -> Row:
    secrets = encode(endpoint.kept).decode()
    rest = (endpoint.is_paused, endpoint.position, 0.0)
    return Row(endpoint.owner, endpoint.id, endpoint.url, secrets, *rest)


async def change(request: Request) -> Response:
    """`PATCH /v1/endpoints/{id}`: another address, a pause, or a second secret."""
    context = context_of(request)
    body = await read_body(request.receive, context.service.settings.limits.body_bytes)
    said = _read(body)
    endpoint = _find(request)
    row = _row(endpoint)
    if said.url is not None:
        context.service.webhooks.rule.check_url(said.url)
        row.url = said.url
    row.is_paused = said.is_paused
    secret = None
    if said.rotate:  # the newest two: the one before is valid until the next rotation
        keys = context.service.webhooks.keys
        kept = keys.make()
        row.secrets = encode([kept, *endpoint.kept][:2]).decode()
        secret = keys.secret(endpoint.owner, endpoint.id, kept)
    return reply_response(await _put(context, request, body, row, 200, secret))


async def remove(request: Request) -> Response:
    """`DELETE /v1/endpoints/{id}`: with its dead letters."""
    context = context_of(request)
    endpoint = _find(request)

    def note(_: Outcome, records: Records) -> None:
        records.remove(ENDPOINTS, owner=endpoint.owner, id=endpoint.id)
        records.remove(DEAD_LETTERS, owner=endpoint.owner, endpoint=endpoint.id)

    reply = Reply(200, encode({"id": endpoint.id, "owner": endpoint.owner}))
    answer = await context.run(Job([], lambda _: reply, note), request.scope, b"")
    context.service.webhooks.remove(endpoint.key)
    return reply_response(answer)


def _shown(context: Context, endpoint: Endpoint) -> dict[str, Any]:
    last = context.service.engine.streams.last(endpoint.owner)
    return {
        "id": endpoint.id,
        "owner": endpoint.owner,
        "url": endpoint.url,
        "is_paused": endpoint.is_paused,
        "delivered": endpoint.position,
        "behind": last - endpoint.position,
        "failures": endpoint.failures,
        "last_error": endpoint.last_error,
    }


async def list_all(request: Request) -> Response:
    """`GET /v1/endpoints`: those of one subscriber."""
    context, owner = context_of(request), _owner(request)
    mine = [e for e in context.service.webhooks.endpoints.values() if e.owner == owner]
    return json_response({"endpoints": [_shown(context, endpoint) for endpoint in mine]})


async def read(request: Request) -> Response:
    """`GET /v1/endpoints/{id}`: how far it is, and how it does."""
    return json_response(_shown(context_of(request), _find(request)))


async def dead_letters(request: Request) -> Response:
    """`GET /v1/endpoints/{id}/dead-letters`: the oldest first."""
    context, endpoint = context_of(request), _find(request)
    limit = query_number(request, "limit", 100, 1, MOST_LETTERS)
    after = query_number(request, "after", 0, 0, 1 << 62)
    own = DEAD_LETTERS.c
    statement = select(DEAD_LETTERS).where(own.owner == endpoint.owner, own.number > after)
    statement = statement.where(own.endpoint == endpoint.id).order_by(own.number).limit(limit)
    await context.service.write_soon()
    rows = await asyncio.to_thread(context.service.store.rows, statement)
    letters = [
        {
            "number": row.number,
            "attempts": row.attempts,
            "error": row.error,
            "at": row.at,
            "delivery": msgspec.Raw(row.body),
        }
        for row in rows
    ]
    return json_response({"dead_letters": letters})


async def replay(request: Request) -> Response:
    """`POST /v1/endpoints/{id}/dead-letters/replay`: try them again, the oldest first."""
    context, endpoint = context_of(request), _find(request)
    await context.service.write_soon()
    own = DEAD_LETTERS.c
    statement = select(DEAD_LETTERS).where(own.owner == endpoint.owner)
    statement = statement.where(own.endpoint == endpoint.id).order_by(own.number)
    rows = await asyncio.to_thread(context.service.store.rows, statement.limit(MOST_LETTERS))
    delivered: list[int] = []
    error = None
    for row in rows:
        try:
            await context.service.webhooks.replay(endpoint, row.number, row.body)
            delivered.append(row.number)
        except (Refused, Failed) as failure:
            error = str(failure)
            break

    def note(_: Outcome, records: Records) -> None:
        for number in delivered:
            key = {"owner": endpoint.owner, "endpoint": endpoint.id, "number": number}
            records.remove(DEAD_LETTERS, **key)

    left = len(rows) - len(delivered)
    answer = {"delivered": len(delivered), "left": left, "error": error}
    await context.service.writer.submit(Job([], lambda _: Reply(200, b""), note))
    return json_response(answer)

"""Keys: made, listed, removed. For admins."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec
from sqlalchemy import select

from nearcast.service.http.context import context_of, json_response, read_body, reply_response
from nearcast.service.jobs import Job, Outcome, Reply
from nearcast.service.keys import make_key
from nearcast.service.problems import MalformedError, NotFoundError
from nearcast.service.schema import API_KEYS
from nearcast.service.store import encode

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from nearcast.service.store import Records


class KeyBody(msgspec.Struct, forbid_unknown_fields=True):
    """What a client says about a new key."""

    roles: list[str]
    name: str = ""
    owner: str | None = None
    expires: float | None = None


async def create(request: Request) -> Response:
    """`POST /v1/keys`: a new key; the answer has it, this once."""
    context = context_of(request)
    context.principal.needs("admin")
    body = await read_body(request.receive, context.service.settings.limits.body_bytes)
    try:
        said = msgspec.json.decode(body, type=KeyBody)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        what, wanted = "key is wrong", "roles, and maybe name, owner, expires"
        raise MalformedError(what, got=str(error), wanted=wanted) from None
    if "\x00" in said.name or len(said.name) > 200:
        msg = "name is wrong"
        raise MalformedError(msg, got=said.name, wanted="at most 200 characters")
    now = context.service.engine.clock.now()
    token, made = make_key(said.name, said.roles, said.owner, said.expires, now)
    id = token.split("_")[1]

    def note(_: Outcome, records: Records) -> None:
        for rows in made.rows.values():
            for row in rows:
                records.put(API_KEYS, row)

    answer = {"id": id, "name": said.name, "roles": said.roles, "owner": said.owner}
    shown = Reply(201, encode({**answer, "key": token}))
    job = Job([], lambda _: shown, note, remembered=lambda r: Reply(r.status, encode(answer)))
    reply = await context.run(job, request.scope, body)
    await asyncio.to_thread(context.service.keys.load, context.service.store)
    return reply_response(reply)


async def list_all(request: Request) -> Response:
    """`GET /v1/keys`: without what is secret about them."""
    context = context_of(request)
    context.principal.needs("admin")
    rows = await asyncio.to_thread(context.service.store.rows, select(API_KEYS))
    keys = [
        {
            "id": row.id,
            "name": row.name,
            "roles": row.roles.split(","),
            "owner": row.owner,
            "created": row.created,
            "expires": row.expires,
        }
        for row in rows
    ]
    return json_response({"keys": keys})


async def remove(request: Request) -> Response:
    """`DELETE /v1/keys/{id}`: it is refused from now on."""
    context = context_of(request)
    context.principal.needs("admin")
    id = request.path_params["id"]
    statement = select(API_KEYS.c.id).where(API_KEYS.c.id == id)
    if "\x00" in id or not await asyncio.to_thread(context.service.store.rows, statement):
        msg = "key is not there"
        raise NotFoundError(msg, got=id, wanted="the id of a key")

    def note(_: Outcome, records: Records) -> None:
        records.remove(API_KEYS, id=id)

    reply = Reply(200, encode({"id": id}))
    answer = await context.run(Job([], lambda _: reply, note), request.scope, b"")
    await asyncio.to_thread(context.service.keys.load, context.service.store)
    return reply_response(answer)

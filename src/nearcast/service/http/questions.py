"""Questions that change nothing: what would match, why, what is held, what a draft would get."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from sqlalchemy import select

from nearcast.errors import InvalidMessageError, InvalidParameterError, NearcastError
from nearcast.hub import Hub
from nearcast.model import Window
from nearcast.service import wire
from nearcast.service.batches import hub_id, split_id
from nearcast.service.http.context import context_of, json_response, read_body
from nearcast.service.http.subscriptions import find
from nearcast.service.problems import MalformedError, TooLargeError, problem
from nearcast.service.schema import MESSAGES
from nearcast.text import Analyzer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from nearcast.service.http.context import Context
    from nearcast.service.jobs import Fields

MOST_MATCHED = 1_000
"""Messages of one dry run."""
_DRY_RUN = ("messages", "explain", "owner")


async def match(request: Request) -> Response:
    """`POST /v1/match`: which subscriptions would these messages reach? Nothing changes."""
    context = context_of(request)
    context.principal.needs("subscribe", "read")
    body = await read_body(request.receive, context.service.settings.limits.body_bytes)
    said = wire.decode_object(body)
    messages = said.get("messages")
    unknown = [name for name in said if name not in _DRY_RUN]
    if not isinstance(messages, list) or unknown:
        what = f"unknown field {unknown[0]!r}" if unknown else "messages is not a list"
        raise MalformedError(what, got=messages, wanted="messages, and maybe explain and owner")
    if len(messages) > MOST_MATCHED:
        msg = "too many messages"
        raise TooLargeError(msg, got=len(messages), wanted=f"at most {MOST_MATCHED}")
    owner = _seen(context, said.get("owner"))
    explained = _explained(said.get("explain"))
    answers = await asyncio.to_thread(_dry_run, context, messages, owner, explained)
    return json_response({"matches": answers})


def _seen(context: Context, asked: object) -> str | None:
    """Return whose subscriptions are looked at; None: all."""
    if asked is not None and not isinstance(asked, str):
        msg = "owner is not a name"
        raise MalformedError(msg, got=asked, wanted="a name", field="owner")
    if context.principal.sees_all():
        return asked
    return context.principal.owner_for(asked)


def _explained(value: object) -> list[str] | Literal[True] | None:
    if value is None or isinstance(value, bool):
        return value or None
    if isinstance(value, list) and len(value) <= 100 and all(isinstance(x, str) for x in value):
        return value
    wanted = "true, or a list of at most 100 ids"
    msg = "explain is wrong"
    raise MalformedError(msg, got=value, wanted=wanted, field="explain")


def _dry_run(
    context: Context,
    messages: list[Any],
    owner: str | None,
    explained: list[str] | Literal[True] | None,
) -> list[dict[str, Any]]:
    hub = context.service.engine.hub
    answers = []
    for message in messages:
        try:
            fields = _message(message)
            names = hub.match(**fields)
            mine = [name for name in names if owner is None or split_id(name)[0] == owner]
            answer: dict[str, Any] = {"subscriptions": [_shown(name) for name in mine]}
            if explained:
                wanted = mine[:100] if explained is True else _names(explained, owner)
                answer["explain"] = [_why(hub, name, fields) for name in wanted]
        except NearcastError as error:
            answer = {"problem": problem(error)}
        answers.append(answer)
    return answers


def _shown(name: str) -> dict[str, str]:
    owner, id = split_id(name)
    return {"owner": owner, "id": id}


def _names(ids: Sequence[str], owner: str | None) -> list[str]:
    return [id if owner is None and "/" in id else hub_id(owner or "default", id) for id in ids]


def _message(message: object) -> Fields:
    if not isinstance(message, dict):
        msg = "message is not an object"
        raise InvalidMessageError(msg, got=message, wanted="an object")
    fields = {k: v for k, v in message.items() if k not in ("op", "id", "time", "expires")}
    known = {"text", "at", "bbox", "attributes"}
    if unknown := [name for name in fields if name not in known]:
        what = f"unknown field {unknown[0]!r}"
        raise InvalidMessageError(what, wanted=", ".join(sorted(known)), field=str(unknown[0]))
    text = fields.pop("text", None)
    if not isinstance(text, str):
        msg = "text is not a string"
        raise InvalidMessageError(msg, got=text, wanted="a string", field="text")
    return {"message": text, **fields}


def _why(hub: Hub, name: str, fields: Fields) -> dict[str, Any]:
    rest = {key: value for key, value in fields.items() if key != "message"}
    try:
        explanation = hub.explain(name, fields["message"], **rest)
    except NearcastError as error:
        return {**_shown(name), "problem": problem(wire.with_own_ids(error, name))}
    return {**_shown(name), "matches": explanation.matches, "why": str(explanation)}


async def results(request: Request) -> Response:
    """`GET /v1/subscriptions/{id}/results`: what a live or top subscription holds now."""
    context = context_of(request)
    row = await find(request)
    if not row.is_live and row.mode != "top":
        what = f"subscription {row.id!r} holds nothing"
        hint = "subscribe with live, or in mode top"
        raise InvalidParameterError(what, wanted="a live or a top subscription", hint=hint)
    held = context.service.engine.hub.results(hub_id(row.owner, row.id))
    return json_response({"results": await with_bodies(context, held)})


async def with_bodies(
    context: Context, held: Sequence[tuple[str, float | None]]
) -> list[dict[str, Any]]:
    """Return messages with their scores, and as they were published."""
    ids = [message for message, _ in held]
    bodies: dict[str, bytes] = {}
    for start in range(0, len(ids), 500):
        some = MESSAGES.c.id.in_(ids[start : start + 500])
        statement = select(MESSAGES.c.id, MESSAGES.c.body).where(some)
        bodies.update(
            (id, body)
            for id, body in await asyncio.to_thread(context.service.store.rows, statement)
        )
    answers = []
    for message, score in held:
        answer: dict[str, Any] = {"message": message}
        if score is not None:
            answer["score"] = score
        if message in bodies:
            answer["published"] = msgspec.Raw(bodies[message])
        answers.append(answer)
    return answers


async def draft(request: Request) -> Response:
    """`POST /v1/subscriptions/draft`: how many recent messages would have matched?"""
    context = context_of(request)
    context.principal.needs("subscribe", "read")
    body = await read_body(request.receive, context.service.settings.limits.body_bytes)
    said = {**wire.decode_object(body), "id": "draft"}
    said.pop("owner", None)
    limits = context.service.settings.limits
    subscription = wire.Subscription(said, "draft", limits)
    recent = list(context.service.engine.recent)
    answer = await asyncio.to_thread(_count, context, subscription.fields, recent)
    return json_response(answer)


def _count(context: Context, fields: Fields, lines: list[bytes]) -> dict[str, Any]:
    """Try a draft in a hub of its own, with the recent messages."""
    recent = [msgspec.json.decode(line) for line in lines]
    settings = context.service.settings.hub
    hub = Hub(
        index="brute-force",
        window=Window(count=max(1, len(recent))) if fields.get("mode") == "top" else None,
        space=settings.space,
        analyzer=Analyzer(**settings.analyzer),
    )
    plain = {name: value for name, value in fields.items() if name not in ("time", "expires")}
    hub.apply([plain])
    messages = [
        {k: v for k, v in {**one, "id": str(i)}.items() if k not in ("time", "expires", "replace")}
        for i, one in enumerate(recent)
    ]
    changes = hub.apply(messages)
    rows = zip(changes["change"].to_pylist(), changes["message"].to_pylist(), strict=True)
    places = sorted({int(id) for change, id in rows if change == "added"})
    shown = [recent[place] for place in places[-20:]][::-1]
    since = recent[0].get("time") if recent else None
    return {"matched": len(places), "of": len(recent), "since": since, "newest": shown}


async def stats(request: Request) -> Response:
    """`GET /v1/stats`: sizes."""
    context = context_of(request)
    context.principal.needs("read")
    service = context.service
    engine = service.engine
    return json_response(
        {
            "subscriptions": len(engine.hub),
            "event": engine.last,
            "clock": engine.hub.clock,
            "subscribers": len(engine.streams.numbers),
            "streams": service.fanout.count,
            "waiting_events": service.writer.waiting_events,
            "database_bytes": await asyncio.to_thread(service.store.size_bytes),
            "hub": engine.hub.stats(),
        }
    )

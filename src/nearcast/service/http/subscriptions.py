"""Subscriptions: made, replaced, read, listed, moved, ended, one by one or many at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import or_, select, tuple_

from nearcast.errors import NearcastError
from nearcast.service import noise as noises
from nearcast.service import wire
from nearcast.service.batches import hub_id
from nearcast.service.http.context import (
    context_of,
    json_response,
    query_number,
    read_body,
    reply_response,
)
from nearcast.service.http.messages import NDJSON, split_lines, wrong_type
from nearcast.service.jobs import Job, Outcome, Reply, refusal
from nearcast.service.places import Box, box_of, cell_of, overlaps
from nearcast.service.problems import MalformedError, NotFoundError, TooLargeError
from nearcast.service.schema import SUBSCRIPTIONS
from nearcast.service.store import encode

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from nearcast.service.engine import Engine
    from nearcast.service.http.context import Context
    from nearcast.service.jobs import Fields
    from nearcast.service.store import Records

MOST_LISTED = 1_000
STEP_LINES = 250
"""Lines of a bulk that are one step: a subscription takes many times as long as a message."""


class Change:
    """One event about one subscription: what to apply, what to write, what to answer."""

    def __init__(self, engine: Engine, owner: str, id: str, event: Fields, *, done: int) -> None:
        self.engine, self.owner, self.id, self.event, self.done = engine, owner, id, event, done
        self.said: wire.Subscription | None = None

    def note(self, outcome: Outcome, place: int, records: Records) -> None:
        """Write what belongs to an event that happened."""
        if outcome.error(place) is not None:
            return
        op, listeners = self.event["op"], self.engine.listeners
        if op == "unsubscribe":
            if listeners.remove(self.owner, self.id):
                noises.forget_noise(records, self.owner, self.id)
            records.remove(SUBSCRIPTIONS, owner=self.owner, id=self.id)
        elif op == "move":
            records.removals.append(_moved(self.owner, self.id, self.event, outcome.at))
        elif self.said is not None:
            if listeners.get(self.owner, self.id) and self.said.noise is None:
                noises.forget_noise(records, self.owner, self.id)
            listeners.set(self.owner, self.id, self.said.noise)
            listener = listeners.get(self.owner, self.id)
            if listener is not None:
                noises.note_state(records, self.owner, self.id, listener)
            records.put(SUBSCRIPTIONS, self.said.row(outcome.first + place, outcome.at))

    def answer(self, outcome: Outcome, place: int = 0) -> Reply:
        """Return what the client gets."""
        error = outcome.error(place)
        if error is not None:
            return refusal(wire.with_own_ids(error, self.event.get("id")))
        answer = {"id": self.id, "owner": self.owner, "event": outcome.first + place}
        return Reply(self.done, encode({**answer, "changes": outcome.changes(place)}))

    def job(self) -> Job:
        """Return it as a job of its own."""
        return Job([self.event], self.answer, lambda o, records: self.note(o, 0, records))


def _moved(owner: str, id: str, event: Fields, at: float) -> Any:  # noqa: ANN401
    """Return the statement that notes where a subscription has gone; the rest stays as it was."""
    place = {name: event[name] for name in ("area", "at") if name in event}
    box = box_of(next(iter(place.values()), None))
    own = SUBSCRIPTIONS.c
    values = {"moved": encode(place), "cell": cell_of(box), "changed": at}
    if box is not None:
        values |= {"west": box.west, "south": box.south, "east": box.east, "north": box.north}
    statement = SUBSCRIPTIONS.update().where(own.owner == owner, own.id == id)
    return statement.values(**values)


def _subscribing(
    context: Context, body: dict[str, Any], id: str | None = None, *, replaces: bool = False
) -> Change:
    owner = context.principal.owner_for(body.get("owner"))
    said = wire.Subscription(body, owner, context.service.settings.limits, id=id)
    engine = context.service.engine
    if replaces:
        said.fields["replace"] = True
    engine.check_time(said.fields)
    change = Change(engine, owner, said.id, said.fields, done=200 if replaces else 201)
    change.said = said
    return change


async def create(request: Request) -> Response:
    """`POST /v1/subscriptions`: one as JSON, or many lines."""
    context = context_of(request)
    context.principal.needs("subscribe")
    limits = context.service.settings.limits
    kind = context.content_type
    if kind == NDJSON:
        body = await read_body(request.receive, limits.bulk_bytes)
        return await _bulk(request, context, body)
    if kind not in ("application/json", ""):
        raise wrong_type(kind)
    body = await read_body(request.receive, limits.body_bytes)
    change = _subscribing(context, wire.decode_object(body))
    return reply_response(await context.run(change.job(), request.scope, body))


async def replace(request: Request) -> Response:
    """`PUT /v1/subscriptions/{id}`: another definition in one step, or a new subscription."""
    context = context_of(request)
    context.principal.needs("subscribe")
    body = await read_body(request.receive, context.service.settings.limits.body_bytes)
    said = wire.decode_object(body)
    said.setdefault("owner", request.query_params.get("owner"))
    change = _subscribing(context, said, request.path_params["id"], replaces=True)
    return reply_response(await context.run(change.job(), request.scope, body))


def _named(request: Request, op: str, fields: dict[str, Any]) -> Change:
    context = context_of(request)
    context.principal.needs("subscribe")
    owner = context.principal.owner_for(request.query_params.get("owner"))
    return _about(context, owner, request.path_params["id"], op, fields)


def _about(context: Context, owner: str, id: object, op: str, fields: dict[str, Any]) -> Change:
    wire.check_id(id)
    wire.check_sizes(fields, context.service.settings.limits)
    rest = {name: value for name, value in fields.items() if name not in ("op", "id", "owner")}
    event = {"op": op, "id": hub_id(owner, id) if isinstance(id, str) and id else id, **rest}
    context.service.engine.check_time(event)
    return Change(context.service.engine, owner, str(id), event, done=200)


async def move(request: Request) -> Response:
    """`POST /v1/subscriptions/{id}/move`: another area, or another point."""
    context = context_of(request)
    body = await read_body(request.receive, context.service.settings.limits.body_bytes)
    change = _named(request, "move", wire.decode_object(body))
    return reply_response(await context.run(change.job(), request.scope, body))


async def end(request: Request) -> Response:
    """`DELETE /v1/subscriptions/{id}`: end it; nothing is delivered."""
    change = _named(request, "unsubscribe", {})
    return reply_response(await context_of(request).run(change.job(), request.scope, b""))


# ---- many ------------------------------------------------------------------------------------


async def _bulk(request: Request, context: Context, body: bytes) -> Response:
    """Do what lines say, in steps; the answer has a line for each line."""
    lines = split_lines(body, context)
    bodies = []
    for step, start in enumerate(range(0, len(lines), STEP_LINES)):
        job = _bulk_job(lines[start : start + STEP_LINES], start + 1, context)
        bodies.append((await context.run(job, request.scope, body, step)).body)
        await asyncio.sleep(0)
    response = reply_response(Reply(200, b"".join(bodies)))
    response.headers["content-type"] = NDJSON
    return response


def _change_of(line: bytes, context: Context) -> Change:
    most = context.service.settings.limits.line_bytes
    if len(line) > most:
        msg = "line is too long"
        raise TooLargeError(msg, got=len(line), wanted=f"at most {most} bytes")
    fields = wire.decode_object(line, "line")
    op = wire.subscription_op(fields)
    if op == "subscribe":
        return _subscribing(context, fields)
    owner = context.principal.owner_for(fields.get("owner"))
    return _about(context, owner, fields.get("id"), op, fields)


def _bulk_job(lines: list[bytes], first_line: int, context: Context) -> Job:
    changes: list[tuple[int, Change]] = []
    refused: list[tuple[int, Reply]] = []
    for number, line in enumerate(lines, first_line):
        if not line.strip():
            continue
        try:
            changes.append((number, _change_of(line, context)))
        except NearcastError as error:
            refused.append((number, refusal(error)))

    def note(outcome: Outcome, records: Records) -> None:
        for place, (_, change) in enumerate(changes):
            change.note(outcome, place, records)

    def reply(outcome: Outcome) -> Reply:
        done = [(line, change.answer(outcome, at)) for at, (line, change) in enumerate(changes)]
        return Reply(200, b"".join(_line(*pair) for pair in sorted(done + refused)))

    return Job([change.event for _, change in changes], reply, note)


def _line(number: int, reply: Reply) -> bytes:
    if reply.status < 400:
        return b'{"line":%d,"status":%d,%s\n' % (number, reply.status, reply.body[1:])
    return b'{"line":%d,"status":%d,"problem":%s}\n' % (number, reply.status, reply.body)


# ---- reading ---------------------------------------------------------------------------------


def shown_row(row: Any) -> dict[str, Any]:  # noqa: ANN401 — a row
    """Return a subscription as it was said, with what the service knows about it."""
    said = msgspec.json.decode(row.definition)
    if row.moved is not None:
        said.update(msgspec.json.decode(row.moved))
    whole = {"id": row.id, "owner": row.owner, **said}
    for name in ("metadata", "noise"):
        if getattr(row, name) is not None:
            whole[name] = msgspec.json.decode(getattr(row, name))
    return {**whole, "created": row.created, "changed": row.changed, "event": row.event}


async def read(request: Request) -> Response:
    """`GET /v1/subscriptions/{id}`: the definition as it was said."""
    row = await find(request)
    return json_response(shown_row(row))


async def find(request: Request) -> Any:  # noqa: ANN401 — a row
    """Return the row of the subscription that a path names."""
    context = context_of(request)
    context.principal.needs("subscribe", "read")
    asked = request.query_params.get("owner")
    principal = context.principal
    owner = asked if asked and principal.sees_all() else principal.owner_for(asked)
    id = request.path_params["id"]
    own = SUBSCRIPTIONS.c
    statement = select(SUBSCRIPTIONS).where(own.owner == owner, own.id == id)
    rows = [] if "\x00" in id + owner else await _rows(context, statement)
    if not rows or hub_id(owner, id) not in context.service.engine.hub:
        msg = "subscription is not there"
        raise NotFoundError(msg, got=id, wanted=f"one of {owner!r}")
    return rows[0]


async def _rows(context: Context, statement: Any) -> list[Any]:  # noqa: ANN401
    return await asyncio.to_thread(context.service.store.rows, statement)


async def list_all(request: Request) -> Response:
    """`GET /v1/subscriptions`: by owner and area, a page at a time."""
    context = context_of(request)
    context.principal.needs("subscribe", "read")
    limit = query_number(request, "limit", 100, 1, MOST_LISTED)
    own = SUBSCRIPTIONS.c
    conditions = _conditions(request, context)
    expired = or_(own.expires.is_(None), own.expires > context.service.engine.hub.clock)
    statement = select(SUBSCRIPTIONS).where(expired, *conditions)
    rows = await _rows(context, statement.order_by(own.owner, own.id).limit(limit + 1))
    page: dict[str, Any] = {"subscriptions": [shown_row(row) for row in rows[:limit]]}
    if len(rows) > limit:
        last = rows[limit - 1]
        page["next"] = encode([last.owner, last.id]).decode()
    return json_response(page)


def _conditions(request: Request, context: Context) -> list[Any]:
    own, query = SUBSCRIPTIONS.c, request.query_params
    conditions: list[Any] = []
    owner = query.get("owner")
    if owner is not None or not context.principal.sees_all():
        if owner is None or not context.principal.sees_all():
            owner = context.principal.owner_for(owner)
        if "\x00" in owner:
            msg = "owner is not a name"
            raise MalformedError(msg, got=owner, wanted="a name")
        conditions.append(own.owner == owner)
    if (area := query.get("bbox")) is not None:
        conditions.append(overlaps(_box(area)))
    if (after := query.get("after")) is not None:
        conditions.append(tuple_(own.owner, own.id) > _cursor(after))
    return conditions


def _box(text: str) -> Box:
    wanted = "west,south,east,north"
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != 4 or not all(-180 <= number <= 180 for number in numbers):
        msg = "bbox is not a box"
        raise MalformedError(msg, got=text, wanted=wanted, field="bbox")
    west, south, east, north = numbers
    return Box(west, south, east, north) if west <= east else Box(-180.0, south, 180.0, north)


def _cursor(text: str) -> tuple[str, str]:
    try:
        owner, id = msgspec.json.decode(text, type=tuple[str, str])
    except msgspec.DecodeError:
        owner = id = "\x00"
    if "\x00" in owner + id:
        what, wanted = "after is not a cursor", "the field next of the page before"
        raise MalformedError(what, got=text, wanted=wanted, field="after")
    return owner, id

"""Publishing: one message, many lines, another version, taking one back."""

from __future__ import annotations

import asyncio
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING

from sqlalchemy import select

from nearcast.errors import NearcastError
from nearcast.service import wire
from nearcast.service.http.context import context_of, read_body, reply_response
from nearcast.service.jobs import Job, Outcome, Reply, refusal
from nearcast.service.lines import are_plain, plain_id
from nearcast.service.problems import PROBLEM_TYPE, NotFoundError, TooLargeError, WrongTypeError
from nearcast.service.schema import MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Receive, Scope

    from nearcast.service.http.context import Context
    from nearcast.service.jobs import Fields

STEP_LINES = 1_000
"""Lines of a bulk that are one step: the loop is free between two steps."""
NDJSON = "application/x-ndjson"
_PROBLEM = PROBLEM_TYPE.encode()
_JSON = b"application/json"


async def publish(scope: Scope, receive: Receive, context: Context) -> tuple[int, bytes, bytes]:
    """`POST /v1/messages`: one message as JSON, or many lines."""
    context.principal.needs("publish")
    limits = context.service.settings.limits
    if context.kind != _JSON and (kind := context.content_type) != "application/json":
        if kind == NDJSON:
            body = await read_body(receive, limits.bulk_bytes)
            return (*await publish_lines(context, scope, body), NDJSON.encode())
        if kind:
            raise wrong_type(kind)
    body = await read_body(receive, limits.body_bytes)
    if context.principal.events is not None:
        context.principal.events.take()
    id = plain_id(body)
    if id is not None:
        job = Job([body], published(id, body))
    else:
        event = wire.publish_fields(wire.decode_object(body))
        if "time" in event:
            context.service.engine.check_time(event)
        job = Job([event], published(event["id"]))
    status, content = await context.run(job, scope, body)
    return status, content, _JSON if status < 400 else _PROBLEM


def wrong_type(kind: str) -> WrongTypeError:
    """Say which types there are."""
    return WrongTypeError("content type", got=kind, wanted=f"application/json or {NDJSON}")


def published(id: object, plain: bytes | None = None) -> Callable[[Outcome], Reply]:
    """Return how to answer a publication, whose body may be plain."""

    def reply(outcome: Outcome) -> Reply:
        if outcome.errors and (error := outcome.error()) is not None:
            return refusal(error if plain is None else _as_read(plain, "body", error))
        name = encode_basestring_ascii(str(id))
        text = f'{{"id":{name},"event":{outcome.first},"changes":{outcome.counts[0]}}}'
        return Reply(201, text.encode())

    return reply


def _as_read(plain: bytes, what: str, error: NearcastError) -> NearcastError:
    """Return why a plain body is refused, in the words for one that is read before the hub."""
    try:
        wire.decode_object(plain, what)
    except NearcastError as found:
        return found
    return error


# ---- many ------------------------------------------------------------------------------------


def split_lines(body: bytes, context: Context) -> list[bytes]:
    """Return the lines of a bulk, if there are not too many."""
    lines = body.split(b"\n")
    if lines and not lines[-1].strip():
        lines.pop()
    limits = context.service.settings.limits
    if len(lines) > limits.bulk_lines:
        wanted = f"at most {limits.bulk_lines}"
        msg = "too many lines"
        raise TooLargeError(msg, got=len(lines), wanted=wanted)
    if context.principal.events is not None:
        context.principal.events.take(len(lines))
    return lines


async def publish_lines(context: Context, scope: Scope, body: bytes) -> Reply:
    """Publish many, in steps; the answer has a line for each line."""
    lines = split_lines(body, context)
    engine = context.service.engine
    most = context.service.settings.limits.line_bytes

    def event_of(line: bytes) -> Fields:
        if len(line) > most:
            msg = "line is too long"
            raise TooLargeError(msg, got=len(line), wanted=f"at most {most} bytes")
        event = wire.message_line(wire.decode_object(line, "line"))
        if "time" in event:
            engine.check_time(event)
        return event

    bodies = []
    for step, start in enumerate(range(0, len(lines), STEP_LINES)):
        some = lines[start : start + STEP_LINES]
        content = body if len(some) == len(lines) else b"\n".join(some)
        if are_plain(some, content) and max(map(len, some)) <= most:
            job = plain_job(some, start + 1)
        else:
            job = bulk_job(some, start + 1, event_of)
        bodies.append((await context.run(job, scope, body, step)).body)
        await asyncio.sleep(0)
    return Reply(200, b"".join(bodies))


def plain_job(lines: list[bytes], first_line: int) -> Job:
    """Return one step of a bulk whose lines are plain messages."""

    def reply(outcome: Outcome) -> Reply:
        if not outcome.errors:
            return Reply(200, _all_published(range(first_line, 1 << 62), outcome))
        errors = {}
        for place, line in enumerate(lines):
            if (error := outcome.error(place)) is not None:
                errors[place] = _as_read(line, "line", error)
        return Reply(200, _mixed(range(first_line, first_line + len(lines)), errors, {}, outcome))

    return Job(lines, reply)


def bulk_job(lines: list[bytes], first_line: int, event_of: Callable[[bytes], Fields]) -> Job:
    """Return one step of a bulk."""
    events: list[Fields] = []
    refused: dict[int, NearcastError] = {}
    for place, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            events.append(event_of(line))
        except NearcastError as error:
            refused[first_line + place] = error
    numbers = [
        first_line + place
        for place, line in enumerate(lines)
        if line.strip() and first_line + place not in refused
    ]

    def reply(outcome: Outcome) -> Reply:
        if not refused and not outcome.errors:
            return Reply(200, _all_published(numbers, outcome))
        errors = {}
        for place, event in enumerate(events):
            if (error := outcome.error(place)) is not None:
                errors[place] = wire.with_own_ids(error, event.get("id"))
        return Reply(200, _mixed(numbers, errors, refused, outcome))

    return Job(events, reply)


def _all_published(numbers: Iterable[int], outcome: Outcome) -> bytes:
    rows = zip(numbers, outcome.counts, range(outcome.first, 1 << 62), strict=False)
    text = [
        f'{{"line":{line},"status":201,"event":{event},"changes":{changes}}}\n'
        for line, changes, event in rows
    ]
    return "".join(text).encode()


def _mixed(
    numbers: Sequence[int],
    errors: Mapping[int, NearcastError],
    refused: Mapping[int, NearcastError],
    outcome: Outcome,
) -> bytes:
    """Return a line for each; `errors` of the hub are by place, those `refused` before by line."""
    answers = {line: refusal(error) for line, error in refused.items()}
    for place, line in enumerate(numbers):
        if place in errors:
            answers[line] = refusal(errors[place])
        else:
            text = f'"event":{outcome.first + place},"changes":{outcome.changes(place)}'
            answers[line] = Reply(201, text.encode())
    return b"".join(
        b'{"line":%d,"status":%d,%s}\n'
        % (line, status, body if status < 400 else b'"problem":' + body)
        for line, (status, body) in sorted(answers.items())
    )


# ---- one that is there -----------------------------------------------------------------------


async def put_message(request: Request) -> Response:
    """`PUT /v1/messages/{id}`: a message, or a new version of it."""
    context = context_of(request)
    context.principal.needs("publish")
    body = await read_body(request.receive, context.service.settings.limits.body_bytes)
    id = request.path_params["id"]
    event = {**wire.publish_fields(wire.decode_object(body), id=id), "replace": True}
    context.service.engine.check_time(event)
    reply = await context.run(Job([event], published(id)), request.scope, body)
    return reply_response(reply)


async def retract(request: Request) -> Response:
    """`DELETE /v1/messages/{id}`: take it back; of what is not live nothing changes."""
    context = context_of(request)
    context.principal.needs("publish")
    event = {"op": "retract", "id": request.path_params["id"]}
    wire.check_id(event["id"])

    def reply(outcome: Outcome) -> Reply:
        error = outcome.error()
        return refusal(error) if error else Reply(200, published(event["id"])(outcome).body)

    return reply_response(await context.run(Job([event], reply), request.scope, b""))


async def get_message(request: Request) -> Response:
    """`GET /v1/messages/{id}`: the last version that was kept."""
    context = context_of(request)
    context.principal.needs("publish", "subscribe", "read")
    id = request.path_params["id"]
    statement = select(MESSAGES.c.body).where(MESSAGES.c.id == id)
    rows = [] if "\x00" in id else await asyncio.to_thread(context.service.store.rows, statement)
    if not rows:
        msg = "message is not live"
        raise NotFoundError(msg, got=id, wanted="a message that is kept")
    return reply_response(Reply(200, rows[0].body))

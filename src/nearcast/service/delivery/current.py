"""What does a newcomer get first? What its live and top subscriptions hold, and where that ends.

Taken while nothing is under way (`Writer.turn`), so that the set and the number agree: what is in
it came before the number, what comes after is a change.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import or_, select

from nearcast.errors import UnknownIdError
from nearcast.service.batches import hub_id
from nearcast.service.schema import MESSAGES, SUBSCRIPTIONS

if TYPE_CHECKING:
    from nearcast.service.fanout import Tap
    from nearcast.service.running import Service

Held = list[tuple[str, list[tuple[str, float | None]]]]


async def begin(service: Service, owner: str) -> tuple[Tap, list[bytes]]:
    """Open a stream at its end, and return what is held there, as lines of JSON."""
    own = SUBSCRIPTIONS.c
    statement = select(own.id).where(own.owner == owner)
    statement = statement.where(or_(own.is_live, own.mode == "top")).order_by(own.id)
    async with service.writer.turn:
        rows = await asyncio.to_thread(service.store.rows, statement)
        engine = service.engine
        held: Held = []
        for row in rows:
            try:
                held.append((row.id, engine.hub.results(hub_id(owner, row.id))))
            except UnknownIdError:  # it has expired, its row goes soon
                continue
        number = engine.streams.numbers.get(owner)
        tap = service.fanout.open(owner, number)
    try:
        return tap, await asyncio.to_thread(_lines, service, owner, number, held)
    except BaseException:
        service.fanout.close(tap)
        raise


def _lines(service: Service, owner: str, number: int, held: Held) -> list[bytes]:
    lines = []
    for id, messages in held:
        bodies = _bodies(service, [message for message, _ in messages])
        shown = []
        for message, score in messages:
            one: dict[str, Any] = {"message": message}
            if score is not None:
                one["score"] = score
            if message in bodies:
                one["published"] = msgspec.Raw(bodies[message])
            shown.append(one)
        body = {"type": "current", "owner": owner, "subscription": id, "number": number}
        lines.append(msgspec.json.encode({**body, "messages": shown}))
    return lines


def _bodies(service: Service, ids: list[str]) -> dict[str, bytes]:
    bodies: dict[str, bytes] = {}
    for start in range(0, len(ids), 500):
        some = MESSAGES.c.id.in_(ids[start : start + 500])
        rows = service.store.rows(select(MESSAGES.c.id, MESSAGES.c.body).where(some))
        bodies.update((id, body) for id, body in rows)
    return bodies

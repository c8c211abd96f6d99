"""Was this asked before? Answers by idempotency key, so that a repeated request happens once.

An answer is written in the transaction of what it answers, so both are there or neither. A
repetition that comes while the first is still under way waits for it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from sqlalchemy import select

from nearcast.service.jobs import Reply
from nearcast.service.problems import ReusedKeyError
from nearcast.service.schema import ANSWERS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nearcast.service.jobs import AnswerKey
    from nearcast.service.store import Store


class Answers:
    """Answers that were given, and those that are under way."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._under_way: dict[tuple[str, str, int], tuple[str, asyncio.Future[None]]] = {}

    async def once(self, key: AnswerKey, act: Callable[[], Awaitable[Reply]]) -> Reply:
        """Return the answer that is known, or act and return a new one."""
        place = key[:3]
        while (before := self._under_way.get(place)) is not None:
            _check(before[0], key)
            await asyncio.wait([before[1]])
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._under_way[place] = (key.fingerprint, done)
        try:
            known = await asyncio.to_thread(self._find, key)
            return known if known is not None else await act()
        finally:
            del self._under_way[place]
            done.set_result(None)

    def _find(self, key: AnswerKey) -> Reply | None:
        own = ANSWERS.c
        statement = select(own.fingerprint, own.status, own.body)
        statement = statement.where(own.scope == key.scope, own.key == key.key)
        rows = self._store.rows(statement.where(own.step == key.step))
        if not rows:
            return None
        _check(rows[0].fingerprint, key)
        return Reply(rows[0].status, rows[0].body)


def _check(fingerprint: str, key: AnswerKey) -> None:
    if fingerprint != key.fingerprint:
        what = "idempotency key was used for another request"
        raise ReusedKeyError(what, got=key.key, wanted="a new key for a new request")

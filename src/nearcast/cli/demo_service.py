"""`nearcast serve --demo`: fills the service that it runs in, through its own interface.

First some thousand saved searches in bulk, then messages for as long as the service runs. It is a
client like any other: what it does, a program of a visitor's own can do.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import time
from itertools import count
from typing import TYPE_CHECKING

import aiohttp

from nearcast.cli.demo_content import message, saved_search

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nearcast.cli.demo_content import Fields

log = logging.getLogger("nearcast.demo")

SEARCHES = 4_000
PER_SECOND = 25.0
PAUSE_S = 0.2
_LINES = {"content-type": "application/x-ndjson"}


class Demo:
    """A client that keeps a service busy.

    Parameters
    ----------
    url
        Where the service is.
    key
        A key that may subscribe for others and publish, if keys are needed.
    per_second
        How many messages a second.
    seed
        What is drawn, is drawn from it.
    """

    def __init__(
        self, url: str, key: str | None = None, *, per_second: float = PER_SECOND, seed: int = 1
    ) -> None:
        self._url = url
        self._headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self._per_second = per_second
        self._dice = random.Random(seed)
        self._numbers = count(int(time.time() * 1000))

    async def run(self) -> None:
        """Fill the service, then publish until cancelled."""
        async with aiohttp.ClientSession(self._url, headers=self._headers) as session:
            await self.fill(session)
            owed, last = 0.0, time.monotonic()
            while True:
                await asyncio.sleep(PAUSE_S)
                now = time.monotonic()
                owed = min(owed + (now - last) * self._per_second, 10 * self._per_second)
                last = now
                await self.publish(session, int(owed))
                owed -= int(owed)

    async def fill(self, session: aiohttp.ClientSession) -> None:
        """Make the saved searches, unless they are there."""
        searches = (saved_search(number, self._dice) for number in range(SEARCHES))
        lines = [{**search, "replace": True} for search in searches]
        await _send(session, "/v1/subscriptions", lines)

    async def publish(self, session: aiohttp.ClientSession, number: int) -> None:
        """Publish some messages at once."""
        now = time.time()
        lines = [message(next(self._numbers), now, self._dice) for _ in range(number)]
        if lines:
            await _send(session, "/v1/messages", lines)


async def _send(session: aiohttp.ClientSession, path: str, lines: Iterable[Fields]) -> None:
    body = "\n".join(json.dumps(line) for line in lines)
    try:
        async with session.post(path, data=body, headers=_LINES) as answer:
            lines_back = (await answer.text()).splitlines()
            refused = [line for line in lines_back if '"problem"' in line]
            if answer.status != 200 or refused:
                log.warning("demo: answer %d: %s", answer.status, "".join(refused[:1]))
    except aiohttp.ClientError as error:
        log.info("demo: %s", error)  # the service is ending

"""Deliveries to endpoints: in order, at least once, one bad endpoint never delaying another.

Each endpoint has a task and a cursor of its own, and one request under way. A failure is repeated
after a wait that doubles, with jitter. What the endpoint refuses (4xx), or what could not be
delivered in `attempts`, goes to its dead letters, and the next is tried. A cursor is written now
and then: after a crash some deliveries come again, with the same id.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import aiohttp
import msgspec
from sqlalchemy import select
from yarl import URL

from nearcast.service.delivery.addresses import AddressRule, CheckedResolver
from nearcast.service.delivery.cloudevents import headers_for, payload
from nearcast.service.delivery.lag import Lag, committed_at
from nearcast.service.delivery.signing_keys import SigningKeys, is_plain
from nearcast.service.problems import GoneError, MalformedError
from nearcast.service.schema import DEAD_LETTERS, ENDPOINTS

if TYPE_CHECKING:
    from nearcast.service.batches import Entry
    from nearcast.service.fanout import Tap
    from nearcast.service.running import Service
    from nearcast.service.store import Records

log = logging.getLogger("nearcast.webhooks")

REDIRECTS = 3
_AGAIN = frozenset({408, 425, 429})
"""Refusals that another attempt may change."""
Key = tuple[str, str]
_read_url = lru_cache(10_000)(URL)
"""Reading an address takes a fifth of the time of calling it, and it is the same each time."""


class Refused(Exception):
    """The endpoint does not want this one; another attempt would not help."""


class Failed(Exception):
    """One attempt failed; another may not."""


class Endpoint:
    """One endpoint: where it is, how far it is, and how it does."""

    def __init__(self, row: Any, keys: SigningKeys) -> None:  # noqa: ANN401 — as a row is
        self.owner: str = row.owner
        self.id: str = row.id
        self.position: int = row.number
        self.written = self.position
        self.failures = 0
        self.task: asyncio.Task[None] | None = None
        self.last_error: str | None = None
        self.trying: float | None = None
        """When the delivery was committed that is under way."""
        self._keys = keys
        self.update(row)

    def update(self, row: Any) -> None:  # noqa: ANN401
        """Take what was changed: address, secrets, pause."""
        self.url: str = row.url
        self.kept: list[str] = msgspec.json.decode(row.secrets)
        """Secrets as they are stored."""
        self.secrets = [self._keys.secret(self.owner, self.id, one) for one in self.kept]
        self.is_paused: bool = bool(row.is_paused)

    @property
    def key(self) -> Key:
        """Whose it is, and its id."""
        return self.owner, self.id


class Webhooks:
    """All endpoints, and the session that calls them."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._settings = service.settings.webhooks
        self.rule = AddressRule(self._settings.allow)
        self.keys = SigningKeys.of(service.settings)
        self.endpoints: dict[Key, Endpoint] = {}
        self.dead: list[dict[str, Any]] = []
        self._room = asyncio.Semaphore(max(1, self._settings.in_flight))
        self._session: aiohttp.ClientSession | None = None
        self._delivered = service.metrics.attempts.labels("delivered")
        self._sent = service.metrics.streamed.labels("webhook")
        self._lag = Lag(service.metrics.lag, "webhook")

    async def start(self) -> None:
        """Begin with what the database knows."""
        connector = aiohttp.TCPConnector(
            limit=0, resolver=CheckedResolver(self.rule), ttl_dns_cache=30, keepalive_timeout=30
        )
        timeout = aiohttp.ClientTimeout(total=self._settings.timeout_seconds)
        self._session = aiohttp.ClientSession(
            connector=connector,
            timeout=timeout,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        for row in await asyncio.to_thread(self._service.store.rows, select(ENDPOINTS)):
            self.put(row)
        plain = sum(any(map(is_plain, e.kept)) for e in self.endpoints.values())
        if plain:
            hint = "set secret_key, and rotate" if not self.keys.are_set else "rotate"
            log.warning("secrets of %d endpoints are stored in plain text: %s", plain, hint)

    async def stop(self) -> None:
        """End all tasks, by themselves if they can."""
        tasks = [e.task for e in self.endpoints.values() if e.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    def put(self, row: Any) -> None:  # noqa: ANN401
        """Take an endpoint in, or what was changed about it."""
        found = self.endpoints.get((row.owner, row.id))
        if found is None:
            found = self.endpoints[row.owner, row.id] = Endpoint(row, self.keys)
        else:
            found.update(row)
        if found.task is not None:
            found.task.cancel()
            found.task = None
        if not found.is_paused:
            found.failures = 0
            found.task = asyncio.create_task(self._serve(found))

    def remove(self, key: Key) -> None:
        """Forget an endpoint."""
        found = self.endpoints.pop(key, None)
        if found is not None and found.task is not None:
            found.task.cancel()

    @property
    def is_dirty(self) -> bool:
        """Whether there is something to write."""
        return bool(self.dead) or any(e.position != e.written for e in self.endpoints.values())

    def write(self, records: Records) -> None:
        """Write cursors that have moved, and dead letters."""
        for endpoint in self.endpoints.values():
            if endpoint.position != endpoint.written:
                own = ENDPOINTS.c
                statement = ENDPOINTS.update().where(own.owner == endpoint.owner)
                statement = statement.where(own.id == endpoint.id)
                records.removals.append(statement.values(number=endpoint.position))
                endpoint.written = endpoint.position
        letters, self.dead = self.dead, []
        for letter in letters:
            records.put(DEAD_LETTERS, letter)

    # ---- one endpoint -----------------------------------------------------------------------

    async def _serve(self, endpoint: Endpoint) -> None:
        tap = self._service.fanout.open(endpoint.owner, endpoint.position)
        try:
            while True:
                await self._next(endpoint, tap)
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception("endpoint %s of %s stopped", endpoint.id, endpoint.owner)
        finally:
            self._service.fanout.close(tap)

    async def _next(self, endpoint: Endpoint, tap: Tap) -> None:
        try:
            entries = await tap.take()
        except GoneError:
            lost = self._service.engine.streams.last(endpoint.owner)
            log.warning("endpoint %s of %s was away for too long", endpoint.id, endpoint.owner)
            tap.position = endpoint.position = lost
            return
        size = max(1, self._settings.batch)
        for start in range(0, len(entries), size):
            await self._deliver(endpoint, entries[start : start + size])
            endpoint.position = entries[min(start + size, len(entries)) - 1][0]

    async def _deliver(self, endpoint: Endpoint, entries: list[Entry]) -> None:
        """Try until it is delivered, refused, or too often."""
        endpoint.trying = committed_at(entries[0][1])
        try:
            await self._try(endpoint, entries)
        finally:
            endpoint.trying = None

    async def _try(self, endpoint: Endpoint, entries: list[Entry]) -> None:
        metrics = self._service.metrics
        kind, body = payload([body for _, body in entries], is_batch=self._settings.batch > 1)
        id = f"{endpoint.owner}-{entries[0][0]}"
        for attempt in range(1, self._settings.attempts + 1):
            try:
                if len(self.endpoints) <= self._settings.in_flight:  # and each has one under way
                    await self._post(endpoint, id, kind, body)
                else:
                    async with self._room:
                        await self._post(endpoint, id, kind, body)
            except (Refused, Failed) as error:
                endpoint.failures += 1
                endpoint.last_error = str(error)
                metrics.attempts.labels("failed").inc()
                if isinstance(error, Refused) or attempt == self._settings.attempts:
                    self._bury(endpoint, entries, attempt, str(error))
                    return
                metrics.retries.inc()
                await asyncio.sleep(self._wait_s(endpoint.failures))
            else:
                endpoint.failures = 0
                endpoint.last_error = None
                self._delivered.inc()
                self._sent.inc(len(entries))
                self._lag.note(endpoint.trying)
                return

    def _wait_s(self, failures: int) -> float:
        """Return how long to wait: twice as long each time, and never exactly as others do."""
        settings = self._settings
        longest: float = settings.first_wait_seconds * 2 ** min(failures - 1, 30)
        longest = min(longest, settings.longest_wait_seconds)
        share: float = random.uniform(0.5, 1.0)
        return longest * share

    def _bury(self, endpoint: Endpoint, entries: list[Entry], attempts: int, error: str) -> None:
        self._service.metrics.dead.inc(len(entries))
        for number, body in entries:
            letter = {"owner": endpoint.owner, "endpoint": endpoint.id, "number": number}
            rest = {"body": body, "attempts": attempts, "error": error[:500], "at": time.time()}
            self.dead.append({**letter, **rest})

    async def replay(self, endpoint: Endpoint, number: int, body: bytes) -> None:
        """Try a dead letter once more, beside the stream. Raises `Refused` or `Failed`."""
        kind, content = payload([body], is_batch=self._settings.batch > 1)
        await self._post(endpoint, f"{endpoint.owner}-{number}", kind, content)

    # ---- one request ------------------------------------------------------------------------

    async def _post(self, endpoint: Endpoint, id: str, kind: str, body: bytes) -> None:
        timestamp = int(time.time())
        headers = headers_for(endpoint.secrets, id, timestamp, kind, body)
        url = endpoint.url
        for _ in range(REDIRECTS + 1):
            status, location = await self._request(url, headers, body)
            if status // 100 == 2:
                return
            if status in (307, 308) and location:
                url = urljoin(url, location)
                continue
            if status // 100 == 4 and status not in _AGAIN:
                msg = f"status {status}"
                raise Refused(msg)
            msg = f"status {status}"
            raise Failed(msg)
        msg = "too many redirects"
        raise Failed(msg)

    async def _request(
        self, url: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, str | None]:
        try:
            self.rule.check_url(url)
        except MalformedError as error:
            raise Refused(error.what) from None
        session = self._session
        if session is None:
            msg = "not started"
            raise Failed(msg)
        try:
            address = _read_url(url)
            sending = session.post(address, data=body, headers=headers, allow_redirects=False)
            async with sending as got:
                await got.content.read(1_024)  # enough to use the connection again, usually
                return got.status, got.headers.get("location")
        except asyncio.TimeoutError:
            msg = "no answer in time"
            raise Failed(msg) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise Failed(f"{type(error).__name__}: {error}"[:200]) from None

"""Who listens, and who is too slow? Deliveries to connections, in order, in bounded memory.

A tap is one reader of a subscriber's stream. As long as it keeps up it gets what is committed from
memory, rendered once per subscriber. If more than `WAITING` deliveries or `WAITING_BYTES` wait for
it, they are dropped and it reads from its cursor, as one does that was away: from the tail, then
the database, a page at a time.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from nearcast.service.problems import GoneError

if TYPE_CHECKING:
    from collections.abc import Callable

    from nearcast.service.batches import Batch, Entry
    from nearcast.service.engine import Engine
    from nearcast.service.metrics import Metrics

WAITING = 1_000
WAITING_BYTES = 1 << 20
PAGE = 500


class Tap:
    """One reader; `position` is the last number it took."""

    __slots__ = ("_bytes", "_is_behind", "_waiting", "_wake", "fanout", "owner", "position")

    def __init__(self, fanout: Fanout, owner: str, position: int) -> None:
        self.fanout = fanout
        self.owner = owner
        self.position = position
        self._is_behind = True
        self._bytes = 0
        self._waiting: deque[Entry] = deque()
        self._wake: asyncio.Future[None] | None = None

    def offer(self, entries: list[Entry]) -> None:
        """Give what was just committed, unless it is behind anyway."""
        if not self._is_behind and entries:
            last = self._waiting[-1][0] if self._waiting else self.position
            size = self._bytes + sum([len(body) for _, body in entries])
            many = len(self._waiting) + len(entries) > WAITING or size > WAITING_BYTES
            if not many and entries[0][0] == last + 1:
                self._waiting.extend(entries)
                self._bytes = size
            else:
                self.fall_behind()
                self.fanout.metrics.fallbacks.inc()
        self.wake()

    def fall_behind(self) -> None:
        """Read from the cursor from now on, until it has caught up."""
        self._waiting.clear()
        self._bytes = 0
        self._is_behind = True

    @property
    def waiting_bytes(self) -> int:
        """How much waits for it."""
        return self._bytes

    def wake(self) -> None:
        """Let the reader look."""
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def take(self, timeout_s: float | None = None, limit: int = PAGE) -> list[Entry]:
        """Return the next deliveries, in order; nothing if none comes in time, or it is woken.

        Raises
        ------
        GoneError
            What comes next is not kept any more.
        """
        entries = await self._next(limit)
        if not entries:
            await self._woken(timeout_s)
            entries = await self._next(limit)
        if entries:
            self.position = entries[-1][0]
        return entries

    async def _next(self, limit: int) -> list[Entry]:
        return await self._behind(limit) if self._is_behind else self._live(limit)

    def _live(self, limit: int) -> list[Entry]:
        waiting = self._waiting
        if len(waiting) <= limit:
            entries = list(waiting)
            waiting.clear()
            self._bytes = 0
            return entries
        some = [waiting.popleft() for _ in range(limit)]
        self._bytes -= sum(len(body) for _, body in some)
        return some

    async def _behind(self, limit: int) -> list[Entry]:
        engine = self.fanout.engine()
        entries, is_all = engine.streams.recent(self.owner, self.position, limit)
        if is_all:
            if len(entries) <= limit:
                self._is_behind = False  # without waiting in between: nothing can be missed
            return entries[:limit]
        page, _ = await asyncio.to_thread(engine.archive.entries, self.owner, self.position, limit)
        if page and page[0][0] == self.position + 1:
            return page
        # Between memory and segments there is a moment in which it stands in neither: look again.
        entries, is_all = engine.streams.recent(self.owner, self.position, limit)
        if is_all:
            return entries[:limit]
        first = min([entry[0] for entry in [*page[:1], *entries[:1]]], default=None)
        what = "deliveries after this number are not kept any more"
        wanted = None if first is None else f"a number of at least {first - 1}"
        raise GoneError(what, got=self.position, wanted=wanted, hint="begin with the current set")

    async def _woken(self, timeout_s: float | None) -> None:
        self._wake = asyncio.get_running_loop().create_future()
        try:
            if timeout_s is None:  # readers without a limit are woken now and then: `wake_all`
                await self._wake
            else:
                await asyncio.wait_for(self._wake, timeout_s)
        except asyncio.TimeoutError:
            pass
        finally:
            self._wake = None


class Fanout:
    """All taps, by subscriber."""

    def __init__(self, engine: Callable[[], Engine], metrics: Metrics) -> None:
        self.engine = engine
        self.metrics = metrics
        self._taps: dict[str, set[Tap]] = {}
        self.count = 0

    def open(self, owner: str, position: int) -> Tap:
        """Begin to read a subscriber's stream after a number."""
        tap = Tap(self, owner, position)
        self._taps.setdefault(owner, set()).add(tap)
        self.count += 1
        return tap

    def close(self, tap: Tap) -> None:
        """End reading."""
        taps = self._taps.get(tap.owner, set())
        if tap in taps:
            taps.remove(tap)
            self.count -= 1
            if not taps:
                del self._taps[tap.owner]

    def count_of(self, owner: str) -> int:
        """Return how many read one stream."""
        return len(self._taps.get(owner, ()))

    def hand_on(self, batch: Batch) -> None:
        """Give what was committed to all that listen."""
        if not self._taps:
            return
        concerned = [owner for owner in batch.owners if owner in self._taps]
        for owner, entries in batch.entries_of(concerned) if concerned else ():
            for tap in self._taps[owner]:
                tap.offer(entries)

    def wake_all(self, *, is_reopened: bool = False) -> None:
        """Let every reader look: time has passed, the service stops, or was opened again."""
        for taps in self._taps.values():
            for tap in taps:
                if is_reopened:
                    tap.fall_behind()
                tap.wake()

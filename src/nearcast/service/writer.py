"""Who changes the state? One task: it collects, applies, commits, answers and hands on.

While a commit runs in its thread the next jobs collect by themselves, so under load a transaction
carries many. `turn` is held from applying to handing on: who takes it in between sees a hub, a
database and streams that agree.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from nearcast.service.batches import split_id
from nearcast.service.engine import Engine
from nearcast.service.jobs import Job, Outcome, Reply
from nearcast.service.noise import forget_noise
from nearcast.service.problems import UnavailableError
from nearcast.service.schema import SUBSCRIPTIONS
from nearcast.service.store import Records, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from nearcast.service.engine import Commit
    from nearcast.service.metrics import Metrics

BATCH_EVENTS = 2_000
"""A batch takes no more jobs than bring so many events: the loop must not be held for long."""
EMPTY_TURNS = 2
"""Turns of the loop without a new job that end collecting: one reads a request, one handles it."""
MOST_TURNS = 50
MANY_JOBS = 16
COMPANY_S = 0.001
RETRY_S = 1.0

log = logging.getLogger("nearcast.service")


class Writer:
    """The one that changes an engine.

    Parameters
    ----------
    engine
        The state; replaced by one that is opened anew if a commit fails.
    metrics
        Where to count.
    hand_on
        Called with each commit when it is durable.
    """

    def __init__(self, engine: Engine, metrics: Metrics, hand_on: Callable[[Commit], None]) -> None:
        self.engine = engine
        self.turn = asyncio.Lock()
        self.is_ready = True
        self.waiting_events = 0
        self._metrics = metrics
        self._hand_on = hand_on
        self._jobs: deque[Job] = deque()
        self._work = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "commit")
        self._most = engine.settings.limits.waiting_events
        self._wait_s = engine.settings.commit_wait_ms / 1000
        self._is_closing = False
        self._answered = 0
        """Jobs that the last commit has answered."""
        self.on_reopen: Callable[[], None] = lambda: None

    def submit(self, job: Job) -> asyncio.Future[Reply]:
        """Put a job into the queue; its answer comes when it is durable.

        Raises
        ------
        UnavailableError
            If the queue is full, or the service stops.
        """
        if self._is_closing:
            what = "service is stopping"
            raise UnavailableError(what, hint="try again with the same idempotency key")
        size = max(1, len(job.events))
        if self.waiting_events + size > self._most and self._jobs:
            what = "too many events wait to be written"
            wanted = f"at most {self._most}"
            raise UnavailableError(what, got=self.waiting_events, wanted=wanted, hint="slow down")
        job.future = asyncio.get_running_loop().create_future()
        self.waiting_events += size
        self._jobs.append(job)
        self._work.set()
        return job.future

    async def run(self) -> None:
        """Work until `close`."""
        while True:
            await self._work.wait()
            if self._wait_s:
                await asyncio.sleep(self._wait_s)
            await self._collect()
            async with self.turn:
                jobs = self._take()
                self._answered = len(jobs)
                if jobs:
                    await self._commit(jobs)
            if not self._jobs:
                self._work.clear()
                if self._is_closing:
                    return

    async def _collect(self) -> None:
        """Let the loop take in what has come, as long as each turn of it brings more.

        After a commit has answered many, most of them ask again at once: what they ask is one
        commit then, and not two. Without load this is two empty turns of the loop; where many were
        answered and few have come back it is a millisecond more.
        """
        before, empty = self.waiting_events, 0
        for _ in range(MOST_TURNS):
            await asyncio.sleep(0)
            empty = empty + 1 if self.waiting_events == before else 0
            before = self.waiting_events
            if empty == EMPTY_TURNS or before >= BATCH_EVENTS:
                break
        if len(self._jobs) < self._answered and self._answered >= MANY_JOBS:
            await asyncio.sleep(COMPANY_S)

    def close(self) -> None:
        """Take nothing more; end when what waits is done."""
        self._is_closing = True
        self._work.set()

    def _take(self) -> list[Job]:
        jobs: list[Job] = []
        size = 0
        while self._jobs and (not jobs or size + len(self._jobs[0].events) <= BATCH_EVENTS):
            job = self._jobs.popleft()
            jobs.append(job)
            size += len(job.events)
            self.waiting_events -= max(1, len(job.events))
        return jobs

    async def _commit(self, jobs: list[Job]) -> None:
        try:
            started = time.perf_counter()
            commit = self.engine.apply(jobs)
            applied = time.perf_counter()
            if commit.rejected:
                self._metrics.rejected.inc(commit.rejected)
            if commit.row is not None or commit.records:
                await self._write(commit)
                self._count(commit, applied - started, time.perf_counter() - applied)
        except Exception as error:
            await self._fail(jobs, error)
            return
        self._finish(commit)

    async def _write(self, commit: Commit) -> None:
        loop = asyncio.get_running_loop()
        store = self.engine.store
        await loop.run_in_executor(self._thread, store.commit, commit.row, commit.records)

    def _finish(self, commit: Commit) -> None:
        """Put what is durable into the streams, hand it on, and answer."""
        engine = self.engine
        engine.recent.extend(commit.publications)
        if commit.batch is not None:
            engine.streams.add(commit.batch)
        self._hand_on(commit)
        for job, reply in commit.replies:
            if job.future is not None and not job.future.done():
                job.future.set_result(reply)
        for name in commit.ended:
            self._end(name)

    def _end(self, name: str) -> None:
        """Unsubscribe what has had its last delivery."""
        owner, id = split_id(name)

        def forget(_outcome: Outcome, records: Records) -> None:
            self.engine.listeners.remove(owner, id)
            forget_noise(records, owner, id)
            records.remove(SUBSCRIPTIONS, owner=owner, id=id)

        event = {"op": "unsubscribe", "id": name}
        self._jobs.append(Job([event], lambda _: Reply(204, b""), forget))
        self.waiting_events += 1
        self._work.set()

    def _count(self, commit: Commit, matching_s: float, writing_s: float) -> None:
        metrics = self._metrics
        metrics.commits.inc()
        metrics.match_seconds.observe(matching_s)
        metrics.commit_seconds.observe(writing_s)
        if commit.batch is not None:
            metrics.events.inc(max(0, len(commit.batch.lines) - commit.rejected))
            metrics.changes.inc(commit.batch.changes.num_rows)

    # ---- failure ----------------------------------------------------------------------------

    async def _fail(self, jobs: list[Job], error: Exception) -> None:
        """Answer, and open everything again: the hub is ahead of the database."""
        self.is_ready = False
        self._metrics.failures.inc()
        log.error("commit failed: %s", error, exc_info=not isinstance(error, StoreError))
        what = "it is not known whether this has happened"
        hint = "ask again, with the same idempotency key"
        for job in jobs:
            if job.future is not None and not job.future.done():
                job.future.set_exception(UnavailableError(what, hint=hint))
        while not self._is_closing:
            try:
                self.engine = await asyncio.to_thread(self._reopened)
            except Exception as again:
                log.error("cannot be opened again: %s", again)  # noqa: TRY400 — once is enough
                await asyncio.sleep(RETRY_S)
            else:
                self.is_ready = True
                self.on_reopen()
                log.warning("opened again at event %d", self.engine.last)
                return

    def _reopened(self) -> Engine:
        old = self.engine
        old.store.write(None, Records())
        return Engine(old.store, old.settings)

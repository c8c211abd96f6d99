"""What happens right now, for people who watch: messages and changes, as many as eyes can follow.

Not a delivery: what is too much is left out, and counted. Each watcher has a queue of `WAITING`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec

from nearcast.service.batches import split_id

if TYPE_CHECKING:
    from nearcast.service.batches import Batch
    from nearcast.service.engine import Commit
    from nearcast.service.metrics import Metrics

WAITING = 500
PER_COMMIT = 50


class Watcher:
    """One who watches.

    Parameters
    ----------
    owner
        Whose deliveries are shown; None: all.
    sees_messages
        Whether all messages are shown, or only those that are delivered.
    """

    def __init__(self, owner: str | None, *, sees_messages: bool) -> None:
        self.owner = owner
        self.sees_messages = sees_messages
        self.skipped = 0
        self._waiting: deque[bytes] = deque()
        self._wake = asyncio.Event()

    def offer(self, line: bytes) -> None:
        """Show something, if there is room."""
        if len(self._waiting) >= WAITING:
            self.skipped += 1
            return
        self._waiting.append(line)
        self._wake.set()

    def wake(self) -> None:
        """Let the reader look."""
        self._wake.set()

    async def take(self) -> list[bytes]:
        """Return what there is to show; maybe nothing, when it was woken."""
        await self._wake.wait()
        self._wake.clear()
        lines = list(self._waiting)
        self._waiting.clear()
        if self.skipped:
            lines.append(msgspec.json.encode({"type": "skipped", "count": self.skipped}))
            self.skipped = 0
        return lines


class Feed:
    """All who watch."""

    def __init__(self, metrics: Metrics) -> None:
        self._watchers: set[Watcher] = set()
        self._metrics = metrics

    @property
    def count(self) -> int:
        """How many watch."""
        return len(self._watchers)

    def open(self, watcher: Watcher, recent: list[bytes]) -> None:
        """Begin to watch, with the newest messages first."""
        self._watchers.add(watcher)
        if watcher.sees_messages:
            for line in recent[-WAITING // 2 :]:
                watcher.offer(message_line(line))
        watcher.wake()

    def close(self, watcher: Watcher) -> None:
        """Stop watching."""
        self._watchers.discard(watcher)

    def wake_all(self) -> None:
        """Let all look."""
        for watcher in self._watchers:
            watcher.wake()

    def hand_on(self, commit: Commit) -> None:
        """Show what was committed."""
        if not self._watchers:
            return
        messages = [message_line(line) for line in commit.publications[:PER_COMMIT]]
        skipped = len(commit.publications) - len(messages)
        self._metrics.skipped.inc(skipped)
        for watcher in self._watchers:
            if watcher.sees_messages:
                for line in messages:
                    watcher.offer(line)
                watcher.skipped += skipped
            if commit.batch is not None:
                for line in _changes(commit.batch, watcher.owner):
                    watcher.offer(line)


def message_line(line: bytes) -> bytes:
    """Return a message, which is a line of the log, as the feed shows it."""
    return b'{"type":"message","published":%s}' % line


def _changes(batch: Batch, owner: str | None) -> list[bytes]:
    if owner is not None:
        return [body for _, body in batch.entries(owner)[:PER_COMMIT]]
    rows = batch.changes.slice(0, PER_COMMIT).to_pylist()
    return [msgspec.json.encode({"type": "change", **_shown(row)}) for row in rows]


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    owner, id = split_id(row["subscription"])
    return {k: v for k, v in {**row, "owner": owner, "subscription": id}.items() if v is not None}

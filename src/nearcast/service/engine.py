"""A hub, its log and its streams: what happens to them in one commit, and how they come back.

`Engine.apply` changes what is in memory and says what must be written; the caller writes it. In
between the hub is ahead of the database. If the write fails, the engine is worth nothing any more
and has to be opened again from what is durable.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa
from sqlalchemy import select

from nearcast.changes import CHANGES
from nearcast.errors import InternalError, InvalidEventError, NearcastError
from nearcast.events import event_from, read_time
from nearcast.service import noise as noises
from nearcast.service.batches import (
    Batch,
    Extra,
    Groups,
    hub_id,
    integers,
    number_changes,
    pack,
    publication,
    split_id,
)
from nearcast.service.clock import Clock
from nearcast.service.jobs import Outcome
from nearcast.service.lines import are_all_plain, head_at, line_of, op_of, plain_lines
from nearcast.service.schema import ANSWERS, HELD, LOG, MESSAGES
from nearcast.service.store import LogRow, Records, Store
from nearcast.service.stored_hub import open_hub
from nearcast.service.streams import Archive, Streams, load_streams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nearcast.service.jobs import Fields, Job, Reply, Said
    from nearcast.service.settings import Settings

_DELIVERED = b'{"op":"deliver"'
"""How a line of the log begins that stands for changes of another pipeline."""
_NOTHING = pa.Table.from_batches([], schema=CHANGES)  # the other way imports pandas


@dataclass(slots=True)
class Commit:
    """What is to be written, and what to do when it is."""

    at: float
    records: Records
    replies: list[tuple[Job, Reply]]
    row: LogRow | None = None
    batch: Batch | None = None
    publications: list[bytes] = field(default_factory=list)
    """Lines of the log."""
    rejected: int = 0
    ended: list[str] = field(default_factory=list)
    """Subscriptions whose last delivery is in it: they have to be unsubscribed."""


class Engine:
    """The state of the service. Changed by one caller at a time."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.settings = settings
        self.hub = open_hub(store, settings.hub)
        self.snapshot = int(store.meta().get("snapshot", "0"))
        self.last = self.snapshot
        self._replay()
        self.streams: Streams = load_streams(store, settings.retention.tail_changes)
        self.listeners = noises.load_listeners(store)
        self.archive = Archive(store)
        self.recent: deque[bytes] = deque(maxlen=settings.retention.recent_messages)
        self._load_recent()
        self.clock = Clock(self.hub.clock if settings.clock == "wall" else 0.0)
        self._tick: Said | None = None

    def _replay(self) -> None:
        """Bring the hub from the snapshot to the end of the log."""

        def stop(number: int, error: NearcastError) -> None:
            what = f"event {number} of the log was accepted once and is not any more"
            raise InternalError(what, got=str(error)) from error

        while rows := self.store.log_after(self.last):
            for row in rows:
                self.hub.apply(_of_hub(row.events), on_error=stop, first=row.first)
            self.last = rows[-1].last

    def _load_recent(self) -> None:
        """Read the newest publications back, as many as memory keeps."""
        found: list[bytes] = []
        columns = select(LOG.c.first, LOG.c.events).order_by(LOG.c.last.desc())
        with self.store.reading() as connection:
            for _, events in connection.execution_options(yield_per=50).execute(columns):
                lines = events.split(b"\n")
                places = range(len(lines) - 1, -1, -1)
                some = (publication(lines, place) for place in places)
                found += [line for line in some if line]
                if len(found) >= (self.recent.maxlen or 0):
                    break
        self.recent.extend(reversed(found[: self.recent.maxlen]))

    # ---- one commit -------------------------------------------------------------------------

    def apply(self, jobs: Sequence[Job]) -> Commit:
        """Let everything happen that jobs ask for, in order; nothing of it is durable yet."""
        now = self.clock.now()
        records = Records()
        events = self._events_of(jobs, now)
        first = self.last + 1
        errors: dict[int, NearcastError] = {}
        lines = self._lines_of(events, now, errors, first)
        changes, content = _NOTHING, b"\n".join(lines)
        if events:  # as lines: what is logged is what the hub has seen
            changes = self.hub.apply(content, on_error=errors.__setitem__, first=first)
        for number in errors:
            lines[number - first] = b""
        changes, found = self._found(jobs, changes, first + len(events))
        counts = np.bincount(integers(changes["event"]) - first, minlength=len(events)).tolist()
        has_tick = len(events) > sum(len(job.events) for job in jobs)
        replies = self._replies(jobs, first + has_tick, errors, counts[has_tick:], now, records)
        publications = self._note_messages(events, lines, first, records)
        commit = Commit(now, records, replies, publications=publications, rejected=len(errors))
        if errors or found:
            lines += found
            content = b"\n".join(lines)
        self._finish(commit, changes, events, lines, content)
        return commit

    def _found(
        self, jobs: Sequence[Job], changes: pa.Table, first: int
    ) -> tuple[pa.Table, list[bytes]]:
        """Add the changes that other pipelines have found, each job's as those of one event."""
        tables: list[pa.Table] = [changes]
        lines: list[bytes] = []
        start = changes.num_rows
        for job in jobs:
            if job.found is None:
                continue
            size = job.found.num_rows
            numbers = pa.array(np.full(size, first + len(lines)))
            tables.append(job.found.set_column(0, CHANGES.field(0), numbers))
            origin = {"op": "deliver", **job.origin, "start": start, "end": start + size}
            lines.append(msgspec.json.encode(origin))
            start += size
        return (pa.concat_tables(tables) if lines else changes), lines

    def _events_of(self, jobs: Sequence[Job], now: float) -> list[Said]:
        events: list[Said] = []
        if self._tick is not None:
            events.append(self._tick)
            self._tick = None
        for job in jobs:
            events += job.events
        if self.settings.clock == "wall" and not are_all_plain(events):
            for fields in events:
                if not isinstance(fields, bytes) and fields.get("time") is None:
                    fields["time"] = now
        return events

    def _lines_of(
        self, events: Sequence[Said], now: float, errors: dict[int, NearcastError], first: int
    ) -> list[bytes]:
        """Return events as they stand in the log; what cannot be a line is an empty one."""
        head = head_at(now if self.settings.clock == "wall" else None)
        if are_all_plain(events):
            return plain_lines(events, head)
        lines = []
        for place, event in enumerate(events):
            try:
                lines.append(line_of(event, head))
            except NearcastError as error:
                errors[first + place] = error
                lines.append(b"")
        return lines

    def check_time(self, fields: Fields) -> None:
        """Refuse an event that would take the clock, and all that lives, far ahead."""
        value = fields.get("time")
        if value is None or self.settings.clock != "wall":
            return
        time = read_time(value, "time")
        ahead = time - self.clock.now()
        if ahead > self.settings.ahead_seconds:
            what = f"time is {ahead:.0f} seconds ahead of the service's clock"
            wanted = f"at most {self.settings.ahead_seconds:g}"
            raise InvalidEventError(what, got=value, wanted=wanted, field="time")

    def _replies(
        self,
        jobs: Sequence[Job],
        first: int,
        errors: dict[int, NearcastError],
        counts: list[int],
        now: float,
        records: Records,
    ) -> list[tuple[Job, Reply]]:
        replies = []
        place = 0
        for job in jobs:
            size = len(job.events)
            outcome = Outcome(first + place, errors, counts[place : place + size], now)
            place += size
            job.records(outcome, records)
            reply = job.reply(outcome)
            replies.append((job, reply))
            if job.answer is not None:
                kept = job.remembered(reply) if job.remembered else reply
                answer = {**job.answer._asdict(), "status": kept.status, "body": kept.body}
                records.put(ANSWERS, {**answer, "at": now})
        return replies

    def _note_messages(
        self,
        events: list[Said],
        lines: list[bytes],
        first: int,
        records: Records,
    ) -> list[bytes]:
        """Write the bodies of messages that are kept, and return all publications."""
        published = []
        keeps_all = self._window_seconds is not None or self.settings.hub.window_count is not None
        if not keeps_all and are_all_plain(events):
            return [line for line in lines if line]
        for place, (event, line) in enumerate(zip(events, lines, strict=True)):
            if not line:
                continue
            fields: Fields | None = None if isinstance(event, bytes) else event
            if fields is None or fields["op"] == "publish":
                published.append(line)
                if keeps_all or (fields is not None and "expires" in fields):
                    read = fields or msgspec.json.decode(line)
                    row = {"id": read["id"], "event": first + place, "body": line}
                    records.put(MESSAGES, {**row, "expires": self._ends(read)})
            elif fields["op"] == "retract":
                records.remove(MESSAGES, id=fields["id"])
        return published

    @property
    def _window_seconds(self) -> float | None:
        return self.settings.hub.window_seconds

    def _ends(self, fields: Fields) -> float | None:
        ends = []
        if fields.get("expires") is not None:
            ends.append(read_time(fields["expires"], "expires"))
        if self._window_seconds is not None:
            begins = fields.get("time")
            begin = self.hub.clock if begins is None else read_time(begins, "time")
            ends.append(begin + self._window_seconds)
        return min(ends, default=None)

    def _finish(
        self,
        commit: Commit,
        changes: pa.Table,
        events: list[Said],
        lines: list[bytes],
        content: bytes,
    ) -> None:
        """Give the changes numbers, decide which of them wait, and make the row of the log."""
        now, first = commit.at, self.last + 1
        groups = Groups(changes["subscription"])
        held = self._held(changes, groups, lines, first, commit)
        numbered = number_changes(changes, self.streams.numbers, held, groups)
        extras = self._extras(commit)
        if changes.num_rows == 0 and self._is_idle(commit, events, extras):
            return
        if not extras and not any(lines):
            return  # all rejected: nothing has happened
        last = first + max(1, len(lines)) - 1
        packed = msgspec.json.encode(extras) if extras else None
        commit.row = LogRow(last, first, now, content, pack(numbered), packed)
        commit.batch = self.streams.pending = Batch(
            first, last, now, lines, numbered, extras, groups
        )
        self.last = last

    # ---- noise ------------------------------------------------------------------------------

    def _held(
        self,
        changes: pa.Table,
        groups: Groups,
        lines: list[bytes],
        first: int,
        commit: Commit,
    ) -> NDArray[np.bool_] | None:
        """Ask subscriptions with noise about their changes; True: it gets no number now."""
        now, noisy = commit.at, self.listeners.owners
        if not noisy:
            return None
        quiet = [code for code, owner in enumerate(groups.owners) if owner in noisy]
        held = np.zeros(len(groups.codes), bool)
        for row in np.flatnonzero(np.isin(groups.codes, quiet)).tolist():
            owner, id = split_id(changes["subscription"][row].as_py())
            listener = self.listeners.get(owner, id)
            if listener is None:
                continue
            verdict = listener.judge(now)
            held[row] = verdict != "send"
            if verdict == "hold" and listener.hold(_held_body(changes, row, lines, first, id, now)):
                noises.note_held(commit.records, owner, id, listener)
                if len(listener.held) == 1:
                    self.listeners.schedule(owner, id, listener.state.due or now)
            noises.note_state(commit.records, owner, id, listener)
            if verdict == "send" and listener.has_ended:
                commit.ended.append(hub_id(owner, id))
        return held

    def _extras(self, commit: Commit) -> list[Extra]:
        """Make the digests that are due, and say goodbye to what ends."""
        now = commit.at
        extras = []
        for owner, id, listener in self.listeners.take_due(now):
            held, omitted = listener.digest(now)
            body: dict[str, Any] = {"subscription": id, "omitted": omitted}
            extras.append(self._extra(owner, "digest", body, now, held))
            commit.records.remove(HELD, owner=owner, id=id)
            noises.note_state(commit.records, owner, id, listener)
            if listener.has_ended:
                commit.ended.append(hub_id(owner, id))
        for name in commit.ended:
            owner, id = split_id(name)
            extras.append(self._extra(owner, "ended", {"subscription": id, "reason": "limit"}, now))
        return extras

    def _extra(
        self, owner: str, kind: str, body: dict[str, Any], now: float, held: Sequence[bytes] = ()
    ) -> Extra:
        number = self.streams.numbers.get(owner) + 1
        self.streams.numbers.set(owner, number)
        whole = {"id": f"{owner}-{number}", "number": number, "type": kind, "owner": owner, **body}
        if kind == "digest":
            whole["changes"] = [msgspec.Raw(one) for one in held]
        return Extra(owner, number, msgspec.Raw(msgspec.json.encode({**whole, "at": now})))

    # ---- time that passes without events ----------------------------------------------------

    def tick(self) -> Fields | None:
        """Return an event that moves the clock to now; None: time comes from events alone."""
        if self.settings.clock != "wall":
            return None
        now = self.clock.now()
        return {"op": "advance", "time": now} if now > self.hub.clock else None

    def _is_idle(self, commit: Commit, events: Sequence[Said], extras: Sequence[Extra]) -> bool:
        """Whether only time has passed. It is noted with the next commit; if lost, it comes again.

        So a service without traffic writes nothing.
        """
        if extras or commit.records or any(op_of(event) != "advance" for event in events):
            return False
        self._tick = events[-1] if events else self._tick
        return True


def _of_hub(events: bytes) -> bytes:
    """Return the events that a hub has to see; those of other pipelines become empty lines."""
    if _DELIVERED not in events:
        return events
    lines = events.split(b"\n")
    return b"\n".join(b"" if line.startswith(_DELIVERED) else line for line in lines)


def _held_body(
    changes: pa.Table, row: int, lines: list[bytes], first: int, id: str, now: float
) -> bytes:
    values = {name: changes[name][row].as_py() for name in changes.schema.names}
    line = publication(lines, values["event"] - first)
    body = {**values, "subscription": id, "at": now}
    if line and values["change"] != "removed":
        body["published"] = msgspec.Raw(line)
    return msgspec.json.encode({k: v for k, v in body.items() if v is not None})


def check_event(fields: Fields) -> None:
    """Raise the error of an event that cannot be, without letting it happen."""
    event_from(fields)

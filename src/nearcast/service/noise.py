"""Should this change be delivered now, later with others, or no more? Per subscription.

`at_most` and `per_seconds`: in an interval that begins with a delivery, so many come one by one;
the rest waits and comes as one digest when the interval ends. `digest_seconds`: everything waits,
from the first change on, so long. `quiet`: what happens in these hours waits for their end.
`ends_after`: so many deliveries, a digest being one, and the subscription ends.

What waits is durable. A digest lists `HELD` changes at most; more are counted as `omitted`.
"""

from __future__ import annotations

import heapq
import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
from sqlalchemy import and_, select

from nearcast.errors import InvalidSubscriptionError
from nearcast.service.schema import HELD as HELD_TABLE
from nearcast.service.schema import NOISE, SUBSCRIPTIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from nearcast.service.store import Records, Store

HELD = 1_000
_CLOCK_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")
Verdict = Literal["send", "hold", "drop"]


class Quiet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"start": "from"}):
    """Hours of every day, such as 22:00 to 07:00, in a time zone."""

    start: str
    to: str
    zone: str = "UTC"

    def ends_at(self, now: float) -> float | None:
        """Return when these hours end, if they are now."""
        zone = ZoneInfo(self.zone)
        here = datetime.fromtimestamp(now, zone)
        for day in (-1, 0):
            begin = _at(here + timedelta(days=day), self.start)
            end = _at(here + timedelta(days=day), self.to)
            if end <= begin:
                end = _at(end + timedelta(days=1), self.to)
            if begin <= here < end:
                return end.timestamp()
        return None


def _at(day: datetime, clock_time: str) -> datetime:
    hour, minute = map(int, clock_time.split(":"))
    return day.replace(hour=hour, minute=minute, second=0, microsecond=0)


class Noise(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a subscription says about how often it wants to hear."""

    at_most: int | None = None
    per_seconds: float | None = None
    digest_seconds: float | None = None
    quiet: Quiet | None = None
    ends_after: int | None = None


def noise_from(value: object) -> Noise | None:
    """Read the field `noise` of a subscription."""
    if value is None:
        return None
    try:
        noise = msgspec.convert(value, Noise)
    except msgspec.ValidationError as error:
        raise _refused(str(error), "see the guide to the service") from None
    if (noise.at_most is None) != (noise.per_seconds is None):
        msg = "at_most and per_seconds"
        raise _refused(msg, "both of them or none")
    for name in ("at_most", "per_seconds", "digest_seconds", "ends_after"):
        number = getattr(noise, name)
        if number is not None and not 0 < number <= 1e9:
            msg = f"{name} {number}"
            raise _refused(msg, "a number above 0, at most a billion")
    if noise.quiet is not None:
        _check_quiet(noise.quiet)
    return noise


def _check_quiet(quiet: Quiet) -> None:
    for moment in (quiet.start, quiet.to):
        if not _CLOCK_TIME.fullmatch(moment):
            raise _refused(moment, "hours such as 22:00")
    if quiet.start == quiet.to:
        raise _refused(quiet.start, "hours that begin and end at different times")
    try:
        ZoneInfo(quiet.zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise _refused(quiet.zone, "a time zone such as Europe/Berlin") from None


def _refused(got: str, wanted: str) -> InvalidSubscriptionError:
    what = "noise is wrong"
    return InvalidSubscriptionError(what, got=got, wanted=wanted, field="noise")


class State(msgspec.Struct):
    """Where one subscription is."""

    since: float = 0.0
    sent: int = 0
    total: int = 0
    omitted: int = 0
    due: float | None = None


class Listener:
    """One subscription with `noise`."""

    __slots__ = ("held", "noise", "state")

    def __init__(self, noise: Noise, state: State | None = None) -> None:
        self.noise = noise
        self.state = state or State()
        self.held: list[bytes] = []

    def judge(self, now: float) -> Verdict:
        """Decide about one change, and count it."""
        noise, state = self.noise, self.state
        if noise.ends_after is not None and state.total >= noise.ends_after:
            return "drop"
        due = self._held_until(now)
        if due is not None:
            state.due = due if state.due is None else state.due
            return "hold"
        state.sent += 1
        state.total += 1
        return "send"

    def _held_until(self, now: float) -> float | None:
        noise, state = self.noise, self.state
        quiet = noise.quiet.ends_at(now) if noise.quiet else None
        if quiet is not None:
            return quiet
        if state.due is not None:  # others wait already: none overtakes them
            return state.due
        if noise.digest_seconds is not None:
            return now + noise.digest_seconds
        if noise.at_most is not None and noise.per_seconds is not None:
            if now >= state.since + noise.per_seconds:
                state.since, state.sent = now, 0
            if state.sent >= noise.at_most:
                return state.since + noise.per_seconds
        return None

    def hold(self, body: bytes) -> bool:
        """Keep a change for the digest; False: there are enough, it was only counted."""
        if len(self.held) >= HELD:
            self.state.omitted += 1
            return False
        self.held.append(body)
        return True

    @property
    def has_ended(self) -> bool:
        """Whether the last delivery was the last one."""
        return self.noise.ends_after is not None and self.state.total >= self.noise.ends_after

    def digest(self, now: float) -> tuple[list[bytes], int]:
        """Take what waits, as one delivery."""
        held, omitted = self.held, self.state.omitted
        self.held = []
        state = self.state
        state.omitted, state.due = 0, None
        state.since, state.sent = now, 1
        state.total += 1
        return held, omitted


class Listeners:
    """All subscriptions with `noise`: as many as there are."""

    def __init__(self) -> None:
        self._by_owner: dict[str, dict[str, Listener]] = {}
        self._due: list[tuple[float, str, str]] = []

    @property
    def owners(self) -> Collection[str]:
        """Subscribers that have one."""
        return self._by_owner.keys()

    def get(self, owner: str, id: str) -> Listener | None:
        """Return a subscription, if it has noise."""
        return self._by_owner.get(owner, {}).get(id)

    def set(self, owner: str, id: str, noise: Noise | None) -> None:
        """Note what a subscription says now; what it waits for stays."""
        if noise is None:
            self.remove(owner, id)
            return
        found = self.get(owner, id)
        if found is None:
            self._by_owner.setdefault(owner, {})[id] = Listener(noise)
        else:
            found.noise = noise

    def add(self, owner: str, id: str, listener: Listener) -> None:
        """Take in a subscription of an earlier life."""
        self._by_owner.setdefault(owner, {})[id] = listener
        if listener.state.due is not None:
            self.schedule(owner, id, listener.state.due)

    def remove(self, owner: str, id: str) -> bool:
        """Forget a subscription, and what waits."""
        own = self._by_owner.get(owner, {})
        was_there = own.pop(id, None) is not None
        if was_there and not own:
            del self._by_owner[owner]
        return was_there

    def schedule(self, owner: str, id: str, due: float) -> None:
        """Ask for a digest at a time."""
        heapq.heappush(self._due, (due, owner, id))

    def take_due(self, now: float) -> Iterator[tuple[str, str, Listener]]:
        """Yield what has a digest to get."""
        while self._due and self._due[0][0] <= now:
            _, owner, id = heapq.heappop(self._due)
            listener = self.get(owner, id)
            if listener is not None and (due := listener.state.due) is not None:
                if due <= now:
                    yield owner, id, listener
                else:
                    self.schedule(owner, id, due)

    def has_due(self, now: float) -> bool:
        """Whether some digest is due."""
        return bool(self._due) and self._due[0][0] <= now


def note_state(records: Records, owner: str, id: str, listener: Listener) -> None:
    """Write where a subscription is."""
    state = msgspec.json.encode(listener.state)
    records.put(NOISE, {"owner": owner, "id": id, "state": state})


def note_held(records: Records, owner: str, id: str, listener: Listener) -> None:
    """Write the change that was held last."""
    place = len(listener.held) - 1
    row: dict[str, Any] = {"owner": owner, "id": id, "place": place, "body": listener.held[-1]}
    records.put(HELD_TABLE, row)


def forget_noise(records: Records, owner: str, id: str) -> None:
    """Remove all that was written about a subscription's noise."""
    records.remove(HELD_TABLE, owner=owner, id=id)
    records.remove(NOISE, owner=owner, id=id)


def load_listeners(store: Store) -> Listeners:
    """Return all subscriptions with noise, as they were when the last commit was made."""
    listeners = Listeners()
    own = SUBSCRIPTIONS.c
    both = and_(own.owner == NOISE.c.owner, own.id == NOISE.c.id)
    columns = select(own.owner, own.id, own.noise, NOISE.c.state)
    for owner, id, noise, state in store.rows(columns.join_from(NOISE, SUBSCRIPTIONS, both)):
        if noise is not None:
            read = msgspec.json.decode(state, type=State)
            listeners.add(owner, id, Listener(msgspec.json.decode(noise, type=Noise), read))
    for owner, id, _, body in store.rows(select(HELD_TABLE).order_by(HELD_TABLE.c.place)):
        listener = listeners.get(owner, id)
        if listener is not None:
            listener.held.append(body)
    return listeners

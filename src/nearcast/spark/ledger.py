"""What lives? Subscriptions and messages with their clock, without matching (DESIGN.md, Life).

The window is one for the whole stream, while partitions see parts of it; so life is decided here,
before anything is distributed, and partitions are told who comes and who goes. Only what a batch of
events leaves behind is reported: who came and went within it was never there.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any

from nearcast.errors import DuplicateIdError, NearcastError, UnknownIdError, UnsupportedError
from nearcast.events import Move, Publish, Retract, Subscribe, event_from
from nearcast.model import Bbox

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nearcast.events import Event, Unsubscribe
    from nearcast.model import Window

Fields = dict[str, Any]


@dataclass(slots=True)
class Held:
    """A subscription."""

    event: Subscribe
    number: int
    expires: float


@dataclass(slots=True)
class Live:
    """A live message."""

    number: int
    ends: float


@dataclass
class Net:
    """What a batch of events leaves behind."""

    ended: set[str] = field(default_factory=set)
    """Subscriptions of before that are no more, those that came back included."""
    began: set[str] = field(default_factory=set)
    """Subscriptions that were not there before."""
    moved: set[str] = field(default_factory=set)
    left: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Messages of before that are no longer live: number and reason."""
    published: dict[str, Publish] = field(default_factory=dict)
    """Messages that became live and still are, in order."""
    rejected: list[tuple[int, NearcastError]] = field(default_factory=list)


class Ledger:
    """Everything that lives.

    Parameters
    ----------
    window
        As of a hub.
    modes
        Of the subscriptions that it admits.
    """

    def __init__(self, window: Window | None, modes: tuple[str, ...] = ("top",)) -> None:
        self._window = window
        self._modes = modes
        self.clock = 0.0
        self._numbers = 0
        self.subscriptions: dict[str, Held] = {}
        self.messages: dict[str, Live] = {}  # in the order of publication
        self._due: list[tuple[float, int, str, int]] = []  # when, kind, id, number

    def apply(self, events: Iterable[tuple[int, Mapping[str, Any]]]) -> Net:
        """Apply numbered events; those that are rejected change nothing."""
        net = Net()
        for number, fields in events:
            try:
                self.admit(event_from(fields), net)
            except NearcastError as error:  # noqa: PERF203 — one bad event spares the others
                net.rejected.append((number, error))
        return net

    def admit(self, event: Event, net: Net) -> None:
        """Apply one event, or raise and change nothing."""
        own = self.clock if event.time is None else event.time
        clock = max(self.clock, own)
        self._check(event, clock)
        self.clock = clock
        self._expire(net)
        if isinstance(event, Subscribe):
            self._subscribe(event, net)
        elif isinstance(event, Publish):
            self._publish(event, own, net)
        elif isinstance(event, Move):
            held = self.subscriptions[event.id]
            held.event = _moved(held.event, event)
            net.moved.add(event.id)
        elif isinstance(event, Retract):
            if event.id in self.messages:
                self._leave(event.id, "retracted", net)
        else:
            self._end(event.id, net)

    def _check(self, event: Event, clock: float) -> None:
        """Refuse what could not happen at this time, before anything changes."""
        if isinstance(event, Publish):
            live = self.messages.get(event.id)
            if live is not None and live.ends > clock:
                raise _in_use(event)
        elif isinstance(event, Subscribe):
            self._check_subscribe(event, clock)
        elif not isinstance(event, Retract):
            self._check_known(event, clock)

    def _check_subscribe(self, event: Subscribe, clock: float) -> None:
        held = self.subscriptions.get(event.id)
        if held is not None and held.expires > clock:
            raise _in_use(event)
        if event.mode not in self._modes:
            wanted = " or ".join(map(repr, self._modes))
            what = f"subscription {event.id!r} is not of mode {wanted}"
            raise UnsupportedError(what, got=event.mode, wanted=wanted)
        if event.expires is not None and event.expires <= clock:
            what = f"subscription {event.id!r} has expired already"
            raise UnsupportedError(what, got=event.expires, wanted=f"more than {clock}")

    def _check_known(self, event: Move | Unsubscribe, clock: float) -> None:
        held = self.subscriptions.get(event.id)
        if held is None or held.expires <= clock:
            what = f"subscription {event.id!r}"
            raise UnknownIdError(what, wanted="an id in use")
        if isinstance(event, Move):
            _check_move(event, held.event.mode)

    def _subscribe(self, event: Subscribe, net: Net) -> None:
        self._numbers += 1
        expires = inf if event.expires is None else event.expires
        self.subscriptions[event.id] = Held(event, self._numbers, expires)
        net.began.add(event.id)
        if expires < inf:
            heapq.heappush(self._due, (expires, 1, event.id, self._numbers))

    def _publish(self, event: Publish, own: float, net: Net) -> None:
        self._numbers += 1
        ends = inf if event.expires is None else event.expires
        window = self._window
        if window is not None and window.seconds is not None:
            ends = min(ends, own + window.seconds)
        is_kept = window is not None or event.expires is not None
        if not is_kept or ends <= self.clock:
            return
        self.messages[event.id] = Live(self._numbers, ends)
        net.published[event.id] = event
        if ends < inf:
            heapq.heappush(self._due, (ends, 0, event.id, self._numbers))
        if window is not None and window.count is not None and len(self.messages) > window.count:
            self._leave(next(iter(self.messages)), "expired", net)

    def _expire(self, net: Net) -> None:
        while self._due and self._due[0][0] <= self.clock:
            _, is_subscription, id_, number = heapq.heappop(self._due)
            kept = (self.subscriptions if is_subscription else self.messages).get(id_)
            if kept is None or kept.number != number:
                continue  # gone before, its id perhaps somebody else's now
            if is_subscription:
                self._end(id_, net)
            else:
                self._leave(id_, "expired", net)

    def _end(self, id_: str, net: Net) -> None:
        del self.subscriptions[id_]
        net.moved.discard(id_)
        if id_ in net.began:
            net.began.remove(id_)
        else:
            net.ended.add(id_)

    def _leave(self, id_: str, reason: str, net: Net) -> None:
        live = self.messages.pop(id_)
        if net.published.pop(id_, None) is None:
            net.left[id_] = (live.number, reason)


def _check_move(event: Move, mode: str) -> None:
    is_point = event.at is not None
    if is_point != (mode == "top") or (mode == "rank" and not isinstance(event.area, Bbox)):
        wanted = {"top": "at", "rank": "area, a box"}.get(mode, "area")
        what = f"subscription {event.id!r} cannot be moved there"
        raise UnsupportedError(what, got="at" if is_point else "area", wanted=wanted)


def _moved(event: Subscribe, move: Move) -> Subscribe:
    return replace(event, at=move.at, area=move.area)


def _in_use(event: Publish | Subscribe) -> DuplicateIdError:
    noun = "message" if isinstance(event, Publish) else "subscription"
    return DuplicateIdError(f"{noun} {event.id!r}", wanted="an id that is not in use")

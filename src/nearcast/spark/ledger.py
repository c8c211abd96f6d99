"""What lives in a stream, and what does a batch of events leave behind?

The window is one for the whole stream, while partitions see parts of it; so life is decided here,
before anything is distributed, by `nearcast.life`, and partitions are told what comes and goes.
Only what a batch leaves behind is reported: what came and went within it was never there.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from nearcast.errors import NearcastError, UnsupportedError
from nearcast.events import Move, Publish, Subscribe, event_from
from nearcast.life import Life

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nearcast.events import Event
    from nearcast.life import Departure, Outcome
    from nearcast.model import Window


@dataclass
class Net:
    """What a batch of events leaves behind."""

    ended: set[str] = field(default_factory=set)
    """Subscriptions of before that are no more, those that came back included."""
    began: set[str] = field(default_factory=set)
    """Subscriptions that were not there before."""
    moved: set[str] = field(default_factory=set)
    redefined: set[str] = field(default_factory=set)
    """Subscriptions of before with another definition in their place."""
    left: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Messages of before that are no longer live: number and reason. "changed": as they were."""
    published: dict[str, Publish] = field(default_factory=dict)
    """Messages that became live and still are, in order; new versions of those of before, too."""
    rejected: list[tuple[int, NearcastError]] = field(default_factory=list)


class Ledger:
    """Everything that lives, with the definitions of subscriptions and the numbers of messages.

    Parameters
    ----------
    window
        As of a hub.
    modes
        Of the subscriptions that it admits.
    """

    def __init__(self, window: Window | None, modes: tuple[str, ...] = ("top",)) -> None:
        self._life = Life(window)
        self._modes = modes
        self._numbers = 0
        self.subscriptions: dict[str, Subscribe] = {}
        self.messages: dict[str, int] = {}
        """The number of each live message, in the order of publication."""

    @property
    def clock(self) -> float:
        """The largest time seen."""
        return self._life.clock

    def apply(self, events: Iterable[tuple[int, Mapping[str, Any]]]) -> Net:
        """Apply numbered events; those that are rejected change nothing."""
        net = Net()
        numbers: list[int] = []
        read: list[Event] = []
        for number, fields in events:
            try:
                read.append(self._admitted(event_from(fields)))
                numbers.append(number)
            except NearcastError as error:  # noqa: PERF203 — one bad event spares the others
                net.rejected.append((number, error))
        outcome = self._life.apply(read)
        self._note(read, outcome, net)
        net.rejected += [(numbers[row], error) for row, error in outcome.rejected.items()]
        net.rejected.sort(key=lambda pair: pair[0])
        return net

    def _admitted(self, event: Event) -> Event:
        if isinstance(event, Subscribe) and event.mode not in self._modes:
            wanted = " or ".join(map(repr, self._modes))
            what = f"subscription {event.id!r} is not of mode {wanted}"
            raise UnsupportedError(what, got=event.mode, wanted=wanted)
        return event

    def _note(self, events: Sequence[Event], outcome: Outcome, net: Net) -> None:
        departures = iter([*outcome.departures, None])
        gone = next(departures)
        for row, event in enumerate(events):
            is_kept = bool(outcome.is_kept[row])
            while gone is not None and gone.row == row:
                # What an event puts another in the place of has not expired.
                if not gone.is_expired and isinstance(event, Subscribe):
                    self._redefine(event, net)
                else:
                    is_replaced = isinstance(event, Publish) and is_kept and not gone.is_expired
                    self._leave(gone, net, is_replaced=is_replaced)
                gone = next(departures)
            if row not in outcome.rejected:
                self._come(event, net, is_kept=is_kept)

    def _redefine(self, event: Subscribe, net: Net) -> None:
        if event.id not in net.began:
            net.redefined.add(event.id)

    def _come(self, event: Event, net: Net, *, is_kept: bool) -> None:
        if isinstance(event, Subscribe):
            self.subscriptions[event.id] = event
            if event.id not in net.redefined:
                net.began.add(event.id)
        elif isinstance(event, Move):
            known = self.subscriptions[event.id]
            self.subscriptions[event.id] = replace(known, at=event.at, area=event.area)
            net.moved.add(event.id)
        elif isinstance(event, Publish) and is_kept:
            self._numbers += 1
            self.messages[event.id] = self._numbers
            net.published[event.id] = event

    def _leave(self, gone: Departure, net: Net, *, is_replaced: bool) -> None:
        if gone.is_message:
            reason = "expired" if gone.is_expired else "changed" if is_replaced else "retracted"
            number = self.messages.pop(gone.id)
            if net.published.pop(gone.id, None) is None:
                net.left[gone.id] = (number, reason)
            elif net.left.get(gone.id, (0, ""))[1] == "changed":
                net.left[gone.id] = (net.left[gone.id][0], reason)
            return
        del self.subscriptions[gone.id]
        net.moved.discard(gone.id)
        net.redefined.discard(gone.id)
        if gone.id in net.began:
            net.began.remove(gone.id)
        else:
            net.ended.add(gone.id)

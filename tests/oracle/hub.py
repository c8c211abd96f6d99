"""The hub: events in, signed changes out (DESIGN 1.4). Everything is recomputed every time."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from oracle.events import (
    Event,
    Message,
    Subscription,
    decide,
    read_area_for,
    read_message,
    read_subscription,
    read_time,
    shares_keyword,
)
from oracle.fields import OracleRejects, identifier, only_fields, position, require
from oracle.scores import Space, Weights, top_score, units
from oracle.text import read_stop_words

Change = dict[str, Any]
TopList = dict[int, tuple[Message, float]]  # by number of the message, best first
Holding = Mapping[int, tuple[Message, float | None]]  # what any subscription holds, likewise


@dataclass(frozen=True)
class Settings:
    """What stays the same from event to event."""

    window_count: int | None
    window_seconds: float | None
    space: Space
    stop_words: frozenset[str]


@dataclass
class State:
    """What an event may change. `ends` holds the moment at which each live message expires."""

    weights: Weights | None
    clock: float = 0.0
    numbers: int = 0
    subscriptions: dict[str, Subscription] = field(default_factory=dict)
    messages: dict[str, Message] = field(default_factory=dict)
    ends: dict[str, float] = field(default_factory=dict)

    def copy(self) -> State:
        """Return a state that can change without this one."""
        return replace(
            self,
            subscriptions=dict(self.subscriptions),
            messages=dict(self.messages),
            ends=dict(self.ends),
        )


class Oracle:
    """A hub that answers slowly and rightly."""

    def __init__(
        self,
        *,
        window_count: int | None = None,
        window_seconds: float | None = None,
        weights: Weights | Mapping[str, Any] | None = None,
        space: Space = (-180, -90, 180, 90),
        stop_words: Iterable[str] = (),
    ) -> None:
        """Weights are an epoch or its JSON form; at most one window may be given."""
        _check_settings(window_count, window_seconds, space)
        dropped = read_stop_words(stop_words)
        self._settings = Settings(window_count, window_seconds, space, dropped)
        self._state = State(_epoch(weights))

    @property
    def clock(self) -> float:
        """The largest time seen."""
        return self._state.clock

    def apply(self, line_number: int, event: Event) -> list[Change]:
        """Return the changes that the event causes; reject it without changing anything."""
        step = _Step(self._settings, self._state, line_number)
        step.run(event)
        self._state = step.state
        return step.changes

    def reweigh(
        self, line_number: int, weights: Weights | Mapping[str, Any] | None
    ) -> list[Change]:
        """Put another weights epoch in force, at once for everything."""
        step = _Step(self._settings, self._state, line_number)
        step.reweigh(_epoch(weights))
        self._state = step.state
        return step.changes

    def live_messages(self) -> list[str]:
        """Return the ids of the live messages, oldest first."""
        return list(self._state.messages)

    def modes(self) -> dict[str, str]:
        """Return the modes of the subscriptions, by id."""
        return {key: held.mode for key, held in self._state.subscriptions.items()}

    def top(self, subscription_id: str) -> list[tuple[str, float]]:
        """Return the list of a top subscription, best first."""
        subscription = self._state.subscriptions[subscription_id]
        best = top_list(self._settings, self._state, subscription)
        return [(message.id, score) for message, score in best.values()]

    def holds_set(self, subscription_id: str) -> bool:
        """Return whether a subscription is live or has a top list."""
        subscription = self._state.subscriptions[subscription_id]
        return subscription.live or subscription.mode == "top"

    def held(self, subscription_id: str) -> set[str]:
        """Return the ids of the messages that a live or top subscription holds."""
        subscription = self._state.subscriptions[subscription_id]
        step = _Step(self._settings, self._state, 0)
        return {message.id for message, _ in step.held_now(subscription).values()}

    def reached(self, event: Event) -> list[str]:
        """Return the subscriptions that a message would reach now; nothing changes.

        A top subscription is reached if the message would be in its list as it stands.
        """
        message = read_message({**event, "op": "publish", "id": "m"}, self._settings.stop_words)
        message = replace(message, number=self._state.numbers + 1)
        return sorted(
            id_
            for id_, subscription in self._state.subscriptions.items()
            if self._is_reached(subscription, message)
        )

    def _is_reached(self, subscription: Subscription, message: Message) -> bool:
        if subscription.mode != "top":
            return decide(subscription, message, self._state.weights)[0]
        joined = self._state.copy()
        joined.messages[""] = message  # no message has this id
        return message.number in top_list(self._settings, joined, subscription)

    def replay(
        self, lines: Iterable[bytes], on_error: Literal["stop", "skip"] = "stop"
    ) -> tuple[list[Change], list[int]]:
        """Apply NDJSON lines; return all changes and the numbers of the rejected lines."""
        changes: list[Change] = []
        rejected: list[int] = []
        for line_number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                changes += self.apply(line_number, parse(line))
            except OracleRejects:
                rejected.append(line_number)
                if on_error == "stop":
                    break
        return changes, rejected


def replay(
    lines: Iterable[bytes], on_error: Literal["stop", "skip"] = "stop", **settings: Any
) -> tuple[list[Change], list[int]]:
    """Replay NDJSON lines on a fresh oracle with these settings."""
    return Oracle(**settings).replay(lines, on_error)


class _Step:
    """The work of one event, on a copy of the state that is dropped if the event is rejected."""

    def __init__(self, settings: Settings, before: State, line_number: int) -> None:
        self.settings = settings
        self.before = before
        self.state = before.copy()
        self.line_number = line_number
        self.changes: list[Change] = []
        self.left: dict[int, str] = {}  # numbers of messages that ceased to be live, and why
        self.published = 0  # number of the message that this event publishes
        self.moved = 0  # number of the subscription that this event moves
        self.begun = 0  # number of the subscription that takes the place of another
        self.outdated = 0  # number of the message that the published one takes the place of
        self.own_time = before.clock

    def run(self, event: Event) -> None:
        require(isinstance(event, Mapping), "an event is a JSON object")
        operations = {
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
            "move": self._move,
            "publish": self._publish,
            "retract": self._retract,
            "advance": self._advance,
        }
        operation = event.get("op")
        if not isinstance(operation, str) or operation not in operations:
            raise OracleRejects(f"unknown op: {operation!r}")
        time = read_time(event)
        self.own_time = self.before.clock if time is None else time
        self.state.clock = max(self.before.clock, self.own_time)
        self._expire()
        operations[operation](event)
        self._change_top_lists()

    def reweigh(self, weights: Weights | None) -> None:
        self.state.weights = weights
        for subscription in self.state.subscriptions.values():
            if subscription.live:
                self._compare(subscription, subscription)
        self._change_top_lists()

    # The operations --------------------------------------------------------------------------

    def _subscribe(self, event: Event) -> None:
        read = read_subscription(event, self.settings.stop_words)
        subscription = replace(read, number=self._next_number())
        old = self.state.subscriptions.get(subscription.id)
        require(old is None or subscription.replace, "subscription id is in use")
        expires = subscription.expires
        require(expires is None or expires > self.state.clock, "subscription has expired already")
        self.state.subscriptions[subscription.id] = subscription
        if old is not None:
            self._take_the_place_of(old, subscription)
        elif subscription.live:
            for message in self.state.messages.values():
                self._report_if_wanted(subscription, message, "added", "subscribed")

    def _take_the_place_of(self, old: Subscription, new: Subscription) -> None:
        """Report the net difference of what the two hold."""
        self.begun = new.number
        were, are = self._held_so_far(old), self.held_now(new)
        for number, (message, score) in were.items():
            if number not in are:
                reason = self.left.get(number, "changed")
                self._report(new, message, "removed", reason, score)
        for number, (message, score) in are.items():
            if number not in were:
                self._report(new, message, "added", "changed", score)

    def _held_so_far(self, old: Subscription) -> Holding:
        """Return what the subscription holds; a top list as it was before everything due left."""
        if old.mode == "top":
            return top_list(self.settings, self.before, old)
        return self.held_now(old)

    def held_now(self, subscription: Subscription) -> Holding:
        """Return what a subscription holds, nothing if it is not live."""
        if subscription.mode == "top":
            return top_list(self.settings, self.state, subscription)
        held: dict[int, tuple[Message, float | None]] = {}
        for message in self.state.messages.values() if subscription.live else ():
            wanted, score = decide(subscription, message, self.state.weights)
            if wanted:
                held[message.number] = (message, score)
        return held

    def _advance(self, event: Event) -> None:
        only_fields(event, ("op", "time"), "advance")
        require("time" in event, "advance needs a time")

    def _unsubscribe(self, event: Event) -> None:
        only_fields(event, ("op", "id", "time"), "unsubscribe")
        del self.state.subscriptions[self._known(event).id]

    def _move(self, event: Event) -> None:
        old = self._known(event)
        where = "at" if old.mode == "top" else "area"
        only_fields(event, ("op", "id", "time", where), "move")
        require(where in event, f"move of a {old.mode} subscription needs {where}")
        if old.mode == "top":
            new = replace(old, at=position(event["at"]))
        else:
            new = replace(old, area=read_area_for(old.mode, event["area"]))
        self.state.subscriptions[old.id] = new
        self.moved = old.number
        if new.live:
            self._compare(old, new)

    def _publish(self, event: Event) -> None:
        read = read_message(event, self.settings.stop_words)
        message = replace(read, number=self._next_number())
        old = self.state.messages.get(message.id)
        require(old is None or message.replace, "message id is in use")
        ends = self._end_of(message)
        is_kept = ends is not None and ends > self.state.clock
        self.published = message.number
        if old is not None and is_kept:
            self._outdate(old, message)
        else:
            if old is not None:
                self._leave(old, "retracted")
            for subscription in self.state.subscriptions.values():
                self._report_if_wanted(subscription, message, "added", "published")
        if ends is not None and is_kept:
            self._keep(message, ends)

    def _outdate(self, old: Message, new: Message) -> None:
        """Let a new version take the place of a live message; top lists are compared later."""
        self.outdated = old.number
        del self.state.messages[old.id], self.state.ends[old.id]
        for subscription in self.state.subscriptions.values():
            if subscription.mode == "top":
                continue
            was, old_score = decide(subscription, old, self.state.weights)
            is_now, score = decide(subscription, new, self.state.weights)
            if is_now and not was:
                self._report(subscription, new, "added", "changed", score)
            elif is_now and subscription.live:
                self._report(subscription, new, "updated", "changed", score)
            elif was and subscription.live:
                self._report(subscription, old, "removed", "changed", old_score)

    def _retract(self, event: Event) -> None:
        only_fields(event, ("op", "id", "time"), "retract")
        message = self.state.messages.get(identifier(event.get("id")))
        if message is not None:
            self._leave(message, "retracted")

    def _known(self, event: Event) -> Subscription:
        subscription = self.state.subscriptions.get(identifier(event.get("id")))
        if subscription is None:
            raise OracleRejects("unknown subscription")
        return subscription

    def _next_number(self) -> int:
        self.state.numbers += 1
        return self.state.numbers

    # Life ------------------------------------------------------------------------------------

    def _expire(self) -> None:
        """Let go what is due, in order of expiry.

        At the same moment messages go first: a subscription expires like an unsubscribe at that
        time, before which everything due has gone.
        """
        ends = self.state.ends
        due = [(ends[key], 0, key) for key in ends if ends[key] <= self.state.clock]
        for key, subscription in self.state.subscriptions.items():
            if subscription.expires is not None and subscription.expires <= self.state.clock:
                due.append((subscription.expires, 1, key))
        for _, is_subscription, key in sorted(due):
            if is_subscription:
                del self.state.subscriptions[key]
            else:
                self._leave(self.state.messages[key], "expired")

    def _end_of(self, message: Message) -> float | None:
        """Return when a message expires, infinity for never; None if nothing keeps it."""
        ends = math.inf if message.expires is None else message.expires
        if self.settings.window_seconds is not None:
            return min(ends, self.own_time + self.settings.window_seconds)
        windowless = self.settings.window_count is None
        return None if windowless and message.expires is None else ends

    def _keep(self, message: Message, ends: float) -> None:
        self.state.messages[message.id] = message
        self.state.ends[message.id] = ends
        count = self.settings.window_count
        if count is not None and len(self.state.messages) > count:
            oldest = min(self.state.messages.values(), key=lambda held: held.number)
            self._leave(oldest, "expired")

    def _leave(self, message: Message, reason: str) -> None:
        del self.state.messages[message.id], self.state.ends[message.id]
        self.left[message.number] = reason
        for subscription in self.state.subscriptions.values():
            if subscription.live:
                self._report_if_wanted(subscription, message, "removed", reason)

    # Changes ---------------------------------------------------------------------------------

    def _report(
        self,
        subscription: Subscription,
        message: Message,
        change: str,
        reason: str,
        score: float | None,
    ) -> None:
        report: Change = {
            "event": self.line_number,
            "subscription": subscription.id,
            "message": message.id,
            "change": change,
            "reason": reason,
        }
        self.changes.append(report if score is None else {**report, "score": score})

    def _report_if_wanted(
        self, subscription: Subscription, message: Message, change: str, reason: str
    ) -> None:
        if subscription.mode != "top":
            wanted, score = decide(subscription, message, self.state.weights)
            if wanted:
                self._report(subscription, message, change, reason, score)

    def _compare(self, old: Subscription, new: Subscription) -> None:
        """Report what a live set gains and loses when its subscription or the weights change."""
        for message in self.state.messages.values():
            was, old_score = decide(old, message, self.before.weights)
            is_now, new_score = decide(new, message, self.state.weights)
            if was and not is_now:
                self._report(new, message, "removed", "moved", old_score)
            if is_now and not was:
                self._report(new, message, "added", "moved", new_score)

    def _change_top_lists(self) -> None:
        """Report the net difference of every top list that exists after the event."""
        before = {
            subscription.number: top_list(self.settings, self.before, subscription)
            for subscription in self.before.subscriptions.values()
        }
        for subscription in self.state.subscriptions.values():
            if subscription.number == self.begun:
                continue
            old = before.get(subscription.number)
            new = top_list(self.settings, self.state, subscription)
            self._report_update(subscription, old or {}, new)
            for number, (message, score) in (old or {}).items():
                if number not in new and not (number == self.outdated and self.published in new):
                    reason = self._why_removed(subscription, message)
                    self._report(subscription, message, "removed", reason, score)
            for number, (message, score) in new.items():
                if old is None:
                    self._report(subscription, message, "added", "subscribed", score)
                elif number not in old and not (number == self.published and self.outdated in old):
                    reason = self._why_added(subscription, message)
                    self._report(subscription, message, "added", reason, score)

    def _report_update(self, subscription: Subscription, old: TopList, new: TopList) -> None:
        """Report a message whose old version was in a list and whose new one is."""
        if self.outdated in old and self.published in new:
            message, score = new[self.published]
            self._report(subscription, message, "updated", "changed", score)

    def _why_removed(self, subscription: Subscription, message: Message) -> str:
        if message.number == self.outdated:
            return "changed"
        if message.number in self.left:
            return self.left[message.number]
        return "moved" if subscription.number == self.moved else "displaced"

    def _why_added(self, subscription: Subscription, message: Message) -> str:
        if message.number == self.published:
            return "changed" if self.outdated else "published"
        return "moved" if subscription.number == self.moved else "refilled"


def top_list(settings: Settings, state: State, subscription: Subscription) -> TopList:
    """Return the current k best messages, nothing for other modes."""
    if subscription.mode != "top":
        return {}
    scored = [
        (message, _top_score(settings, state, subscription, message))
        for message in state.messages.values()
        if shares_keyword(subscription, message)
    ]
    scored.sort(key=lambda entry: (units(entry[1]), entry[0].number), reverse=True)
    return {message.number: (message, score) for message, score in scored[: subscription.k]}


def _top_score(
    settings: Settings, state: State, subscription: Subscription, message: Message
) -> float:
    return top_score(
        subscription.tokens,
        subscription.at,
        subscription.alpha,
        message.tokens,
        message.place,
        settings.space,
        state.weights,
    )


def _epoch(weights: Weights | Mapping[str, Any] | None) -> Weights | None:
    if weights is None or isinstance(weights, Weights):
        return weights
    return Weights(weights["documents"], dict(weights["df"]))


def _check_settings(count: int | None, seconds: float | None, space: Space) -> None:
    west, south, east, north = space
    if count is not None and seconds is not None:
        msg = "a window has a count or seconds, not both"
        raise ValueError(msg)
    if (count is not None and count < 1) or (seconds is not None and seconds <= 0):
        msg = "a window must be above 0"
        raise ValueError(msg)
    if west > east or south > north or (west == east and south == north):
        msg = f"space is inside out or a single point: {space}"
        raise ValueError(msg)


def parse(line: bytes) -> Event:
    """Read a line as JSON."""
    try:
        event = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except ValueError as error:  # covers bad UTF-8 and bad JSON
        raise OracleRejects(str(error)) from error
    require(isinstance(event, dict), "an event is a JSON object")
    return event  # type: ignore[no-any-return]


def _no_constant(name: str) -> float:
    raise OracleRejects(f"not JSON: {name}")

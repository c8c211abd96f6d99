"""The semantics once more, fast enough for thousands of subscriptions.

Reads events and decides scores with the oracle's own functions, but keeps dictionaries by word,
live sets as they follow from one event, and top lists sorted. Imports nothing of nearcast;
`test_reference.py` compares it with the oracle, change by change.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left, insort
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from differential.match_sets import MatchSet, Text, Wish, needed_words
from oracle.events import (
    Message,
    Subscription,
    decide,
    is_asked_for,
    read_area_for,
    read_message,
    read_subscription,
    read_time,
)
from oracle.fields import OracleRejects, identifier, position, require
from oracle.scores import Weights, units, weight
from oracle.space import Boxes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

Event = dict[str, Any]
Change = dict[str, Any]
_DOUBT = 1e-6  # scores are computed exactly where a quick one is so near to the threshold


class Scorer:
    """Scores of pairs under one weights epoch."""

    def __init__(self, weights: Weights | None) -> None:
        self.weights = weights
        self._weight: dict[str, float] = {}
        self._lengths: dict[int, float] = {}

    def weight(self, token: str) -> float:
        """Return what a token weighs."""
        if token not in self._weight:
            self._weight[token] = weight(token, self.weights)
        return self._weight[token]

    def rank(self, subscription: Subscription, message: Message) -> float | None:
        """Return the score if it reaches the threshold."""
        area, place = subscription.area, message.place
        if not isinstance(area, Boxes):
            raise TypeError(area)
        if not is_asked_for(subscription, message):
            return None
        words = subscription.tokens
        common = sum(self.weight(token) for token in words if token in message.tokens)
        textual = common / sum(self.weight(token) for token in words)
        most = subscription.alpha + (1 - subscription.alpha) * textual
        if most < subscription.threshold - _DOUBT:
            return None
        if most - subscription.alpha < subscription.threshold - _DOUBT and not any(
            own.shared(other) for own in area.parts for other in place.boxes.parts
        ):
            return None
        is_reached, score = decide(subscription, message, self.weights)
        return score if is_reached else None

    def top(self, subscription: Subscription, message: Message, diagonal: float) -> float:
        """Return the score of a top subscription, by the oracle's formula."""
        (x, y), (to_x, to_y) = subscription.at, message.place.center
        nearness = 1 - math.hypot(x - to_x, y - to_y) / diagonal
        alpha = subscription.alpha
        return alpha * nearness + (1 - alpha) * self._cosine(subscription, message)

    def _cosine(self, subscription: Subscription, message: Message) -> float:
        shared = [token for token in subscription.tokens if token in message.tokens]
        product = math.fsum(message.tokens[token] * self.weight(token) ** 2 for token in shared)
        if product == 0:
            return 0.0
        if message.number not in self._lengths:
            counts = message.tokens.items()
            self._lengths[message.number] = _length(n * self.weight(token) for token, n in counts)
        own = _length(self.weight(token) for token in subscription.tokens)
        return product / (own * self._lengths[message.number])


def _length(vector: Iterable[float]) -> float:
    return math.sqrt(math.fsum(x * x for x in vector))


class RankSet:
    """Rank subscriptions: by words, and those that a place alone may satisfy."""

    def __init__(self) -> None:
        self._all: dict[str, Subscription] = {}
        self._by_word: dict[str, dict[str, Subscription]] = {}
        self._anywhere: dict[str, Subscription] = {}

    def add(self, subscription: Subscription) -> None:
        """Add a subscription under a new id."""
        self._all[subscription.id] = subscription
        for table in self._tables(subscription):
            table[subscription.id] = subscription

    def remove(self, id_: str) -> Subscription:
        """Remove and return what was added."""
        subscription = self._all.pop(id_)
        for table in self._tables(subscription):
            del table[id_]
        return subscription

    def _tables(self, subscription: Subscription) -> Iterator[dict[str, Subscription]]:
        if subscription.alpha >= subscription.threshold - _DOUBT:
            yield self._anywhere
        else:
            for token in subscription.tokens:
                yield self._by_word.setdefault(token, {})

    def rank(self, message: Message, scorer: Scorer) -> dict[str, float]:
        """Return the subscriptions whose threshold a message reaches, with scores."""
        candidates = dict(self._anywhere)
        for token in message.tokens:
            candidates.update(self._by_word.get(token, {}))
        scores = {id_: scorer.rank(held, message) for id_, held in candidates.items()}
        return {id_: score for id_, score in scores.items() if score is not None}


@dataclass
class _Held:
    """A subscription of a hub; a top one has all messages with a word of it, worst first."""

    wanted: Subscription
    wish: Wish
    order: list[tuple[int, int]] = field(default_factory=list)
    scores: dict[int, float] = field(default_factory=dict)

    def best(self) -> dict[int, float]:
        numbers = [number for _, number in self.order[-self.wanted.k :]]
        return {number: self.scores[number] for number in reversed(numbers)}


class FastHub:
    """What `oracle.Oracle` is, without looking at everything every time."""

    def __init__(
        self,
        *,
        window_count: int | None = None,
        window_seconds: float | None = None,
        weights: Mapping[str, Any] | None = None,
        space: tuple[float, ...] = (-180, -90, 180, 90),
    ) -> None:
        self.window_count, self.window_seconds = window_count, window_seconds
        west, south, east, north = space
        self._diagonal = math.hypot(east - west, north - south)
        self._scorer = Scorer(_epoch(weights))
        self.clock = 0.0
        self._numbers = 0
        self.subscriptions: dict[str, _Held] = {}
        self.messages: dict[str, Message] = {}  # oldest first
        self._ends: dict[int, float] = {}
        self._by_number: dict[int, Message] = {}
        self._texts: dict[int, Text] = {}
        self._with_word: dict[str, dict[int, Message]] = {}
        self._due: list[tuple[float, int, int, str]] = []
        self._matching = {live: MatchSet() for live in (False, True)}
        self._ranking = {live: RankSet() for live in (False, True)}
        self._top_by_word: dict[str, dict[str, _Held]] = {}
        self._live: dict[str, _Held] = {}

    # ---- events -----------------------------------------------------------------------------

    def apply(self, line: int, event: Event) -> list[Change]:
        """Return the changes that the event causes; reject it without changing anything."""
        time = read_time(event)
        own_time = self.clock if time is None else time
        now = max(self.clock, own_time)
        prepared = self._prepare(event, now)
        self._start(line)
        self.clock = now
        self._expire()
        operations: dict[str, Callable[[Any], None]] = {
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
            "move": self._move,
            "publish": self._publish,
            "retract": self._retract,
            "advance": lambda _: None,
        }
        self._own_time = own_time
        operations[event["op"]](prepared)
        self._finish_top_lists()
        return self._changes

    def reweigh(self, line: int, weights: Mapping[str, Any] | None) -> list[Change]:
        """Put another weights epoch in force."""
        self._start(line)
        old, self._scorer = self._scorer, Scorer(_epoch(weights))
        for held in self._live.values():
            if held.wanted.mode == "rank":
                self._compare_ranks(held.wanted, held.wanted, old)
        for held in self.subscriptions.values():
            if held.wanted.mode == "top":
                self._rescore(held)
        self._finish_top_lists()
        return self._changes

    def results(self, id_: str) -> list[str]:
        """Return the messages of a live or top subscription; of a top one the best first."""
        held = self.subscriptions[id_]
        if held.wanted.mode == "top":
            return [self._by_number[number].id for number in held.best()]
        if held.wanted.mode == "rank":
            return [m.id for m in self.messages.values() if self._scorer.rank(held.wanted, m)]
        return [m.id for m in self._that_match(held)]

    def messages_with(self, word: str) -> int:
        """Return how many live messages have a word."""
        return len(self._with_word.get(word, ()))

    def _start(self, line: int) -> None:
        self._line = line
        self._changes: list[Change] = []
        self._left: dict[int, str] = {}
        self._before: dict[str, dict[int, float]] = {}
        self._old_messages: dict[int, Message] = {}
        self._published = 0
        self._outdated = 0
        self._moved = ""
        self._begun = ""

    def _prepare(self, event: Event, now: float) -> Any:
        """Read the event and judge it as if everything due had gone."""
        operation = event["op"]
        if operation == "subscribe":
            subscription = read_subscription(event)
            is_free = subscription.replace or not self._is_there(subscription.id, now)
            require(is_free, "subscription id is in use")
            expires = subscription.expires
            require(expires is None or expires > now, "subscription has expired already")
            return subscription
        if operation == "publish":
            message = read_message(event)
            known = self.messages.get(message.id)
            is_free = known is None or self._ends[known.number] <= now
            require(is_free or message.replace, "message id is in use")
            return message
        if operation == "advance":
            require(set(event) == {"op", "time"}, "advance needs a time and nothing else")
            return None
        id_ = identifier(event.get("id"))
        if operation == "retract":
            return id_
        if not self._is_there(id_, now):
            raise OracleRejects("unknown subscription")
        if operation == "unsubscribe":
            return id_
        mode = self.subscriptions[id_].wanted.mode
        where = "at" if mode == "top" else "area"
        require(where in event, f"move of a {mode} subscription needs {where}")
        if mode == "top":
            return id_, {"at": position(event["at"])}
        return id_, {"area": read_area_for(mode, event["area"])}

    def _is_there(self, id_: str, now: float) -> bool:
        held = self.subscriptions.get(id_)
        return held is not None and (held.wanted.expires is None or held.wanted.expires > now)

    # ---- operations -------------------------------------------------------------------------

    def _subscribe(self, subscription: Subscription) -> None:
        self._numbers += 1
        held = _Held(replace(subscription, number=self._numbers), Wish(subscription))
        old = self.subscriptions.get(subscription.id)
        were = {} if old is None else self._holding(old, self._before.pop(subscription.id, None))
        if old is not None:
            self._release(subscription.id)
        self._hold(held)
        if subscription.expires is not None:
            item = (subscription.expires, 1, held.wanted.number, subscription.id)
            heapq.heappush(self._due, item)
        if old is None:
            self._begin(held)
            return
        if subscription.mode == "top":
            self._rescore(held)
            del self._before[subscription.id]
        self._exchange(subscription.id, were, self._holding(held, None))

    def _holding(
        self, held: _Held, before: dict[int, float] | None
    ) -> dict[int, tuple[Message, float | None]]:
        """Return what a subscription holds; of a top list what it held before the event."""
        if held.wanted.mode == "top":
            best = held.best() if before is None else before
            return {number: (self._message(number), score) for number, score in best.items()}
        if not held.wanted.live:
            return {}
        return {message.number: (message, score) for message, score in self._wanted_now(held)}

    def _message(self, number: int) -> Message:
        return self._old_messages.get(number) or self._by_number[number]

    def _exchange(
        self,
        id_: str,
        were: dict[int, tuple[Message, float | None]],
        are: dict[int, tuple[Message, float | None]],
    ) -> None:
        for number in were.keys() - are.keys():
            message, score = were[number]
            self._report(id_, message, "removed", self._left.get(number, "changed"), score)
        for number in are.keys() - were.keys():
            message, score = are[number]
            self._report(id_, message, "added", "changed", score)

    def _begin(self, held: _Held) -> None:
        subscription = held.wanted
        self._begun = subscription.id
        if subscription.mode == "top":
            self._before[subscription.id] = {}
            self._rescore(held)
        elif subscription.live:
            for message, score in self._wanted_now(held):
                self._report(subscription.id, message, "added", "subscribed", score)

    def _hold(self, held: _Held) -> None:
        wanted = held.wanted
        self.subscriptions[wanted.id] = held
        if wanted.live:
            self._live[wanted.id] = held
        if wanted.mode == "match":
            self._matching[wanted.live].add(wanted.id, held.wish)
        elif wanted.mode == "rank":
            self._ranking[wanted.live].add(wanted)
        else:
            for token in wanted.tokens:
                self._top_by_word.setdefault(token, {})[wanted.id] = held

    def _release(self, id_: str) -> _Held:
        held = self.subscriptions.pop(id_)
        self._live.pop(id_, None)
        if held.wanted.mode == "match":
            self._matching[held.wanted.live].remove(id_)
        elif held.wanted.mode == "rank":
            self._ranking[held.wanted.live].remove(id_)
        else:
            for token in held.wanted.tokens:
                del self._top_by_word[token][id_]
            self._before.pop(id_, None)
        return held

    def _unsubscribe(self, id_: str) -> None:
        self._release(id_)

    def _move(self, prepared: tuple[str, dict[str, Any]]) -> None:
        id_, change = prepared
        if self.subscriptions[id_].wanted.mode == "top":
            held = self.subscriptions[id_]
            self._moved = id_
            self._note(held)
            held.wanted = replace(held.wanted, **change)
            self._rescore(held)
            return
        old = self._release(id_)
        moved = replace(old.wanted, **change)
        new = _Held(moved, Wish(moved))
        self._hold(new)
        if not new.wanted.live:
            return
        if new.wanted.mode == "rank":
            self._compare_ranks(old.wanted, new.wanted, self._scorer)
            return
        were, are = ({m.number: m for m in self._that_match(held)} for held in (old, new))
        for number in were.keys() - are.keys():
            self._report(id_, were[number], "removed", "moved", None)
        for number in are.keys() - were.keys():
            self._report(id_, are[number], "added", "moved", None)

    def _publish(self, read: Message) -> None:
        self._numbers += 1
        message = replace(read, number=self._numbers)
        self._published = message.number
        self._texts[message.number] = Text(message.text)
        end = self._end_of(message)
        is_kept = end is not None and end > self.clock
        old = self.messages.get(message.id)
        if old is not None and is_kept:
            self._outdate(old, message)
        else:
            if old is not None:
                self._leave(old, "retracted")
            for live in (False, True):
                for id_, score in self._reached(message, live):
                    self._report(id_, message, "added", "published", score)
        if end is not None and is_kept:
            self._keep(message, end)
        else:
            del self._texts[message.number]

    def _outdate(self, old: Message, new: Message) -> None:
        for live in (False, True):
            were, are = (dict(self._reached(message, live)) for message in (old, new))
            for id_, score in are.items():
                if id_ not in were:
                    self._report(id_, new, "added", "changed", score)
                elif live:
                    self._report(id_, new, "updated", "changed", score)
            for id_ in were.keys() - are.keys() if live else ():
                self._report(id_, old, "removed", "changed", were[id_])
        self._outdated = old.number
        self._drop(old, "changed")

    def _retract(self, id_: str) -> None:
        if id_ in self.messages:
            self._leave(self.messages[id_], "retracted")

    # ---- life -------------------------------------------------------------------------------

    def _expire(self) -> None:
        while self._due and self._due[0][0] <= self.clock:
            _, is_subscription, number, id_ = heapq.heappop(self._due)
            if is_subscription:
                held = self.subscriptions.get(id_)
                if held is not None and held.wanted.number == number:
                    self._release(id_)
            elif number in self._by_number:
                self._leave(self._by_number[number], "expired")

    def _end_of(self, message: Message) -> float | None:
        end = math.inf if message.expires is None else message.expires
        if self.window_seconds is not None:
            return min(end, self._own_time + self.window_seconds)
        return None if self.window_count is None and message.expires is None else end

    def _keep(self, message: Message, end: float) -> None:
        self.messages[message.id] = message
        self._by_number[message.number] = message
        self._ends[message.number] = end
        if end < math.inf:
            heapq.heappush(self._due, (end, 0, message.number, message.id))
        touched: dict[str, _Held] = {}
        for token in message.tokens:
            self._with_word.setdefault(token, {})[message.number] = message
            touched.update(self._top_by_word.get(token, {}))
        for held in touched.values():
            if is_asked_for(held.wanted, message):
                self._note(held)
                self._score(held, message)
        if self.window_count is not None and len(self.messages) > self.window_count:
            self._leave(next(iter(self.messages.values())), "expired")

    def _leave(self, message: Message, reason: str) -> None:
        for id_, score in self._reached(message, live=True):
            self._report(id_, message, "removed", reason, score)
        self._drop(message, reason)

    def _drop(self, message: Message, reason: str) -> None:
        del self.messages[message.id], self._texts[message.number]
        del self._by_number[message.number], self._ends[message.number]
        self._left[message.number] = reason
        self._old_messages[message.number] = message
        touched: dict[str, _Held] = {}
        for token in message.tokens:
            del self._with_word[token][message.number]
            if not self._with_word[token]:
                del self._with_word[token]
            touched.update(self._top_by_word.get(token, {}))
        for held in touched.values():
            if message.number in held.scores:
                self._note(held)
                item = (units(held.scores.pop(message.number)), message.number)
                del held.order[bisect_left(held.order, item)]

    # ---- who has what -----------------------------------------------------------------------

    def _reached(self, message: Message, live: bool) -> Iterator[tuple[str, float | None]]:
        for id_ in self._matching[live].match(message, self._texts[message.number]):
            yield id_, None
        yield from self._ranking[live].rank(message, self._scorer).items()

    def _wanted_now(self, held: _Held) -> Iterator[tuple[Message, float | None]]:
        if held.wanted.mode == "match":
            for message in self._that_match(held):
                yield message, None
            return
        for message in self.messages.values():
            score = self._scorer.rank(held.wanted, message)
            if score is not None:
                yield message, score

    def _that_match(self, held: _Held) -> list[Message]:
        words = needed_words(held.wanted.keywords, self._with_word)
        found = dict(self._by_number) if words is None else {}
        for word in words or ():
            found.update(self._with_word.get(word, {}))
        return [m for m in found.values() if held.wish.accepts(m, self._texts[m.number])]

    def _compare_ranks(self, old: Subscription, new: Subscription, old_scorer: Scorer) -> None:
        for message in self.messages.values():
            was = old_scorer.rank(old, message)
            now = self._scorer.rank(new, message)
            if was is not None and now is None:
                self._report(new.id, message, "removed", "moved", was)
            if now is not None and was is None:
                self._report(new.id, message, "added", "moved", now)

    # ---- top lists --------------------------------------------------------------------------

    def _note(self, held: _Held) -> None:
        """Remember the list as it was before the event."""
        if held.wanted.id not in self._before:
            self._before[held.wanted.id] = held.best()

    def _score(self, held: _Held, message: Message) -> None:
        score = self._scorer.top(held.wanted, message, self._diagonal)
        held.scores[message.number] = score
        insort(held.order, (units(score), message.number))

    def _rescore(self, held: _Held) -> None:
        self._note(held)
        held.order.clear()
        held.scores.clear()
        sharing: dict[int, Message] = {}
        for token in held.wanted.tokens:
            sharing.update(self._with_word.get(token, {}))
        for message in sharing.values():
            if not is_asked_for(held.wanted, message):
                continue
            score = self._scorer.top(held.wanted, message, self._diagonal)
            held.scores[message.number] = score
            held.order.append((units(score), message.number))
        held.order.sort()

    def _finish_top_lists(self) -> None:
        for id_, before in self._before.items():
            held = self.subscriptions[id_]
            after = held.best()
            is_updated = self._outdated in before and self._published in after
            if is_updated:
                new, score = self._by_number[self._published], after[self._published]
                self._report(id_, new, "updated", "changed", score)
            told = {self._outdated, self._published} if is_updated else set()
            for number in before.keys() - after.keys() - told:
                message = self._message(number)
                reason = self._left.get(number, "moved" if id_ == self._moved else "displaced")
                self._report(id_, message, "removed", reason, before[number])
            for number in after.keys() - before.keys() - told:
                reason = "moved" if id_ == self._moved else "refilled"
                if number == self._published:
                    reason = "changed" if self._outdated else "published"
                if id_ == self._begun:
                    reason = "subscribed"
                self._report(id_, self._by_number[number], "added", reason, after[number])

    def _report(
        self, id_: str, message: Message, change: str, reason: str, score: float | None
    ) -> None:
        self._changes.append(
            {
                "event": self._line,
                "subscription": id_,
                "message": message.id,
                "change": change,
                "reason": reason,
                "score": score,
            }
        )


def _epoch(weights: Mapping[str, Any] | None) -> Weights | None:
    return None if weights is None else Weights(weights["documents"], dict(weights["df"]))

"""Endless events over a constant number of live things: everything comes, moves and goes.

Subscriptions of all modes come and go, get other definitions, some expire; messages are published,
get new versions, expire, fall out of a window and are retracted. Words follow a heavy tail, and a
part of them has never been seen before: of all words there ever were, ever fewer are in use.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

MODES = ("match", "live", "rank", "live rank", "top")
STEP_SECONDS = 1.0
"""Between two events."""


@dataclass(frozen=True, slots=True)
class ChurnPlan:
    """How much lives at a time, and what it is made of."""

    subscriptions: int = 2_000
    modes: tuple[str, ...] = MODES
    words: int = 5_000
    """Of the heavy tail."""
    new_share: float = 0.25
    """Of words that nothing has said before."""
    message_seconds: float = 4_000
    """How long messages live that say so themselves."""
    seed: int = 1


class Churn:
    """An endless sequence of events, each of which a hub accepts."""

    def __init__(self, plan: ChurnPlan) -> None:
        self._plan = plan
        self._random = Random(plan.seed)
        self._clock = 0.0
        self._made = 0
        self._ends: dict[str, float] = {}
        self._modes: dict[str, str] = {}
        self._messages: list[str] = []

    def take(self, count: int) -> list[dict[str, Any]]:
        """Return the next events."""
        return [self._next() for _ in range(count)]

    def documents(self) -> tuple[int, dict[str, int]]:
        """Return how many of how many documents have a word, of words old and new."""
        documents = 1_000
        words = {self._word() for _ in range(200)}
        return documents, {word: self._random.randint(0, documents) for word in words}

    def _next(self) -> dict[str, Any]:
        self._clock += STEP_SECONDS
        return {**self._draw(), "time": self._clock}

    def _draw(self) -> dict[str, Any]:
        kind = self._random.random()
        if kind < 0.5:
            return self._publish()
        if kind < 0.55 and self._messages:
            at = self._random.randrange(len(self._messages))
            return {"op": "retract", "id": self._messages.pop(at)}
        known = self._some_subscription()
        if known is None or (kind > 0.7 and len(self._modes) < self._plan.subscriptions):
            return self._subscribe()
        if kind < 0.7:
            return {"op": "move", "id": known, **self._place_of(self._modes[known])}
        self._forget(known)
        if self._random.random() < 0.3:
            return {**self._subscribe(known), "replace": True}
        return {"op": "unsubscribe", "id": known}

    def _name(self, letter: str) -> str:
        self._made += 1
        return f"{letter}{self._made}"

    def _word(self) -> str:
        drawn = self._random.random()
        if drawn < self._plan.new_share:
            # Short words and long ones are kept in different ways.
            return self._name("n") + "z" * self._random.choice((0, 4, 14, 30))
        return f"w{int(self._plan.words * self._random.random() ** 4)}"

    def _words(self, least: int, most: int) -> list[str]:
        return [self._word() for _ in range(self._random.randint(least, most))]

    def _point(self) -> list[float]:
        return [round(self._random.uniform(-170, 170), 3), round(self._random.uniform(-80, 80), 3)]

    def _box(self) -> list[float]:
        lon, lat = self._point()
        size = self._random.choice((0.01, 0.5, 5.0))
        return [lon, lat, lon + size, lat + size]

    def _publish(self) -> dict[str, Any]:
        if self._messages and self._random.random() < 0.15:
            return {**self._message(self._random.choice(self._messages)), "replace": True}
        id_ = self._name("m")
        self._messages.append(id_)
        if len(self._messages) > 2 * self._plan.subscriptions:
            del self._messages[: self._plan.subscriptions]
        return self._message(id_)

    def _message(self, id_: str) -> dict[str, Any]:
        event: dict[str, Any] = {"op": "publish", "id": id_, "text": " ".join(self._words(2, 12))}
        place = {"at": self._point()} if self._random.random() < 0.9 else {"bbox": self._box()}
        if self._random.random() < 0.5:
            event["expires"] = self._clock + self._random.uniform(0, self._plan.message_seconds)
        return event | place

    def _subscribe(self, known: str | None = None) -> dict[str, Any]:
        id_, mode = known or self._name("s"), self._random.choice(self._plan.modes)
        self._modes[id_] = mode
        event = {"op": "subscribe", "id": id_, **_DEFINITIONS[mode](self)}
        if self._random.random() < 0.1:
            life = STEP_SECONDS * self._random.uniform(1, 5 * self._plan.subscriptions)
            event["expires"] = self._ends[id_] = self._clock + life
        return event

    def _some_subscription(self) -> str | None:
        """Return one that is there now, in time that does not depend on how many there are."""
        while self._modes:
            first = next(iter(self._modes))  # the one that was looked at longest ago
            mode = self._modes.pop(first)
            if self._ends.get(first, float("inf")) > self._clock:
                self._modes[first] = mode
                if self._random.random() < 0.3:
                    return first
            else:
                self._ends.pop(first)
        return None

    def _forget(self, id_: str) -> None:
        self._modes.pop(id_)
        self._ends.pop(id_, None)

    def _place_of(self, mode: str) -> dict[str, Any]:
        return {"at": self._point()} if mode == "top" else {"area": self._box()}

    def _match(self) -> dict[str, Any]:
        groups = [self._words(1, 3) for _ in range(self._random.choice((1, 1, 1, 2, 3)))]
        keywords = " OR ".join(f"({' '.join(words)} -{self._word()})" for words in groups)
        plain = self._random.random() < 0.7
        wanted = {"keywords": groups[0] if plain else keywords}
        return wanted if self._random.random() < 0.1 else {**wanted, "area": self._box()}

    def _rank(self) -> dict[str, Any]:
        terms = {"alpha": self._random.random(), "threshold": self._random.uniform(0.05, 1)}
        return {"mode": "rank", "keywords": self._words(1, 5), "area": self._box(), **terms}

    def _top(self) -> dict[str, Any]:
        terms = {"k": self._random.randint(1, 10), "alpha": self._random.random()}
        return {"mode": "top", "keywords": self._words(1, 5), "at": self._point(), **terms}

    def _live_match(self) -> dict[str, Any]:
        return {**self._match(), "live": True}

    def _live_rank(self) -> dict[str, Any]:
        return {**self._rank(), "live": True}


_DEFINITIONS: dict[str, Callable[[Churn], dict[str, Any]]] = {
    "match": Churn._match,
    "live": Churn._live_match,
    "rank": Churn._rank,
    "live rank": Churn._live_rank,
    "top": Churn._top,
}

"""The changes of a live subscription add up to the live messages that match it, in long logs.

Long enough for what short logs cannot reach: lists that are swept, frames that are fitted, slots
and ids that are used again and again.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from contract.variants import moving_variants, name_of
from oracle.events import decide, read_message, read_subscription

import nearcast as nc

_WORDS = [f"w{i}" for i in range(12)]


class _Log:
    """Random events, and the sets that they should lead to."""

    def __init__(self, seed: int, window: int) -> None:
        self.random = random.Random(seed)
        self.window = window
        self.numbers = 0
        self.messages: dict[str, dict[str, Any]] = {}
        self.subscriptions: dict[str, dict[str, Any]] = {}

    def _place(self) -> list[float]:
        return [round(self.random.gauss(10, 0.2), 2), round(self.random.gauss(50, 0.2), 2)]

    def _box(self) -> list[float]:
        (west, south), size = self._place(), self.random.choice((0, 0.05, 0.3))
        if self.random.random() < 0.05:
            return [170, -10, -170, 60]
        return [west, south, round(west + size, 2), round(south + size, 2)]

    def _area(self) -> Any:
        if self.random.random() < 0.2:
            return {"type": "Circle", "center": self._place(), "radius_m": 20_000}
        return self._box()

    def event(self) -> dict[str, Any]:
        self.numbers += 1
        choice = self.random.random()
        if choice < 0.1 or not self.subscriptions:
            return self._subscribe()
        if choice < 0.13:
            return self._unsubscribe()
        if choice < 0.4:
            return self._move()
        if choice < 0.45 and self.messages:
            gone = self.random.choice(list(self.messages))
            del self.messages[gone]
            return {"op": "retract", "id": gone}
        return self._publish()

    def _subscribe(self) -> dict[str, Any]:
        words = self.random.sample(_WORDS, self.random.choice((1, 1, 2, 3)))
        keywords: Any = words
        if self.random.random() < 0.2:
            keywords = f"{words[0]} OR ({' '.join(words)} -w0)"
        event = {"op": "subscribe", "id": f"s{self.numbers}", "live": True, "keywords": keywords}
        if self.random.random() < 0.9:
            event["area"] = self._area()
        if self.random.random() < 0.1 and "area" in event:
            del event["keywords"]
        self.subscriptions[event["id"]] = event
        return event

    def _unsubscribe(self) -> dict[str, Any]:
        gone = self.random.choice(list(self.subscriptions))
        del self.subscriptions[gone]
        return {"op": "unsubscribe", "id": gone}

    def _move(self) -> dict[str, Any]:
        chosen, area = self.random.choice(list(self.subscriptions)), self._area()
        self.subscriptions[chosen] = {**self.subscriptions[chosen], "area": area}
        return {"op": "move", "id": chosen, "area": area}

    def _publish(self) -> dict[str, Any]:
        text = " ".join(self.random.choices(_WORDS, k=self.random.randint(0, 6)))
        box = self.random.random() < 0.15
        where = {"bbox": self._box()} if box else {"at": self._place()}
        event: dict[str, Any] = {
            "op": "publish",
            "id": f"m{self.numbers % 2000}",
            "text": text,
            **where,
        }
        if event["id"] in self.messages:
            event["id"] = f"n{self.numbers}"
        self.messages[event["id"]] = event
        if len(self.messages) > self.window:
            del self.messages[next(iter(self.messages))]
        return event

    def sets(self) -> set[tuple[str, str]]:
        subscriptions = [read_subscription(event) for event in self.subscriptions.values()]
        messages = [read_message(event) for event in self.messages.values()]
        return {(s.id, m.id) for s in subscriptions for m in messages if decide(s, m, None)[0]}


@pytest.mark.parametrize("variant", moving_variants(), ids=name_of)
def test_changes_add_up_to_what_matches(variant: tuple[str, dict[str, Any]]) -> None:
    kind, parameters = variant
    log = _Log(seed=7, window=700)
    hub = nc.Hub(index=kind, window=nc.Window(count=700), index_parameters=parameters)
    held: set[tuple[str, str]] = set()
    for part in range(6):
        batch = [log.event() for _ in range(600)]
        for change in hub.apply(batch).to_pylist():
            pair = (change["subscription"], change["message"])
            assert (pair in held) == (change["change"] == "removed"), change
            held ^= {pair}
        hub.check_invariants()
        held = {pair for pair in held if pair[0] in log.subscriptions}
        assert held == log.sets(), f"part {part}"


def test_a_word_that_thousands_have_is_found_where_it_is() -> None:
    log = _Log(seed=3, window=6000)
    hub = nc.Hub(window=nc.Window(count=6000))
    held: set[tuple[str, str]] = set()
    log.subscriptions = {
        f"s{i}": {
            "op": "subscribe",
            "id": f"s{i}",
            "live": True,
            "keywords": ["w0"] if i % 2 else "w0 w1",
            "area": log._area(),
        }
        for i in range(12)
    }
    batch = list(log.subscriptions.values())
    for _ in range(7000):
        event = log._publish()
        event["text"] += " w0"
        log.numbers += 1
        batch.append(event)
        if log.random.random() < 0.02:
            batch.append(log._move())
    for change in hub.apply(batch).to_pylist():
        held ^= {(change["subscription"], change["message"])}
    hub.check_invariants()
    assert held == log.sets()


def test_messages_that_are_held_in_another_way_are_held_all() -> None:
    """A frame is fitted at 512 and at 16,384 live messages, and these are taken in anew."""
    log = _Log(seed=5, window=17_000)
    hub = nc.Hub(window=nc.Window(count=17_000))
    log.subscriptions = {
        f"s{i}": {**log._subscribe(), "id": f"s{i}", "keywords": ["w1"], "area": log._box()}
        for i in range(2)
    }
    hub.apply(list(log.subscriptions.values()))
    for count in (511, 513, 16_383, 16_385, 16_500):  # the last: most have been taken in again
        batch = []
        while len(log.messages) < count:
            log.numbers += 1
            batch.append(log._publish())
        hub.apply(batch)
        hub.check_invariants()
        messages = [read_message(event) for event in log.messages.values()]
        for event in log.subscriptions.values():
            subscription = read_subscription(event)
            expected = {m.id for m in messages if decide(subscription, m, None)[0]}
            assert {id_ for id_, _ in hub._core.results(subscription.id)} == expected

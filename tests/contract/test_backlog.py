"""Live and top subscriptions that come late are exact while their indexes take messages in.

What a hub held before the first live, live rank or top subscription, or before it was saved, is
taken in by slices after each event. Slices here are so small that everything happens meanwhile:
moves, expiries, retractions, other weights, safe regions, another snapshot.
"""

from __future__ import annotations

import random
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest
from contract.changes import rows
from contract.variants import name_of, top_name, top_variants, variants
from oracle import Oracle

import nearcast as nc

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_WORDS = ("a", "a", "a", "b", "b", "c", "d", "e")
_SPACE = (0, 0, 3, 3)
_WINDOW = 30


class _Log:
    """Events over a window that is full before the first subscription that needs it comes."""

    def __init__(self, seed: int, modes: tuple[str, ...]) -> None:
        self.random = random.Random(seed)
        self.modes = modes
        self.number = 0
        self.subscriptions: dict[str, str] = {}

    def _at(self) -> list[float]:
        return [self.random.randint(0, 12) / 4, self.random.randint(0, 12) / 4]

    def _box(self) -> list[float]:
        west, south = self._at()
        if self.random.random() < 0.05:
            return [2, south, -2, south + 1]
        return [west, south, west + self.random.choice((0, 0.5, 2)), south + 1]

    def publish(self) -> dict[str, Any]:
        text = " ".join(self.random.choices(_WORDS, k=self.random.randint(0, 5)))
        where = {"bbox": self._box()} if self.random.random() < 0.2 else {"at": self._at()}
        event: dict[str, Any] = {"op": "publish", "id": f"m{self.number}", "text": text, **where}
        if self.random.random() < 0.2:
            event["expires"] = self.number + self.random.randint(1, 40)
        return event

    def subscribe(self, *, is_live: bool) -> dict[str, Any]:
        mode = self.random.choice(self.modes)
        self.subscriptions[f"s{self.number}"] = mode
        words = self.random.sample(sorted(set(_WORDS)), self.random.randint(1, 3))
        event: dict[str, Any] = {"op": "subscribe", "id": f"s{self.number}", "keywords": words}
        if mode == "top":
            terms = {"k": self.random.randint(1, 4), "alpha": self.random.choice((0, 0.3, 0.7, 1))}
            return {**event, "mode": "top", "at": self._at(), **terms}
        event |= {"area": self._box(), "live": is_live}
        if mode == "rank":
            alpha, threshold = self.random.choice((0, 0.3, 0.7, 1)), self.random.choice((0.2, 0.6))
            return {**event, "mode": "rank", "alpha": alpha, "threshold": threshold}
        choice = self.random.random()
        if choice < 0.2:
            del event["keywords"]
        elif choice < 0.4:
            event["keywords"] = f"{words[0]} OR ({' '.join(words)} -a)"
        elif choice < 0.5:
            del event["area"]
        elif choice < 0.6:
            event["area"] = {"type": "Circle", "center": self._at(), "radius_m": 90_000}
        return event

    def _change(self) -> dict[str, Any]:
        choice = self.random.random()
        if choice < 0.15 or not self.subscriptions:
            return self.subscribe(is_live=self.random.random() < 0.8)
        chosen = self.random.choice(list(self.subscriptions))
        if choice < 0.2:
            del self.subscriptions[chosen]
            return {"op": "unsubscribe", "id": chosen}
        if choice < 0.45:
            is_top = self.subscriptions[chosen] == "top"
            where = {"at": self._at()} if is_top else {"area": self._box()}
            return {"op": "move", "id": chosen, **where}
        if choice < 0.55:
            return {"op": "retract", "id": f"m{self.number - self.random.randint(1, 40)}"}
        return self.publish()

    def events(self, count: int, *, is_early: bool = False) -> Iterator[dict[str, Any]]:
        for _ in range(count):
            self.number += 1
            early = "top" not in self.modes and self.random.random() < 0.1
            quiet = self.subscribe(is_live=False) if is_early and early else self.publish()
            yield {**(quiet if is_early else self._change()), "time": self.number}


def _check(seed: int, modes: tuple[str, ...], folder: Path, **settings: Any) -> None:
    log = _Log(seed, modes)
    oracle = Oracle(window_count=_WINDOW, space=_SPACE)
    hub = nc.Hub(window=nc.Window(count=_WINDOW), space=_SPACE, **settings)

    def apply(count: int, *, is_early: bool = False) -> None:
        for event in log.events(count, is_early=is_early):
            expected = rows(oracle.apply(log.number, event))
            assert rows(hub.apply([event], first=log.number).to_pylist()) == expected, event
            hub.check_invariants()

    apply(_WINDOW + 10, is_early=True)
    hub._core.set_slice(seed % 4)  # 0: nothing is taken in for now
    apply(25)
    df = {"a": 30, "b": 12, "e": 3}
    changes = hub.set_weights(nc.Weights(40, df))
    assert rows([asdict(change) for change in changes]) == rows(
        oracle.reweigh(1, {"documents": 40, "df": df})
    )
    apply(15)
    hub.save(folder / "hub")
    hub = nc.Hub.open(folder / "hub")
    hub._core.set_slice((seed + 1) % 4)
    apply(40)


def _numbered(settings: list[Any]) -> list[tuple[int, Any]]:
    """Return each with a seed of its own: all sizes of slices and many logs, in little time."""
    return list(enumerate(settings))


@pytest.mark.parametrize("variant", _numbered(variants()), ids=lambda pair: name_of(pair[1]))
def test_late_live_sets_change_like_the_oracle(
    variant: tuple[int, tuple[str, dict[str, Any]]], tmp_path: Path
) -> None:
    seed, (kind, parameters) = variant
    _check(seed, ("match", "match", "rank"), tmp_path, index=kind, index_parameters=parameters)


@pytest.mark.parametrize("variant", _numbered(top_variants()), ids=lambda pair: top_name(pair[1]))
def test_late_top_lists_change_like_the_oracle(
    variant: tuple[int, dict[str, Any]], tmp_path: Path
) -> None:
    seed, hub_settings = variant
    _check(seed, ("top",), tmp_path, **hub_settings)

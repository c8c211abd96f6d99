"""A tree whose heavy nodes are due grows a successor, and answers like brute force meanwhile."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

import nearcast as nc

if TYPE_CHECKING:
    from pathlib import Path

_WORDS = [f"w{i}" for i in range(30)]
_SETTINGS: dict[str, Any] = {
    "max_children": 4,
    "max_leaf_size": 2,
    "kl_threshold": 0,
    "min_rebuild_share": 0,
}


class _Drift:
    """Subscriptions whose words and places wander off, so that what was made no longer fits."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.number = 0
        self.live: list[str] = []

    def _words(self, count: int) -> list[str]:
        first = self.number // 40
        return [_WORDS[(first + self.random.randrange(8)) % len(_WORDS)] for _ in range(count)]

    def _at(self) -> tuple[float, float]:
        return (self.number / 30 + self.random.random() * 9, self.random.random() * 9)

    def change(self, matchers: list[nc.Matcher]) -> None:
        self.number += 1
        if self.live and self.random.random() < 0.35:
            gone = self.live.pop(self.random.randrange(len(self.live)))
            for matcher in matchers:
                matcher.unsubscribe(gone)
            return
        words = " ".join(self._words(self.random.randint(1, 3)))
        if self.random.random() < 0.2:
            words = f"{words} OR {self._words(1)[0]}"
        west, south = self._at()
        for matcher in matchers:
            box = [west, south, west + 2, south + 2]
            matcher.subscribe(f"s{self.number}", keywords=words, area=box)
        self.live.append(f"s{self.number}")

    def check(self, matchers: list[nc.Matcher]) -> None:
        for _ in range(10):
            text, at = " ".join(self._words(6)), self._at()
            tree, brute = (sorted(matcher.match(text, at=at)) for matcher in matchers)
            assert tree == brute
        matchers[0].check_invariants()


@pytest.mark.parametrize("max_rebuild", [1, 12, 40])
def test_changes_during_a_succession_keep_answers_exact(max_rebuild: int, tmp_path: Path) -> None:
    drift = _Drift(max_rebuild)
    tree = nc.Matcher("ap-tree", index_parameters={**_SETTINGS, "max_rebuild": max_rebuild})
    brute = nc.Matcher("brute-force")
    for number in range(700):
        drift.change([tree, brute])
        if number % 20 == 0:
            drift.check([tree, brute])
        if number % 150 == 149:
            tree.save(tmp_path / "tree")
            tree = nc.Matcher.open(tmp_path / "tree")

"""Subscriptions and messages in the plain form that any program can be given."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nearcast.bench.workloads.scenario import Scenario


@dataclass(frozen=True)
class PeerWorkload:
    """A scenario of point messages, and boxes with keywords that are all required."""

    scenario: Scenario

    @cached_property
    def subscriptions(self) -> list[tuple[int, list[str], tuple[float, float, float, float]]]:
        """Ids, keywords, and boxes as west, south, east, north."""
        table = self.scenario.subscriptions
        sides = [table.column(name).to_pylist() for name in ("west", "south", "east", "north")]
        boxes = zip(*sides, strict=True)
        return list(
            zip(
                table.column("id").to_pylist(),
                table.column("keywords").to_pylist(),
                boxes,
                strict=True,
            )
        )

    @cached_property
    def messages(self) -> list[tuple[list[str], tuple[float, float]]]:
        """Words and points."""
        table = self.scenario.messages
        points = zip(*(table.column(name).to_pylist() for name in ("lon", "lat")), strict=True)
        return list(zip(table.column("tokens").to_pylist(), points, strict=True))

    @cached_property
    def frequencies(self) -> Counter[str]:
        """In how many subscriptions each keyword is."""
        return Counter(word for _, words, _ in self.subscriptions for word in words)

    def rarest(self, keywords: list[str]) -> str:
        """Return the keyword that the fewest subscriptions have."""
        return min(keywords, key=lambda word: (self.frequencies[word], word))

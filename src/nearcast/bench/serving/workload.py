"""Subscriptions and messages for the service: about ten changes a message, spread over owners."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS_A_MESSAGE = 12
CHANGES_A_MESSAGE = 10
SIDE = 60.0
"""Of a subscription's box, in degrees: it holds a sixth of the points that messages have."""


@dataclass(frozen=True, slots=True)
class Workload:
    """So many subscriptions of so many owners."""

    subscriptions: int
    owners: int
    seed: int = 1

    @property
    def words(self) -> int:
        """Return how many words there are, so that a message meets about ten subscriptions."""
        share = (SIDE / 147) ** 2  # of points between -60 and 60
        return max(1, int(self.subscriptions * WORDS_A_MESSAGE * share / CHANGES_A_MESSAGE))

    def subscribe_fields(self) -> Iterator[dict[str, Any]]:
        """Yield subscriptions, with their owner."""
        draw = random.Random(self.seed)
        for number in range(self.subscriptions):
            west, south = draw.uniform(-90, 30), draw.uniform(-60, 0)
            yield {
                "id": f"s{number}",
                "owner": f"o{number % self.owners}",
                "keywords": [f"w{draw.randrange(self.words)}"],
                "area": [west, south, west + SIDE, south + SIDE],
            }

    def messages(self, prefix: str, seed: int = 2) -> Iterator[dict[str, Any]]:
        """Yield messages without end."""
        draw = random.Random(f"{seed}{prefix}")
        number = 0
        while True:
            text = " ".join(f"w{draw.randrange(self.words)}" for _ in range(WORDS_A_MESSAGE))
            at = [round(draw.uniform(-60, 60), 5), round(draw.uniform(-60, 60), 5)]
            yield {"id": f"{prefix}{number}", "text": text, "at": at}
            number += 1

"""How large is an experiment? The papers' sizes, divided so that a run ends in time.

`small` is for any machine and ends in a quarter of an hour on two cores, `medium` takes about two
hours, `full` has the papers' sizes as far as memory allows. `tiny` is for tests.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from nearcast.bench.paper.experiment import (
    Matching,
    Moving,
    Parted,
    Safety,
    Spread,
    Timed,
    Tops,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nearcast.bench.paper.experiment import Setup

SHARE_OF_MEMORY = 0.5
"""All contenders of a study may use so much of what is free."""
SLOW = 5
"""Subscriptions that rank or have expressions are so many times fewer: with a low threshold most
of them are scored, and expressions are read one by one."""
BYTES = MappingProxyType(
    {
        Matching: 700,
        Spread: 700,
        Moving: 2_500,
        Safety: 2_500,
        Tops: 2_500,
        Timed: 5_000,
        Parted: 2_500,
    }
)
"""What a contender may need for a subscription, with its tables; measured, rounded up."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much of everything."""

    name: str
    matching: float
    """By how much subscriptions that match or rank are divided."""
    moving: float
    tops: float
    """Subscriptions and windows of top lists."""
    parted: float
    """Subscriptions in partitions."""
    parted_window: float
    messages: int
    """To measure with."""
    repetitions: int
    checked: int
    """Messages or lists that are compared with brute force."""
    least: int
    """No size is smaller."""
    destinations: int = 256
    """On a road network: the ways to each are found before anything moves."""
    most_words: int = 1_000
    """No message has more."""
    most_partitions: int = 4_096

    def size(self, setup: Setup, field: str, count: int) -> int:
        """Return how many the paper's `count` become."""
        # Messages of one step are few in the paper too.
        least = self.least // 10 if isinstance(setup, Safety) else self.least
        return max(round(count / self._divisor(setup, field)), least)

    def _divisor(self, setup: Setup, field: str) -> float:
        if isinstance(setup, Matching | Spread):
            return self.matching * (SLOW if _is_slow(setup) else 1)
        if isinstance(setup, Parted):
            return self.parted if field == "subscriptions" else self.parted_window
        return self.tops if isinstance(setup, Tops | Timed) else self.moving


SCALES: Mapping[str, Scale] = MappingProxyType(
    {
        scale.name: scale
        for scale in (
            Scale("tiny", 50_000, 20_000, 10_000, 50_000, 10_000, 40, 1, 10, 120, 4, 30, 4),
            Scale("small", 500, 200, 100, 1_000, 500, 500, 3, 50, 500, 48),
            Scale("medium", 50, 10, 10, 100, 50, 2_000, 5, 200, 500),
            Scale("full", 1, 1, 1, 1, 1, 10_000, 5, 200, 500),
        )
    }
)

GROWTH_SCALE = Scale("growth", 1, 1, 1, 1, 1, 2_000, 3, 100, 1)
"""Sizes as they stand."""

SIZES = MappingProxyType(
    {
        Matching: ("subscriptions",),
        Spread: ("subscriptions",),
        Moving: ("objects", "messages"),
        Safety: ("objects", "messages", "arrivals"),
        Tops: ("subscriptions", "window"),
        Timed: ("subscriptions", "window"),
        Parted: ("subscriptions", "window"),
    }
)
"""Fields of a setup that a scale divides."""


def _is_slow(setup: Setup) -> bool:
    return isinstance(setup, Matching) and (setup.alpha is not None or setup.expressions)


def most_in_memory(setup: Setup, contenders: int) -> int:
    """Return how many subscriptions of so many contenders fit into the memory that is free."""
    return int(free_bytes() * SHARE_OF_MEMORY / (BYTES[type(setup)] * max(contenders, 1)))


def free_bytes() -> int:
    """Return what memory is free; where it is unknown, 4 GiB."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 4 * 2**30

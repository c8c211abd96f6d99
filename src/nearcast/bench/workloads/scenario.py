"""One scenario of a benchmark: all tables that a run needs, from one source and one seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from nearcast.bench.workloads import generate

if TYPE_CHECKING:
    import pyarrow as pa

    from nearcast.bench.workloads.groups import Group
    from nearcast.bench.workloads.presets import Preset

HISTORY_SHARE = 20
"""The history has a twentieth of the messages, as in [AP §5.1.1], and at least `MIN_HISTORY`."""
MIN_HISTORY = 2_000


class Source(Protocol):
    """Where subscriptions and messages come from: endless sequences of rows."""

    @property
    def name(self) -> str:
        """Name of the preset or of the data set."""

    @property
    def seed(self) -> int:
        """What the rows depend on besides the name."""

    def messages(self, count: int, group: Group, *, first: int = 0) -> pa.Table:
        """Return messages `first` to `first + count`."""

    def subscriptions(
        self, count: int, keywords: tuple[int, int] = (1, 5), *, first: int = 0
    ) -> pa.Table:
        """Return subscriptions `first` to `first + count`; the id is the place."""


@dataclass(frozen=True, slots=True)
class PresetSource:
    """The generator as a source."""

    preset: Preset
    seed: int

    @property
    def name(self) -> str:
        """Name of the preset."""
        return self.preset.name

    def messages(self, count: int, group: Group, *, first: int = 0) -> pa.Table:
        """Return messages `first` to `first + count`."""
        return generate.messages(self.preset, count, self.seed, group, first=first)

    def subscriptions(
        self, count: int, keywords: tuple[int, int] = (1, 5), *, first: int = 0
    ) -> pa.Table:
        """Return subscriptions `first` to `first + count`."""
        return generate.subscriptions(self.preset, count, self.seed, keywords, first=first)


@dataclass(frozen=True, slots=True)
class Scenario:
    """What one run measures.

    `history` are messages before the measured ones, for indexes that learn from a sample. Where
    subscriptions rank, all have the same alpha and threshold.
    """

    source: Source
    group: Group
    subscriptions: pa.Table
    messages: pa.Table
    history: pa.Table

    @property
    def alpha(self) -> float | None:
        """How much space counts, where subscriptions rank."""
        return self._term("alpha")

    @property
    def threshold(self) -> float | None:
        """What a score must reach, where subscriptions rank."""
        return self._term("threshold")

    def _term(self, name: str) -> float | None:
        if name not in self.subscriptions.schema.names:
            return None
        return float(self.subscriptions.column(name)[0].as_py())


def history_size(messages: int) -> int:
    """Return how many messages come before the measured ones."""
    return max(messages // HISTORY_SHARE, MIN_HISTORY)


def make_scenario(source: Source, group: Group, subscriptions: int, messages: int) -> Scenario:
    """Draw the tables of a scenario."""
    history = history_size(messages)
    return Scenario(
        source=source,
        group=group,
        subscriptions=source.subscriptions(subscriptions),
        messages=source.messages(messages, group, first=history),
        history=source.messages(history, group),
    )

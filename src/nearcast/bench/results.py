"""What a benchmark found, as values that become JSON.

Numbers carry their unit in their name. Everything measured more than once is a `Spread` over the
repetitions.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Spread:
    """One quantity over all repetitions."""

    median: float
    low: float
    high: float
    values: tuple[float, ...]

    @classmethod
    def over(cls, values: Sequence[float]) -> Spread:
        """Summarise the values of the repetitions."""
        rounded = tuple(round(float(value), 6) for value in values)
        return cls(round(float(np.median(rounded)), 6), min(rounded), max(rounded), rounded)


@dataclass(frozen=True, slots=True)
class BuildCost:
    """Learning from a sample of messages, then subscribing everything in one call."""

    learn_wall_seconds: float
    wall_seconds: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class MatchCost:
    """Time per message: by the clock for the single ones, by the processor for all of them."""

    mean_us: Spread
    p50_us: Spread
    p99_us: Spread
    cpu_us: Spread


@dataclass(frozen=True, slots=True)
class WorkPerMessage:
    """What a message costs independently of the machine."""

    nodes_visited: float
    candidates: float
    matches: float


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Bytes, per subscription where that means something."""

    bytes_per_subscription: float
    index_bytes_per_subscription: float
    vocabulary_bytes: int


@dataclass(frozen=True, slots=True)
class MixedCost:
    """Messages, inserts and deletes in turn; times per operation of each kind."""

    operations: int
    batch: int
    operations_per_second: Spread
    message_us: Spread
    insert_us: Spread
    delete_us: Spread


@dataclass(frozen=True, slots=True)
class ContenderResult:
    """All numbers of one contender in one run."""

    name: str
    kind: str
    parameters: Mapping[str, int | float | str | bool]
    build: BuildCost
    match: MatchCost
    work_per_message: WorkPerMessage
    memory: MemoryUse
    mixed: MixedCost | None


@dataclass(frozen=True, slots=True)
class WorkloadFacts:
    """What was measured; with the seed enough to make it again. Only ranking has the last two."""

    source: str
    group: str
    seed: int
    subscriptions: int
    messages: int
    tokens_per_message: float
    keywords_per_subscription: float
    checked_messages: int
    alpha: float | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One workload, all contenders."""

    workload: WorkloadFacts
    contenders: tuple[ContenderResult, ...]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where numbers come from: code, machine, build and day."""

    commit: str | None
    is_dirty: bool | None
    date: str
    machine: Mapping[str, str | int]
    software: Mapping[str, str]
    build: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Result:
    """One call of `nearcast bench match` or `nearcast bench rank`."""

    provenance: Provenance
    repetitions: int
    runs: tuple[Run, ...]
    command: str = "match"
    format: int = FORMAT

    def to_json(self) -> str:
        """Return the result as indented JSON."""
        return json.dumps(asdict(self), indent=2)

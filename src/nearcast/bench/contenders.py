"""What can be measured: everything that subscribes, unsubscribes and matches tables.

A contender is named as on the command line, `kind` or `kind:parameter=value:…`. Kinds are those
of `nearcast.indexes()`; others join by `register`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from nearcast.arguments import read_kind
from nearcast.bench.measuring import measure_table
from nearcast.matcher import Matcher, indexes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    from nearcast.arguments import Parameter

BRUTE_FORCE = "brute-force"


@dataclass(frozen=True, slots=True)
class ContenderSpec:
    """A contender as the command line names it."""

    kind: str
    parameters: Mapping[str, Parameter]

    @property
    def name(self) -> str:
        """The kind and whatever parameters differ from its own."""
        return ":".join([self.kind, *(f"{k}={v}" for k, v in self.parameters.items())])


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one pass over a table of messages took: times per message, work for all of them."""

    nanoseconds: NDArray[np.int64]
    cpu_seconds: float
    matches: int
    nodes_visited: int
    candidates: int


@dataclass(frozen=True, slots=True)
class Memory:
    """What a contender holds; `total_bytes` is everything but the word dictionary."""

    subscriptions: int
    total_bytes: int
    index_bytes: int
    vocabulary_bytes: int


class Contender(Protocol):
    """Something that matches; every one gives the answers of brute force."""

    def learn(self, messages: pa.Table) -> None:
        """Look at a sample of messages, before the first subscription."""

    def subscribe(self, subscriptions: pa.Table) -> None:
        """Add a table of subscriptions."""

    def unsubscribe(self, ids: NDArray[np.int64]) -> None:
        """Remove subscriptions."""

    def match(self, messages: pa.Table) -> pa.Table:
        """Return the pairs `message` (row), `subscription` (id), in any order."""

    def measure(self, messages: pa.Table) -> Measurement:
        """Match, and say what each message took."""

    def memory(self) -> Memory:
        """Say how much memory is in use."""


class MatcherContender:
    """An index kind behind `nearcast.Matcher`."""

    def __init__(self, kind: str, parameters: Mapping[str, Parameter]) -> None:
        self._matcher = Matcher(index=kind, index_parameters=parameters)

    def learn(self, messages: pa.Table) -> None:
        """Look at a sample of messages, before the first subscription."""
        self._matcher.learn_table(messages)

    def subscribe(self, subscriptions: pa.Table) -> None:
        """Add a table of subscriptions."""
        self._matcher.subscribe_table(subscriptions)

    def unsubscribe(self, ids: NDArray[np.int64]) -> None:
        """Remove subscriptions."""
        self._matcher.unsubscribe_table(ids)

    def match(self, messages: pa.Table) -> pa.Table:
        """Return the pairs `message` (row), `subscription` (id), in any order."""
        return self._matcher.match_table(messages)

    def measure(self, messages: pa.Table) -> Measurement:
        """Match, and say what each message took."""
        measured = measure_table(self._matcher, messages)
        return Measurement(
            nanoseconds=np.asarray(measured.nanoseconds, dtype=np.int64),
            cpu_seconds=float(measured.cpu_seconds),
            matches=int(measured.matches),
            nodes_visited=int(measured.work["nodes_visited"]),
            candidates=int(measured.work["candidates"]),
        )

    def memory(self) -> Memory:
        """Say how much memory is in use."""
        stats = self._matcher.stats()
        return Memory(
            subscriptions=int(stats["subscriptions"]),
            total_bytes=int(stats["memory_bytes"]),
            index_bytes=int(stats["index_bytes"]),
            vocabulary_bytes=int(stats["vocabulary_bytes"]),
        )


if TYPE_CHECKING:
    ContenderFactory = Callable[[Mapping[str, Parameter]], Contender]

_registered: dict[str, ContenderFactory] = {}


def register(kind: str, make: ContenderFactory) -> None:
    """Let `kind` name a contender that is not an index of `nearcast`, such as a lower bound."""
    _registered[kind] = make


def make_contender(spec: ContenderSpec) -> Contender:
    """Return a new, empty contender.

    Raises
    ------
    ValueError
        If no contender has that kind.
    """
    if spec.kind in _registered:
        return _registered[spec.kind](spec.parameters)
    check_kind(spec)
    return MatcherContender(spec.kind, spec.parameters)


def index_kinds(capability: str = "match") -> list[str]:
    """Return the index kinds that can be measured at something, our own under the name `auto`."""
    given_another_name = {index.stands_for for index in indexes()}
    able = [index.name for index in indexes() if capability in index.capabilities]
    return [name for name in able if name not in given_another_name]


def check_kind(spec: ContenderSpec) -> None:
    """Refuse a kind that nothing has.

    Raises
    ------
    ValueError
        If no contender has that kind; the message lists those that exist.
    """
    known = [*_registered, *(index.name for index in indexes())]
    if spec.kind not in known:
        msg = f"no index is called {spec.kind!r}; there are {', '.join(known)}"
        raise ValueError(msg)


def parse_contender(text: str) -> ContenderSpec:
    """Read `kind` or `kind:parameter=value:…`.

    Raises
    ------
    ValueError
        If a parameter has no value.

    Examples
    --------
    >>> parse_contender("ap-tree:max_leaf_size=40").parameters
    {'max_leaf_size': 40}
    """
    return ContenderSpec(*read_kind(text))

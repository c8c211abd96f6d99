"""Ranking as something to measure: subscriptions with alpha and threshold, contenders that rank.

Everything else is the harness of matching: the same workloads, checks, repetitions and mixed load.
All subscriptions of a run have the same alpha and threshold, as in [Rt §7.6].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.bench.contenders import MatcherContender, check_kind
from nearcast.matcher import Matcher
from nearcast.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nearcast.arguments import Parameter
    from nearcast.bench.contenders import Contender, ContenderSpec
    from nearcast.bench.workloads.groups import Group
    from nearcast.bench.workloads.scenario import Source


@dataclass(frozen=True, slots=True)
class RankedSource:
    """A source whose subscriptions rank."""

    source: Source
    alpha: float
    threshold: float

    @property
    def name(self) -> str:
        """Name of the preset or of the data set."""
        return self.source.name

    @property
    def seed(self) -> int:
        """What the rows depend on besides the name."""
        return self.source.seed

    def messages(self, count: int, group: Group, *, first: int = 0) -> pa.Table:
        """Return messages `first` to `first + count`."""
        return self.source.messages(count, group, first=first)

    def subscriptions(
        self, count: int, keywords: tuple[int, int] = (1, 5), *, first: int = 0
    ) -> pa.Table:
        """Return subscriptions `first` to `first + count`, with their terms."""
        return self.with_terms(self.source.subscriptions(count, keywords, first=first))

    def with_terms(self, table: pa.Table) -> pa.Table:
        """Return subscriptions of the source with alpha and threshold."""
        for name, value in (("alpha", self.alpha), ("threshold", self.threshold)):
            table = table.append_column(name, pa.array(np.full(table.num_rows, value)))
        return table


class RankContender(MatcherContender):
    """An index kind behind `nearcast.Matcher` in mode "rank"."""

    def __init__(self, kind: str, parameters: Mapping[str, Parameter], *, idf: bool) -> None:
        self._matcher = Matcher(index=kind, mode="rank", index_parameters=parameters)
        self._idf = idf

    def learn(self, messages: pa.Table) -> None:
        """Weigh words by how many of these messages have them, if asked to."""
        if self._idf:
            self._matcher.set_weights(count_documents(messages))

    def match(self, messages: pa.Table) -> pa.Table:
        """Return `message` (row), `subscription` (id) and `score`, in any order."""
        return self._matcher.rank_table(messages)


def rank_contenders(*, idf: bool) -> Callable[[ContenderSpec], Contender]:
    """Return what makes contenders that rank."""

    def make(spec: ContenderSpec) -> Contender:
        check_kind(spec)
        return RankContender(spec.kind, spec.parameters, idf=idf)

    return make


def count_documents(messages: pa.Table) -> Weights:
    """Return an epoch in which each message is a document."""
    words = pa.chunked_array([chunk.flatten() for chunk in messages.column("tokens").chunks])
    if pa.types.is_dictionary(words.type):
        words = words.cast(pa.string())
    counts = pc.value_counts(words).to_pylist()
    return Weights(messages.num_rows, {row["values"]: row["counts"] for row in counts})

"""Subscriptions with boolean expressions, as [AP §5.1.1] makes them.

The keywords are cut in two at a random place and AND or OR put between the parts; each part becomes
one conjunction or one disjunction. Seven keywords thus give at most twelve clauses in disjunctive
normal form, and no keyword is negated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearcast.bench.workloads.generate import subscriptions
from nearcast.bench.workloads.streams import CHUNK_ROWS, Stream, chunks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearcast.bench.workloads.groups import Group
    from nearcast.bench.workloads.presets import Preset
    from nearcast.bench.workloads.scenario import Source

OPERATORS = (" AND ", " OR ")
RESERVED = ("AND", "OR", "NOT")
"""Words of texts that mean something else in an expression, unless they are quoted."""
KEYWORDS = (3, 7)
"""How many keywords an expression has, both ends included."""


@dataclass(frozen=True, slots=True)
class ExpressionSource:
    """A source whose subscriptions have expressions."""

    source: Source

    @property
    def name(self) -> str:
        """Name of the preset or of the data set, and what is different about it."""
        return f"{self.source.name} expressions"

    @property
    def seed(self) -> int:
        """What the rows depend on besides the name."""
        return self.source.seed

    def messages(self, count: int, group: Group, *, first: int = 0) -> pa.Table:
        """Return messages `first` to `first + count`."""
        return self.source.messages(count, group, first=first)

    def subscriptions(
        self, count: int, keywords: tuple[int, int] = KEYWORDS, *, first: int = 0
    ) -> pa.Table:
        """Return subscriptions `first` to `first + count`, with a column `expression`."""
        table = self.source.subscriptions(count, keywords, first=first)
        return with_expressions(table, self.seed, first)


def expressions(
    preset: Preset,
    count: int,
    seed: int,
    keywords: tuple[int, int] = KEYWORDS,
    *,
    first: int = 0,
) -> pa.Table:
    """Make subscriptions whose keywords are joined by AND and OR.

    Returns
    -------
    pyarrow.Table
        As `subscriptions`, with a string column `expression` in place of `keywords`.
    """
    table = subscriptions(preset, count, seed, keywords, first=first)
    return with_expressions(table, seed, first)


def with_expressions(table: pa.Table, seed: int, first: int = 0) -> pa.Table:
    """Join the keywords of subscriptions `first` and following; `expression` takes their place."""
    choices = np.concatenate(
        [
            chunk.rng.random((CHUNK_ROWS, 4))[chunk.wanted]
            for chunk in chunks(seed, Stream.EXPRESSIONS, first, table.num_rows)
        ]
        or [np.empty((0, 4))]
    )
    texts = [
        join_keywords(words, cut, [OPERATORS[choice >= 0.5] for choice in operators])
        for words, (cut, *operators) in zip(
            table.column("keywords").to_pylist(), choices.tolist(), strict=True
        )
    ]
    place = table.schema.get_field_index("keywords")
    return table.set_column(place, "expression", pa.array(texts, pa.string()))


def join_keywords(words: Sequence[str], cut: float, operators: Sequence[str]) -> str:
    """Join words to an expression of two parts.

    Parameters
    ----------
    words
        The keywords, at least one.
    cut
        Where to cut, from 0 (after the first word) to just below 1 (before the last).
    operators
        Inside the left part, between the parts, inside the right part.

    Examples
    --------
    >>> join_keywords(["a", "b", "c", "d"], 0.5, [" OR ", " AND ", " AND "])
    '(a OR b) AND (c AND d)'
    >>> join_keywords(["a", "b", "c"], 0.0, [" OR ", " OR ", " AND "])
    'a OR (b AND c)'
    >>> join_keywords(["rock", "and", "roll"], 0.0, [" OR ", " OR ", " AND "])
    'rock OR ("and" AND roll)'
    """
    left_size = 1 + int(np.floor(cut * (len(words) - 1)))
    within_left, between, within_right = operators
    left = _bracket(words[:left_size], within_left)
    right = _bracket(words[left_size:], within_right)
    return left + between + right if right else left


def _bracket(words: Sequence[str], operator: str) -> str:
    said = [f'"{word}"' if word.upper() in RESERVED else word for word in words]
    return f"({operator.join(said)})" if len(said) > 1 else "".join(said)

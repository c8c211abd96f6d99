"""Subscriptions with boolean expressions, as [AP §5.1.1] makes them.

The keywords are cut in two at a random place and AND or OR put between the parts; each part becomes
one conjunction or one disjunction. Seven keywords thus give at most twelve clauses in disjunctive
normal form, and no keyword is negated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearcast.bench.workloads.generate import subscriptions
from nearcast.bench.workloads.streams import CHUNK_ROWS, Stream, chunks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearcast.bench.workloads.presets import Preset

OPERATORS = (" AND ", " OR ")


def expressions(
    preset: Preset,
    count: int,
    seed: int,
    keywords: tuple[int, int] = (3, 7),
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
    choices = np.concatenate(
        [
            chunk.rng.random((CHUNK_ROWS, 4))[chunk.wanted]
            for chunk in chunks(seed, Stream.EXPRESSIONS, first, count)
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
    """
    left_size = 1 + int(np.floor(cut * (len(words) - 1)))
    within_left, between, within_right = operators
    left = _bracket(words[:left_size], within_left)
    right = _bracket(words[left_size:], within_right)
    return left + between + right if right else left


def _bracket(words: Sequence[str], operator: str) -> str:
    return f"({operator.join(words)})" if len(words) > 1 else "".join(words)

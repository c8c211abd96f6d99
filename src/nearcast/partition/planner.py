"""Plans from what is known: the subscriptions there are, and a sample of messages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.partition.keyword_cuts import cut_words
from nearcast.partition.plan import Plan, message_boxes
from nearcast.partition.ragged import list_parts, rows_of
from nearcast.partition.space_cuts import centres, cut_space, touches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nearcast.partition.plan import Mechanism
    from nearcast.partition.wants import Wants
    from nearcast.weights import Weights

MIN_HALF = 100

_Pairs = tuple["NDArray[np.int64]", "NDArray[np.int64]"]


def make_plan(
    mechanism: Mechanism,
    partitions: int,
    wants: Wants,
    sample: pa.Table,
    *,
    weights: Weights | None = None,
    first_level: int | None = None,
) -> Plan:
    """Distribute subscriptions so that partitions have about the same to do.

    Parameters
    ----------
    mechanism, partitions
        How, and into how many. A hybrid has at most so many: its two levels multiply.
    wants
        The subscriptions, as `wants_of_table` reads them.
    sample
        Messages like those that will come: `tokens` and a place.
    weights
        The epoch in force, for ranked and top subscriptions.
    first_level
        Of hybrids: into how many parts the first level cuts; by default the largest
        divisor up to the square root.
    """
    empty = Plan(mechanism, wants.mode, partitions, weights=weights)
    if mechanism == "hash":
        return empty
    points = centres(wants.boxes), centres(message_boxes(sample))
    if mechanism == "location":
        return replace(empty, leaves=cut_space(*points, partitions)[None])
    # One half says which words are frequent, the other how often each range is hit: with the same
    # messages for both, ranges of rare words would look as if they were never used.
    history, sample = sample.slice(0, sample.num_rows - held_out(sample).num_rows), held_out(sample)
    history = history if history.num_rows else sample
    words = words_by_frequency(wants, history)
    known = replace(empty, words=words, homes=np.zeros((1, len(words)), np.int32))
    if mechanism in ("keyword", "prefix"):
        cuts = cut_words(*word_rows(known, wants, sample), len(words), partitions)
        return replace(known, homes=cuts[None])
    points = points[0], centres(message_boxes(sample))
    first = first_level or _largest_divisor(partitions)
    known = replace(known, partitions=first * (partitions // first))
    hybrid = _space_first if mechanism == "location-prefix" else _words_first
    return hybrid(known, first, wants, sample, points)


def held_out(sample: pa.Table) -> pa.Table:
    """Return the messages of a sample that do not decide which words are rare: its second half.

    What a plan will cost is predicted with these.
    """
    return sample.slice(sample.num_rows // 2 if sample.num_rows >= MIN_HALF * 2 else 0)


def words_by_frequency(wants: Wants, sample: pa.Table) -> pa.Array:
    """Return the words of subscriptions, those first that most messages have, or subscriptions."""
    counted = pc.value_counts(wants.words.cast(pa.string()))
    used, uses = counted.field("values"), counted.field("counts").to_numpy()
    _, tokens = list_parts(sample.column("tokens"))
    codes = pc.index_in(tokens.cast(pa.string()), value_set=used)
    counts = np.bincount(pc.drop_null(codes).to_numpy(), minlength=len(used))
    return used.take(pa.array(np.lexsort((-uses, -counts))))


def word_rows(plan: Plan, wants: Wants, sample: pa.Table) -> tuple[_Pairs, _Pairs]:
    """Return which subscriptions are found by which words, and which messages have which."""
    offsets, tokens = list_parts(sample.column("tokens"))
    rows, codes = rows_of(offsets), plan.codes(tokens)
    planned = codes < len(plan.words)
    return plan.prefixes(wants), (rows[planned], codes[planned])


def _space_first(
    known: Plan,
    leaves: int,
    wants: Wants,
    sample: pa.Table,
    points: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> Plan:
    boxes = cut_space(*points, leaves)
    parts = known.partitions // leaves
    subscriptions, messages = word_rows(known, wants, sample)
    everywhere = wants.mode == "top"
    lives = touches(wants.boxes, boxes) | ~(wants.is_local | everywhere)[:, None]
    seen = touches(message_boxes(sample), boxes) | everywhere
    homes = [
        cut_words(
            _rows_in(subscriptions, lives[:, leaf]),
            _rows_in(messages, seen[:, leaf]),
            len(known.words),
            parts,
        )
        for leaf in range(leaves)
    ]
    return replace(known, homes=np.array(homes, np.int32), leaves=boxes[None])


def _words_first(
    known: Plan,
    parts: int,
    wants: Wants,
    sample: pa.Table,
    points: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> Plan:
    pairs = word_rows(known, wants, sample)
    homes = cut_words(*pairs, len(known.words), parts)
    leaves = []
    for part in range(parts):
        here, seen = (
            place[np.unique(rows[homes[codes] == part])]
            for place, (rows, codes) in zip(points, pairs, strict=True)
        )
        leaves.append(cut_space(here, seen, known.partitions // parts))
    return replace(known, homes=homes[None], leaves=np.array(leaves))


def _largest_divisor(partitions: int) -> int:
    """Return the largest divisor up to the square root, so that no partition is left over."""
    return max(d for d in range(1, int(partitions**0.5) + 1) if partitions % d == 0)


def _rows_in(pairs: _Pairs, is_in: NDArray[np.bool_]) -> _Pairs:
    wanted = is_in[pairs[0]]
    return pairs[0][wanted], pairs[1][wanted]

"""What must routing know of a subscription? Which words a message needs, and which place.

All modes come down to the same two things. *Text*: one or more groups of words; of each group a
message must have a share of the weight, so a prefix of the group, rarest words first, is enough to
find every message that can matter. A conjunction needs all of its weight: its prefix is one word. A
rank subscription needs (θ − α) / (1 − α) of it [Rt §6.2], with 1.0 as the bound of space; a top
subscription the same with its k-th score as θ [Skype §7.3.4, Eq. 18], and at least one word. Where
no text is needed the subscription is *open*. *Space*: a box that bounds the area; whether only
messages that touch it can matter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from nearcast.errors import InvalidParameterError
from nearcast.partition.bounds import WORLD, area_bounds
from nearcast.partition.covers import word_groups
from nearcast.partition.ragged import list_parts, offsets_of, rows_of, suffix_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nearcast.events import Subscribe

Mode: TypeAlias = Literal["match", "rank", "top"]
MODES: tuple[Mode, ...] = ("match", "rank", "top")

TOLERANCE = 1e-8
"""Scores are compared in units of 1e-9; what is that close to a bound is not excluded by it."""


@dataclass(frozen=True, slots=True)
class Wants:
    """Subscriptions as routing sees them.

    Parameters
    ----------
    mode
        "match", "rank" or "top"; all of them the same.
    group_rows
        The subscription of each group of words.
    offsets, words
        The words of each group.
    shares
        The share of its weight that a message must have; in mode "top" of its norm.
    boxes
        west, south, east, north of each subscription; west > east crosses the antimeridian. In
        mode "top" its point, twice.
    is_open
        Which subscriptions need no text at all.
    is_local
        Which subscriptions no message matters to that does not touch the box.
    """

    mode: Mode
    group_rows: NDArray[np.int64]
    offsets: NDArray[np.int64]
    words: pa.Array
    shares: NDArray[np.float64]
    boxes: NDArray[np.float64]
    is_open: NDArray[np.bool_]
    is_local: NDArray[np.bool_]

    def __len__(self) -> int:
        """Return the number of subscriptions."""
        return len(self.boxes)

    def with_shares(self, shares: NDArray[np.float64]) -> Wants:
        """Return the same subscriptions when they need other shares of text."""
        return replace(self, shares=shares)


def text_share(alpha: NDArray[np.float64], threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least share of text with which α + (1 − α) · share can reach a threshold.

    With α = 1 text does not count: 0.

    Examples
    --------
    >>> float(text_share(np.array([0.6]), np.array([0.8]))[0].round(6))
    0.5
    """
    rest = np.where(alpha < 1, 1 - alpha, 1)
    return np.where(alpha < 1, (threshold - alpha - TOLERANCE) / rest, 0.0)


def prefix_mask(
    weights: NDArray[np.float64],
    offsets: NDArray[np.int64],
    shares: NDArray[np.float64],
    *,
    is_norm: bool,
) -> NDArray[np.bool_]:
    """Say of each word of each group whether it is in the group's prefix.

    The prefix is the shortest whose rest is below the share, strictly [Skype §7.3.4, Def. 12]. The
    rest of a rank subscription is a sum of weights. Of a top subscription it is a norm, because a
    message's vector has length one: by Cauchy and Schwarz that is tighter than the paper's sum.

    Parameters
    ----------
    weights
        Of the words, in the order in which they become part of a prefix.
    """
    if len(weights) == 0:
        return np.zeros(0, bool)
    sizes = weights**2 if is_norm else weights
    rest = np.maximum(suffix_sums(sizes, offsets), 0.0)
    group = rows_of(offsets)
    whole = np.bincount(group, weights=sizes, minlength=len(offsets) - 1)
    share = np.where(whole[group] > 0, rest / whole[group], 0.0)
    share = np.sqrt(share) if is_norm else share
    is_enough = share < shares[group] - TOLERANCE
    # A word belongs to the prefix if what ends before it was not enough. Before the first word
    # nothing is, whatever rounding says; the rest shrinks from word to word.
    before = np.empty(len(is_enough), bool)
    before[1:] = is_enough[:-1]
    before[offsets[:-1][np.diff(offsets) > 0]] = False
    return ~before


def wants_of_table(
    table: pa.Table | pa.RecordBatch,
    mode: Mode = "match",
    kth_scores: NDArray[np.float64] | None = None,
) -> Wants:
    """Read a table as `Matcher.subscribe_table` takes it; of mode "top" with lon, lat, alpha.

    Parameters
    ----------
    table, mode
        The subscriptions.
    kth_scores
        Of top subscriptions: the score of the last of their k messages, −inf with fewer.
    """
    rows = table.num_rows
    lists = table.column("keywords") if "keywords" in table.schema.names else None
    if lists is None:
        lists = pa.nulls(rows, pa.list_(pa.string()))
    is_absent = np.asarray(lists.is_null().to_numpy(zero_copy_only=False), bool)
    offsets, words = list_parts(lists)
    boxes, is_anywhere = _boxes(table, mode)
    shares = np.ones(rows)
    is_open, is_local = is_absent, ~is_anywhere
    if mode == "rank":
        alpha, threshold = (_numbers(table, name) for name in ("alpha", "threshold"))
        shares = text_share(alpha, threshold)
        is_open = shares <= 0
        is_local = threshold > 1 - alpha + TOLERANCE
    elif mode == "top":
        known = np.full(rows, -np.inf) if kth_scores is None else kth_scores
        shares = text_share(_numbers(table, "alpha"), known)
        is_open = np.zeros(rows, bool)
        is_local = is_open
    return Wants(mode, np.arange(rows), offsets, words, shares, boxes, is_open, is_local)


def wants_of_events(events: Sequence[Subscribe], mode: Mode = "match") -> Wants:
    """Read subscribe events: expressions and areas of any shape too."""
    for event in events:
        if event.mode != mode:
            what = f"subscription {event.id!r} is of another mode"
            raise InvalidParameterError(what, got=event.mode, wanted=mode)
    rows, groups = [], []
    is_free = np.zeros(len(events), bool)
    for row, event in enumerate(events):
        found = word_groups(event.keywords)
        is_free[row] = found is None
        for group in found or ():
            rows.append(row)
            groups.append(sorted(group))
    group_rows = np.array(rows, np.int64)
    alpha = np.array([event.alpha or 0.0 for event in events])
    threshold = np.array([event.threshold or 0.0 for event in events])
    is_open = is_free
    is_local = np.array([event.area is not None for event in events], bool)
    shares = np.ones(len(events))
    if mode == "rank":
        shares = text_share(alpha, threshold)
        is_open, is_local = shares <= 0, threshold > 1 - alpha + TOLERANCE
    elif mode == "top":
        shares = text_share(alpha, np.full(len(events), -np.inf))
    boxes = [
        (*event.at, *event.at) if event.at is not None else area_bounds(event.area)
        for event in events
    ]
    return Wants(
        mode,
        group_rows,
        offsets_of(np.array([len(group) for group in groups], np.int64)),
        pa.array([word for group in groups for word in group], pa.string()),
        shares[group_rows] if len(groups) else np.zeros(0),
        np.array(boxes, np.float64).reshape(-1, 4),
        is_open,
        is_local,
    )


def _numbers(table: pa.Table | pa.RecordBatch, name: str) -> NDArray[np.float64]:
    return np.asarray(table.column(name).to_numpy(zero_copy_only=False), np.float64)


def _boxes(
    table: pa.Table | pa.RecordBatch, mode: Mode
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    names = ("lon", "lat", "lon", "lat") if mode == "top" else ("west", "south", "east", "north")
    if names[0] not in table.schema.names:
        return np.tile(np.array(WORLD), (table.num_rows, 1)), np.ones(table.num_rows, bool)
    boxes = np.column_stack([_numbers(table, name) for name in names]).reshape(-1, 4)
    is_anywhere: NDArray[np.bool_] = np.logical_and.reduce(np.isnan(boxes), axis=1)
    boxes[is_anywhere] = WORLD
    return boxes, is_anywhere

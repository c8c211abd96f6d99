"""Which partition is to be split, and which two are to be merged? From measured load [Skype §7.4].

The busiest partition is cut in two where both sides cost alike, by the same cost as in a new plan;
the two neighbours that together are least busy become one, and its number is that of the new half.
So the number of partitions stays, and all others keep what they have: only what was in these three
moves. Neighbours are ranges of words that follow each other, or leaves that form a box together.

That is done while it lowers the highest load. The load of a half is taken to be half of the whole.

Departs from the paper: splitting and merging come in pairs, and `hash` and the hybrids are planned
anew instead.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from nearcast.errors import InvalidParameterError
from nearcast.partition.keyword_cuts import cut_words
from nearcast.partition.plan import message_boxes
from nearcast.partition.planner import word_rows
from nearcast.partition.space_cuts import centres, cut_box, touches

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from nearcast.partition.plan import Plan
    from nearcast.partition.wants import Wants

ADJUSTABLE = ("location", "keyword", "prefix")


def adjust_plan(
    plan: Plan, loads: Sequence[float], wants: Wants, sample: pa.Table
) -> tuple[Plan, list[tuple[int, int, int]]]:
    """Split busy partitions and merge idle ones; as many of both.

    Parameters
    ----------
    plan
        Of a mechanism in `ADJUSTABLE`.
    loads
        How busy each partition was: seconds, or anything that adds up.
    wants, sample
        Subscriptions and messages, as for `make_plan`: they say where to cut.

    Returns
    -------
    Plan, list
        And what was done, in order: (split, kept, freed) means that the content of `freed` went to
        `kept`, and one half of `split` to `freed`.
    """
    if plan.mechanism not in ADJUSTABLE:
        what = f"a plan by {plan.mechanism!r} cannot be adjusted"
        wanted = "one by " + ", ".join(ADJUSTABLE)
        raise InvalidParameterError(what, got=plan.mechanism, wanted=wanted)
    if len(loads) != plan.partitions:
        what = "loads do not fit the plan"
        raise InvalidParameterError(what, got=len(loads), wanted=f"{plan.partitions} loads")
    # Words of subscriptions that came after the plan have homes too, and may have to move.
    plan = plan.learn(wants.words)
    now = np.array(loads, np.float64)
    adjust = _adjust_leaves if plan.mechanism == "location" else _adjust_words
    steps: list[tuple[int, int, int]] = []
    while len(steps) < plan.partitions:
        step = _best_step(plan, now)
        if step is None:
            break
        changed = adjust(plan, step, wants, sample)
        if changed is None:
            break
        plan = changed
        split, kept, freed = step
        now[kept] += now[freed]
        now[split] /= 2
        now[freed] = now[split]
        steps.append(step)
    return plan, steps


def _best_step(plan: Plan, loads: NDArray[np.float64]) -> tuple[int, int, int] | None:
    """Return what to split and what to merge, or None if that would not lower the highest load."""
    split = int(loads.argmax())
    pairs = [(a, b) for a, b in _neighbours(plan) if split not in (a, b)]
    if not pairs:
        return None
    kept, freed = min(pairs, key=lambda pair: loads[pair[0]] + loads[pair[1]])
    return (split, kept, freed) if loads[kept] + loads[freed] < loads[split] else None


def _neighbours(plan: Plan) -> list[tuple[int, int]]:
    if plan.mechanism != "location":
        ranges = plan.homes[0][np.flatnonzero(np.diff(plan.homes[0], prepend=-1))]
        unused = sorted(set(range(plan.partitions)) - set(ranges.tolist()))
        order = [*ranges.tolist(), *unused]
        return list(pairwise(order))
    leaves = plan.leaves[0]
    numbers = range(len(leaves))
    return [(a, b) for a in numbers for b in numbers if a < b and _is_box(leaves[a], leaves[b])]


def _is_box(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Whether two leaves share a whole side."""
    for axis in (0, 1):
        across = [1 - axis, 3 - axis]
        is_aligned = bool((one[across] == other[across]).all())
        if is_aligned and (one[axis + 2] == other[axis] or other[axis + 2] == one[axis]):
            return True
    return False


def _adjust_words(
    plan: Plan, step: tuple[int, int, int], wants: Wants, sample: pa.Table
) -> Plan | None:
    split, kept, freed = step
    homes = plan.homes[0].copy()
    inside = np.flatnonzero(homes == split)
    if len(inside) < 2:
        return None  # one word, which cannot be in two places
    rank = np.full(len(homes) + 1, -1, np.int64)
    rank[inside] = np.arange(len(inside))
    pairs = []
    for rows, codes in word_rows(plan, wants, sample):
        local = rank[np.minimum(codes, len(homes))]
        pairs.append((rows[local >= 0], local[local >= 0]))
    half = cut_words(pairs[0], pairs[1], len(inside), 2)
    homes[homes == freed] = kept
    homes[inside[half == 1]] = freed
    return replace(plan, homes=homes[None])


def _adjust_leaves(
    plan: Plan, step: tuple[int, int, int], wants: Wants, sample: pa.Table
) -> Plan | None:
    split, kept, freed = step
    leaves = plan.leaves[0].copy()
    box = leaves[split]
    points = []
    for boxes in (wants.boxes, message_boxes(sample)):
        middle = centres(boxes)
        points.append(middle[touches(np.hstack([middle, middle]), box[None])[:, 0]])
    # Across the longer side, so that leaves do not become strips.
    axis = 0 if box[2] - box[0] >= box[3] - box[1] else 1
    halves = cut_box(points[0], points[1], box, axis)
    one, other = leaves[kept], leaves[freed]
    low, high = np.minimum(one[:2], other[:2]), np.maximum(one[2:], other[2:])
    leaves[kept] = np.concatenate([low, high])
    leaves[split], leaves[freed] = halves
    return replace(plan, leaves=leaves[None])

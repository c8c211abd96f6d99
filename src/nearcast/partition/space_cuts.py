"""Which places go together? The leaves of a kd-tree over the space [Skype §7.3.2, Alg. 3].

A node costs C = N · p: subscriptions in it, times the chance that a message falls into it [Eq. 15].
It is cut at the coordinate of a subscription, x and y by turns, where both sides cost alike.

Departs from the paper: the number of leaves need not be a power of two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nearcast.partition.bounds import WORLD

if TYPE_CHECKING:
    from numpy.typing import NDArray


def cut_space(
    subscriptions: NDArray[np.float64], messages: NDArray[np.float64], parts: int
) -> NDArray[np.float64]:
    """Return the leaves as boxes that touch, shape (parts, 4); together they are the world.

    Parameters
    ----------
    subscriptions, messages
        Points, shape (n, 2).
    parts
        How many leaves.
    """
    leaves: list[tuple[float, ...]] = []
    _cut(subscriptions, messages, np.array(WORLD), parts, 0, leaves)
    return np.array(leaves)


def cut_box(
    subscriptions: NDArray[np.float64],
    messages: NDArray[np.float64],
    box: NDArray[np.float64],
    axis: int,
) -> NDArray[np.float64]:
    """Return the two halves of a box, cut across an axis where both cost alike; shape (2, 4)."""
    halves: list[tuple[float, ...]] = []
    _cut(subscriptions, messages, box, 2, axis, halves)
    return np.array(halves)


def touches(boxes: NDArray[np.float64], leaves: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say which boxes share a point with which leaves, borders included; shape (boxes, leaves)."""
    west, south, east, north = (boxes[:, i, None] for i in range(4))
    is_level = (south <= leaves[:, 3]) & (north >= leaves[:, 1])
    reaches_west, reaches_east = west <= leaves[:, 2], east >= leaves[:, 0]
    # A box that crosses the antimeridian is [west, 180] and [-180, east].
    return is_level & np.where(
        west <= east, reaches_west & reaches_east, reaches_west | reaches_east
    )


def leaf_of(points: NDArray[np.float64], leaves: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Say in which leaf each point lives: the first that touches it; shape (points, leaves)."""
    inside = touches(np.hstack([points, points]), leaves)
    only = np.zeros_like(inside)
    only[np.arange(len(points)), inside.argmax(axis=1)] = True
    return only


def centres(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the middle of each box, brought back into range where it crosses the antimeridian."""
    west, south, east, north = boxes.T
    lon = (west + np.where(west > east, east + 360, east)) / 2
    return np.column_stack([np.where(lon > 180, lon - 360, lon), (south + north) / 2])


def _cut(
    subscriptions: NDArray[np.float64],
    messages: NDArray[np.float64],
    box: NDArray[np.float64],
    parts: int,
    depth: int,
    leaves: list[tuple[float, ...]],
) -> None:
    if parts == 1:
        leaves.append(tuple(box))
        return
    axis = depth % 2
    left = parts // 2
    at = _best_cut(subscriptions[:, axis], messages[:, axis], box[[axis, axis + 2]], left / parts)
    below, above = box.copy(), box.copy()
    below[axis + 2] = above[axis] = at
    for side, count, is_below in ((below, left, True), (above, parts - left, False)):
        chosen = [
            points[points[:, axis] <= at if is_below else points[:, axis] > at]
            for points in (subscriptions, messages)
        ]
        _cut(chosen[0], chosen[1], side, count, depth + 1, leaves)


def _best_cut(
    subscriptions: NDArray[np.float64],
    messages: NDArray[np.float64],
    side: NDArray[np.float64],
    left_share: float,
) -> float:
    candidates = np.unique(subscriptions)
    candidates = candidates[(candidates > side[0]) & (candidates < side[1])]
    if len(candidates) == 0:
        return float(side.mean())
    below = _shares_below(subscriptions, candidates) * _shares_below(messages, candidates)
    above = (1 - _shares_below(subscriptions, candidates)) * (
        1 - _shares_below(messages, candidates)
    )
    difference = np.abs(below / left_share - above / (1 - left_share))
    return float(candidates[difference.argmin()])


def _shares_below(values: NDArray[np.float64], cuts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of values up to each cut; without values all cuts are alike."""
    if len(values) == 0:
        return np.full(len(cuts), 0.5)
    return np.searchsorted(np.sort(values), cuts, side="right") / len(values)

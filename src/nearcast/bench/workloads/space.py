"""Where are messages and areas? Points in clusters, boxes around points.

Everything is made in the unit square and stretched to the world at the end, so a share of the side
or of the area means the same in both directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from nearcast.bench.workloads.presets import WORLD
from nearcast.bench.workloads.streams import Stream, random_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nearcast.bench.workloads.presets import Clusters

Space = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class PointLaw:
    """Draws points: a weighted mixture of Gaussian clusters and the uniform square."""

    centres: NDArray[np.float64]
    deviations: NDArray[np.float64]
    cumulative_weights: NDArray[np.float64]
    uniform_share: float

    def draw(self, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        """Return `count` points of the unit square, shape (count, 2)."""
        cluster = np.searchsorted(self.cumulative_weights, rng.random(count), side="right")
        offset = rng.standard_normal((count, 2)) * self.deviations[cluster, None]
        points = _reflect(self.centres[cluster] + offset)
        anywhere = rng.random(count) < self.uniform_share
        return np.where(anywhere[:, None], rng.random((count, 2)), points)


@lru_cache(maxsize=8)
def point_law(clusters: Clusters, seed: int) -> PointLaw:
    """Place the clusters of a seed; messages and subscriptions of that seed share them."""
    rng = random_stream(seed, Stream.CLUSTERS)
    weights = 1.0 / np.arange(1, clusters.count + 1)
    cumulative = np.cumsum(weights / weights.sum())
    cumulative[-1] = 1.0
    return PointLaw(
        centres=rng.random((clusters.count, 2)),
        deviations=rng.uniform(*clusters.deviation, clusters.count),
        cumulative_weights=cumulative,
        uniform_share=clusters.uniform_share,
    )


def draw_shares(
    rng: np.random.Generator, count: int, limits: tuple[float, float]
) -> NDArray[np.float64]:
    """Return `count` area shares, uniform between the limits."""
    return rng.uniform(*limits, count)


def boxes_around(points: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return boxes (x1, y1, x2, y2) of the given area shares around points, cut at the border."""
    half = np.sqrt(shares)[:, None] / 2
    boxes = np.hstack([points - half, points + half])
    return np.clip(boxes, 0.0, 1.0, out=boxes)


def stretch(unit: NDArray[np.float64], space: Space = WORLD) -> NDArray[np.float64]:
    """Bring points or boxes of the unit square to degrees."""
    corner, sides = _frame(space)
    return (corner + unit.reshape(-1, 2) * sides).reshape(unit.shape)


def shrink(points: NDArray[np.float64], space: Space) -> NDArray[np.float64]:
    """Bring points in degrees to the unit square; the inverse of `stretch`."""
    corner, sides = _frame(space)
    # A side of length zero holds one coordinate only, which may as well be 0.
    return (points - corner) / np.where(sides > 0, sides, 1.0)


def _frame(space: Space) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the south-west corner and the length of the sides."""
    west, south, east, north = space
    return np.array([west, south]), np.array([east - west, north - south])


def _reflect(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fold what fell outside back inside, so that no mass gathers on the border."""
    return np.asarray(1.0 - np.abs(1.0 - np.abs(points)))

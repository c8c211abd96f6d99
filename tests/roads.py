"""Small road networks, and what tests need to know about any of them, worked out the slow way."""

from __future__ import annotations

import numpy as np

from nearcast.bench.workloads.moving.network import CLASS_SPEED, Network, make_network


def square() -> Network:
    """Four nodes in a square of side 1; the upper road is fast, the others are not."""
    points = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    classes = np.array([4, 4, 0, 4])
    return make_network(points, np.arange(4), np.array([1, 2, 3, 0]), None, classes)


def times_from_everywhere(network: Network, destination: int) -> np.ndarray:
    """Return the least time to a node, by relaxing all edges until nothing changes."""
    times = np.full(len(network.points), np.inf)
    times[destination] = 0.0
    needed = network.lengths / CLASS_SPEED**network.classes
    while True:
        before = times.copy()
        for a, b, time in zip(network.tails, network.heads, needed, strict=True):
            times[a] = min(times[a], times[b] + time)
            times[b] = min(times[b], times[a] + time)
        if np.array_equal(times, before):
            return times


def distances_to_roads(network: Network, points: np.ndarray) -> np.ndarray:
    """Return the distance of each point from the nearest edge."""
    start, along = network.points[network.tails], network.points[network.heads]
    along = along - start
    offset = points[:, None, :] - start
    share = np.clip((offset * along).sum(2) / (along * along).sum(1), 0.0, 1.0)
    distances: np.ndarray = np.linalg.norm(offset - share[..., None] * along, axis=2)
    nearest: np.ndarray = distances.min(axis=1)
    return nearest

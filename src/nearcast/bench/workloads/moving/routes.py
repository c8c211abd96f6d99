"""Which way is the fastest? A tree of shortest paths for each destination.

Objects share a few hundred destinations. For each, Dijkstra's algorithm gives every node the arc on
which to leave it; an object then finds its way by looking up one number per node, however many
objects there are. Shortest means least time; since a class of objects is faster or slower on all
edges alike, the trees serve all classes.

One tree takes 7 ms for 6,000 nodes and 26 ms for 18,000. Relaxing all trees at once with arrays was
slower, two and ten times: a node is touched again whenever a better way is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from nearcast.bench.workloads.streams import Stream, random_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nearcast.bench.workloads.moving.network import Network

    Roads = list[list[tuple[int, float, int]]]

DEFAULT_DESTINATIONS = 256
NO_ARC = -1


@dataclass(frozen=True, slots=True, eq=False)
class Routes:
    """The ways to some destinations; rows are destinations, columns nodes."""

    network: Network
    destinations: NDArray[np.int64]
    times: NDArray[np.float64]
    """How long the way takes at speed 1 on class 0."""
    next_arcs: NDArray[np.int32]
    """The first arc of the way; `NO_ARC` at the destination."""


@lru_cache(maxsize=4)  # seconds to find, and one network serves many workloads
def find_routes(network: Network, seed: int, destinations: int = DEFAULT_DESTINATIONS) -> Routes:
    """Choose destinations among the nodes and find the ways from everywhere.

    At least two, or there would be nowhere to go from the only one; at most all nodes.
    """
    count = min(max(destinations, 2), len(network.points))
    rng = random_stream(seed, Stream.ROADS, 1)
    chosen = rng.choice(len(network.points), count, replace=False).astype(np.int64)
    times = np.empty((count, len(network.points)))
    next_arcs = np.empty(times.shape, dtype=np.int32)
    roads = _roads(network)
    for row, node in enumerate(chosen.tolist()):
        times[row], next_arcs[row] = _shortest_paths(roads, node)
    return Routes(network, chosen, times, next_arcs)


def _roads(network: Network) -> Roads:
    """Return for each node its neighbours, the time from there, and the arc from there."""
    roads: Roads = [[] for _ in range(len(network.points))]
    tails, heads = network.tails.tolist(), network.heads.tolist()
    for edge, time in enumerate(network.edge_times().tolist()):
        roads[heads[edge]].append((tails[edge], time, 2 * edge))
        roads[tails[edge]].append((heads[edge], time, 2 * edge + 1))
    return roads


def _shortest_paths(roads: Roads, destination: int) -> tuple[list[float], list[int]]:
    """Return times to the destination and first arcs."""
    times, arcs = [inf] * len(roads), [NO_ARC] * len(roads)
    times[destination] = 0.0
    heap = [(0.0, destination)]
    while heap:
        time, node = heappop(heap)
        if time > times[node]:
            continue  # a better way was found after this entry was made
        for neighbour, more, arc in roads[node]:
            if time + more < times[neighbour]:
                times[neighbour], arcs[neighbour] = time + more, arc
                heappush(heap, (time + more, neighbour))
    return times, arcs

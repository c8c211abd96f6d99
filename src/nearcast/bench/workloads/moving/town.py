"""A road network made up: streets, main roads and motorways on a bent grid.

Lines are closer together in the middle, nodes are off their places by chance, and some streets are
missing. It stands in where there is no file, in tests and in examples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nearcast.bench.workloads.moving.network import make_network
from nearcast.bench.workloads.streams import Stream, random_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nearcast.bench.workloads.moving.network import Network

DEFAULT_SIDE = 80
MOTORWAY, MAIN_ROAD, STREET = 0, 2, 4
"""Classes of the edges; each class up is a fifth slower."""
MOTORWAY_EVERY, MAIN_ROAD_EVERY = 16, 4
MISSING_SHARE = 0.2
JITTER = 0.35
"""How far off a node may be, as a share of the distance to the next."""
DENSITY_EXPONENT = 1.5


def make_town(seed: int, side: int = DEFAULT_SIDE) -> Network:
    """Make a town with `side` lines in each direction, in the unit square; 2 or more of them.

    Examples
    --------
    >>> town = make_town(seed=1)
    >>> len(town.points) > 6_000
    True
    """
    rng = random_stream(seed, Stream.ROADS)
    places, gaps = _lines(side)
    across, up = np.meshgrid(np.arange(side), np.arange(side))
    offsets = rng.uniform(-JITTER, JITTER, (side, side, 2))
    points = np.stack([places[across], places[up]], axis=2)
    points += offsets * np.stack([gaps[across], gaps[up]], axis=2)
    nodes = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([nodes[:, :-1].ravel(), nodes[:-1].ravel()])
    heads = np.concatenate([nodes[:, 1:].ravel(), nodes[1:].ravel()])
    classes = np.concatenate([_class_of(up[:, :-1].ravel()), _class_of(across[:-1].ravel())])
    is_there = (classes < STREET) | (rng.random(len(classes)) >= MISSING_SHARE)
    return make_network(
        points.reshape(-1, 2), tails[is_there], heads[is_there], None, classes[is_there]
    )


def _lines(side: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the places of the lines and the smaller of the gaps beside each."""
    even = np.linspace(-1.0, 1.0, side)
    places = (1.0 + np.sign(even) * np.abs(even) ** DENSITY_EXPONENT) / 2
    gaps = np.diff(places)
    return places, np.minimum(np.append(gaps, gaps[-1]), np.insert(gaps, 0, gaps[0]))


def _class_of(lines: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the class of the edges along the given lines."""
    main = np.where(lines % MAIN_ROAD_EVERY == 0, MAIN_ROAD, STREET)
    return np.where(lines % MOTORWAY_EVERY == MOTORWAY_EVERY // 2, MOTORWAY, main)

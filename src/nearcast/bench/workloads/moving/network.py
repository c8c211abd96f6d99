"""What can be driven on? Nodes with coordinates; edges with a length and a class.

Edges are straight and may be used both ways: edge e is arc 2e from its tail to its head, and arc
2e + 1 back. A network is connected: of one that is not, the largest part remains.

Lengths may be in another unit than coordinates. Speeds are told as shares of the extent of the
network, so neither unit needs a name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nearcast.errors import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nearcast.bench.workloads.space import Space

CLASS_SPEED = 0.8
"""Speed on an edge of class c + 1, as a share of that on class c; class 0 is the fastest."""
MAX_CLASS = 31


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A connected road network; `make_network` checks what it is made of."""

    points: NDArray[np.float64]
    tails: NDArray[np.int64]
    heads: NDArray[np.int64]
    lengths: NDArray[np.float64]
    classes: NDArray[np.int64]
    is_geographic: bool = False
    """Whether coordinates are longitude and latitude."""
    left_out: int = 0
    """Edges of the parts that are not connected with the largest one."""

    @property
    def space(self) -> Space:
        """The bounding box of the nodes."""
        west, south = self.points.min(axis=0).tolist()
        east, north = self.points.max(axis=0).tolist()
        return west, south, east, north

    @property
    def extent(self) -> float:
        """Width plus height, in the unit of the lengths."""
        span = np.ptp(self.points, axis=0).sum()
        return float(span * self.lengths.sum() / self.straight_lengths().sum())

    def straight_lengths(self) -> NDArray[np.float64]:
        """Return the distance between the ends of each edge, in the unit of the coordinates."""
        return _distances(self.points, self.tails, self.heads)

    def edge_times(self) -> NDArray[np.float64]:
        """Return how long each edge takes at speed 1 on class 0."""
        return self.lengths / CLASS_SPEED**self.classes

    def arc_tails(self) -> NDArray[np.int64]:
        """Return where each arc begins."""
        return np.column_stack([self.tails, self.heads]).ravel()

    def arc_heads(self) -> NDArray[np.int64]:
        """Return where each arc ends."""
        return np.column_stack([self.heads, self.tails]).ravel()

    def points_on(
        self, edges: NDArray[np.int64], fractions: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the points at the given fractions of edges, counted from their tails."""
        start = self.points[self.tails[edges]]
        return start + fractions[:, None] * (self.points[self.heads[edges]] - start)


def make_network(
    points: NDArray[np.float64],
    tails: NDArray[np.int64],
    heads: NDArray[np.int64],
    lengths: NDArray[np.float64] | None = None,
    classes: NDArray[np.int64] | None = None,
    *,
    is_geographic: bool = False,
) -> Network:
    """Check the parts and keep the largest connected one.

    Parameters
    ----------
    points
        Coordinates of the nodes, finite, shape (nodes, 2).
    tails, heads
        The ends of each edge, as rows of `points`. Edges from a node to itself lead nowhere and
        are dropped.
    lengths
        Positive; without them, edges are as long as their ends are apart.
    classes
        From 0, the fastest; without them, 0.
    is_geographic
        Whether coordinates are longitude and latitude.

    Raises
    ------
    InvalidParameterError
        If a length or a class is out of range, or nothing is left to drive on.
    """
    if classes is None:
        classes = np.zeros(len(tails), np.int64)
    if lengths is None:
        lengths = _distances(points, tails, heads)
    is_edge = tails != heads
    _check(is_edge & ~(np.isfinite(lengths) & (lengths > 0)), lengths, "length", "more than 0")
    _check((classes < 0) | (classes > MAX_CLASS), classes, "edge_class", f"0 to {MAX_CLASS}")
    if not is_edge.any():
        what = "network has no edge between two nodes"
        raise InvalidParameterError(what, got=len(tails), wanted="1 or more", field="edges")
    part = components(len(points), tails, heads)
    sizes = np.bincount(part[tails[is_edge]])
    kept = is_edge & (part[tails] == sizes.argmax())
    used, ends = np.unique(np.concatenate([tails[kept], heads[kept]]), return_inverse=True)
    new_tails, new_heads = ends.reshape(2, -1)
    if np.ptp(points[used], axis=0).sum() == 0:
        what = "network has no extent"
        got = points[used[0]].tolist()
        raise InvalidParameterError(what, got=got, wanted="more than one point", field="nodes")
    return Network(
        np.ascontiguousarray(points[used]),
        new_tails,
        new_heads,
        lengths[kept],
        classes[kept],
        is_geographic=is_geographic,
        left_out=int(is_edge.sum() - kept.sum()),
    )


def components(count: int, tails: NDArray[np.int64], heads: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each of `count` nodes the smallest node that it is connected with.

    Examples
    --------
    >>> components(5, np.array([4, 1]), np.array([3, 4])).tolist()
    [0, 1, 2, 1, 1]
    """
    root = np.arange(count)
    while True:
        low = np.minimum(root[tails], root[heads])
        joined = root.copy()
        np.minimum.at(joined, root[tails], low)
        np.minimum.at(joined, root[heads], low)
        while not np.array_equal(joined, joined[joined]):
            joined = joined[joined]
        if np.array_equal(joined, root):
            return root
        root = joined


def _distances(
    points: NDArray[np.float64], tails: NDArray[np.int64], heads: NDArray[np.int64]
) -> NDArray[np.float64]:
    across, up = (points[heads] - points[tails]).T
    return np.asarray(np.hypot(across, up))


def _check(
    is_wrong: NDArray[np.bool_],
    values: NDArray[np.float64] | NDArray[np.int64],
    field: str,
    wanted: str,
) -> None:
    if is_wrong.any():
        row = int(is_wrong.argmax())
        what = f"edge {row}: {field} is out of range"
        hint = "edges count from 0; drop those that are no road, merge nodes at the same point"
        got = values[row].item()
        raise InvalidParameterError(what, got=got, wanted=wanted, hint=hint, field=field)

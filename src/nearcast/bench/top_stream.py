"""Top lists over the newest messages, in bulk: columns in, times out. What a benchmark measures.

A `Hub` keeps top lists too, with ids, clocks, texts and changes as values. Here are only the lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nearcast import _core
from nearcast.arguments import check_parameters
from nearcast.in_process import InProcess

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Held = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class TokenRows:
    """Rows of tokens with points: row i has tokens `offsets[i]` to `offsets[i + 1]`."""

    offsets: NDArray[np.int64]
    tokens: NDArray[np.uint32]
    lon: NDArray[np.float64]
    lat: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lon)

    def part(self, first: int, end: int) -> TokenRows:
        """Return rows `first` to `end`; nothing is copied."""
        rows = slice(first, end)
        offsets = self.offsets[first : end + 1]
        return TokenRows(offsets, self.tokens, self.lon[rows], self.lat[rows])

    def take(self, rows: NDArray[np.int64]) -> TokenRows:
        """Return some rows, in that order."""
        starts, lengths = self.offsets[rows], np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(starts - offsets[:-1], lengths) + np.arange(offsets[-1])
        return TokenRows(offsets, self.tokens[places], self.lon[rows], self.lat[rows])

    def columns(self) -> tuple[np.ndarray, ...]:
        """Return what the core reads."""
        return (self.offsets, self.tokens, self.lon, self.lat)


@dataclass(frozen=True, slots=True)
class StepTimes:
    """What each message took, in nanoseconds: itself, and the one it pushed out of the window."""

    arrival: NDArray[np.int64]
    expiry: NDArray[np.int64]
    """-1 while the window is not full."""
    changes: int


class TopStream(InProcess):
    """Top subscriptions over the newest `window` messages.

    Parameters
    ----------
    window
        How many messages are live.
    space
        west, south, east, north; its diagonal is the unit of distance.
    topk, expiry, topk_parameters
        As of a `Hub`.
    """

    copy_hint = "make another in the other process"

    def __init__(
        self,
        *,
        window: int,
        space: tuple[float, float, float, float],
        topk: str = "auto",
        expiry: str = "",
        topk_parameters: Mapping[str, float | str] | None = None,
    ) -> None:
        given = check_parameters({} if topk_parameters is None else topk_parameters)
        self._core = _core.TopStream(window, space, topk, expiry, given)

    def weigh(self, documents: int, df: NDArray[np.int64]) -> None:
        """Weigh token i by `df[i]` of so many documents. Before anything else."""
        self._core.start_epoch(documents, df)

    def subscribe(self, wanted: TokenRows, alpha: NDArray[np.float64], k: int) -> None:
        """Add subscriptions, which are numbered from 0; their lists are filled."""
        self._core.subscribe(wanted.columns(), alpha, k)

    def adopt(self, other: TopStream) -> None:
        """Take subscriptions and lists of a stream of the same messages and kind of expiry."""
        self._core.adopt(other._core)

    def publish(self, messages: TokenRows) -> StepTimes:
        """Publish one message after the other."""
        return StepTimes(*self._core.publish(messages.columns()))

    def results(self, subscriptions: NDArray[np.int64]) -> Held:
        """Return what subscriptions hold, best first: where each list ends, messages, scores."""
        held: Held = self._core.results(subscriptions)
        return held

    def look_at_all(self, wanted: TokenRows, alpha: NDArray[np.float64], k: int) -> Held:
        """Return what such subscriptions would hold, by looking at every live message."""
        held: Held = self._core.look_at_all(wanted.columns(), alpha, k)
        return held

    def stats(self) -> dict[str, float]:
        """Return sizes and work since the beginning."""
        return dict(self._core.stats)

    def check_invariants(self) -> None:
        """Raise `InternalError` if a structure is broken; for tests."""
        self._core.check_invariants()

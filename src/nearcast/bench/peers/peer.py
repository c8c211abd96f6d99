"""What is asked of a peer, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from nearcast.errors import NearcastError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from nearcast.bench.peers.workload import PeerWorkload


class MissingPeerError(NearcastError):
    """Something that the peer needs is not on this machine."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one peer did with one workload."""

    nanoseconds: NDArray[np.int64]
    """One row per repetition, one column per message."""
    cpu_seconds: NDArray[np.float64]
    """Processor time of each repetition, of all threads and processes that answered."""
    pairs: NDArray[np.int64]
    """Rows of message and subscription, in order."""
    build_seconds: float
    bytes_per_subscription: float | None
    """What its process, or its tables with their indexes, take; None where that is not known."""
    versions: Mapping[str, str]
    settings: Mapping[str, str | int | float] = field(default_factory=dict)


class Peer(Protocol):
    """Something that can be told subscriptions and asked which of them a message matches."""

    name: str
    what: str
    """What it is and how it is used, in a sentence."""

    def run(self, workload: PeerWorkload, repetitions: int) -> Found:
        """Build, answer, and answer again with the clock.

        Raises
        ------
        MissingPeerError
            If it cannot run here; it says what to install.
        """


def in_order(pairs: list[tuple[int, int]]) -> NDArray[np.int64]:
    """Return pairs as rows in order."""
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)

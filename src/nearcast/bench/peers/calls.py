"""Peers that are asked message by message from Python: the loop, the clock, the answers."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING

import numpy as np

from nearcast.bench.peers.peer import in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    Message = tuple[list[str], tuple[float, float]]
    Ask = Callable[[list[str], tuple[float, float]], Iterable[int]]


def answers(ask: Ask, messages: Sequence[Message]) -> NDArray[np.int64]:
    """Return the pairs of all messages; this also warms up."""
    return in_order([(row, id) for row, message in enumerate(messages) for id in ask(*message)])


def timed(ask: Ask, messages: Sequence[Message], repetitions: int) -> NDArray[np.int64]:
    """Return the nanoseconds of each message, repetition by repetition."""
    taken = np.empty((repetitions, len(messages)), dtype=np.int64)
    for repetition in range(repetitions):
        for row, (words, at) in enumerate(messages):
            start = perf_counter_ns()
            ask(words, at)
            taken[repetition, row] = perf_counter_ns() - start
    return taken

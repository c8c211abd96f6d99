"""Peers that are asked message by message from Python: the loop, the clock, the answers."""

from __future__ import annotations

from time import perf_counter_ns, thread_time
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


def timed(
    ask: Ask,
    messages: Sequence[Message],
    repetitions: int,
    elsewhere: Callable[[], float] = lambda: 0.0,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the nanoseconds of each message, and the processor seconds of each repetition.

    `elsewhere` gives the processor time that another process has used so far.
    """
    taken = np.empty((repetitions, len(messages)), dtype=np.int64)
    cpu = np.empty(repetitions)
    for repetition in range(repetitions):
        before = thread_time() + elsewhere()
        for row, (words, at) in enumerate(messages):
            start = perf_counter_ns()
            ask(words, at)
            taken[repetition, row] = perf_counter_ns() - start
        cpu[repetition] = thread_time() + elsewhere() - before
    return taken, cpu

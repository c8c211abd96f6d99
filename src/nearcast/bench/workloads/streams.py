"""Random streams by purpose, so that no two parts of a workload share a number.

Rows are made in chunks of fixed size, each with its own stream. A table is therefore a slice of one
endless sequence: the first thousand rows do not depend on how many follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK_ROWS = 1_024


class Stream(IntEnum):
    """What random numbers are used for; part of the seed, so values never change."""

    CLUSTERS = 0
    TOPICS = 1
    MESSAGES = 2
    POOL = 3
    EXPRESSIONS = 4
    HARNESS = 5
    EVENTS = 6
    OBJECTS = 7
    PLACES = 8
    ROADS = 9
    ALERTS = 10
    ATTRIBUTES = 11
    RANGES = 12


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk of an endless sequence and which of its rows are wanted."""

    rng: np.random.Generator
    start: int
    wanted: slice


def random_stream(seed: int, stream: Stream, chunk: int = 0) -> np.random.Generator:
    """Return the generator for one purpose and one chunk.

    Raises
    ------
    ValueError
        If the seed is negative.
    """
    if seed < 0:
        msg = f"seed is negative: got {seed}, wanted 0 or more"
        raise ValueError(msg)
    return np.random.default_rng([seed, int(stream), chunk])


def chunks(seed: int, stream: Stream, first: int, count: int) -> Iterator[Chunk]:
    """Yield the chunks that cover rows `first` to `first + count`."""
    end = first + count
    for number in range(first // CHUNK_ROWS, -(-end // CHUNK_ROWS)):
        start = number * CHUNK_ROWS
        wanted = slice(max(first - start, 0), min(end - start, CHUNK_ROWS))
        yield Chunk(random_stream(seed, stream, number), start, wanted)

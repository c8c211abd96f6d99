"""Random numbers by name: draw k of row i is a function of the seed, of i and of k.

An object draws a destination whenever it arrives. From a stream with a state its way would depend
on who else moves; like this, the first thousand objects move the same whether a million follow or
none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nearcast.bench.workloads.streams import random_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nearcast.bench.workloads.streams import Stream

_ROW_STEP = np.uint64(0x9E3779B97F4A7C15)
_DRAW_STEP = np.uint64(0xD1B54A32D192ED03)


class Draws:
    """The random numbers of one seed and purpose."""

    def __init__(self, seed: int, stream: Stream) -> None:
        key = random_stream(seed, stream).integers(2**64, dtype=np.uint64)
        self._key = np.array([key])

    def unit(self, rows: NDArray[np.int64], number: int | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return draw `number` of each row, from 0 to just below 1."""
        # Arrays even where one number would do: arrays wrap around in silence, as is wanted here.
        numbers = np.atleast_1d(np.asarray(number)).astype(np.uint64)
        bits = _scramble(self._key + rows.astype(np.uint64) * _ROW_STEP)
        bits = _scramble(bits + numbers * _DRAW_STEP)
        return np.asarray((bits >> np.uint64(11)) * 2.0**-53, np.float64)

    def below(
        self, limit: int, rows: NDArray[np.int64], number: int | NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return draw `number` of each row as a whole number from 0 to just below `limit`."""
        return (self.unit(rows, number) * limit).astype(np.int64)


def _scramble(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Let each bit depend on all, one-to-one (the finisher of SplitMix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits = bits ^ (bits >> np.uint64(31))
    return bits

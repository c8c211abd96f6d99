"""Messages with numbers, and subscriptions that ask for a range of one of them.

Each message has three numbers, evenly from 0 to 1,000. A subscription compares one of them: it
wants a number below or above a bound, or between two. Two workloads:

ranges            the words and boxes of a source, each with a range that holds half of all numbers
                  or less
frequent-ranges   no box, and one word of a few, each of which an eighth of the messages has; the
                  ranges are narrow: five thousandths at most
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearcast.bench.workloads.streams import CHUNK_ROWS, Stream, chunks
from nearcast.bench.workloads.tables import BOX_COLUMNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nearcast.bench.workloads.groups import Group
    from nearcast.bench.workloads.scenario import Source

NAMES = ("price", "size", "year")
WORDS = ("flat", "house", "studio", "room", "loft", "villa", "garage", "office")
HIGHEST = 1000.0
WIDE, NARROW = 0.5, 0.005
"""The largest part of all numbers that a range of each workload holds."""


@dataclass(frozen=True, slots=True)
class NumberedSource:
    """A source whose messages have numbers; its subscriptions do not look at them."""

    source: Source

    @property
    def name(self) -> str:
        """Name of the preset or of the data set, and what is different about it."""
        return f"{self.source.name} with numbers"

    @property
    def seed(self) -> int:
        """What the rows depend on besides the name."""
        return self.source.seed

    def messages(self, count: int, group: Group, *, first: int = 0) -> pa.Table:
        """Return messages `first` to `first + count`, with a column `attributes`."""
        table = self.source.messages(count, group, first=first)
        dice = _dice(self.seed, Stream.ATTRIBUTES, first, table.num_rows, len(NAMES))
        numbers = [pa.array(np.round(column * HIGHEST, 3)) for column in dice.T]
        return table.append_column("attributes", pa.StructArray.from_arrays(numbers, list(NAMES)))

    def subscriptions(
        self, count: int, keywords: tuple[int, int] = (1, 5), *, first: int = 0
    ) -> pa.Table:
        """Return subscriptions `first` to `first + count`."""
        return self.source.subscriptions(count, keywords, first=first)


@dataclass(frozen=True, slots=True)
class RangeSource(NumberedSource):
    """… and whose subscriptions have a range each."""

    @property
    def name(self) -> str:
        """Name of the preset or of the data set, and what is different about it."""
        return f"{self.source.name} ranges"

    def subscriptions(
        self, count: int, keywords: tuple[int, int] = (1, 5), *, first: int = 0
    ) -> pa.Table:
        """Return subscriptions `first` to `first + count`, with a column `where`."""
        table = self.source.subscriptions(count, keywords, first=first)
        return table.append_column("where", _wheres(self.seed, first, table.num_rows, WIDE))


@dataclass(frozen=True, slots=True)
class FrequentRangeSource(NumberedSource):
    """… and whose subscriptions have a frequent word and a narrow range, and nothing else."""

    @property
    def name(self) -> str:
        """Name of the preset or of the data set, and what is different about it."""
        return f"{self.source.name} frequent-ranges"

    def messages(self, count: int, group: Group, *, first: int = 0) -> pa.Table:
        """Return messages `first` to `first + count`, each with one of `WORDS`."""
        table = NumberedSource.messages(self, count, group, first=first)
        place = table.schema.get_field_index("tokens")
        words = _words(self.seed, first, count)
        lists = zip(table.column("tokens").to_pylist(), words, strict=True)
        tokens = _coded([[*tokens, word] for tokens, word in lists])
        return table.set_column(place, "tokens", tokens)

    def subscriptions(
        self, count: int, keywords: tuple[int, int] = (1, 5), *, first: int = 0
    ) -> pa.Table:
        """Return subscriptions `first` to `first + count`, with a column `where`."""
        table = self.source.subscriptions(count, keywords, first=first).drop_columns(BOX_COLUMNS)
        place = table.schema.get_field_index("keywords")
        words = _coded([[word] for word in _words(self.seed + 1, first, count)])
        table = table.set_column(place, "keywords", words)
        return table.append_column("where", _wheres(self.seed, first, table.num_rows, NARROW))


def _coded(lists: list[list[str]]) -> pa.Array:
    """Return lists of words as codes of a dictionary, as the other workloads have them."""
    plain = pa.array(lists, pa.list_(pa.string()))
    return pa.ListArray.from_arrays(plain.offsets, plain.values.dictionary_encode())


def _words(seed: int, first: int, count: int) -> list[str]:
    dice = _dice(seed, Stream.RANGES, first, count, 1)[:, 0]
    return [WORDS[number] for number in (dice * len(WORDS)).astype(int)]


def _wheres(seed: int, first: int, count: int, widest: float) -> pa.Array:
    """Return a range for each subscription: a quarter has no low end, a quarter no high one."""
    dice = _dice(seed, Stream.RANGES, first, count, 4)
    texts = []
    for which, kind, share, start in dice.tolist():
        name, width = NAMES[int(which * len(NAMES))], share * widest
        low = round(start * (1 - width) * HIGHEST, 3)
        high = round((start * (1 - width) + width) * HIGHEST, 3)
        if kind < 0.25:
            texts.append(f"{name} <= {round(width * HIGHEST, 3)}")
        elif kind < 0.5:
            texts.append(f"{name} >= {round((1 - width) * HIGHEST, 3)}")
        else:
            texts.append(f"{name} >= {low} AND {name} <= {high}")
    return pa.array(texts, pa.string())


def _dice(seed: int, stream: Stream, first: int, count: int, width: int) -> NDArray[np.float64]:
    """Return numbers from 0 to 1 for rows `first` to `first + count`."""
    parts = [
        chunk.rng.random((CHUNK_ROWS, width))[chunk.wanted]
        for chunk in chunks(seed, stream, first, count)
    ]
    return np.concatenate(parts or [np.empty((0, width))])

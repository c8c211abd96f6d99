"""Subscriptions and messages from files of real texts.

The files are Parquet with `text`, `lon` and `lat`; they are not part of the project. Rows are
shuffled by the seed, one half is published and the other is the pool of subscriptions. Messages
beyond those that there are come again; subscriptions beyond the pool come from the same texts with
other keywords and other areas. The space is the bounding box of the points. Messages of another
length than their own are made by joining texts, as [Rt §7] does.
"""

from __future__ import annotations

import os
from array import array
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nearcast.bench.workloads.groups import MESSAGE_AREA_SHARE
from nearcast.bench.workloads.space import boxes_around, draw_shares, shrink, stretch
from nearcast.bench.workloads.streams import CHUNK_ROWS, Stream, chunks, random_stream
from nearcast.bench.workloads.tables import coordinates, gather
from nearcast.bench.workloads.tokens import Ragged
from nearcast.text import DEFAULT_ANALYZER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from nearcast.bench.workloads.groups import Group
    from nearcast.bench.workloads.space import Space
    from nearcast.bench.workloads.streams import Chunk
    from nearcast.bench.workloads.tables import Part

FOLDER_VARIABLE = "NEARCAST_DATA"

DATASETS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "tweets_geo": (1e-4, 1e-2),
        "poi_wof_us": (1e-8, 1e-4),
        "geonames_cities500": (1e-8, 1e-4),
        "airbnb_descriptions": (1e-4, 1e-2),
    }
)
"""Files by name, with the range of a subscription's area as a share of the space."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Analysed texts with their points: row i has `lengths[i]` codes from `starts[i]` on."""

    words: pa.Array
    codes: NDArray[np.int32]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    points: NDArray[np.float64]
    space: Space

    def token_sets(self, rows: NDArray[np.int64]) -> Ragged:
        """Return the tokens of the given rows, in the order of the text."""
        lengths = self.lengths[rows]
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
        tokens = self.codes[np.repeat(self.starts[rows], lengths) + places]
        return Ragged(np.repeat(np.arange(len(rows)), lengths), tokens, len(rows))


@dataclass(frozen=True, slots=True)
class RealSource:
    """One file of texts as a source of messages and subscriptions."""

    name: str
    seed: int
    texts: Texts
    area_share: tuple[float, float]

    def messages(self, count: int, group: Group, *, first: int = 0) -> pa.Table:
        """Return messages as `generate.messages` does; lengths are those of the texts.

        A group that asks for another length gets texts joined until they have as many distinct
        tokens, or all that there are.
        """
        parts = (self._message_part(c, group) for c in self._chunks(Stream.MESSAGES, first, count))
        lists, places = gather(parts, (count, group.coordinates), self.texts.words.take)
        return pa.table({"tokens": lists, **coordinates(places)})

    def subscriptions(
        self, count: int, keywords: tuple[int, int] = (1, 5), *, first: int = 0
    ) -> pa.Table:
        """Return subscriptions as `generate.subscriptions` does."""
        parts = (
            self._subscription_part(chunk, keywords)
            for chunk in self._chunks(Stream.POOL, first, count)
        )
        lists, boxes = gather(parts, (count, 4), self.texts.words.take)
        ids = pa.array(np.arange(first, first + count, dtype=np.int64))
        return pa.table({"id": ids, "keywords": lists, **coordinates(boxes)})

    def _chunks(self, stream: Stream, first: int, count: int) -> Iterable[Chunk]:
        return chunks(self.seed, stream, first, count)

    def _message_part(self, chunk: Chunk, group: Group) -> Part:
        published = len(self.texts.lengths) // 2
        rows = (chunk.start + np.arange(CHUNK_ROWS)) % max(published, 1)
        shares = draw_shares(chunk.rng, CHUNK_ROWS, MESSAGE_AREA_SHARE)
        points = self.texts.points[rows]
        places = points if group.extent == "point" else self._boxes(points, shares)
        if group.tokens is None:
            return self.texts.token_sets(rows).select(chunk.wanted), places[chunk.wanted]
        lengths = chunk.rng.integers(group.tokens[0], group.tokens[1] + 1, CHUNK_ROWS)
        wanted = chunk.wanted
        return self._joined(rows[wanted], lengths[wanted]), places[wanted]

    def _joined(self, rows: NDArray[np.int64], lengths: NDArray[np.int64]) -> Ragged:
        """Return so many distinct tokens for each row: its own, then those of texts after it."""
        published = max(len(self.texts.lengths) // 2, 1)
        mean = self.texts.lengths[:published].mean()
        texts = min(int(lengths.max() / mean) + 1, published)
        while True:
            taken = (rows[:, None] + np.arange(texts)) % published
            sets = self.texts.token_sets(taken.ravel())
            joined = Ragged(sets.rows // texts, sets.tokens, len(rows)).first_occurrences()
            if texts == published or (joined.lengths() >= lengths).all():
                return joined.cut(lengths)
            texts = min(2 * texts, published)

    def _subscription_part(self, chunk: Chunk, keywords: tuple[int, int]) -> Part:
        rng = chunk.rng
        published = len(self.texts.lengths) // 2
        pool = len(self.texts.lengths) - published
        rows = published + (chunk.start + np.arange(CHUNK_ROWS)) % pool
        shares = draw_shares(rng, CHUNK_ROWS, self.area_share)
        keyword_counts = rng.integers(keywords[0], keywords[1] + 1, CHUNK_ROWS)
        sets = self.texts.token_sets(rows).shuffled(rng).cut(keyword_counts)
        boxes = self._boxes(self.texts.points[rows], shares)
        return sets.select(chunk.wanted), boxes[chunk.wanted]

    def _boxes(
        self, points: NDArray[np.float64], shares: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        space = self.texts.space
        return stretch(boxes_around(shrink(points, space), shares), space)


def open_source(
    name: str, folder: Path | None, seed: int, *, most: int | None = None
) -> RealSource:
    """Read and analyse the data set `name` from a folder, or from the one `NEARCAST_DATA` names.

    Parameters
    ----------
    name, folder, seed
        Which file, where, and what the order of its rows depends on.
    most
        If given, so many texts are taken and the others left out.

    Raises
    ------
    ValueError
        If no data set has that name, or no folder is given.
    FileNotFoundError
        If the folder has no such file.
    """
    if name not in DATASETS:
        msg = f"no data set is called {name!r}; there are {', '.join(DATASETS)}"
        raise ValueError(msg)
    path = data_folder(folder) / f"{name}.parquet"
    if not path.is_file():
        msg = f"no such file: {path}; wanted a Parquet file with text, lon and lat"
        raise FileNotFoundError(msg)
    table = pq.read_table(path, columns=["text", "lon", "lat"]).drop_null()
    return RealSource(name, seed, analyse(table, seed, most), DATASETS[name])


def analyse(table: pa.Table, seed: int, most: int | None = None) -> Texts:
    """Shuffle the rows of `text`, `lon`, `lat` and split texts into distinct tokens.

    Raises
    ------
    ValueError
        If fewer than two rows have a token and a finite point.
    """
    order = random_stream(seed, Stream.HARNESS).permutation(table.num_rows)[:most]
    table = table.take(pa.array(order))
    points = np.column_stack([table.column(name).to_numpy() for name in ("lon", "lat")])
    words, codes, lengths = _encode(table.column("text").to_pylist())
    is_usable = (lengths > 0) & np.isfinite(points).all(axis=1)
    if is_usable.sum() < 2:
        msg = f"too few texts: got {is_usable.sum()} with a token and a point, wanted 2 or more"
        raise ValueError(msg)
    starts = (np.cumsum(lengths) - lengths)[is_usable]
    points = points[is_usable]
    space = (*points.min(axis=0).tolist(), *points.max(axis=0).tolist())
    return Texts(words, codes, starts, lengths[is_usable], points, space)


def _encode(
    texts: Iterable[str],
) -> tuple[pa.Array, NDArray[np.int32], NDArray[np.int64]]:
    """Return the vocabulary, the codes of all texts in a row, and how many each has."""
    code_of: dict[str, int] = {}
    codes = array("i")
    lengths = array("q")
    for text in texts:
        tokens = dict.fromkeys(DEFAULT_ANALYZER.analyze(text))
        codes.extend(code_of.setdefault(token, len(code_of)) for token in tokens)
        lengths.append(len(tokens))
    words = pa.array(code_of, pa.string())
    return words, np.frombuffer(codes, np.int32), np.frombuffer(lengths, np.int64)


def data_folder(folder: Path | None) -> Path:
    """Return the folder of real data: the given one, or that of `NEARCAST_DATA`.

    Raises
    ------
    ValueError
        If there is neither.
    """
    if folder is not None:
        return folder
    named = os.environ.get(FOLDER_VARIABLE)
    if not named:
        msg = f"no data folder: give --data DIR or set {FOLDER_VARIABLE}"
        raise ValueError(msg)
    return Path(named)

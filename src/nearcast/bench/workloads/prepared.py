"""Subscriptions and messages that `nearcast spark prepare` wrote.

A folder has `messages` and may have `subscriptions`, each with versions; the newest counts. Texts
were cleaned and analysed on Spark and are not analysed again. Subscriptions are those of the table
as long as nothing else is asked of them; those with another number of keywords or other areas, and
all where there is no table, are drawn from texts as for other real data.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nearcast.bench.workloads.real import RealSource, Texts
from nearcast.bench.workloads.tables import BOX_COLUMNS, POINT_COLUMNS, compact
from nearcast.errors import InvalidParameterError
from nearcast.spark.prepare import latest_version

if TYPE_CHECKING:
    from pathlib import Path

    from nearcast.bench.workloads.groups import Group

MESSAGES, SUBSCRIPTIONS = "messages", "subscriptions"
USUAL_KEYWORDS = (1, 5)
USUAL_AREA = (1e-4, 1e-2)


@dataclass(frozen=True, slots=True, eq=False)
class PreparedSource:
    """Prepared tables as a source."""

    drawn: RealSource
    table: pa.Table | None
    """`id`, `keywords` and boxes, if subscriptions were prepared."""
    statistics: dict[str, Any]

    @property
    def name(self) -> str:
        """What was prepared, by the name of its folder."""
        return self.drawn.name

    @property
    def seed(self) -> int:
        """What the rows depend on besides the name."""
        return self.drawn.seed

    def messages(self, count: int, group: Group, *, first: int = 0) -> pa.Table:
        """Return messages `first` to `first + count`; beyond the last they begin again."""
        return self.drawn.messages(count, group, first=first)

    def subscriptions(
        self, count: int, keywords: tuple[int, int] = USUAL_KEYWORDS, *, first: int = 0
    ) -> pa.Table:
        """Return subscriptions `first` to `first + count`; those beyond the table are drawn."""
        if self.table is None or keywords != USUAL_KEYWORDS or first + count > self.table.num_rows:
            return self.drawn.subscriptions(count, keywords, first=first)
        rows = compact(self.table.slice(first, count), "keywords")
        ids = pa.array(np.arange(first, first + count, dtype=np.int64))
        return pa.table({"id": ids, **{n: rows.column(n) for n in ("keywords", *BOX_COLUMNS)}})

    def with_areas(self, share: tuple[float, float]) -> PreparedSource:
        """Return the same texts with subscriptions of other areas."""
        return PreparedSource(replace(self.drawn, area_share=share), None, self.statistics)


def open_prepared(folder: Path, seed: int) -> PreparedSource:
    """Read the newest versions of prepared tables.

    Raises
    ------
    InvalidParameterError
        If the folder has no messages, or none with a word and a place.
    """
    version = latest_version(folder / MESSAGES)
    rows = pq.read_table(version / "rows")
    texts = _texts(rows)
    if len(texts.lengths) < 2:
        what = f"too few messages are in {str(version)!r}"
        raise InvalidParameterError(what, got=len(texts.lengths), wanted="2 or more with words")
    drawn = RealSource(folder.resolve().name, seed, texts, USUAL_AREA)
    return PreparedSource(drawn, _subscriptions(folder / SUBSCRIPTIONS), _statistics(version))


def _texts(rows: pa.Table) -> Texts:
    points = _points(rows)
    lists = rows.column("tokens").combine_chunks()
    if isinstance(lists, pa.ChunkedArray):
        lists = pa.concat_arrays(lists.chunks)
    lengths = np.asarray(pc.fill_null(pc.list_value_length(lists), 0), dtype=np.int64)
    words = pc.list_flatten(lists).dictionary_encode()
    usable = (lengths > 0) & np.isfinite(points).all(axis=1)
    points = points[usable]
    low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(2),) * 2
    return Texts(
        words.dictionary,
        words.indices.to_numpy().astype(np.int32),
        (np.cumsum(lengths) - lengths)[usable],
        lengths[usable],
        points,
        (float(low[0]), float(low[1]), float(high[0]), float(high[1])),
    )


def _points(rows: pa.Table) -> np.ndarray:
    """Return the point of each message, of a box its middle."""
    names = rows.schema.names

    def column(name: str) -> np.ndarray:
        return np.asarray(rows.column(name).to_numpy(zero_copy_only=False), np.float64)

    points = np.full((rows.num_rows, 2), np.nan)
    if set(POINT_COLUMNS) <= set(names):
        points = np.column_stack([column(name) for name in POINT_COLUMNS])
    if set(BOX_COLUMNS) <= set(names):
        west, south, east, north = (column(name) for name in BOX_COLUMNS)
        middle = np.column_stack([(west + east) / 2, (south + north) / 2])
        points = np.where(np.isnan(points), middle, points)
    return points


def _subscriptions(folder: Path) -> pa.Table | None:
    """Return those subscriptions that have words and a box; None if there are none."""
    if not folder.is_dir():
        return None
    rows = pq.read_table(latest_version(folder) / "rows")
    if not {"keywords", "event", *BOX_COLUMNS} <= set(rows.schema.names):
        return None
    rows = rows.filter(pc.is_null(rows.column("event")))  # those say more than words and a box
    plain = rows.select(["keywords", *BOX_COLUMNS]).drop_null()
    plain = plain.filter(pc.greater(pc.list_value_length(plain.column("keywords")), 0))
    if plain.num_rows == 0:
        return None
    lists = pa.concat_arrays(plain.column("keywords").chunks)
    words = pc.list_flatten(lists).dictionary_encode()
    offsets = np.concatenate([[0], np.cumsum(pc.list_value_length(lists))]).astype(np.int32)
    coded = pa.ListArray.from_arrays(pa.array(offsets), words)
    return plain.set_column(0, "keywords", coded)


def _statistics(version: Path) -> dict[str, Any]:
    """Return what Spark counted: rows, vocabulary, how frequent words are, where messages lie."""
    words = pq.read_table(version / "keywords", columns=["messages"]).column(0).to_numpy()
    words = np.sort(words)[::-1]
    cells = pq.read_table(version / "places", columns=["count"]).column(0).to_numpy()
    report = json.loads((version / "report.json").read_text())
    clean = max(int(report["clean"]), 1)
    return {
        "messages": report["clean"],
        "refused": report["refused"],
        "vocabulary": len(words),
        "words_per_message": round(float(words.sum()) / clean, 2),
        "share_of_the_most_frequent_word": round(float(words[:1].sum()) / clean, 4),
        "words_of_one_message": int((words == 1).sum()),
        "cells_with_messages": len(cells),
        "share_of_the_fullest_cell": round(float(cells.max(initial=0)) / clean, 4),
    }

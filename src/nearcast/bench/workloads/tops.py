"""One scenario of top lists: a window of messages, more messages, and subscriptions with points.

As in [Skype §8.1]: a subscription has the place of a message and one to five of its words, a
preference drawn from 0 to 1, and wants k messages. Words weigh by how many messages of the window
have them. The space is the extent of everything.

With keywords drawn by `zipf`, the i-th most frequent word is a keyword i times less often than the
first, whatever the messages are like.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.bench.top_stream import TokenRows
from nearcast.bench.workloads.groups import find_group
from nearcast.bench.workloads.scenario import PresetSource
from nearcast.bench.workloads.streams import Stream, random_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nearcast.bench.workloads.presets import Preset
    from nearcast.bench.workloads.scenario import Source

Keywords = Literal["messages", "zipf"]


@dataclass(frozen=True, slots=True)
class TopSizes:
    """How many of what, and the k of all subscriptions."""

    subscriptions: int = 1_000_000
    window: int = 1_000_000
    messages: int = 10_000
    k: int = 20
    settling: int = 0
    """Messages published before the measured ones: lists are no longer fresh from a search."""


@dataclass(frozen=True, slots=True)
class TopScenario:
    """What one run measures."""

    preset: str
    keywords: Keywords
    seed: int
    sizes: TopSizes
    subscriptions: TokenRows
    alpha: NDArray[np.float64]
    window: TokenRows
    messages: TokenRows
    """First those that settle, then those that are measured."""
    df: NDArray[np.int64]
    """By token: how many messages of the window have it."""
    space: tuple[float, float, float, float]


def make_top_scenario(
    preset: Preset, keywords: Keywords, seed: int, sizes: TopSizes
) -> TopScenario:
    """Draw everything from the generator."""
    pool = replace(preset, rank_shift=0, topics=None) if keywords == "zipf" else preset
    sources = (PresetSource(preset, seed), PresetSource(pool, seed))
    return top_scenario_of(*sources, sizes, keywords)


def top_scenario_of(
    source: Source,
    pool: Source,
    sizes: TopSizes,
    keywords: Keywords = "messages",
    counts: tuple[int, int] = (1, 5),
) -> TopScenario:
    """Draw messages from one source and subscriptions, with so many keywords, from another."""
    count = sizes.window + sizes.settling + sizes.messages
    published = source.messages(count, find_group("short-point"))
    subscribed = pool.subscriptions(sizes.subscriptions, counts)
    lists = [published.column("tokens"), subscribed.column("keywords")]
    (said, wanted), words = _number_words([_flat(column) for column in lists])
    everything = _rows(said, published.column("lon"), published.column("lat"))
    middle = [
        pc.divide(pc.add(subscribed.column(low), subscribed.column(high)), 2.0)
        for low, high in (("west", "east"), ("south", "north"))
    ]
    subscriptions = _rows(wanted, *middle)
    window = everything.part(0, sizes.window)
    end = int(window.offsets[-1])
    return TopScenario(
        preset=source.name,
        keywords=keywords,
        seed=source.seed,
        sizes=sizes,
        subscriptions=subscriptions,
        alpha=random_stream(source.seed, Stream.HARNESS, 3).random(sizes.subscriptions),
        window=window,
        messages=everything.part(sizes.window, len(everything)),
        df=np.bincount(everything.tokens[:end], minlength=words).astype(np.int64),
        space=_extent(everything, subscriptions),
    )


def _flat(column: pa.ChunkedArray) -> pa.ListArray:
    return pa.concat_arrays(column.chunks)


def _number_words(
    columns: list[pa.ListArray],
) -> tuple[list[tuple[NDArray[np.int64], NDArray[np.uint32]]], int]:
    """Return offsets and numbers for lists of dictionary words; equal words, equal numbers."""
    words = pa.concat_arrays([column.flatten().dictionary for column in columns]).unique()
    numbered = []
    for column in columns:
        values = column.flatten()
        numbers = pc.index_in(values.dictionary, words).to_numpy()[values.indices.to_numpy()]
        offsets = np.concatenate([[0], np.cumsum(pc.list_value_length(column).to_numpy())])
        numbered.append((offsets.astype(np.int64), numbers.astype(np.uint32)))
    return numbered, len(words)


def _rows(
    lists: tuple[NDArray[np.int64], NDArray[np.uint32]], lon: pa.ChunkedArray, lat: pa.ChunkedArray
) -> TokenRows:
    return TokenRows(*lists, *(np.ascontiguousarray(column.to_numpy()) for column in (lon, lat)))


def _extent(*rows: TokenRows) -> tuple[float, float, float, float]:
    lon = np.concatenate([each.lon for each in rows])
    lat = np.concatenate([each.lat for each in rows])
    return (float(lon.min()), float(lat.min()), float(lon.max()), float(lat.max()))

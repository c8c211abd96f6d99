"""Subscriptions and messages of a preset: a function of preset, size and seed.

A subscription takes its keywords from a message of a pool that is never published, and its area is
a rectangle centred at that message's point [AP §5.1.1]. Clusters and topics belong to the seed, so
messages and subscriptions of one seed fit together. Row i of a table depends on i, the preset, the
group and the seed only: a larger table begins with the smaller one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearcast.bench.workloads.groups import MESSAGE_AREA_SHARE, Group
from nearcast.bench.workloads.space import boxes_around, draw_shares, point_law, stretch
from nearcast.bench.workloads.streams import CHUNK_ROWS, Stream, chunks
from nearcast.bench.workloads.tables import coordinates, gather, words_of_ranks
from nearcast.bench.workloads.tokens import draw_token_sets

if TYPE_CHECKING:
    from nearcast.bench.workloads.presets import Preset
    from nearcast.bench.workloads.streams import Chunk
    from nearcast.bench.workloads.tables import Part

OWN_LENGTH = Group()


def messages(
    preset: Preset, count: int, seed: int, group: Group = OWN_LENGTH, *, first: int = 0
) -> pa.Table:
    """Make messages `first` to `first + count` of the endless sequence of a seed.

    Returns
    -------
    pyarrow.Table
        `tokens` (list of dictionary-encoded strings, distinct in each row), then `lon`, `lat` for
        a point group or `west`, `south`, `east`, `north` for a range group.
    """
    parts = (
        _message_part(chunk, preset, seed, group)
        for chunk in chunks(seed, Stream.MESSAGES, first, count)
    )
    lists, places = gather(parts, (count, group.coordinates), words_of_ranks)
    return pa.table({"tokens": lists, **coordinates(places)})


def subscriptions(
    preset: Preset,
    count: int,
    seed: int,
    keywords: tuple[int, int] = (1, 5),
    *,
    first: int = 0,
) -> pa.Table:
    """Make subscriptions `first` to `first + count` of the endless sequence of a seed.

    Parameters
    ----------
    preset, count, seed, first
        Which rows of which workload.
    keywords
        Smallest and largest number of keywords; uniform between them. A message that is too
        short gives all it has.

    Returns
    -------
    pyarrow.Table
        `id` (its place in the sequence), `keywords` (as the tokens of messages), and `west`,
        `south`, `east`, `north`.
    """
    parts = (
        _subscription_part(chunk, preset, seed, keywords)
        for chunk in chunks(seed, Stream.POOL, first, count)
    )
    lists, boxes = gather(parts, (count, 4), words_of_ranks)
    ids = pa.array(np.arange(first, first + count, dtype=np.int64))
    return pa.table({"id": ids, "keywords": lists, **coordinates(boxes)})


def _message_part(chunk: Chunk, preset: Preset, seed: int, group: Group) -> Part:
    """Make the wanted rows of one chunk of messages."""
    rng = chunk.rng
    points = point_law(preset.clusters, seed).draw(rng, CHUNK_ROWS)
    shares = draw_shares(rng, CHUNK_ROWS, MESSAGE_AREA_SHARE)
    places = points if group.extent == "point" else boxes_around(points, shares)
    sets = draw_token_sets(rng, preset, seed, group, CHUNK_ROWS)
    return sets.select(chunk.wanted), stretch(places[chunk.wanted])


def _subscription_part(chunk: Chunk, preset: Preset, seed: int, keywords: tuple[int, int]) -> Part:
    """Make the wanted rows of one chunk of subscriptions."""
    rng = chunk.rng
    points = point_law(preset.clusters, seed).draw(rng, CHUNK_ROWS)
    shares = draw_shares(rng, CHUNK_ROWS, preset.area_share)
    keyword_counts = rng.integers(keywords[0], keywords[1] + 1, CHUNK_ROWS)
    sets = draw_token_sets(rng, preset, seed, OWN_LENGTH, CHUNK_ROWS).cut(keyword_counts)
    boxes = boxes_around(points, shares)
    return sets.select(chunk.wanted), stretch(boxes[chunk.wanted])

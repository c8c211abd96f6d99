"""Short ways to write tables of subscriptions and messages."""

from __future__ import annotations

import pyarrow as pa

SIDES = ("west", "south", "east", "north")
HERE = (1.0, 1.0)
BOX = [0.0, 0.0, 2.0, 2.0]


def boxes(rows):
    """Columns of boxes; None: anywhere."""
    return {
        side: pa.array([None if box is None else box[i] for box in rows], pa.float64())
        for i, side in enumerate(SIDES)
    }


def table(ids, keywords, areas=None, *, type_=None):
    columns = {"id": ids, "keywords": pa.array(keywords, type_ or pa.list_(pa.string()))}
    return pa.table(columns if areas is None else columns | boxes(areas))


def points(texts, at, *, name="text", type_=None):
    lons, lats = zip(*at, strict=True) if at else ((), ())
    return pa.table(
        {
            name: pa.array(texts, type_),
            "lon": pa.array(lons, pa.float64()),
            "lat": pa.array(lats, pa.float64()),
        }
    )


def pairs(found):
    return sorted((row["message"], row["subscription"]) for row in found.to_pylist())


def coded(words):
    plain = pa.array(words, pa.list_(pa.string()))
    values = plain.values.dictionary_encode()
    return pa.ListArray.from_arrays(plain.offsets, values, mask=plain.is_null())

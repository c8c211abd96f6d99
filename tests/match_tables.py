"""Short ways to write tables of subscriptions and messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SIDES = ("west", "south", "east", "north")
HERE = (1.0, 1.0)
BOX = [0.0, 0.0, 2.0, 2.0]


def boxes(rows: Iterable[Sequence[float] | None]) -> dict[str, pa.Array]:
    """Columns of boxes; None: anywhere."""
    return {
        side: pa.array([None if box is None else box[i] for box in rows], pa.float64())
        for i, side in enumerate(SIDES)
    }


def table(
    ids: object, keywords: object, areas: Any = None, *, type_: pa.DataType | None = None
) -> pa.Table:
    columns = {"id": ids, "keywords": pa.array(keywords, type_ or pa.list_(pa.string()))}
    return pa.table(columns if areas is None else columns | boxes(areas))


def points(
    texts: object,
    at: Sequence[Sequence[float]],
    *,
    name: str = "text",
    type_: pa.DataType | None = None,
) -> pa.Table:
    return pa.table(
        {
            name: pa.array(texts, type_),
            "lon": pa.array([lon for lon, _ in at], pa.float64()),
            "lat": pa.array([lat for _, lat in at], pa.float64()),
        }
    )


def pairs(found: pa.Table) -> list[tuple[int, Any]]:
    return sorted((row["message"], row["subscription"]) for row in found.to_pylist())


def coded(words: Sequence[Sequence[str | None] | None]) -> pa.ListArray:
    plain = pa.array(words, pa.list_(pa.string()))
    values = plain.values.dictionary_encode()
    return pa.ListArray.from_arrays(plain.offsets, values, mask=plain.is_null())

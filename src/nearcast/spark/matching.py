"""A distributed spatial-keyword join: messages in, pairs out, in columns all the way.

With one partition every task maps the whole index and there is no shuffle. With several, a message
is copied to the partitions that its plan names; the first partition that has both answers for a
pair, so replicas never show and nothing has to be de-duplicated.
"""

from __future__ import annotations

import tempfile
from os import PathLike, fspath
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from nearcast.errors import InvalidParameterError
from nearcast.spark.build import build_index
from nearcast.spark.columnar import routed_schema, split_batch, spread
from nearcast.spark.shard import open_shard, route_batch
from nearcast.spark.store import Index
from nearcast.text import DEFAULT_ANALYZER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from nearcast.spark.store import Manifest

Subscriptions: TypeAlias = "DataFrame | Index | str | PathLike[str]"
POINT = ("lon", "lat")
BOX = ("west", "south", "east", "north")


def match(
    messages: DataFrame,
    subscriptions: Subscriptions,
    *,
    key: str = "id",
    version: int | None = None,
) -> DataFrame:
    """Return which messages match which subscriptions.

    Parameters
    ----------
    messages
        A column that names each message; `tokens` (array of strings, as given) or `text`; and
        `lon`, `lat` or `west`, `south`, `east`, `north`.
    subscriptions
        An index of mode "match", or the folder of one; or a DataFrame, from which a temporary
        index is built, for local use.
    key
        The column that names a message.
    version
        Of the index; the newest unless given. All of the answer comes from one version.

    Returns
    -------
    DataFrame
        `message` (the key) and `subscription`, each pair once.
    """
    return _answer(messages, subscriptions, "match", key, version)


def rank(
    messages: DataFrame,
    subscriptions: Subscriptions,
    *,
    key: str = "id",
    version: int | None = None,
) -> DataFrame:
    """Return which messages reach the threshold of which rank subscriptions, with scores.

    Parameters
    ----------
    messages, subscriptions, key, version
        As for `match`; the index is of mode "rank".

    Returns
    -------
    DataFrame
        `message` (the key), `subscription` and `score`, each pair once.
    """
    return _answer(messages, subscriptions, "rank", key, version)


def _answer(
    messages: DataFrame, subscriptions: Subscriptions, mode: str, key: str, version: int | None
) -> DataFrame:
    index = _index(subscriptions, mode)
    manifest = index.latest() if version is None else index.at(version)
    if manifest.mode != mode:
        what = f"index {str(index.path)!r} is of another mode"
        raise InvalidParameterError(what, got=manifest.mode, wanted=mode)
    asked = _asked_columns(messages, key)
    path, number = str(index.path), manifest.version
    schema = _schema(messages, index, manifest, key)
    if manifest.partitions == 1:
        return asked.mapInArrow(lambda batches: match_batches(batches, path, number), schema)
    schema_there = routed_schema(asked)
    routed = asked.mapInArrow(lambda batches: route_batches(batches, path, number), schema_there)
    parts = spread(routed, manifest.partitions)
    return parts.mapInArrow(lambda batches: match_routed(batches, path, number), schema)


def _index(subscriptions: Subscriptions, mode: str) -> Index:
    if isinstance(subscriptions, Index):
        return subscriptions
    if isinstance(subscriptions, (str, PathLike)):
        return Index(fspath(subscriptions))
    folder = tempfile.mkdtemp(prefix="nearcast-index-")
    build_index(subscriptions, folder, mode=mode)
    return Index(folder)


def _asked_columns(messages: DataFrame, key: str) -> DataFrame:
    """Return the columns that matching reads; the key is called `message`."""
    from pyspark.sql import functions as f

    names = messages.columns
    text = "tokens" if "tokens" in names else "text"
    place = POINT if all(name in names for name in POINT) else BOX
    missing = [name for name in (key, text, *place) if name not in names]
    if missing:
        what = f"messages lack {', '.join(missing)}"
        wanted = f"{key}, tokens or text, and lon, lat or west, south, east, north"
        raise InvalidParameterError(what, got=names, wanted=wanted)
    # The key goes under a name of its own: it may be called like any other column.
    return messages.select(f.col(key).alias("message"), text, *place)


def _schema(messages: DataFrame, index: Index, manifest: Manifest, key: str) -> str:
    import pyarrow.dataset as ds

    rows = ds.dataset(index.path / manifest.base / "subscriptions", format="parquet")
    id_type = "long" if pa.types.is_integer(rows.schema.field("id").type) else "string"
    score = ", score double" if manifest.mode == "rank" else ""
    return f"message {dict(messages.dtypes)[key]}, subscription {id_type}{score}"


def match_batches(
    batches: Iterator[pa.RecordBatch], path: str, version: int
) -> Iterator[pa.RecordBatch]:
    """Match batches against the only partition of an index; called once per task."""
    shard = open_shard(path, version, 0)
    for batch in batches:
        yield from _named(shard.answer(batch), batch)


def route_batches(
    batches: Iterator[pa.RecordBatch], path: str, version: int
) -> Iterator[pa.RecordBatch]:
    """Copy messages to the partitions that must see them; texts become tokens on the way."""
    for batch in batches:
        read = _with_tokens(batch)
        routed = route_batch(read, path, version)
        if "text" in batch.schema.names:
            place = routed.schema.get_field_index("tokens")
            joined = pa.array([" ".join(t) for t in routed.column("tokens").to_pylist()])
            routed = routed.set_column(place, "text", joined)
        yield from routed.combine_chunks().to_batches()


def match_routed(
    batches: Iterator[pa.RecordBatch], path: str, version: int
) -> Iterator[pa.RecordBatch]:
    """Match batches of routed messages, each against its partition."""
    for batch in batches:
        for partition, part in split_batch(batch):
            yield from _named(open_shard(path, version, partition).answer(part), part)


def _with_tokens(batch: pa.RecordBatch) -> pa.RecordBatch:
    if "text" not in batch.schema.names:
        return batch
    place = batch.schema.get_field_index("text")
    words = [DEFAULT_ANALYZER.analyze(text) for text in batch.column("text").to_pylist()]
    return batch.set_column(place, "tokens", pa.array(words, pa.list_(pa.string())))


def _named(answers: pa.Table, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield answers with the names of messages in place of their rows."""
    rows = answers.column("message")
    named = answers.set_column(0, "message", batch.column("message").take(rows.combine_chunks()))
    yield from named.to_batches()

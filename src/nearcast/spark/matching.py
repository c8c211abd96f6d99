"""A distributed spatial-keyword join: messages in, pairs out, in columns all the way.

With one partition every task maps the whole index and there is no shuffle. With several, a message
is copied to the partitions that its plan names; the first partition that has both answers for a
pair, so replicas never show and nothing has to be de-duplicated. On a cluster the copies are
shuffled, so that a machine needs its own partitions only. Where all workers are on one machine that
would gain nothing: each task maps the partitions that its messages need.

A frame's rows come to a worker through Java, which takes longer than matching them. The workers
read Parquet files, and frames that are no more than their columns, themselves (`files.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from os import PathLike, fspath
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from nearcast.columns import BOX, POINT
from nearcast.errors import InvalidParameterError
from nearcast.spark.bases import base_at, rows_of
from nearcast.spark.columnar import by_place, routed_schema, split_batch, spread
from nearcast.spark.files import Pieces, parquet_files, read_folder
from nearcast.spark.folders import folder_at, is_remote
from nearcast.spark.load import measured
from nearcast.spark.pinning import version_of_task
from nearcast.spark.shard import manifest_at, open_shard, route_batch
from nearcast.spark.store import Index
from nearcast.spark.temporary import temporary_index
from nearcast.text import DEFAULT_ANALYZER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark import Accumulator
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from nearcast.spark.load import Loads
    from nearcast.spark.store import Manifest

Messages: TypeAlias = "DataFrame | str | PathLike[str]"
Subscriptions: TypeAlias = "DataFrame | Index | str | PathLike[str]"
_Step: TypeAlias = "Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]"


def match(
    messages: Messages,
    subscriptions: Subscriptions,
    *,
    key: str = "id",
    version: int | None = None,
    counter: Accumulator[Loads] | None = None,
) -> DataFrame:
    """Return which messages match which subscriptions.

    Parameters
    ----------
    messages
        A column that names each message; `tokens` (array of strings, as given) or `text`; and
        `lon`, `lat` or `west`, `south`, `east`, `north`; with both, those of the place that is not
        null; `attributes` (struct, map, or string with a JSON object), where there are some. Other
        columns are not looked at. Or a folder of Parquet files with these columns. Such files, and
        a frame of them of which nothing was computed before, the workers read themselves, with less
        work per row: they must be where all see them, as the index is.
    subscriptions
        An index of mode "match", or the folder of one; or a DataFrame, from which an index is built
        that is removed when this process ends, for local use.
    key
        The column that names a message.
    version
        Of the index; the newest unless given. All of the answer comes from one version. Of a
        streaming frame each batch uses the newest version there was when it was first tried, also
        when it is tried again; with a version given, all batches use that.
    counter
        As `counter_on` makes it: gets what each partition did, whenever the answer is asked.

    Returns
    -------
    DataFrame
        `message` (the key) and `subscription`, each pair once.
    """
    return answer(messages, subscriptions, "match", key=key, version=version, counter=counter)


def rank(
    messages: Messages,
    subscriptions: Subscriptions,
    *,
    key: str = "id",
    version: int | None = None,
    counter: Accumulator[Loads] | None = None,
) -> DataFrame:
    """Return which messages reach the threshold of which rank subscriptions, with scores.

    Parameters
    ----------
    messages, subscriptions, key, version, counter
        As for `match`; the index is of mode "rank".

    Returns
    -------
    DataFrame
        `message` (the key), `subscription` and `score`, each pair once.
    """
    return answer(messages, subscriptions, "rank", key=key, version=version, counter=counter)


def answer(
    messages: Messages,
    subscriptions: Subscriptions,
    mode: str,
    *,
    key: str = "id",
    version: int | None = None,
    counter: Accumulator[Loads] | None = None,
) -> DataFrame:
    """Match or rank, by mode; a counter gets what each partition did."""
    index = _index(subscriptions, mode)
    manifest = index.latest() if version is None else index.at(version)
    if manifest.mode != mode:
        what = f"index {index.address!r} is of another mode"
        raise InvalidParameterError(what, got=manifest.mode, wanted=mode)
    frame = read_folder(messages) if isinstance(messages, (str, PathLike)) else messages
    asked = asked_columns(frame, key)
    pieces = _remote_pieces(messages, asked.columns, key) or Pieces.of_frame(asked)
    follows = frame.isStreaming and version is None
    return Answers(asked, index, manifest, pieces, counter, follows=follows).frame()


def _remote_pieces(messages: Messages, names: list[str], key: str) -> Pieces | None:
    """Return the pieces of a folder that Spark itself may know nothing of."""
    if not (isinstance(messages, str) and is_remote(messages)):
        return None
    columns = {name: key if name == "message" else name for name in names}
    return Pieces.of_files(parquet_files(messages), folder_at(messages), columns)


@dataclass(frozen=True, slots=True)
class Answers:
    """The pairs of messages and a version of an index: a frame, or what workers make of them."""

    messages: DataFrame
    """As `asked_columns` returns them."""
    index: Index
    manifest: Manifest
    pieces: Pieces | None = None
    """Where the workers find these messages themselves."""
    counter: Accumulator[Loads] | None = None
    is_spread: bool | None = None
    """Whether messages are shuffled to their partitions; None: if there are several machines."""
    follows: bool = False
    """Whether each batch of a stream uses the newest version; its partitions may be others."""

    @property
    def columns(self) -> str:
        """The columns of pairs, as Spark declares them."""
        is_number = pa.types.is_integer(_id_type(self.index.base(self.manifest).address))
        score = ", score double" if self.manifest.mode == "rank" else ""
        name_type = self.messages.schema["message"].dataType.simpleString()
        return f"message {name_type}, subscription {'long' if is_number else 'string'}{score}"

    def frame(self) -> DataFrame:
        """Return the pairs."""
        return self.map(lambda pairs: pairs, self.columns)

    def map(self, last: _Step, columns: str) -> DataFrame:
        """Return what `last` makes of the pairs, in the workers that find them."""
        address, number, counter = self.index.address, self.manifest.version, self.counter
        if self.follows:
            mode = self.manifest.mode
            return self._over_messages(
                lambda batches: last(match_newest(batches, address, mode, counter)), columns
            )
        if self.manifest.partitions == 1 or not self._shuffles():
            step = match_batches if self.manifest.partitions == 1 else match_everywhere
            return self._over_messages(
                lambda batches: last(step(batches, address, number, counter)), columns
            )
        routed = self._over_messages(
            lambda batches: route_batches(batches, address, number),
            routed_schema(self.messages.schema),
        )
        parts = spread(routed, self.manifest.partitions)
        return parts.mapInArrow(
            lambda batches: last(match_routed(batches, address, number, counter)), columns
        )

    def _shuffles(self) -> bool:
        if self.is_spread is not None:
            return self.is_spread
        return not str(self.messages.sparkSession.conf.get("spark.master", "")).startswith("local")

    def _over_messages(self, step: _Step, columns: str | StructType) -> DataFrame:
        if self.pieces is None:
            return self.messages.mapInArrow(step, columns)
        return self.pieces.map(step, columns, self.messages.sparkSession)


def _index(subscriptions: Subscriptions, mode: str) -> Index:
    if isinstance(subscriptions, Index):
        return subscriptions
    if isinstance(subscriptions, (str, PathLike)):
        return Index(fspath(subscriptions))
    return temporary_index(subscriptions, mode)


def asked_columns(messages: DataFrame, key: str) -> DataFrame:
    """Return the columns that matching reads; the key is called `message`."""
    from pyspark.sql import functions as f

    names = messages.columns
    text = "tokens" if "tokens" in names else "text"
    places = [place for place in (POINT, BOX) if set(place) <= set(names)]
    place = [name for place in places for name in place] or BOX
    missing = [name for name in (key, text, *place) if name not in names]
    if missing:
        what = f"messages lack {', '.join(missing)}"
        wanted = f"{key}, tokens or text, and lon, lat or west, south, east, north"
        raise InvalidParameterError(what, got=names, wanted=wanted)
    said = ["attributes"] if "attributes" in names else []
    # The key goes under a name of its own: it may be called like any other column.
    return messages.select(f.col(key).alias("message"), text, *place, *said)


@lru_cache(maxsize=64)
def _id_type(base: str) -> pa.DataType:
    """Return of which type ids of subscriptions are; it never changes."""
    return rows_of(folder_at(base), base_at(base).rows).schema.field("id").type


def match_batches(
    batches: Iterator[pa.RecordBatch],
    address: str,
    version: int,
    counter: Accumulator[Loads] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Match batches against the only partition of an index; called once per task."""
    shard = open_shard(address, version, 0)
    for batch in batches:
        for part in by_place(batch):
            yield from _named(measured(shard, part, counter), part)


def match_newest(
    batches: Iterator[pa.RecordBatch],
    address: str,
    mode: str,
    counter: Accumulator[Loads] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Match batches of a stream against the version that its micro-batch uses."""
    version = version_of_task(address)
    manifest = manifest_at(address, version)
    if manifest.mode != mode:
        what = f"index {address!r} is of another mode since version {version}"
        raise InvalidParameterError(what, got=manifest.mode, wanted=mode)
    step = match_batches if manifest.partitions == 1 else match_everywhere
    yield from step(batches, address, version, counter)


def match_everywhere(
    batches: Iterator[pa.RecordBatch],
    address: str,
    version: int,
    counter: Accumulator[Loads] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Match batches against all partitions that must see them, here."""
    for batch in batches:
        for part in by_place(batch):
            routed = route_batch(_with_tokens(part), address, version).combine_chunks()
            yield from match_routed(iter(routed.to_batches()), address, version, counter)


def route_batches(
    batches: Iterator[pa.RecordBatch], address: str, version: int
) -> Iterator[pa.RecordBatch]:
    """Copy messages to the partitions that must see them; texts become tokens on the way."""
    for batch in batches:
        for part in by_place(batch):
            yield from _routed(part, batch.schema.names, address, version)


def _routed(
    batch: pa.RecordBatch, names: list[str], address: str, version: int
) -> Iterator[pa.RecordBatch]:
    routed = route_batch(_with_tokens(batch), address, version)
    if "text" in names:
        place = routed.schema.get_field_index("tokens")
        joined = pa.array([" ".join(t) for t in routed.column("tokens").to_pylist()])
        routed = routed.set_column(place, "text", joined)
    for name in names:
        if name not in routed.column_names:  # the place that these messages do not have
            routed = routed.append_column(name, pa.nulls(routed.num_rows, pa.float64()))
    ordered = routed.select([*names, "partition", "partitions"])
    yield from ordered.combine_chunks().to_batches()


def match_routed(
    batches: Iterator[pa.RecordBatch],
    address: str,
    version: int,
    counter: Accumulator[Loads] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Match batches of routed messages, each against its partition."""
    for batch in batches:
        for partition, rows in split_batch(batch):
            shard = open_shard(address, version, partition)
            for part in by_place(rows):
                yield from _named(measured(shard, part, counter), part)


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

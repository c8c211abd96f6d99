"""From a table of subscriptions to an index: planned once, built in parallel, committed at the end.

Spark moves each subscription to the partitions that hold it; each task then builds its partition
natively and writes a snapshot. Files belong to a base that no version names yet, so a build that
fails or is repeated disturbs no query.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearcast.errors import DuplicateIdError, InvalidParameterError, SnapshotError
from nearcast.matcher import DEFAULT_INDEX, Matcher
from nearcast.partition import ADJUSTABLE, Plan, adjust_plan, make_plan
from nearcast.partition.plan import pack
from nearcast.spark.bases import (
    ROWS,
    Base,
    Part,
    read_plan,
    rows_of,
    write_parquet,
    write_plan,
    write_rows,
)
from nearcast.spark.columnar import by_partition, routed_schema, spread
from nearcast.spark.costs import COSTS, read_costs, write_costs
from nearcast.spark.definitions import (
    MORE,
    SIDES,
    TERMS,
    all_wants,
    conform,
    place_rows,
    with_events,
)
from nearcast.spark.deltas import current_rows, learned_plan
from nearcast.spark.files import Pieces
from nearcast.spark.shard import build_shard, manifest_at, open_shard, packed_column, unpacked
from nearcast.spark.store import Index, Manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from nearcast.partition.plan import Mechanism
    from nearcast.spark.folders import Address, Folder
    from nearcast.weights import Weights

    _Step = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_ATTEMPTS = 3
_TEXTS = ("expression", "where")
_PART = "part string"
"""What a task says of a partition that it built."""


def build_index(
    subscriptions: DataFrame,
    path: Address,
    *,
    mode: str = "match",
    mechanism: Mechanism = "hash",
    partitions: int = 1,
    sample: pa.Table | None = None,
    index: str = DEFAULT_INDEX,
    weights: Weights | None = None,
) -> Manifest:
    """Build a version of an index from a table of subscriptions.

    Parameters
    ----------
    subscriptions
        `id` (string or long, each once), `keywords` (array of tokens, all required; null: none),
        `west`, `south`, `east`, `north` (null: anywhere), to rank `alpha` and `threshold`. In place
        of keywords `expression`, in place of a box `lon`, `lat`, `radius_m` or `geometry` (WKB, or
        GeoJSON as text), and `where`; or `event`, a subscribe event as a line, where these do not
        suffice. Another column is an error that names it.
    path
        Folder of the index, a path or an address (`s3://…`); a new one, or one whose subscriptions
        are replaced by these.
    mode
        "match" or "rank".
    mechanism, partitions
        How subscriptions are distributed. One partition is mapped by every worker, and nothing has
        to be shuffled: best as long as it fits into the memory of a machine.
    sample
        Messages like those that will come, `tokens` and a place: what a plan is balanced by.
    index
        Index kind in each partition.
    weights
        The epoch by which ranked subscriptions are weighed.
    """
    store = Index(path)
    name = store.new_base()
    base = store.folder / name
    rows = _write_frame(_conformed(subscriptions, mode), base / ROWS)
    spark = subscriptions.sparkSession
    _refuse_duplicates(spark, base, rows)
    plan = _plan(base, rows, mode, mechanism, partitions, sample, weights)
    _build(spark, base, rows, plan, index, sample)
    return store.commit(
        Manifest(store.next_version(), name, (), mode, mechanism, plan.partitions, index)
    )


def compact_index(spark: SparkSession, path: Address) -> Manifest:
    """Write the newest version as a base of its own; queries go on meanwhile.

    Deltas that are committed meanwhile stay deltas of the new base.
    """
    store = Index(path)
    old = store.latest()
    name = store.new_base()
    base = store.folder / name
    write_plan(base, learned_plan(store, old))
    rows = write_rows(base, current_rows(store, old))
    place, version = store.address, old.version

    def save(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for partition in batch.column("id").to_pylist():
                part = open_shard(place, version, partition).save(base)
                yield pa.RecordBatch.from_pydict({"part": [part.to_json()]})

    numbers = spark.range(old.partitions, numPartitions=old.partitions)
    _finish(base, rows, _parts(numbers.mapInArrow(save, _PART)))
    if read_costs(store.base(old)):  # the plan is the same
        base.write(COSTS, store.base(old).read(COSTS))
    for _ in range(_ATTEMPTS):
        newest = store.latest()
        if newest.base != old.base:
            break
        later = tuple(delta for delta in newest.deltas if delta[0] > old.version)
        compacted = replace(newest, version=newest.version + 1, base=name, deltas=later)
        try:
            return store.commit(compacted)
        except SnapshotError:
            continue
    what = f"index {store.address!r} was replaced while it was compacted"
    raise SnapshotError(what, hint="try again")


def rebalance_index(
    spark: SparkSession,
    path: Address,
    sample: pa.Table,
    *,
    mechanism: Mechanism | None = None,
    partitions: int | None = None,
    loads: Sequence[float] | None = None,
) -> Manifest:
    """Distribute the newest version anew, by messages that came lately [Skype §7.4].

    Changes that are committed meanwhile are not lost: the rebalance starts again with them.

    Parameters
    ----------
    spark, path
        Where to build, and which index.
    sample
        Messages that came lately.
    mechanism, partitions
        If these are to change.
    loads
        How busy each partition was. Then busy partitions are split and idle ones merged, where the
        mechanism allows; otherwise, or without it, the whole plan is made again.
    """
    store = Index(path)
    for _ in range(_ATTEMPTS):
        old = store.latest()
        name = store.new_base()
        base = store.folder / name
        rows = write_rows(base, current_rows(store, old))
        chosen = mechanism or old.mechanism
        count = partitions or old.partitions
        is_same = (chosen, count) == (old.mechanism, old.partitions)
        if loads is not None and is_same and chosen in ADJUSTABLE:
            plan = _adjusted(base, rows, learned_plan(store, old), loads, sample)
        else:
            weights = store.plan(old).weights
            plan = _plan(base, rows, old.mode, chosen, count, sample, weights)  # type: ignore[arg-type]
        _build(spark, base, rows, plan, old.index, sample)
        moved = replace(old, version=old.version + 1, base=name, deltas=())
        try:
            return store.commit(
                replace(moved, mechanism=plan.mechanism, partitions=plan.partitions)
            )
        except SnapshotError:
            continue
    what = f"index {store.address!r} changes faster than it can be rebalanced"
    raise SnapshotError(what, hint="stop committing deltas meanwhile")


def _adjusted(
    base: Folder, rows: tuple[str, ...], plan: Plan, loads: Sequence[float], sample: pa.Table
) -> Plan:
    wants = all_wants(conform(rows_of(base, rows).to_table(), plan.mode), plan.mode)
    adjusted, _ = adjust_plan(plan, loads, wants, sample)
    return write_plan(base, adjusted)


def _write_frame(rows: DataFrame, folder: Folder) -> tuple[str, ...]:
    """Write a frame by the workers that have its rows; return the names of files."""
    from pyspark.sql.pandas.types import to_arrow_schema

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_pydict(
            {"file": pa.array(write_parquet(batches, folder), "string")}
        )

    names = [row["file"] for row in rows.mapInArrow(write, "file string").collect()]
    return tuple(names or write_parquet(iter(()), folder, to_arrow_schema(rows.schema)))


def _conformed(subscriptions: DataFrame, mode: str) -> DataFrame:
    from pyspark.sql import functions as f

    types = dict(subscriptions.dtypes)
    if "id" not in types:
        what = "subscriptions have no column 'id'"
        raise InvalidParameterError(what, got=list(types), wanted="id")
    wanted = {"id": "long" if types["id"] in ("int", "bigint", "smallint") else "string"}
    wanted["keywords"] = "array<string>"
    sides = SIDES + (TERMS if mode == "rank" else ())
    wanted.update(dict.fromkeys(sides, "double"), event="string")
    unknown = [name for name in types if name not in (*wanted, *MORE)]
    if unknown:
        what = f"column {unknown[0]!r} of subscriptions is not understood"
        raise InvalidParameterError(what, wanted="only " + ", ".join([*wanted, *MORE]))
    more = {name: "string" if name in _TEXTS else "double" for name in MORE if name in types}
    if types.get("geometry") in ("binary", "string"):
        more["geometry"] = types["geometry"]
    chosen = subscriptions.select(
        *(
            (f.col(name) if name in types else f.lit(None)).cast(type_).alias(name)
            for name, type_ in (wanted | more).items()
        )
    )
    if not more:
        return chosen

    def convert(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return (with_events(batch, mode) for batch in batches)

    return chosen.mapInArrow(convert, ", ".join(f"{n} {t}" for n, t in wanted.items()))


def _refuse_duplicates(spark: SparkSession, base: Folder, rows: tuple[str, ...]) -> None:
    subscriptions = _frame(spark, base, rows, ["id"])
    found = subscriptions.groupBy("id").count().where("count > 1 or id is null").take(1)
    if found:
        what = f"subscription {found[0]['id']!r} is there {found[0]['count']} times"
        raise DuplicateIdError(what, wanted="each id once, and none null")


def _plan(
    base: Folder,
    rows: tuple[str, ...],
    mode: str,
    mechanism: Mechanism,
    partitions: int,
    sample: pa.Table | None,
    weights: Weights | None,
) -> Plan:
    """Make the plan and write it; all words of all subscriptions have to be known to it."""
    if mode not in ("match", "rank"):
        what = "mode is not one of an index"
        raise InvalidParameterError(what, got=mode, wanted="'match' or 'rank'")
    plan = Plan("hash", mode, partitions, weights=weights)  # type: ignore[arg-type]
    if mechanism != "hash" and partitions > 1:
        if sample is None:
            what = f"mechanism {mechanism!r} needs a sample of messages"
            raise InvalidParameterError(what, wanted="sample=…, with tokens and a place")
        wants = all_wants(conform(rows_of(base, rows).to_table(), mode), mode)  # type: ignore[arg-type]
        plan = make_plan(mechanism, partitions, wants, sample, weights=weights)
    return write_plan(base, plan)


def _build(
    spark: SparkSession,
    base: Folder,
    rows: tuple[str, ...],
    plan: Plan,
    index: str,
    sample: pa.Table | None,
) -> None:
    """Move subscriptions to their partitions and build these, each in one task."""
    mode, weights, count = plan.mode, plan.weights, plan.partitions

    def place(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _placed(batches, base, mode)

    def build(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for partition, table in by_partition(batches):
            matcher = Matcher(index, mode=mode)  # type: ignore[arg-type]
            if mode == "rank":
                matcher.set_weights(weights)
            bits = unpacked(table.column("partitions"), count)
            plain = conform(table.drop_columns(["partition", "partitions"]), mode)
            part = build_shard(base, partition, plain, bits, matcher)
            yield pa.RecordBatch.from_pydict({"part": [part.to_json()]})

    names = rows_of(base, rows).schema.names
    placed = _frame(spark, base, rows, names, place)
    built = _parts(spread(placed, count).mapInArrow(build, _PART))
    width = -(-count // 8)
    empty = conform(rows_of(base, rows).schema.empty_table(), mode)
    for partition in set(range(count)) - {part.partition for part in built}:
        matcher = Matcher(index, mode=mode)  # type: ignore[arg-type]
        built.append(build_shard(base, partition, empty, np.zeros((0, width), np.uint8), matcher))
    write_costs(base, _finish(base, rows, built), plan, sample)
    manifest_at.cache_clear()


def _frame(
    spark: SparkSession,
    base: Folder,
    rows: tuple[str, ...],
    names: list[str],
    place: _Step | None = None,
) -> DataFrame:
    """Return columns of the subscriptions of a base as workers read them; or what is placed."""
    from pyspark.sql.pandas.types import from_arrow_schema

    subscriptions = rows_of(base, rows)
    pieces = Pieces.of_files(subscriptions.files, base, {name: name for name in names})
    schema = from_arrow_schema(pa.schema([subscriptions.schema.field(name) for name in names]))
    if place is None:
        return pieces.map(lambda batches: batches, schema, spark)
    return pieces.map(place, routed_schema(schema), spark)


def _parts(built: DataFrame) -> list[Part]:
    """Return the partitions that tasks wrote."""
    return [Part.from_json(row["part"]) for row in built.collect()]


def _finish(base: Folder, rows: tuple[str, ...], parts: list[Part]) -> Base:
    """Write what is in a base, if all machines wrote to the same one."""
    missing = [part.partition for part in parts if not base.has(part.snapshot.name)]
    if missing:
        what = f"partitions {missing} were built where the driver cannot see them"
        hint = "put the index on a file system that all machines share, or in a store"
        raise SnapshotError(what, got=base.address, wanted="a shared folder", hint=hint)
    contents = Base(rows, tuple(sorted(parts)))
    contents.write(base)
    return contents


def _placed(batches: Iterator[pa.RecordBatch], base: Folder, mode: str) -> Iterator[pa.RecordBatch]:
    plan = read_plan(base)
    for batch in batches:
        table = conform(pa.Table.from_batches([batch]), mode)
        hits = place_rows(plan, table, mode)  # type: ignore[arg-type]
        rows, partitions = np.nonzero(hits)
        copies = table.take(pa.array(rows))
        copies = copies.append_column("partition", pa.array(partitions.astype(np.int32)))
        packed = packed_column(pack(hits)[rows]).cast(pa.binary())
        yield from copies.append_column("partitions", packed).to_batches()

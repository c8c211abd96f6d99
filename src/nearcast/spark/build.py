"""From a table of subscriptions to an index: planned once, built in parallel, committed at the end.

Spark moves each subscription to the partitions that hold it; each task then builds its partition
natively and writes a snapshot. Files belong to a base that no version names yet, so a build that
fails or is repeated disturbs no query.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from nearcast.errors import DuplicateIdError, InvalidParameterError, SnapshotError
from nearcast.matcher import DEFAULT_INDEX, Matcher
from nearcast.partition import ADJUSTABLE, Plan, adjust_plan, make_plan
from nearcast.partition.plan import pack
from nearcast.spark.columnar import by_partition, routed_schema, spread
from nearcast.spark.costs import write_costs
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
from nearcast.spark.shard import build_shard, manifest_at, open_shard, packed_column, unpacked
from nearcast.spark.store import Index, Manifest, snapshot_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

    from pyspark.sql import DataFrame, SparkSession

    from nearcast.partition.plan import Mechanism
    from nearcast.weights import Weights

_ATTEMPTS = 3
_TEXTS = ("expression", "where")


def build_index(
    subscriptions: DataFrame,
    path: str | PathLike[str],
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
        of keywords `expression`, in place of a box `lon`, `lat`, `radius_m`, and `where`; or
        `event`, a subscribe event as a line, where these do not suffice. Another column is an error
        that names it.
    path
        Folder of the index; a new one, or one whose subscriptions are replaced by these.
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
    base = store.new_base()
    rows = str(base / "subscriptions")
    _conformed(subscriptions, mode).write.parquet(rows)
    spark = subscriptions.sparkSession
    _refuse_duplicates(spark.read.parquet(rows))
    plan = _plan(base, mode, mechanism, partitions, sample, weights)
    _build(spark, base, plan, index)
    write_costs(base, plan, sample)
    return store.commit(
        Manifest(store.next_version(), base.name, (), mode, mechanism, plan.partitions, index)
    )


def compact_index(spark: SparkSession, path: str | PathLike[str]) -> Manifest:
    """Write the newest version as a base of its own; queries go on meanwhile.

    Deltas that are committed meanwhile stay deltas of the new base.
    """
    store = Index(path)
    old = store.latest()
    base = store.new_base()
    (base / "plan.arrow").write_bytes(learned_plan(store, old).to_buffer().to_pybytes())
    _write_rows(base, current_rows(store, old))
    place, version = str(store.path), old.version

    def save(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for partition in batch.column("id").to_pylist():
                open_shard(place, version, partition).save(base)
                yield pa.RecordBatch.from_pydict({"id": [partition]})

    numbers = spark.range(old.partitions, numPartitions=old.partitions)
    numbers.mapInArrow(save, "id long").collect()
    if (store.path / old.base / "costs.json").is_file():  # the plan is the same
        shutil.copy(store.path / old.base / "costs.json", base)
    for _ in range(_ATTEMPTS):
        newest = store.latest()
        if newest.base != old.base:
            break
        later = tuple(delta for delta in newest.deltas if delta[0] > old.version)
        compacted = replace(newest, version=newest.version + 1, base=base.name, deltas=later)
        try:
            return store.commit(compacted)
        except SnapshotError:
            continue
    what = f"index {str(store.path)!r} was replaced while it was compacted"
    raise SnapshotError(what, hint="try again")


def rebalance_index(
    spark: SparkSession,
    path: str | PathLike[str],
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
        base = store.new_base()
        _write_rows(base, current_rows(store, old))
        chosen = mechanism or old.mechanism
        count = partitions or old.partitions
        is_same = (chosen, count) == (old.mechanism, old.partitions)
        if loads is not None and is_same and chosen in ADJUSTABLE:
            plan = _adjusted(base, learned_plan(store, old), loads, sample)
        else:
            weights = store.plan(old).weights
            plan = _plan(base, old.mode, chosen, count, sample, weights)  # type: ignore[arg-type]
        _build(spark, base, plan, old.index)
        write_costs(base, plan, sample)
        moved = replace(old, version=old.version + 1, base=base.name, deltas=())
        try:
            return store.commit(
                replace(moved, mechanism=plan.mechanism, partitions=plan.partitions)
            )
        except SnapshotError:
            continue
    what = f"index {str(store.path)!r} changes faster than it can be rebalanced"
    raise SnapshotError(what, hint="stop committing deltas meanwhile")


def _adjusted(base: Path, plan: Plan, loads: Sequence[float], sample: pa.Table) -> Plan:
    table = ds.dataset(base / "subscriptions", format="parquet").to_table()
    wants = all_wants(conform(table, plan.mode), plan.mode)
    adjusted, _ = adjust_plan(plan, loads, wants, sample)
    (base / "plan.arrow").write_bytes(adjusted.to_buffer().to_pybytes())
    return adjusted


def _write_rows(base: Path, rows: pa.Table) -> None:
    (base / "subscriptions").mkdir()
    pq.write_table(rows, base / "subscriptions" / "part-0.parquet")


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


def _refuse_duplicates(subscriptions: DataFrame) -> None:
    found = subscriptions.groupBy("id").count().where("count > 1 or id is null").take(1)
    if found:
        what = f"subscription {found[0]['id']!r} is there {found[0]['count']} times"
        raise DuplicateIdError(what, wanted="each id once, and none null")


def _plan(
    base: Path,
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
        table = ds.dataset(base / "subscriptions", format="parquet").to_table()
        wants = all_wants(conform(table, mode), mode)  # type: ignore[arg-type]
        plan = make_plan(mechanism, partitions, wants, sample, weights=weights)
    (base / "plan.arrow").write_bytes(plan.to_buffer().to_pybytes())
    return plan


def _build(spark: SparkSession, base: Path, plan: Plan, index: str) -> None:
    """Move subscriptions to their partitions and build these, each in one task."""
    rows = spark.read.parquet(str(base / "subscriptions"))
    mode = plan.mode
    weights, count = plan.weights, plan.partitions
    placed = spread(rows.mapInArrow(_placer(str(base), mode), routed_schema(rows)), plan.partitions)

    def build(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for partition, table in by_partition(batches):
            matcher = Matcher(index, mode=mode)  # type: ignore[arg-type]
            if mode == "rank":
                matcher.set_weights(weights)
            bits = unpacked(table.column("partitions"), count)
            plain = conform(table.drop_columns(["partition", "partitions"]), mode)
            build_shard(base, partition, plain, bits, matcher)
            yield pa.RecordBatch.from_pydict({"id": [partition]})

    built = {row["id"] for row in placed.mapInArrow(build, "id long").collect()}
    width = -(-plan.partitions // 8)
    empty = conform(ds.dataset(base / "subscriptions", format="parquet").schema.empty_table(), mode)
    for partition in set(range(plan.partitions)) - built:
        matcher = Matcher(index, mode=mode)  # type: ignore[arg-type]
        build_shard(base, partition, empty, np.zeros((0, width), np.uint8), matcher)
    missing = [p for p in range(plan.partitions) if not snapshot_file(base, p).is_file()]
    if missing:
        what = f"partitions {missing} were built where the driver cannot see them"
        hint = "put the index on a file system that all machines share"
        raise SnapshotError(what, got=str(base), wanted="a shared folder", hint=hint)
    manifest_at.cache_clear()


def _placer(base: str, mode: str) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def place(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        plan = Plan.from_buffer((Path(base) / "plan.arrow").read_bytes())
        for batch in batches:
            table = conform(pa.Table.from_batches([batch]), mode)
            hits = place_rows(plan, table, mode)  # type: ignore[arg-type]
            rows, partitions = np.nonzero(hits)
            copies = table.take(pa.array(rows))
            copies = copies.append_column("partition", pa.array(partitions.astype(np.int32)))
            packed = packed_column(pack(hits)[rows]).cast(pa.binary())
            yield from copies.append_column("partitions", packed).to_batches()

    return place

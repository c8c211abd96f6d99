"""One partition of an index in a worker: mapped once, brought forward by deltas.

A worker keeps the partitions that it has opened. Asked for a newer version it applies the deltas in
between, to private copies of the mapped pages; asked for an older one, as when a batch is replayed,
it maps the base again. Any worker can open any partition: mapping takes milliseconds.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.columns import BOX, POINT
from nearcast.matcher import Matcher
from nearcast.partition.plan import is_first, pack
from nearcast.spark.definitions import subscribe_rows, table_of_events
from nearcast.spark.deltas import learned_plan
from nearcast.spark.store import Index, ids_file, read_arrow, snapshot_file, write_arrow

if TYPE_CHECKING:
    from pathlib import Path

    from nearcast.partition import Plan
    from nearcast.spark.store import Manifest


class Shard:
    """The subscriptions of one partition, at one version."""

    def __init__(self, index: Index, manifest: Manifest, partition: int) -> None:
        base = index.path / manifest.base
        self.partition = partition
        self.version = 0
        self._index = index
        self._is_alone = manifest.partitions == 1
        self._matcher = Matcher.open(snapshot_file(base, partition), verify=False)
        table = read_arrow(ids_file(base, partition))
        self._ids = table.column("id").combine_chunks()
        self._bits = unpacked(table.column("partitions").combine_chunks(), manifest.partitions)
        self.bring_to(manifest)

    def bring_to(self, manifest: Manifest) -> None:
        """Apply the deltas between the version that it has and a newer one."""
        for version, name in manifest.deltas:
            if version > self.version:
                self._apply(read_arrow(self._index.path / name), manifest)
        self.version = manifest.version

    def _apply(self, delta: pa.Table, manifest: Manifest) -> None:
        gone = delta.filter(pc.invert(delta.column("is_new"))).column("id")
        if len(gone):
            self._remove(gone.cast(self._ids.type))
        here = [row for row in delta.to_pylist() if _is_here(row["partitions"], self.partition)]
        if here:
            fields = [json.loads(row["event"]) for row in here]
            first = len(self._ids)
            subscribe_rows(self._matcher, table_of_events(fields, manifest.mode), first)
            ids = pa.array([row["id"] for row in here]).cast(self._ids.type)
            self._ids = pa.concat_arrays([self._ids, ids])
            bits = np.frombuffer(b"".join(row["partitions"] for row in here), np.uint8)
            self._bits = np.vstack([self._bits, bits.reshape(len(here), -1)])

    def _remove(self, ids: pa.Array | pa.ChunkedArray) -> None:
        value_set = ids.combine_chunks() if isinstance(ids, pa.ChunkedArray) else ids
        rows = np.flatnonzero(
            pc.is_in(self._ids, value_set=value_set).to_numpy(zero_copy_only=False)
        )
        held = [int(row) for row in rows if int(row) in self._matcher]
        self._matcher.unsubscribe_table(held)

    def answer(self, messages: pa.RecordBatch) -> pa.Table:
        """Return rows of messages and ids of subscriptions, each pair of the whole index once.

        Parameters
        ----------
        messages
            As `Matcher.match_table` takes them, and `partitions`: which ones see each message.
        """
        ranks = self._matcher.mode == "rank"
        asked = messages.select([name for name in messages.schema.names if name in _ASKED])
        found = self._matcher.rank_table(asked) if ranks else self._matcher.match_table(asked)
        rows, held = (found.column(name).to_numpy() for name in ("message", "subscription"))
        if len(rows) == 0:  # an empty matcher does not know of which kind its ids are
            held = np.zeros(0, np.int64)
        elif not self._is_alone:
            seen = unpacked(messages.column("partitions"), self._bits.shape[1] * 8)
            mine = is_first(self.partition, self._bits[held], seen[rows])
            found = found.filter(pa.array(mine))
            rows, held = rows[mine], held[mine]
        answers = {"message": pa.array(rows), "subscription": self._ids.take(pa.array(held))}
        if ranks:
            answers["score"] = found.column("score")
        return pa.table(answers)

    def __len__(self) -> int:
        """Return the number of subscriptions."""
        return len(self._matcher)

    def save(self, base: Path) -> None:
        """Write it as a partition of a new base; rows of subscriptions that left stay unused."""
        self._matcher.save(snapshot_file(base, self.partition))
        write_ids(base, self.partition, self._ids, self._bits)


def build_shard(
    base: Path, partition: int, table: pa.Table, bits: np.ndarray, matcher: Matcher
) -> None:
    """Build one partition of a base and write it."""
    subscribe_rows(matcher, table)
    matcher.save(snapshot_file(base, partition))
    write_ids(base, partition, table.column("id").combine_chunks(), bits)


def packed_column(bits: np.ndarray) -> pa.Array:
    """Return rows of bits as a column of bytes."""
    buffers = [None, pa.py_buffer(np.ascontiguousarray(bits))]
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(bits.shape[1]), len(bits), buffers)


def write_ids(base: Path, partition: int, ids: pa.Array, bits: np.ndarray) -> None:
    """Write the ids of a partition and where else each of them lives."""
    if isinstance(ids, pa.ChunkedArray):
        ids = pa.concat_arrays(ids.chunks) if ids.num_chunks else pa.array([], ids.type)
    table = pa.table({"id": ids, "partitions": packed_column(bits)})
    write_arrow(ids_file(base, partition), table)


_ASKED = frozenset({"text", "tokens", "attributes", *POINT, *BOX})
_open: dict[tuple[str, str, int], Shard] = {}


def open_shard(path: str, version: int, partition: int) -> Shard:
    """Return a partition at a version; kept in this process."""
    index = Index(path)
    manifest = manifest_at(path, version)
    key = (path, manifest.base, partition)
    shard = _open.get(key)
    if shard is None or shard.version > version:
        shard = _open[key] = Shard(index, manifest, partition)
    elif shard.version < version:
        try:
            shard.bring_to(manifest)
        except BaseException:
            del _open[key]  # half brought forward
            raise
    for old in [k for k in _open if k[0] == path and k[2] == partition and k != key]:
        del _open[old]
    return shard


@lru_cache(maxsize=64)
def manifest_at(path: str, version: int) -> Manifest:
    """Return a version; it never changes."""
    return Index(path).at(version)


@lru_cache(maxsize=4)
def plan_at(path: str, version: int) -> Plan:
    """Return the plan by which messages are routed at a version."""
    return learned_plan(Index(path), manifest_at(path, version))


def route_batch(messages: pa.RecordBatch, path: str, version: int) -> pa.Table:
    """Return a copy of each message for each partition that must see it.

    `partition` says for which one, `partitions` which ones see it.
    """
    hits = plan_at(path, version).route(messages)
    rows, partitions = np.nonzero(hits)
    packed = packed_column(pack(hits)[rows])
    copies = pa.Table.from_batches([messages]).take(pa.array(rows))
    return copies.append_column("partition", pa.array(partitions.astype(np.int32))).append_column(
        "partitions", packed.cast(pa.binary())
    )


def unpacked(packed: pa.Array, partitions: int) -> np.ndarray:
    """Return a column of bytes as rows of bits; the inverse of `packed_column`."""
    width = -(-partitions // 8)
    if isinstance(packed, pa.ChunkedArray):
        packed = packed.combine_chunks()
    if len(packed) == 0:
        return np.zeros((0, width), np.uint8)
    if not pa.types.is_fixed_size_binary(packed.type):
        packed = packed.cast(pa.binary(width))
    data = np.frombuffer(packed.buffers()[1], np.uint8)
    start = packed.offset * width
    return data[start : start + len(packed) * width].reshape(-1, width)


def _is_here(partitions: bytes | None, partition: int) -> bool:
    if partitions is None:
        return False
    byte, bit = divmod(partition, 8)
    return bool(partitions[byte] >> (7 - bit) & 1)

"""One partition of an index in a worker: mapped once, brought forward by deltas.

A worker keeps the partitions that it has opened. Asked for a newer version it applies the deltas in
between, to private copies of the mapped pages; asked for an older one, as when a batch is replayed,
it maps the base again. Any worker can open any partition: mapping takes milliseconds.
"""

from __future__ import annotations

import json
from functools import lru_cache, partial
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nearcast.columns import BOX, POINT
from nearcast.matcher import Matcher
from nearcast.partition.plan import is_first, pack
from nearcast.spark.bases import Part, Stored, base_at, open_table, save_table
from nearcast.spark.definitions import subscribe_rows, table_of_events
from nearcast.spark.deltas import learned_plan
from nearcast.spark.store import Index

if TYPE_CHECKING:
    from nearcast.partition import Plan
    from nearcast.spark.folders import Folder
    from nearcast.spark.store import Manifest


class Shard:
    """The subscriptions of one partition, at one version."""

    def __init__(self, index: Index, manifest: Manifest, partition: int) -> None:
        base = index.base(manifest)
        part = base_at(base.address).parts[partition]
        self.partition = partition
        self.version = 0
        self._index = index
        self._is_alone = manifest.partitions == 1
        self._matcher = base.open(*part.snapshot, partial(Matcher.open, verify=False))
        table = open_table(base, part.ids)
        self._ids = table.column("id").combine_chunks()
        self._bits = unpacked(table.column("partitions").combine_chunks(), manifest.partitions)
        self.bring_to(manifest)

    def bring_to(self, manifest: Manifest) -> None:
        """Apply the deltas between the version that it has and a newer one."""
        for version, stored in manifest.deltas:
            if version > self.version:
                self._apply(open_table(self._index.folder, stored), manifest)
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

    def save(self, base: Folder) -> Part:
        """Write it as a partition of a new base; rows of subscriptions that left stay unused."""
        return write_part(base, self.partition, self._matcher, self._ids, self._bits)


def build_shard(
    base: Folder, partition: int, table: pa.Table, bits: np.ndarray, matcher: Matcher
) -> Part:
    """Build one partition of a base and write it."""
    subscribe_rows(matcher, table)
    return write_part(base, partition, matcher, table.column("id").combine_chunks(), bits)


def packed_column(bits: np.ndarray) -> pa.Array:
    """Return rows of bits as a column of bytes."""
    buffers = [None, pa.py_buffer(np.ascontiguousarray(bits))]
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(bits.shape[1]), len(bits), buffers)


def write_part(
    base: Folder, partition: int, matcher: Matcher, ids: pa.Array, bits: np.ndarray
) -> Part:
    """Write a matcher, its ids, and where else each of them lives."""
    if isinstance(ids, pa.ChunkedArray):
        ids = pa.concat_arrays(ids.chunks) if ids.num_chunks else pa.array([], ids.type)
    table = pa.table({"id": ids, "partitions": packed_column(bits)})
    name = f"part-{partition:05}-{uuid4().hex[:12]}"  # another task may build the same
    snapshot = Stored(f"{name}.snapshot", base.save(f"{name}.snapshot", matcher.save))
    stored = Stored(f"{name}.arrow", save_table(base, f"{name}.arrow", table))
    return Part(partition, len(matcher), snapshot, stored)


_ASKED = frozenset({"text", "tokens", "attributes", *POINT, *BOX})
_open: dict[tuple[str, str, int], Shard] = {}


def open_shard(address: str, version: int, partition: int) -> Shard:
    """Return a partition at a version; kept in this process."""
    index = Index(address)
    manifest = manifest_at(address, version)
    key = (address, manifest.base, partition)
    shard = _open.get(key)
    if shard is None or shard.version > version:
        shard = _open[key] = Shard(index, manifest, partition)
    elif shard.version < version:
        try:
            shard.bring_to(manifest)
        except BaseException:
            del _open[key]  # half brought forward
            raise
    for old in [k for k in _open if k[0] == address and k[2] == partition and k != key]:
        del _open[old]
    return shard


@lru_cache(maxsize=64)
def manifest_at(address: str, version: int) -> Manifest:
    """Return a version; it never changes."""
    return Index(address).at(version)


@lru_cache(maxsize=4)
def plan_at(address: str, version: int) -> Plan:
    """Return the plan by which messages are routed at a version."""
    return learned_plan(Index(address), manifest_at(address, version))


def route_batch(messages: pa.RecordBatch, address: str, version: int) -> pa.Table:
    """Return a copy of each message for each partition that must see it.

    `partition` says for which one, `partitions` which ones see it.
    """
    hits = plan_at(address, version).route(messages)
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

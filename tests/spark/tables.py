"""Subscriptions and messages of one seed, and an index of them without Spark."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa

import nearcast as nc
from nearcast.bench.workloads.generate import messages, subscriptions
from nearcast.bench.workloads.presets import find_preset
from nearcast.partition import Plan, make_plan
from nearcast.partition.plan import pack
from nearcast.spark.bases import Base, write_plan, write_rows
from nearcast.spark.definitions import all_wants, conform, place_rows
from nearcast.spark.matching import match_batches, match_routed, route_batches
from nearcast.spark.shard import build_shard
from nearcast.spark.store import Index, Manifest

WORDY = find_preset("zipf")  # few words in most messages, so that there are matches


def plain(table):
    """Return a table without dictionaries, as Spark and files have it."""
    fields = [
        pa.field(f.name, pa.list_(pa.string()) if pa.types.is_list(f.type) else f.type)
        for f in table.schema
    ]
    return table.cast(pa.schema(fields))


def some_messages(count, first=0):
    table = plain(messages(WORDY, count, 1, first=first))
    ids = pa.array([f"m{row}" for row in range(first, first + count)])
    return table.add_column(0, "id", ids)


def some_subscriptions(count, mode="match"):
    table = plain(subscriptions(WORDY, count, 1, (1, 3)))
    for side, grown in (("west", -30), ("south", -30), ("east", 30), ("north", 30)):
        limit = 180 if side in ("west", "east") else 90
        values = np.clip(table.column(side).to_numpy() + grown, -limit, limit)
        table = table.set_column(table.schema.get_field_index(side), side, pa.array(values))
    table = table.set_column(0, "id", table.column("id").cast(pa.string()))
    if mode == "rank":
        rng = np.random.default_rng(5)
        table = table.append_column("alpha", pa.array(rng.choice([0.2, 0.5, 0.8], count)))
        table = table.append_column("threshold", pa.array(rng.choice([0.4, 0.7], count)))
    return table


def publish_lines(table):
    """Return messages as publish events; every third has a box without extent."""
    lines = []
    for row, fields in enumerate(table.to_pylist()):
        at = [fields["lon"], fields["lat"]]
        place = {"bbox": at + at} if row % 3 == 0 else {"at": at}
        event = {"op": "publish", "id": fields["id"], "text": " ".join(fields["tokens"])}
        lines.append(json.dumps({**event, **place}))
    return lines


def subscribe_lines(table):
    """Return match subscriptions as subscribe events."""
    sides = ("west", "south", "east", "north")
    return [
        json.dumps(
            {
                "op": "subscribe",
                "id": row["id"],
                "keywords": row["keywords"],
                "area": [row[side] for side in sides],
            }
        )
        for row in table.to_pylist()
    ]


def build_here(path, table, mode="match", mechanism="hash", partitions=1, sample=None):
    """Build an index as `build_index` does, in this process."""
    index = Index(path)
    name = index.new_base()
    base = index.folder / name
    rows = conform(table, mode)
    plan = Plan("hash", mode, partitions)
    if mechanism != "hash":
        plan = make_plan(mechanism, partitions, all_wants(rows, mode), sample)
    write_plan(base, plan)
    placed = place_rows(plan, rows, mode)
    parts = []
    for partition in range(plan.partitions):
        here = np.flatnonzero(placed[:, partition])
        part, bits = rows.take(pa.array(here)), pack(placed[here])
        parts.append(build_shard(base, partition, part, bits, nc.Matcher(mode=mode)))
    Base(write_rows(base, rows), tuple(parts)).write(base)
    number = index.next_version()
    manifest = Manifest(number, name, (), mode, mechanism, plan.partitions, "auto")
    return index, index.commit(manifest)


def single(table, mode="match"):
    """Return one matcher with all subscriptions of a table: what the pipeline must equal."""
    matcher = nc.Matcher(mode=mode)
    matcher.subscribe_table(table)
    return matcher


def expected(matcher, table):
    """Return the pairs of one matcher, by id."""
    answer = matcher.rank_table if matcher.mode == "rank" else matcher.match_table
    return sorted((row["message"], row["subscription"]) for row in answer(table).to_pylist())


def pairs_of(index, version, table):
    """Return the pairs that the worker functions find, as Spark would call them."""
    batches = [b.rename_columns(["message", *b.schema.names[1:]]) for b in table.to_batches()]
    path = index.address
    if index.at(version).partitions == 1:
        found = match_batches(iter(batches), path, version)
    else:
        found = match_routed(route_batches(iter(batches), path, version), path, version)
    rows = [row for batch in found for row in batch.to_pylist()]
    return sorted((row["message"], row["subscription"]) for row in rows)

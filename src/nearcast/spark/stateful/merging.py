"""The lists of top subscriptions that several partitions have parts of [Skype §7.2].

Each copy's list is the best of the messages that its partition sees; the list of the subscription
is the best of its copies' lists. It changes once per event, by the net difference, as in one hub.

Subscriptions are divided among merging workers by their ids; what one needs comes as raw rows.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import pyarrow as pa

from nearcast.spark.stateful.raw import RAW, Scored
from nearcast.spark.stateful.telling import CHANGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Parts = dict[int, dict[str, Scored]]
Row = dict[str, Any]
_NO_REASONS = ("displaced", "refilled")


class MergedList:
    """A list and its copies.

    Parameters
    ----------
    k
        How many messages it holds.
    """

    def __init__(self, k: int, parts: Parts | None = None) -> None:
        self.k = k
        self.parts: Parts = parts or {}
        self.best = best_of(self.parts, k)

    def apply(self, rows: Iterable[Row]) -> None:
        """Take in what one event did to the copies."""
        for row in rows:
            part = self.parts.setdefault(row["partition"], {})
            if row["kind"] == "removed":
                # A newer message may have its id.
                if row["message"] in part and part[row["message"]].number == row["number"]:
                    del part[row["message"]]
            else:
                part[row["message"]] = _scored(row)
        self.best = best_of(self.parts, self.k)


def best_of(parts: Parts, k: int) -> dict[str, Scored]:
    """Return the best of all copies, all of it if `k` is 0: a message that several have is one."""
    found: dict[str, Scored] = {}
    for part in parts.values():
        for message, item in part.items():
            if message not in found or found[message].number < item.number:
                found[message] = item
    if k == 0:
        return found
    order = sorted(found.values(), key=lambda item: (-round((item.score or 0) * 1e9), -item.number))
    return {item.message: item for item in order[:k]}


def merge(lists: dict[str, MergedList], raw: pa.Table) -> pa.Table:
    """Take in the raw rows of a batch; return what changed, event by event."""
    rows = raw.to_pylist()
    rows.sort(key=lambda row: (row["row"], row["subscription"]))
    changes: list[tuple[object, ...]] = []
    for (number, subscription), group in groupby(
        rows, key=lambda row: (row["row"], row["subscription"])
    ):
        found = _merge_event(lists, subscription, list(group))
        changes += [(number, subscription, *change) for change in found]
    columns = list(zip(*changes, strict=True)) if changes else [()] * len(CHANGES)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, CHANGES, strict=True)]
    return pa.Table.from_arrays(arrays, schema=CHANGES)


def _merge_event(
    lists: dict[str, MergedList], subscription: str, rows: list[Row]
) -> list[tuple[object, ...]]:
    by_kind: dict[str, list[Row]] = {}
    for row in rows:
        by_kind.setdefault(row["kind"], []).append(row)
    if "ended" in by_kind:
        lists.pop(subscription, None)
    if "after" in by_kind:
        before, after = (_parts(by_kind.get(kind, ())) for kind in ("before", "after"))
        old = best_of(before, max((row["k"] for row in by_kind.get("before", ())), default=0))
        k = by_kind["after"][0]["k"]
        merged = MergedList(k, after)
        lists.pop(subscription, None)
        if k:
            lists[subscription] = merged
        reasons = {row["message"]: row["reason"] for row in by_kind.get("before", ())}
        own = by_kind["after"][0]["reason"]
        return _differences(old, merged.best, reasons, own)
    changed = [row for row in rows if row["kind"] in ("added", "removed", "updated")]
    if not changed:
        return []
    merged = lists.setdefault(subscription, MergedList(changed[0]["k"]))
    old = merged.best
    merged.apply(changed)
    return _differences(old, merged.best, _reasons(changed), None)


def _parts(rows: Iterable[Row]) -> Parts:
    parts: Parts = {}
    for row in rows:
        part = parts.setdefault(row["partition"], {})
        if row["message"] is not None:
            part[row["message"]] = _scored(row)
    return parts


def _scored(row: Mapping[str, Any]) -> Scored:
    return Scored(row["message"], row["score"], row["number"])


def _reasons(rows: Iterable[Row]) -> dict[str, str]:
    """Return why messages came or went, where it was not for another message."""
    found: dict[str, str] = {}
    for row in rows:
        if row["reason"] not in _NO_REASONS:
            found.setdefault(row["message"], row["reason"])
            if row["reason"] == "expired":  # and another of that id may have come
                found[row["message"], "gone"] = "expired"  # type: ignore[index]
    return found


def _differences(
    old: Mapping[str, Scored],
    new: Mapping[str, Scored],
    reasons: Mapping[Any, str],
    own: str | None,
) -> list[tuple[object, ...]]:
    changes: list[tuple[object, ...]] = []
    for message, item in old.items():
        after = new.get(message)
        if after is not None and after.number == item.number:
            continue
        why = reasons.get((message, "gone")) or reasons.get(message)
        if after is not None and why != "expired":
            changes.append((message, "updated", "changed", after.score))
            continue
        changes.append((message, "removed", why or own or "displaced", item.score))
    for message, item in new.items():
        before = old.get(message)
        if before is not None and (
            before.number == item.number or (message, "gone") not in reasons
        ):
            continue
        why = reasons.get(message)
        if why == "expired":
            why = "published"
        changes.append((message, "added", own or why or "refilled", item.score))
    return changes


def home_of(raw: pa.Table, homes: int) -> np.ndarray:
    """Return the worker that merges each row."""
    encoded = raw.column("subscription").combine_chunks().dictionary_encode()
    hashes = [crc32(word.encode()) % homes for word in encoded.dictionary.to_pylist()]
    return np.array(hashes, np.int64)[encoded.indices.to_numpy()] if len(raw) else np.zeros(0, int)


def to_table(lists: Mapping[str, MergedList]) -> pa.Table:
    """Return lists as a table."""
    rows = [
        (0, "after", subscription, merged.k, *item, "", partition)
        for subscription, merged in lists.items()
        for partition, part in merged.parts.items()
        for item in part.values() or [(None, None, None)]
    ]
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(RAW)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, RAW, strict=True)]
    return pa.Table.from_arrays(arrays, schema=RAW)


def from_table(table: pa.Table) -> dict[str, MergedList]:
    """Read what `to_table` wrote."""
    found: dict[str, list[Row]] = {}
    for row in table.to_pylist():
        found.setdefault(row["subscription"], []).append(row)
    return {id_: MergedList(rows[0]["k"], _parts(rows)) for id_, rows in found.items()}

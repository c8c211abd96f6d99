"""Which version of an index does a batch of a stream use? The newest when it was first tried.

It is written down under the number of the batch before it is used, once: a batch that is tried
again, wherever, finds it. Before that it is pinned in the index, so that no vacuum removes what the
batch will ask for.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from nearcast.spark.shard import manifest_at
from nearcast.spark.store import Index

if TYPE_CHECKING:
    from nearcast.spark.folders import Folder

REMEMBERED = 1_000
"""Batches of which versions and figures are kept; Spark itself goes back by 100."""
_QUERY, _BATCH = "sql.streaming.queryId", "streaming.sql.batchId"  # Spark's names


def pin_version(index: Index, state: Folder, number: int) -> int:
    """Return the version of a batch of the stream that keeps its state in a folder."""
    name = f"_versions/{number}.json"
    try:
        return int(state.read(name))
    except FileNotFoundError:
        version = index.latest().version
        index.pin(version, state.address)
        manifest_at(index.address, version)  # a vacuum may have come between
        return int(state.settle(name, str(version).encode()))


def version_of_task(address: str) -> int:
    """Return the version for the batch that this task is a part of; all its tasks agree."""
    from pyspark import TaskContext

    task = TaskContext.get()
    query, number = (task.getLocalProperty(name) for name in (_QUERY, _BATCH))
    return _version_of(address, query, int(number))


@lru_cache(maxsize=64)
def _version_of(address: str, query: str, number: int) -> int:
    index = Index(address)
    state = index.folder / "streams" / query
    version = pin_version(index, state, number)
    state.delete(f"_versions/{number - REMEMBERED}.json")
    return version

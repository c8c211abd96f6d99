"""How busy is each partition? Counted by the workers, added up by Spark.

A task that is tried again counts again, as it works again.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from nearcast.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from pyspark import Accumulator, SparkContext

    from nearcast.spark.shard import Shard


class Load(NamedTuple):
    """What a partition did."""

    messages: int
    pairs: int
    seconds: float


Loads = dict[int, Load]


def add_loads(one: Mapping[int, Load], other: Mapping[int, Load]) -> Loads:
    """Return what both did, by partition."""
    total = dict(one)
    for partition, load in other.items():
        messages, pairs, seconds = total.get(partition, Load(0, 0, 0.0))
        total[partition] = Load(
            messages + load.messages, pairs + load.pairs, seconds + load.seconds
        )
    return total


def counter_on(context: SparkContext) -> Accumulator[Loads]:
    """Return a counter of what partitions do: workers add to it, and the driver reads `value`."""
    if not hasattr(context, "accumulator"):
        what = "counting does not work with Spark Connect"
        raise UnsupportedError(what, got=type(context).__name__, wanted="spark.sparkContext")
    from pyspark import AccumulatorParam

    class _Sum(AccumulatorParam):  # type: ignore[misc]
        def zero(self, value: Loads) -> Loads:
            return {}

        def addInPlace(self, value1: Loads, value2: Loads) -> Loads:
            return add_loads(value1, value2)

    return context.accumulator({}, _Sum())


def measured(
    shard: Shard, messages: pa.RecordBatch, counter: Accumulator[Loads] | None
) -> pa.Table:
    """Return what a partition answers; what that took goes to the counter, if there is one."""
    start = time.thread_time()  # what others take of the machine is not its load
    found = shard.answer(messages)
    if counter is not None:
        took = time.thread_time() - start
        counter.add({shard.partition: Load(messages.num_rows, found.num_rows, took)})
    return found

"""What does the plan of an index cost? Predicted when it is built, measured when it is used.

Replication, communication and balance as in `nearcast.partition.report`. How often subscriptions
are copied is known when the index is built; what messages cost is predicted then, and measured by
every batch of a stream.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from nearcast.partition import held_out, imbalance, measure_placed
from nearcast.spark.bases import rows_of

if TYPE_CHECKING:
    import pyarrow as pa

    from nearcast.partition import Plan
    from nearcast.spark.bases import Base
    from nearcast.spark.folders import Folder
    from nearcast.spark.load import Loads

COSTS = "costs.json"


def write_costs(folder: Folder, base: Base, plan: Plan, sample: pa.Table | None) -> None:
    """Predict what the plan of a base will cost, by messages that did not decide on it."""
    held = [part.subscriptions for part in base.parts]
    count = rows_of(folder, base.rows).count_rows()
    messages = None if sample is None else held_out(sample)
    report = measure_placed(plan, np.array(held, np.int64), count, messages)
    folder.write(COSTS, json.dumps(asdict(report)).encode())


def read_costs(folder: Folder) -> dict[str, Any] | None:
    """Return what the plan of a base was predicted to cost, if it was."""
    try:
        return dict(json.loads(folder.read(COSTS)))
    except FileNotFoundError:
        return None


def measured_costs(loads: Loads, partitions: int, messages: int) -> dict[str, float]:
    """Return what messages did cost: how many partitions saw one, and how even their times were."""
    seconds = np.zeros(partitions)
    for partition, load in loads.items():
        seconds[partition] = load.seconds
    seen = sum(load.messages for load in loads.values())
    return {"communication": seen / max(messages, 1), "balance": imbalance(seconds)}

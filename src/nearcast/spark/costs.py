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
import pyarrow.dataset as ds

from nearcast.partition import held_out, imbalance, measure_placed
from nearcast.spark.store import ids_file, read_arrow

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from nearcast.partition import Plan
    from nearcast.spark.load import Loads


def write_costs(base: Path, plan: Plan, sample: pa.Table | None) -> None:
    """Predict what the plan of a base will cost, by messages that did not decide on it."""
    held = [read_arrow(ids_file(base, part)).num_rows for part in range(plan.partitions)]
    count = ds.dataset(base / "subscriptions", format="parquet").count_rows()
    messages = None if sample is None else held_out(sample)
    report = measure_placed(plan, np.array(held, np.int64), count, messages)
    (base / "costs.json").write_text(json.dumps(asdict(report)), encoding="utf-8")


def read_costs(base: Path) -> dict[str, Any] | None:
    """Return what the plan of a base was predicted to cost, if it was."""
    path = base / "costs.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def measured_costs(loads: Loads, partitions: int, messages: int) -> dict[str, float]:
    """Return what messages did cost: how many partitions saw one, and how even their times were."""
    seconds = np.zeros(partitions)
    for partition, load in loads.items():
        seconds[partition] = load.seconds
    seen = sum(load.messages for load in loads.values())
    return {"communication": seen / max(messages, 1), "balance": imbalance(seconds)}

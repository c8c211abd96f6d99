"""What does a plan cost? Replication, communication and balance [Skype §7.3, Table 2].

The same measure serves to predict, with messages that were held out of the plan's sample, and to
measure, with messages that came later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

    from nearcast.partition.plan import Plan
    from nearcast.partition.wants import Wants

CHUNK_ROWS = 65_536


@dataclass(frozen=True, slots=True)
class PlanReport:
    """What a plan costs on a workload."""

    replication: float
    """Copies per subscription."""
    communication: float
    """Partitions that see a message."""
    balance: float
    """Cost of the most loaded partition, times its share: 1 is even, `partitions` is all in one."""
    subscriptions: tuple[int, ...]
    """Copies in each partition."""
    messages: tuple[int, ...]
    """Messages that each partition sees."""


def measure_plan(
    plan: Plan, wants: Wants, ids: pa.Array | pa.ChunkedArray, messages: pa.Table
) -> PlanReport:
    """Say what a plan costs for these subscriptions and messages."""
    placed = plan.place(wants, ids)
    seen = np.zeros(plan.partitions, np.int64)
    for start in range(0, messages.num_rows, CHUNK_ROWS):
        seen += plan.route(messages.slice(start, CHUNK_ROWS)).sum(axis=0)
    held = placed.sum(axis=0)
    cost = held * seen.astype(np.float64)
    return PlanReport(
        replication=float(held.sum() / max(len(wants), 1)),
        communication=float(seen.sum() / max(messages.num_rows, 1)),
        balance=float(cost.max() * plan.partitions / cost.sum()) if cost.any() else 1.0,
        subscriptions=tuple(held.tolist()),
        messages=tuple(seen.tolist()),
    )

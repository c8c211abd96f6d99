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
    from numpy.typing import NDArray

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
    return measure_placed(plan, plan.place(wants, ids).sum(axis=0), len(wants), messages)


def measure_placed(
    plan: Plan, held: NDArray[np.int64], subscriptions: int, messages: pa.Table | None
) -> PlanReport:
    """Say what a plan costs whose partitions hold so many copies of so many subscriptions.

    Without messages every partition sees every message, as under `hash`.
    """
    seen, count = np.ones(plan.partitions, np.int64), 1
    if messages is not None:
        count = messages.num_rows
        parts = (messages.slice(start, CHUNK_ROWS) for start in range(0, count, CHUNK_ROWS))
        seen = sum((plan.route(part).sum(axis=0) for part in parts), np.zeros_like(seen))
    return PlanReport(
        replication=float(held.sum() / max(subscriptions, 1)),
        communication=float(seen.sum() / max(count, 1)),
        balance=imbalance((held * seen).astype(np.float64)),
        subscriptions=tuple(held.tolist()),
        messages=tuple(seen.tolist()),
    )


def imbalance(costs: NDArray[np.float64]) -> float:
    """Return the largest cost times its share: 1 is even, as many as there are is all in one."""
    return float(costs.max() * len(costs) / costs.sum()) if costs.any() else 1.0

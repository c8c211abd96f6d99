"""How did it do in the last half hour? The numbers of the metrics, every few seconds, in memory."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nearcast.service.metrics import Metrics

EVERY_S = 2.0
KEPT = 900
_LEFT_OUT = ("_bucket", "_created")


class History:
    """Samples of all metrics, oldest first; `KEPT` of them, then the oldest goes.

    Parameters
    ----------
    metrics
        What is looked at.
    """

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._samples: deque[dict[str, Any]] = deque(maxlen=KEPT)

    async def run(self) -> None:
        """Take samples until it is cancelled."""
        while True:
            self.note(time.time())
            await asyncio.sleep(EVERY_S)

    def note(self, at: float) -> None:
        """Take a sample: counters and gauges by name, those with labels summed and each alone."""
        values: dict[str, float] = {}
        for family in self._metrics.registry.collect():
            for sample in family.samples:
                if sample.name.endswith(_LEFT_OUT):
                    continue
                values[sample.name] = values.get(sample.name, 0.0) + sample.value
                for label in sample.labels.values():
                    values[f"{sample.name}/{label}"] = sample.value
        self._samples.append({"at": round(at, 3), "values": values})

    def after(self, at: float) -> list[dict[str, Any]]:
        """Return the samples that are younger than a moment."""
        return [sample for sample in self._samples if sample["at"] > at]

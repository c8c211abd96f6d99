"""What does the stateful pipeline keep after many batches? Disk, files, memory, a restart.

Everything is replaced by something else all the time: subscriptions come and go, messages leave a
window. So nothing may grow once the window is full.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearcast.bench.soak import resident_bytes
from nearcast.bench.workloads.generate import messages
from nearcast.bench.workloads.log import publish_events
from nearcast.model import Window
from nearcast.partition import Plan
from nearcast.spark.stateful import work
from nearcast.spark.stateful.pipeline import Pipeline, in_process, read_here

if TYPE_CHECKING:
    from collections.abc import Callable

    from nearcast.bench.workloads.presets import Preset

POINTS = 20
"""Moments at which is looked."""
MESSAGES, WISHES, WINDOW = 50, 10, 2_000
"""Of a batch: messages, and subscriptions that come and go. Live messages."""
LIVES = 40
"""Batches after which a subscription goes."""


def soak(
    preset: Preset, batches: int, partitions: int, step: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Run batches; return what is there from time to time."""
    folder = Path(tempfile.mkdtemp(prefix="nearcast-soak-"))
    points = []
    try:
        pipeline = _opened(folder, partitions)
        for number in range(batches):
            lines = _batch(preset, number)
            _apply(pipeline, number, lines)
            shutil.rmtree(folder / f"batch={number - 1}", ignore_errors=True)  # the user's
            if (number + 1) % max(batches // POINTS, 1) == 0:
                start = time.process_time()
                pipeline = _opened(folder, partitions)
                points.append(_point(folder, number, time.process_time() - start))
                step(json.dumps(points[-1]))
    finally:
        work.holdings.clear()
        work.merged.clear()
        shutil.rmtree(folder, ignore_errors=True)
    return points


def _apply(pipeline: Pipeline, number: int, lines: list[str]) -> None:
    pipeline.run_batch(number, lambda: read_here(pipeline.job, lines), in_process)


def _opened(folder: Path, partitions: int) -> Pipeline:
    return Pipeline(folder, Plan("hash", "match", partitions), window=Window(count=WINDOW))


def _batch(preset: Preset, number: int) -> list[str]:
    table = messages(preset, MESSAGES, 1, first=number * MESSAGES)
    events = list(publish_events(table, number * MESSAGES))
    words = [str(event["text"]).split()[:2] for event in events[:WISHES]]
    for at, own in enumerate(words):
        mode = {"mode": "top", "at": [0, 0], "k": 3, "alpha": 0.5} if at % 2 else {"live": True}
        events.append({"op": "subscribe", "id": f"s{number}-{at}", "keywords": own, **mode})
        if number >= LIVES:
            events.append({"op": "unsubscribe", "id": f"s{number - LIVES}-{at}"})
    return [json.dumps(event) for event in events]


def _point(folder: Path, number: int, restart_s: float) -> dict[str, Any]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    metrics = sum(path.parent.name == "_metrics" for path in files)
    return {
        "batch": number + 1,
        "files": len(files) - metrics,
        "metrics": metrics,
        "disk_bytes": sum(path.stat().st_size for path in files),
        "memory_bytes": resident_bytes(),
        "restart_cpu_s": round(restart_s, 4),
    }

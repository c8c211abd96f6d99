"""What is a running query doing? Its progress as a table for people and as lines for machines."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyspark.sql.streaming import StreamingQuery

COLUMNS = ("batch", "messages", "messages/s", "batch ms", "lag s", "version", "pairs")


def figures(progress: Mapping[str, Any], out: Path | None, now: float) -> dict[str, Any]:
    """Return the figures of one batch from Spark's progress and what the batch wrote.

    `lag_s` is how long ago the batch began: what came since is not out yet.
    """
    number = progress["batchId"]
    taken = progress.get("durationMs", {}).get("triggerExecution", 0)
    found: dict[str, Any] = {
        "batch": number,
        "messages": progress.get("numInputRows", 0),
        "messages_per_s": progress.get("processedRowsPerSecond") or 0.0,
        "batch_ms": taken,
        "lag_s": max(0.0, now - _seconds(progress.get("timestamp"), now)),
    }
    written = None if out is None else out / "_metrics" / f"{number}.json"
    if written is not None and written.is_file():
        facts = json.loads(written.read_text())
        found.update(version=facts["version"], pairs=facts["pairs"])
    return found


def as_table(rows: list[dict[str, Any]]) -> Table:
    """Return the last batches as a table, the newest at the bottom."""
    table = Table(*COLUMNS)
    for row in rows:
        table.add_row(
            str(row["batch"]),
            f"{row['messages']:,}",
            f"{row['messages_per_s']:,.0f}",
            f"{row['batch_ms']:,}",
            f"{row['lag_s']:.1f}",
            str(row.get("version", "")),
            f"{row['pairs']:,}" if "pairs" in row else "",
        )
    return table


def watch(
    query: StreamingQuery,
    *,
    out: Path | None = None,
    metrics: Path | None = None,
    shows: bool = True,
    every_seconds: float = 2.0,
) -> None:
    """Follow a query until it ends: a table on stderr, and a line of JSON for each batch.

    Parameters
    ----------
    query
        Running.
    out
        The output of `stream_matches`, for versions and pairs.
    metrics
        File that gets a line for each batch.
    shows
        Whether the table is printed.
    every_seconds
        How often to look.
    """
    console = Console(stderr=True)
    seen: list[dict[str, Any]] = []
    is_over = False
    while not is_over:
        is_over = bool(query.awaitTermination(every_seconds))
        known = seen[-1]["batch"] if seen else -1
        fresh = [
            figures(_plain(progress), out, time.time())
            for progress in query.recentProgress
            if progress["batchId"] > known
        ]
        seen = (seen + fresh)[-20:]
        if fresh and metrics is not None:
            with metrics.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in fresh)
        if fresh and shows:
            console.print(as_table(seen))


def _plain(progress: Any) -> Mapping[str, Any]:  # noqa: ANN401 — Spark's class or a dict
    return progress if isinstance(progress, dict) else json.loads(progress.json)


def _seconds(timestamp: str | None, default: float) -> float:
    from nearcast.events import read_time

    return default if timestamp is None else read_time(timestamp, "timestamp")

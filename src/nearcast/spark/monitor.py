"""What is a running query doing? Its progress as tables for people, and for machines as metrics."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.table import Table

from nearcast.errors import InvalidParameterError
from nearcast.spark.costs import measured_costs
from nearcast.spark.load import Load, add_loads

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyspark.sql.streaming import StreamingQuery

    from nearcast.spark.folders import Folder
    from nearcast.spark.load import Loads
    from nearcast.spark.store import Index

COLUMNS = ("batch", "messages", "messages/s", "batch ms", "lag s", "behind", "version", "pairs")
FACTS = ("version", "partitions", "pairs", "refused", "load", "replication", "communication")
COSTS = ("replication", "communication", "balance")
_SHOWN = 20
_LINE_EVERY_S = 10.0
_BEHIND = ("maxOffsetsBehindLatest", "numFilesOutstanding")


def figures(progress: Mapping[str, Any], state: Folder | None, now: float) -> dict[str, Any]:
    """Return the figures of one batch from Spark's progress and what the batch wrote.

    `lag_s` is how long ago the batch began: what came since is not out yet. `behind` is how much
    the source has that no batch has begun with: lines of a topic, or files.
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
    told = [source.get("metrics") or {} for source in progress.get("sources", ())]
    behind = [float(one[name]) for one in told for name in _BEHIND if name in one]
    if behind:
        found["behind"] = int(sum(behind))
    if state is not None:
        with suppress(FileNotFoundError):
            facts = json.loads(state.read(f"_metrics/{number}.json"))
            found.update((name, facts[name]) for name in FACTS if name in facts)
    if "partitions" in found:
        read = found["messages"] - found.get("refused", 0)
        found.update(measured_costs(load_of([found]), found["partitions"], read))
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
            f"{row['behind']:,}" if "behind" in row else "",
            str(row.get("version", "")),
            f"{row['pairs']:,}" if "pairs" in row else "",
        )
    return table


def load_of(rows: list[dict[str, Any]]) -> Loads:
    """Return what partitions did in these batches."""
    total: Loads = {}
    for row in rows:
        loads = {int(partition): Load(*load) for partition, load in row.get("load", {}).items()}
        total = add_loads(total, loads)
    return total


def measured_loads(state: Folder, index: Index) -> list[float]:
    """Return the seconds that each partition of the newest base was busy, as batches wrote it."""
    newest = index.latest()
    rows = []
    metrics, versions = state / "_metrics", index.versions()
    for name in metrics.names():
        facts = json.loads(metrics.read(name))
        if facts["version"] in versions and index.at(facts["version"]).base == newest.base:
            rows.append(facts)
    if not rows:
        what = f"no batch of {state.address!r} used the newest base of the index"
        raise InvalidParameterError(what, wanted="the output of nearcast spark run with it")
    loads = load_of(rows)
    idle = Load(0, 0, 0.0)
    return [loads.get(partition, idle).seconds for partition in range(newest.partitions)]


def load_table(loads: Loads) -> Table:
    """Return the load of partitions as a table; `share` is that of the time."""
    table = Table("partition", "messages", "pairs", "seconds", "share")
    whole = sum(load.seconds for load in loads.values()) or 1.0
    for partition, load in sorted(loads.items()):
        share = f"{load.seconds / whole:.0%}"
        counts = (f"{load.messages:,}", f"{load.pairs:,}", f"{load.seconds:.2f}")
        table.add_row(str(partition), *counts, share)
    return table


def as_prometheus(rows: list[dict[str, Any]], totals: Mapping[str, float], loads: Loads) -> str:
    """Return metrics as Prometheus reads them from a text file: the last batch, and sums of all."""
    last = rows[-1]
    gauges: dict[str, float] = {
        "batch": last["batch"],
        "batch_messages": last["messages"],
        "messages_per_second": last["messages_per_s"],
        "batch_seconds": last["batch_ms"] / 1000,
        "lag_seconds": last["lag_s"],
        **{name: last[name] for name in ("behind", "version", *COSTS) if name in last},
    }
    lines = []
    for kind, values in (("gauge", gauges), ("counter", totals)):
        for name, value in values.items():
            lines += [f"# TYPE nearcast_{name} {kind}", f"nearcast_{name} {value:g}"]
    for field in Load._fields:
        name = f"nearcast_partition_{field}_total"
        lines.append(f"# TYPE {name} counter")
        for partition, load in sorted(loads.items()):
            lines.append(f'{name}{{partition="{partition}"}} {getattr(load, field):g}')
    return "\n".join(lines) + "\n"


class Monitor:
    """Follows a query: what it saw, and what all of it comes to.

    Parameters
    ----------
    state
        Where batches of `stream_matches` leave their facts, for versions, pairs and load.
    metrics
        File that gets a line of JSON for each batch.
    prometheus
        File that always has the newest metrics, for a collector of text files.
    """

    def __init__(
        self, state: Folder | None, metrics: Path | None = None, prometheus: Path | None = None
    ) -> None:
        self._state, self._metrics, self._prometheus = state, metrics, prometheus
        self.rows: list[dict[str, Any]] = []
        self.totals = {"messages_total": 0, "pairs_total": 0, "refused_total": 0}
        self.loads: Loads = {}

    def look(self, progress: list[Mapping[str, Any]], now: float) -> bool:
        """Take in Spark's progress; return whether there was something new."""
        known = self.rows[-1]["batch"] if self.rows else -1
        fresh = [figures(p, self._state, now) for p in progress if p["batchId"] > known]
        if not fresh:
            return False
        self.rows = (self.rows + fresh)[-_SHOWN:]
        self.loads = add_loads(self.loads, load_of(fresh))
        for name in self.totals:
            self.totals[name] += sum(row.get(name.removesuffix("_total"), 0) for row in fresh)
        if self._metrics is not None:
            with self._metrics.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in fresh)
        if self._prometheus is not None:
            _replace(self._prometheus, as_prometheus(self.rows, self.totals, self.loads))
        return True

    def line(self) -> str:
        """Return the newest batch as a line, for a log."""
        row = self.rows[-1]
        told = [
            f"batch {row['batch']}",
            f"{row['messages']:,} messages",
            f"{row['messages_per_s']:,.0f}/s",
            f"{row['batch_ms']:,} ms",
            f"lag {row['lag_s']:.1f} s",
        ]
        told += [f"{name} {row[name]:,}" for name in ("behind", "version", "pairs") if name in row]
        return ", ".join(told)

    def tables(self) -> Group:
        """Return the last batches, and the load of partitions if it is known."""
        batches = as_table(self.rows)
        told = [f"{name} {self.rows[-1][name]:.2f}" for name in COSTS if name in self.rows[-1]]
        batches.caption = ", ".join(told) or None
        return Group(batches, load_table(self.loads)) if self.loads else Group(batches)


def watch(
    query: StreamingQuery,
    *,
    state: Folder | None = None,
    metrics: Path | None = None,
    prometheus: Path | None = None,
    is_terminal: bool = True,
    every_seconds: float = 2.0,
) -> None:
    """Follow a query until it ends: how it goes to stderr, metrics to files.

    Parameters
    ----------
    query
        Running.
    state, metrics, prometheus
        As of `Monitor`.
    is_terminal
        Whether someone looks: tables are printed. Otherwise a line every ten seconds, for a log.
    every_seconds
        How often to look.
    """
    console = Console(stderr=True)
    monitor = Monitor(state, metrics, prometheus)
    is_over, is_untold, told = False, False, time.monotonic()
    while not is_over:
        is_over = bool(query.awaitTermination(every_seconds))
        is_new = monitor.look([_plain(p) for p in query.recentProgress], time.time())
        is_untold |= is_new
        if is_new and is_terminal:
            console.print(monitor.tables())
        elif is_untold and (is_over or time.monotonic() - told >= _LINE_EVERY_S):
            print(monitor.line(), file=sys.stderr, flush=True)
            is_untold, told = False, time.monotonic()


def _replace(path: Path, text: str) -> None:
    """Write a file that is whole whenever it is read."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def _plain(progress: Any) -> Mapping[str, Any]:  # noqa: ANN401 — Spark's class or a dict
    return progress if isinstance(progress, dict) else json.loads(progress.json)


def _seconds(timestamp: str | None, default: float) -> float:
    from nearcast.events import read_time

    return default if timestamp is None else read_time(timestamp, "timestamp")

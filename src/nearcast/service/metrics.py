"""What is measured, under which name? Counters and times, as Prometheus reads them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

if TYPE_CHECKING:
    from collections.abc import Callable

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_TIMES = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)


class Metrics:
    """All counters of one service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"nearcast_{name}", text, labels, registry=self.registry)

        def times(name: str, text: str, *labels: str) -> Histogram:
            name = f"nearcast_{name}"
            return Histogram(name, text, labels, buckets=_TIMES, registry=self.registry)

        self.requests = counter("http_requests", "Answers by status class.", "status")
        self.events = counter("events", "Events that happened.")
        self.rejected = counter("events_rejected", "Events that were rejected.")
        self.changes = counter("changes", "Changes of all subscribers.")
        self.commits = counter("commits", "Transactions.")
        self.failures = counter("commit_failures", "Transactions that failed.")
        self.match_seconds = times("match_seconds", "Hub.apply, a batch at a time.")
        self.commit_seconds = times("commit_seconds", "Transactions of the writer.")
        self.streamed = counter("deliveries", "Deliveries sent, by way.", "way")
        self.lag = times("delivery_seconds", "From commit to sent, by way.", "way")
        self.fallbacks = counter("slow_readers", "Streams that fell back to a cursor.")
        self.attempts = counter("webhook_attempts", "Requests to endpoints, by result.", "result")
        self.retries = counter("webhook_retries", "Requests to endpoints that were repeated.")
        self.dead = counter("webhook_dead_letters", "Deliveries that went to the dead letters.")
        self.trimmed = counter("trimmed_log_rows", "Rows of the log that were trimmed.")
        self.skipped = counter("feed_skipped", "Messages that the feed left out.")

    def gauge(self, name: str, text: str, value: Callable[[], float]) -> None:
        """Add a number that is looked up when it is asked for."""
        made = Gauge(f"nearcast_{name}", text, registry=self.registry)
        made.set_function(value)

    def text(self) -> bytes:
        """Return all of it."""
        return bytes(generate_latest(self.registry))


def resident_bytes() -> float:
    """Return how much memory the process has; 0 where that cannot be read."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError):
        return 0.0
    return float(pages * os.sysconf("SC_PAGE_SIZE"))

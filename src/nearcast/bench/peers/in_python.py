"""A dictionary of lists, as one would write it in an afternoon, and nearcast itself."""

from __future__ import annotations

import platform
from time import perf_counter
from typing import TYPE_CHECKING, cast

import numpy as np

import nearcast as nc
from nearcast.bench.measuring import measure_table
from nearcast.bench.peers.calls import answers, timed
from nearcast.bench.peers.peer import Found

if TYPE_CHECKING:
    from nearcast.bench.peers.workload import PeerWorkload


class DictionaryPeer:
    """Lists by rarest keyword in a dictionary."""

    name = "python-dict"
    what = "Python: a dictionary from the rarest keyword to a list of boxes and sets of words"

    def run(self, workload: PeerWorkload, repetitions: int) -> Found:
        """Build the lists and go through those of a message's words."""
        workload.frequencies.total()  # made before the clock starts, as for the others
        start = perf_counter()
        lists: dict[str, list[tuple[float, float, float, float, frozenset[str], int]]] = {}
        for id, keywords, box in workload.subscriptions:
            entry = (*box, frozenset(keywords), id)
            lists.setdefault(workload.rarest(keywords), []).append(entry)
        built = perf_counter() - start

        def ask(words: list[str], at: tuple[float, float]) -> list[int]:
            lon, lat = at
            had = set(words)
            return [
                id
                for word in had
                for west, south, east, north, keywords, id in lists.get(word, ())
                if west <= lon <= east and south <= lat <= north and keywords <= had
            ]

        pairs = answers(ask, workload.messages)
        times, cpu = timed(ask, workload.messages, repetitions)
        return Found(times, cpu, pairs, built, None, {"python": platform.python_version()})


class OurPeer:
    """nearcast, called with one message at a time."""

    name = "nearcast"
    what = "nearcast: `Matcher.match`, one call per message"

    def run(self, workload: PeerWorkload, repetitions: int) -> Found:
        """Build a matcher and call it."""
        matcher, built = _build(workload)

        def ask(words: list[str], at: tuple[float, float]) -> list[int]:
            return cast("list[int]", matcher.match(words, at=at))

        pairs = answers(ask, workload.messages)
        times, cpu = timed(ask, workload.messages, repetitions)
        return Found(times, cpu, pairs, built, _bytes(matcher), {"nearcast": nc.__version__})


class OurBulkPeer:
    """nearcast, called with a table."""

    name = "nearcast in bulk"
    what = "nearcast: `Matcher.match_table`, one call for all messages"

    def run(self, workload: PeerWorkload, repetitions: int) -> Found:
        """Build a matcher and match the table."""
        matcher, built = _build(workload)
        messages = workload.scenario.messages
        found = matcher.match_table(messages)
        columns = [found.column(name).to_numpy() for name in ("message", "subscription")]
        pairs = np.column_stack(columns).astype(np.int64)
        pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
        measured = [measure_table(matcher, messages) for _ in range(repetitions)]
        times = np.stack([each.nanoseconds for each in measured]).astype(np.int64)
        cpu = np.array([each.cpu_seconds for each in measured])
        version = {"nearcast": nc.__version__}
        return Found(times, cpu, pairs, built, _bytes(matcher), version)


def _build(workload: PeerWorkload) -> tuple[nc.Matcher, float]:
    matcher = nc.Matcher()
    start = perf_counter()
    matcher.subscribe_table(workload.scenario.subscriptions)
    return matcher, perf_counter() - start


def _bytes(matcher: nc.Matcher) -> float:
    stats = matcher.stats()
    return float(stats["memory_bytes"]) / max(int(stats["subscriptions"]), 1)

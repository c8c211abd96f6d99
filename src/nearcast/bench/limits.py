"""What does one index cost beside matching in bulk? Building, changing, single calls, threads.

Times are of the processor, for one thread, except where two threads share the work: there the clock
of the wall decides. Every number is the best of its repetitions; a busy machine makes them worse,
never better.
"""

from __future__ import annotations

import gc
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import perf_counter, thread_time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nearcast.bench.measuring import measure_table
from nearcast.bench.workloads.streams import Stream, random_stream
from nearcast.bench.workloads.tables import compact
from nearcast.matcher import Matcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from nearcast.bench.workloads.scenario import Scenario

SINGLE_CALLS = 2_000
CHANGES = 10_000
CHANGE_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Limits:
    """One index on one workload; the unit is part of the name."""

    index: str
    source: str
    subscriptions: int
    bytes_per_subscription: float
    build_per_second: float
    codes_us: float
    """Matching in bulk, words as codes of a dictionary."""
    strings_us: float
    """The same messages, words as strings."""
    single_core_us: float
    """Matching in bulk, words as strings, the messages of the single calls alone."""
    single_call_us: float
    """One call of `Matcher.match` per message, with a list of words."""
    two_threads: float
    """Messages per second of two threads, as a multiple of one's."""
    insert_us: float
    delete_us: float
    """In batches."""
    change_p999_us: float
    change_max_us: float
    """Inserts and deletes one by one, the Python call included."""
    churned_us: float
    """Matching in bulk after a third was replaced three times."""
    open_ms: float
    """A snapshot."""


def measure_limits(scenario: Scenario, index: str, repetitions: int) -> Limits:
    """Measure one index on one scenario."""
    matcher = Matcher(index=index)
    start = thread_time()
    matcher.subscribe_table(scenario.subscriptions)
    built = thread_time() - start
    count = scenario.subscriptions.num_rows
    stats = matcher.stats()
    codes, strings = scenario.messages, _as_strings(scenario.messages)
    few = strings.slice(0, SINGLE_CALLS)
    opened = _open_seconds(matcher, repetitions)
    bulk = {
        name: _best(repetitions, partial(_match_us, matcher, table))
        for name, table in (("codes", codes), ("strings", strings), ("few", few))
    }
    single = _best(repetitions, lambda: _single_us(matcher, few))
    threads = _two_threads(matcher, codes, repetitions)
    ones = _change_one_by_one(matcher, scenario)
    inserts, deletes = _change_in_batches(matcher, scenario)
    churn(matcher, scenario)
    return Limits(
        index=index,
        source=scenario.source.name,
        subscriptions=count,
        bytes_per_subscription=round(stats["memory_bytes"] / count, 2),
        build_per_second=round(count / built),
        codes_us=round(bulk["codes"], 4),
        strings_us=round(bulk["strings"], 4),
        single_core_us=round(bulk["few"], 4),
        single_call_us=round(single, 4),
        two_threads=round(threads, 3),
        insert_us=round(inserts, 4),
        delete_us=round(deletes, 4),
        change_p999_us=round(float(np.percentile(ones, 99.9)) * 1e6, 1),
        change_max_us=round(float(ones.max()) * 1e6, 1),
        churned_us=round(_best(repetitions, lambda: _match_us(matcher, codes)), 4),
        open_ms=round(opened * 1e3, 2),
    )


def as_json(limits: Limits) -> dict[str, object]:
    """Return the numbers under their names."""
    return asdict(limits)


def _best(repetitions: int, measure: Callable[[], float]) -> float:
    return min(measure() for _ in range(repetitions))


def _match_us(matcher: Matcher, messages: pa.Table) -> float:
    return measure_table(matcher, messages).cpu_seconds * 1e6 / int(messages.num_rows)


def _as_strings(messages: pa.Table) -> pa.Table:
    words = messages.column("tokens").cast(pa.list_(pa.string()))
    place = messages.schema.get_field_index("tokens")
    return messages.set_column(place, "tokens", words).combine_chunks()


def _single_us(matcher: Matcher, messages: pa.Table) -> float:
    words = messages.column("tokens").to_pylist()
    points = zip(*(messages.column(name).to_pylist() for name in ("lon", "lat")), strict=True)
    calls = list(zip(words, points, strict=True))
    start = thread_time()
    for tokens, at in calls:
        matcher.match(tokens, at=at)
    return (thread_time() - start) * 1e6 / len(calls)


def _two_threads(matcher: Matcher, messages: pa.Table, repetitions: int) -> float:
    """Return how much faster two threads match twice the messages than one matches them once."""
    with ThreadPoolExecutor(2) as pool:

        def seconds(threads: int) -> float:
            start = perf_counter()
            list(pool.map(matcher.match_table, [messages] * threads))
            return perf_counter() - start

        one = _best(repetitions, lambda: seconds(1))
        two = _best(repetitions, lambda: seconds(2))
    return 2 * one / two


def _open_seconds(matcher: Matcher, repetitions: int) -> float:
    def seconds() -> float:
        start = perf_counter()
        Matcher.open(path, verify=False)
        return perf_counter() - start

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "subscriptions.nearcast"
        matcher.save(path)
        return _best(repetitions, seconds)


def _change_one_by_one(matcher: Matcher, scenario: Scenario) -> np.ndarray:
    """Insert and delete new subscriptions, a call each; return the seconds of every call."""
    count = min(CHANGES, scenario.subscriptions.num_rows)
    new = scenario.source.subscriptions(count, first=scenario.subscriptions.num_rows)
    boxes = zip(
        *(new.column(n).to_pylist() for n in ("west", "south", "east", "north")), strict=True
    )
    rows = zip(new.column("id").to_pylist(), new.column("keywords").to_pylist(), boxes, strict=True)
    subscribed, ids, seconds = list(rows), new.column("id").to_pylist(), []
    gc.disable()  # its pauses come from the lists of this benchmark
    for id, keywords, box in subscribed:
        start = thread_time()
        matcher.subscribe(id, keywords=keywords, area=box)
        seconds.append(thread_time() - start)
    for id in ids:
        start = thread_time()
        matcher.unsubscribe(id)
        seconds.append(thread_time() - start)
    gc.enable()
    return np.array(seconds)


def _change_in_batches(matcher: Matcher, scenario: Scenario) -> tuple[float, float]:
    """Return microseconds per insert and per delete."""
    count = min(CHANGES, scenario.subscriptions.num_rows)
    new = scenario.source.subscriptions(count, first=scenario.subscriptions.num_rows)
    batches = [
        compact(new.slice(i, CHANGE_BATCH), "keywords") for i in range(0, count, CHANGE_BATCH)
    ]
    start = thread_time()
    for batch in batches:
        matcher.subscribe_table(batch)
    inserted = thread_time()
    for batch in batches:
        matcher.unsubscribe_table(batch.column("id"))
    deleted = thread_time()
    return (inserted - start) * 1e6 / count, (deleted - inserted) * 1e6 / count


def churn(matcher: Matcher, scenario: Scenario) -> None:
    """Replace every third subscription three times; what is held in the end is what was built."""
    held = scenario.subscriptions
    rng = random_stream(scenario.source.seed, Stream.HARNESS, 2)
    for _ in range(3):
        rows = rng.permutation(np.arange(0, held.num_rows, 3))
        # Smaller than what stays: a batch as large as the rest would be built anew.
        for part in np.array_split(rows, max(1, len(rows) // CHANGES)):
            replaced = compact(held.take(pa.array(part)), "keywords")
            matcher.unsubscribe_table(replaced.column("id"))
            matcher.subscribe_table(replaced)

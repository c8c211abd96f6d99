"""Top lists over a window of time, in a hub: as many messages expire at an event as have to."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from nearcast.bench.checks import WrongAnswerError
from nearcast.bench.measuring import measure_events
from nearcast.bench.paper.experiment import Timed
from nearcast.bench.paper.kinds.study import along
from nearcast.bench.paper.outcome import values_of
from nearcast.bench.ranking import count_documents
from nearcast.bench.topk import kinds_of, read_contender
from nearcast.bench.workloads.groups import Group
from nearcast.bench.workloads.streams import Stream, random_stream
from nearcast.events import Publish, Subscribe
from nearcast.expressions import Word
from nearcast.hub import Hub
from nearcast.model import Window
from nearcast.records import core_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from nearcast.bench.paper.experiment import Study
    from nearcast.bench.paper.kinds.study import Facts, Found, Lab, Numbers, Steps
    from nearcast.records import Record

BRUTE_FORCE = "brute-force+naive"
CHECKED = 100


def run_timed(study: Study, lab: Lab) -> Found:
    """Measure a study of windows of time."""

    def measure(
        setup: Timed, names: Sequence[str], steps: Steps
    ) -> tuple[Mapping[str, Numbers], Facts]:
        load = _Load(setup, lab)
        facts = {"source": load.source, **asdict(setup), "checked_lists": load.checked}
        return _measure(names, load, lab, steps), facts

    return along(study, lab, Timed, measure)


class _Load:
    """Events of one workload: seconds between messages are drawn, one on average."""

    def __init__(self, setup: Timed, lab: Lab) -> None:
        source = lab.shelf.source(setup.data)
        count = setup.window + lab.scale.messages
        rng = random_stream(source.seed, Stream.HARNESS, 5)
        times = np.cumsum(rng.exponential(1.0, count))
        self.source, self.seconds = source.name, float(setup.window)
        messages = source.messages(count, Group())
        self.weights = count_documents(messages)
        records = [*_publishes(messages, times)]
        self.window, self.messages = records[: setup.window], records[setup.window :]
        wanted = source.subscriptions(setup.subscriptions)
        alpha = rng.random(setup.subscriptions)
        start = float(times[setup.window - 1])
        self.subscriptions = [*_subscribes(wanted, alpha, setup.k, start)]
        apart = -(-setup.subscriptions // CHECKED)
        self.ids = [f"s{n}" for n in range(0, setup.subscriptions, apart)]
        self.checked = len(self.ids)


def _measure(names: Sequence[str], load: _Load, lab: Lab, steps: Steps) -> dict[str, Numbers]:
    hubs = {}
    for name in names:
        steps.step(f"fill {name}")
        hubs[name] = _filled(name, load)
    segments = np.array_split(np.arange(len(load.messages)), lab.scale.repetitions)
    times: dict[str, list[float]] = {name: [] for name in names}
    for turn, rows in enumerate(segments):
        records = [load.messages[row] for row in rows]
        for name in np.roll([*names], -turn).tolist():
            steps.step(f"segment {turn + 1} of {name}")
            _, _, seconds = measure_events(hubs[name], records)
            times[name].append(seconds * 1e6 / max(len(records), 1))
    _check(hubs, load)
    return {name: {"event_us": values_of(times[name])} for name in names}


def _filled(name: str, load: _Load) -> Hub:
    spec = read_contender(name)
    arrival, expiry = kinds_of(spec)
    hub = Hub(window=Window(seconds=load.seconds), topk=arrival, expiry=expiry)
    hub.set_weights(load.weights)
    for records in (load.window, load.subscriptions):
        measure_events(hub, records)
    return hub


def _check(hubs: dict[str, Hub], load: _Load) -> None:
    """Compare lists with those of a hub that knows only some subscriptions, by brute force."""
    spec = read_contender(BRUTE_FORCE)
    arrival, expiry = kinds_of(spec)
    oracle = Hub(window=Window(seconds=load.seconds), topk=arrival, expiry=expiry)
    oracle.set_weights(load.weights)
    some = [load.subscriptions[int(id[1:])] for id in load.ids]
    for records in (load.window, some, load.messages):
        measure_events(oracle, records)
    for name, hub in hubs.items():
        for id in load.ids:
            got, wanted = hub.results(id), oracle.results(id)
            if [message for message, _ in got] != [message for message, _ in wanted]:
                what = f"{name} gives a wrong list for subscription {id}"
                raise WrongAnswerError(what, got=got[:5], wanted=str(wanted[:5]))


def _publishes(table: pa.Table, times: NDArray[np.float64]) -> Iterator[Record]:
    columns = [table.column(name).to_pylist() for name in ("tokens", "lon", "lat")]
    for number, (words, lon, lat, time) in enumerate(zip(*columns, times.tolist(), strict=True)):
        yield core_record(
            Publish(id=f"m{number}", text=" ".join(words), place=(lon, lat), time=time)
        )


def _subscribes(
    table: pa.Table, alpha: NDArray[np.float64], k: int, time: float
) -> Iterator[Record]:
    names = ("keywords", "west", "south", "east", "north")
    columns = [table.column(name).to_pylist() for name in names]
    rows = zip(*columns, alpha.tolist(), strict=True)
    for number, (words, west, south, east, north, share) in enumerate(rows):
        at = ((west + east) / 2, (south + north) / 2)
        yield core_record(
            Subscribe(f"s{number}", "top", Word(tuple(words)), at=at, k=k, alpha=share, time=time)
        )

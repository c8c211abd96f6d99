"""A standalone cluster on which everything dies: nothing is missing, nothing is there twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from spark import cluster_driver
from spark.clusters import (
    HERE,
    QUICK_JAVA,
    descendants,
    is_alive,
    kill,
    kill_tree,
    running_cluster,
    until,
)
from spark.conftest import missing
from spark.hub_logs import SIZE, by_hub, mixed_plan, random_lines, refused, written
from spark.tables import (
    build_here,
    publish_lines,
    some_messages,
    some_subscriptions,
    subscribe_lines,
)

import nearcast as nc
from nearcast.spark.deltas import append_delta

pytestmark = [pytest.mark.slow, pytest.mark.spark]

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": QUICK_JAVA,
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.executor.extraJavaOptions": QUICK_JAVA,
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",  # compiles longer than it runs here
    "spark.sql.codegen.wholeStage": "false",
    "spark.ui.showConsoleProgress": "false",
}
MESSAGES = 25


class Streams:
    """Matches and hubs in a folder, and for each a hub of this process that is told the same."""

    def __init__(self, folder) -> None:
        self.folder = folder
        table = some_subscriptions(500)
        sample = some_messages(200, first=5_000).drop_columns(["id"])
        plan = {"mechanism": "prefix", "partitions": 2, "sample": sample}
        self._index, _ = build_here(folder / "index", table, **plan)
        self._ids = table.column("id").to_pylist()
        self._hubs = {"match": nc.Hub(), "hubs": nc.Hub(window=cluster_driver.WINDOW)}
        self._hubs["match"].apply(subscribe_lines(table))
        self._events = random_lines(4, 20 * SIZE)
        own = mixed_plan("prefix-location", 4, self._events)
        (folder / "plan").write_bytes(own.to_buffer().to_pybytes())
        self.batches = 0
        self.wanted: dict[str, list[Any]] = {"match": [], "hubs": []}
        self.rejected: list[Any] = []
        for name in ("messages", "events", "gates", "arriving"):
            (folder / name).mkdir()

    def arrive(self, match=None, hubs=None):
        """Let a file arrive in each stream; wait until both stand at gates, or are done.

        Then subscriptions change, which the next batch sees and this one never, however often it
        is tried. Returns who stands at the gates.
        """
        gates = [f"match_{match}" if match else None, f"hubs_{hubs}" if hubs else None]
        held = []
        for gate, arrives in zip(gates, (self._messages_arrive, self._events_arrive), strict=True):
            if gate:
                (self.folder / "gates" / gate).touch()
            arrives()
            held += [self._at(gate)] if gate else []
        self.batches += 1
        if not held:
            self.wait()
        self._change()
        return held

    def wait(self) -> None:
        """Open the gates and wait for the newest batch of both streams."""
        for gate in (self.folder / "gates").iterdir():
            gate.unlink()
        for name in self.wanted:
            folder = self.folder / name / f"batch={self.batches - 1}"
            until(folder.is_dir, f"{folder.name} of {name} did not come")

    def found(self, name):
        """Return what a stream has put out, batch by batch."""
        read = _pairs if name == "match" else written
        count = len(list((self.folder / name).glob("batch=*")))
        return [read(self.folder / name / f"batch={number}") for number in range(count)]

    def _messages_arrive(self) -> None:
        lines = publish_lines(some_messages(MESSAGES, first=self.batches * MESSAGES))
        pairs = self._hubs["match"].apply(lines).to_pylist()
        self.wanted["match"].append(sorted((p["message"], p["subscription"]) for p in pairs))
        self._put("messages", [*lines, f"nonsense {self.batches}"])

    def _events_arrive(self) -> None:
        lines = self._events[self.batches * SIZE :][:SIZE]
        changes, rejected = by_hub(self._hubs["hubs"], lines)
        self.wanted["hubs"].append(changes)
        self.rejected.append(rejected)
        self._put("events", lines)

    def _put(self, name, lines) -> None:
        hidden = self.folder / "arriving" / name
        hidden.write_text("\n".join(lines) + "\n")
        hidden.rename(self.folder / name / f"{self.batches:02}.ndjson")

    def _at(self, gate):
        inside = self.folder / "gates"
        (found,) = until(lambda: list(inside.glob(f"{gate}-*")), f"nobody came to {gate}")
        return int(found.name.rpartition("-")[2])

    def _change(self) -> None:
        number = self.batches
        events = [
            {"op": "subscribe", "id": f"n{number}", "keywords": "w0 OR w1"},
            {"op": "unsubscribe", "id": self._ids[number]},
            {"op": "move", "id": self._ids[-number], "area": [-180, -90, 180, 90]},
        ]
        append_delta(self._index, events)
        self._hubs["match"].apply(map(json.dumps, events))


def _rows(folder):
    return ds.dataset(folder, format="parquet", partitioning=None).to_table().to_pylist()


def _pairs(folder):
    return sorted((row["message"], row["subscription"]) for row in _rows(folder))


@contextmanager
def running_driver(url, folder):
    """Start the driver of both streams; kill it in the end, and its Java."""
    settings = " ".join(f"--conf '{name}={value}'" for name, value in SETTINGS.items())
    environment = {**os.environ, **HERE, "PYSPARK_SUBMIT_ARGS": f"{settings} pyspark-shell"}
    command = [sys.executable, str(Path(cluster_driver.__file__)), url, str(folder)]
    with (folder / "driver.log").open("a") as log:
        driver = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    try:
        yield driver
    except TimeoutError as error:
        msg = f"{error}; the driver says\n{(folder / 'driver.log').read_text()[-3000:]}"
        raise TimeoutError(msg) from error
    finally:
        kill_tree(driver.pid)
        driver.wait()


@pytest.mark.skipif(bool(missing()), reason=str(missing()))
def test_whatever_dies_each_pair_and_each_change_is_there_once(tmp_path) -> None:
    streams = Streams(tmp_path)
    with running_cluster(tmp_path) as cluster:
        with running_driver(cluster.url, tmp_path) as driver:
            streams.arrive()
            _kill_a_python_worker(streams)
            _kill_an_executor(streams, cluster)
            _kill_the_driver(streams, driver)
        with running_driver(cluster.url, tmp_path):
            streams.wait()
            _kill_a_worker(streams, cluster)
            streams.arrive()
    for name, wanted in streams.wanted.items():
        assert streams.found(name) == wanted
        assert all(wanted), "a batch without output shows nothing"
    batches = range(streams.batches)
    assert [refused(tmp_path / "hubs", number) for number in batches] == streams.rejected
    set_aside = [_rows(tmp_path / "match" / "_refused" / f"batch={number}") for number in batches]
    assert [row["value"] for rows in set_aside for row in rows] == [
        f"nonsense {n}" for n in batches
    ]


def _kill_a_python_worker(streams) -> None:
    """In the middle of a task of matches, which has found some of its pairs."""
    (pid,) = streams.arrive(match="task")
    kill(pid)
    streams.wait()


def _kill_an_executor(streams, cluster) -> None:
    """In the middle of a task of hubs: the hubs that it has are gone."""
    (pid,) = streams.arrive(hubs="task")
    executor, _ = cluster.executor_and_worker(pid)
    kill(executor)
    streams.wait()


def _kill_the_driver(streams, driver) -> None:
    """While matches are in a task, and changes are written but Spark does not know it.

    Only Python is killed: its Java ends by itself, and lets go of the executors.
    """
    assert streams.arrive(match="task", hubs="output")[1] == driver.pid
    started = descendants([driver.pid])
    try:
        kill(driver.pid)
        until(lambda: not any(map(is_alive, started)), "Java outlives its driver")
    finally:
        for pid in started:
            kill(pid)


def _kill_a_worker(streams, cluster) -> None:
    """With its executor, as if the machine went off, when each executor is in a task."""
    pid, _ = streams.arrive(match="task", hubs="task")
    _, worker = cluster.executor_and_worker(pid)
    kill_tree(worker)
    streams.wait()

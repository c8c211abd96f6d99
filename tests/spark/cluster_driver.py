"""The driver that the test of a cluster kills: matches and hubs, two streams in one session.

Where the test shuts a gate the streams stop, so that it kills what is at work and nothing else.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from nearcast.cli.spark_runs import make_session
from nearcast.model import Window
from nearcast.partition import Plan
from nearcast.spark import matching
from nearcast.spark.sinks import FolderSink
from nearcast.spark.stateful import stream
from nearcast.spark.stateful.pipeline import Pipeline
from nearcast.spark.streaming import stream_matches

if TYPE_CHECKING:
    from collections.abc import Callable

WINDOW = Window(count=7)


def wait_at(gate) -> None:
    """Wait while a gate is shut: the first process waits, those after it go through."""
    held = gate.with_name(f"{gate.name}-{os.getpid()}")
    try:
        gate.rename(held)
    except FileNotFoundError:
        return
    while held.exists():
        time.sleep(0.01)


def slow_matches(gate, match_routed):
    """Return a step of workers that stops when its first pairs are on their way."""

    def step(*arguments):
        for pairs in match_routed(*arguments):
            yield pairs
            wait_at(gate)

    return step


def slow(gate, call):
    """Return a call that stops when it is done, before the caller knows."""

    def step(*arguments):
        answer = call(*arguments)
        wait_at(gate)
        return answer

    return step


def slow_tasks(gate, on_spark):
    """Return what runs tasks that stop when they are done, before the driver knows."""

    def tasks(spark):
        run = on_spark(spark)
        return lambda function, count: run(slow(gate, function), count)

    return tasks


def replace(owner: object, name: str, slowed: Callable[..., object], gate: Path) -> None:
    """Put a gate behind a function of a module or a class."""
    setattr(owner, name, slowed(gate, getattr(owner, name)))


def set_gates(folder) -> None:
    """Make workers stop in the middle of a task, and the driver between output and commit."""
    replace(matching, "match_routed", slow_matches, folder / "match_task")
    replace(stream, "on_spark", slow_tasks, folder / "hubs_task")
    replace(FolderSink, "put", slow, folder / "match_output")
    replace(Pipeline, "_publish", slow, folder / "hubs_output")


def main(master, folder) -> None:
    set_gates(folder / "gates")
    spark = make_session(master)

    def lines(name):
        return spark.readStream.option("maxFilesPerTrigger", 1).text(str(folder / name))

    stream_matches(
        lines("messages"),
        folder / "index",
        folder / "match",
        checkpoint=folder / "checkpoint" / "match",
        trigger_seconds=0.3,
    )
    stream.stream_changes(
        lines("events"),
        Pipeline(folder / "hubs", Plan.from_buffer((folder / "plan").read_bytes()), window=WINDOW),
        checkpoint=folder / "checkpoint" / "hubs",
        trigger_seconds=0.3,
    )
    spark.streams.awaitAnyTermination()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

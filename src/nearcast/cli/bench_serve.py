"""`nearcast bench serve`: what does the service cost beside its hub, over loopback?"""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nearcast.bench.provenance import find_provenance
from nearcast.cli.option_types import above_zero, at_least_one

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from nearcast.bench.serving.processes import Process
    from nearcast.bench.serving.workload import Workload

PARTS = ("publish", "bulk", "streams", "webhooks", "start")


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `serve`."""
    parser = commands.add_parser(
        "serve",
        help="publications and deliveries per second of the service, beside its hub",
        description="Start `nearcast serve`, fill it, and load it over loopback; measure a POST "
        "that does nothing and a bare hub in the same run. Writes the numbers as JSON.",
    )
    add = parser.add_argument
    add("--subscriptions", type=at_least_one, default=100_000, metavar="N")
    add(
        "--owners",
        type=at_least_one,
        default=1_000,
        metavar="N",
        help="subscribers, one SSE client each",
    )
    add("--messages", type=at_least_one, default=20_000, metavar="N", help="of each measurement")
    add(
        "--rate",
        type=at_least_one,
        default=1_000,
        metavar="N",
        help="messages a second while streaming",
    )
    add("--seconds", type=above_zero, default=10.0, metavar="S", help="of streaming")
    add("--database", metavar="URL", help="an empty one (default: a new SQLite file)")
    told = "where the SQLite file is kept; one that is there is filled up"
    add("--folder", metavar="DIR", help=told)
    add("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    add("--out", metavar="FILE", help="where to write the numbers (stdout)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measure."""
    from nearcast.bench.serving.processes import noop_server, server
    from nearcast.bench.serving.workload import Workload

    workload = Workload(args.subscriptions, args.owners)
    found: dict[str, Any] = {}
    with _folder(args.folder) as folder:
        database = args.database or f"sqlite:///{folder}/bench.db"
        settings: dict[str, object] = {"webhooks__allow": ["127.0.0.0/8"]}
        settings["limits__streams"] = 100_000
        settings["webhooks__timeout_seconds"] = 2.0
        with server(folder, database, **settings) as process, noop_server(folder) as noop:
            _measure(args, workload, process, noop, found)
        if {"start", "streams"} & set(args.parts):
            with server(folder, database, **settings) as process:
                _measure_again(args, workload, process, found)
    facts = {**asdict(workload), "database": database.partition(":")[0]}
    result = {
        "format": 1,
        "command": "serve",
        "provenance": asdict(find_provenance()),
        "runs": [{"workload": facts, "results": found}],
    }
    text = json.dumps(result, indent=1)
    if args.out:
        Path(args.out).write_text(text + "\n", encoding="utf-8")
    else:
        print(text)
    return 0


@contextmanager
def _folder(kept: str | None) -> Iterator[Path]:
    """Give a folder that stays, or one that goes when it is over."""
    if kept is not None:
        Path(kept).mkdir(parents=True, exist_ok=True)
        yield Path(kept).absolute()
        return
    with tempfile.TemporaryDirectory(prefix="nearcast-bench-") as name:
        yield Path(name)


def _size(process: Process) -> dict[str, float]:
    return {"resident_bytes": float(process.resident_bytes())}


def _measure_again(
    args: argparse.Namespace, workload: Workload, process: Process, found: dict[str, Any]
) -> None:
    """Measure what wants a process that has done nothing yet."""
    from nearcast.bench.serving import measures

    found["start"] = {"seconds": process.start_s, **_size(process)}
    _say("start", found["start"])
    if "streams" in args.parts:
        found["streams"] = measures.streams(process, workload, args.rate, args.seconds)
        _say("streams", found["streams"])


def _say(name: str, numbers: object) -> None:
    print(f"{name}: {json.dumps(numbers)}", file=sys.stderr)


def _measure(
    args: argparse.Namespace,
    workload: Workload,
    process: Process,
    noop: Process,
    found: dict[str, Any],
) -> None:
    from nearcast.bench.serving import measures

    def note(name: str, numbers: dict[str, float]) -> None:
        found[name] = numbers
        _say(name, numbers)

    count = args.messages
    note("fill", measures.fill(process, workload))
    if "publish" in args.parts:
        for connections in (64, 256):
            for name, numbers in measures.in_turns(noop, process, workload, count, connections):
                note(f"{name}-{connections}", numbers)
    if "bulk" in args.parts:
        for name, numbers in measures.beside_a_hub(process, workload, 2 * count):
            note(name, numbers)
    if "webhooks" in args.parts:
        endpoints = min(100, workload.owners)
        for dead in (0, endpoints // 10):
            numbers = measures.webhooks(process, workload, endpoints, dead, count)
            note(f"webhooks-{dead}-dead", numbers)

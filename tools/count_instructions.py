"""Counts the instructions that one message takes: matching, a hub's publish, a step of top lists.

Runs itself under callgrind (valgrind has to be installed), each task once with few and once with
many passes; the difference belongs to the messages alone, whatever else the process does. A task
that takes few instructions makes many passes: what Python does beside it, and not the same in each
process, must be small against them. Instructions do not depend on how busy the machine is, so two
versions of the project can be compared: build both with `make build ASSERTIONS=OFF` and run this
with the Python of each. `--repeat 3` shows how far the figures of one version lie apart.

    python tools/count_instructions.py match churned publish top --subscriptions 20000
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from nearcast.bench.workloads.scenario import Scenario

FEW = 2
MANY = {"match": 202, "churned": 202, "publish": 12, "top": 5}
MESSAGES = 2_000


def main() -> int:
    """Print instructions per message of each task."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="+", choices=sorted(TASKS))
    parser.add_argument("--preset", default="tweets")
    parser.add_argument("--subscriptions", type=int, default=20_000)
    parser.add_argument("--index", default="auto")
    parser.add_argument("--repeat", type=int, default=1, help="times that each task is counted")
    parser.add_argument("--passes", type=int, default=0, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.passes:
        gc.disable()  # when it runs depends on all that was allocated before
        TASKS[args.tasks[0]](_scenario(args), args)
        return 0
    for task in args.tasks * args.repeat:
        few, many = (_instructions(task, args, passes) for passes in (FEW, MANY[task]))
        print(f"{task:10} {(many - few) / ((MANY[task] - FEW) * MESSAGES):12,.0f}", flush=True)
    return 0


# ---- the process that is measured: it alone imports nearcast --------------------------------


def _scenario(args: argparse.Namespace) -> Scenario:
    from nearcast.bench.workloads.groups import find_group
    from nearcast.bench.workloads.presets import find_preset
    from nearcast.bench.workloads.scenario import PresetSource, make_scenario

    source = PresetSource(find_preset(args.preset), 1)
    return make_scenario(source, find_group("short-point"), args.subscriptions, MESSAGES)


def _match(scenario: Scenario, args: argparse.Namespace, *, is_churned: bool = False) -> None:
    from nearcast.bench.limits import churn
    from nearcast.matcher import Matcher

    matcher = Matcher(index=args.index)
    matcher.subscribe_table(scenario.subscriptions)
    if is_churned:
        churn(matcher, scenario)
    for _ in range(args.passes):
        matcher.match_table(scenario.messages)


def _match_churned(scenario: Scenario, args: argparse.Namespace) -> None:
    _match(scenario, args, is_churned=True)


def _publish(scenario: Scenario, args: argparse.Namespace) -> None:
    from nearcast.hub import Hub

    hub = Hub(index=args.index)
    hub.apply(
        {
            "op": "subscribe",
            "id": f"s{number}",
            "keywords": row["keywords"],
            "area": [row["west"], row["south"], row["east"], row["north"]],
        }
        for number, row in enumerate(scenario.subscriptions.to_pylist())
    )
    messages = _messages(scenario)
    for _ in range(args.passes):
        hub.apply(messages)


def _top(scenario: Scenario, args: argparse.Namespace) -> None:
    from nearcast.hub import Hub
    from nearcast.model import Window

    hub = Hub(index=args.index, window=Window(count=MESSAGES // 2))
    hub.apply(
        {
            "op": "subscribe",
            "id": f"s{number}",
            "mode": "top",
            "k": 10,
            "alpha": 0.5,
            "keywords": row["keywords"],
            "at": [row["west"], row["south"]],
        }
        for number, row in enumerate(scenario.subscriptions.to_pylist())
    )
    messages = _messages(scenario)
    for number in range(args.passes + 1):  # the first fills the window
        for message in messages:
            message["id"] = f"{number}-{message['at']}"
        hub.apply(messages)


def _messages(scenario: Scenario) -> list[dict[str, object]]:
    return [
        {
            "op": "publish",
            "id": f"m{number}",
            "text": " ".join(row["tokens"]),
            "at": [row["lon"], row["lat"]],
        }
        for number, row in enumerate(scenario.messages.to_pylist())
    ]


TASKS: dict[str, Callable[[Scenario, argparse.Namespace], None]] = {
    "match": _match,
    "churned": _match_churned,
    "publish": _publish,
    "top": _top,
}


# ---- the process that measures --------------------------------------------------------------


def _instructions(task: str, args: argparse.Namespace, passes: int) -> int:
    callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    own = [sys.executable, __file__, task, "--preset", args.preset, "--index", args.index]
    own += ["--subscriptions", str(args.subscriptions), "--passes", str(passes)]
    done = subprocess.run(
        [*callgrind, *own],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    (collected,) = re.findall(r"Collected : (\d+)", done.stderr)
    return int(collected)


if __name__ == "__main__":
    sys.exit(main())

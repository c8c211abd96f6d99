"""Counts the instructions that matching executes, before and after subscriptions were replaced.

Runs itself under callgrind (valgrind has to be installed), each state once with few and once with
many passes over the same messages; the difference belongs to matching alone, whatever else the
process does. Instructions do not depend on how busy the machine is.

    python tools/measure_churn.py --preset tweets --subscriptions 100000
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys

FEW, MANY = 1, 5
MESSAGES = 5_000


def main() -> int:
    """Print instructions per message, fresh and churned, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", default="tweets")
    parser.add_argument("--subscriptions", type=int, default=100_000)
    parser.add_argument("--index", default="auto")
    parser.add_argument("--state", choices=("fresh", "churned"), help=argparse.SUPPRESS)
    parser.add_argument("--passes", type=int, default=FEW, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.state:
        _match(args)
        return 0
    counts = {state: _instructions_per_message(state) for state in ("fresh", "churned")}
    ratio = counts["churned"] / counts["fresh"]
    print(f"fresh {counts['fresh']:,.0f}  churned {counts['churned']:,.0f}  ratio {ratio:.3f}")
    return 0


def _match(args: argparse.Namespace) -> None:
    from nearcast.bench.limits import churn  # here: only the measured process needs them
    from nearcast.bench.workloads.groups import find_group
    from nearcast.bench.workloads.presets import find_preset
    from nearcast.bench.workloads.scenario import PresetSource, make_scenario
    from nearcast.matcher import Matcher

    source = PresetSource(find_preset(args.preset), 1)
    scenario = make_scenario(source, find_group("short-point"), args.subscriptions, MESSAGES)
    matcher = Matcher(index=args.index)
    matcher.subscribe_table(scenario.subscriptions)
    if args.state == "churned":
        churn(matcher, scenario)
    for _ in range(args.passes):
        matcher.match_table(scenario.messages)


def _instructions_per_message(state: str) -> float:
    few, many = (_instructions(state, passes) for passes in (FEW, MANY))
    return (many - few) / ((MANY - FEW) * MESSAGES)


def _instructions(state: str, passes: int) -> int:
    callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    own = [sys.executable, *sys.argv, "--state", state, "--passes", str(passes)]
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

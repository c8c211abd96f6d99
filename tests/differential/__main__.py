"""Long runs: ``python -m differential --seconds 600``, in the folder of the tests.

Cases are taken in a child process that names each before it takes it, so that one that dies is
known and the run goes on. What fails is made small and written to a file.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from differential.cases import Case, Difference, rows_in, written
from differential.drivers import DRIVERS
from differential.shrinking import TESTS, fails_in_a_process, shrink

import nearcast as nc

KINDS = 3  # of the others, per case, besides our own
CASES = 40  # of one child


def main() -> int:
    """Run; 1 if anything failed."""
    warnings.simplefilter("ignore", nc.KeepsNothingWarning)  # cases are with and without a window
    arguments = argparse.ArgumentParser(prog="differential", description=__doc__)
    arguments.add_argument("--seconds", type=float, default=600)
    arguments.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    arguments.add_argument("--driver", choices=DRIVERS, action="append")
    arguments.add_argument("--shrinking", type=float, default=300, help="seconds per failure")
    arguments.add_argument("--case", type=Path, help="take one case from a file")
    arguments.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.case is not None:
        return _take_file(given.case)
    if given.child:
        return _take_some(given.seed, given.driver or list(DRIVERS))
    return _watch(given)


def _watch(given: argparse.Namespace) -> int:
    started = time.monotonic()
    seed, failures = given.seed, 0
    total = {"cases": 0, "rows": 0, "answers": 0}
    while time.monotonic() - started < given.seconds:
        drivers = [f"--driver={name}" for name in given.driver or ()]
        command = [sys.executable, "-m", "differential", "--child", f"--seed={seed}", *drivers]
        child = subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE, text=True)
        current: dict[str, Any] | None = None
        assert child.stdout is not None
        for line in child.stdout:
            told = json.loads(line)
            if "driver" in told:
                current = told
                continue
            current = None
            for name in total:
                total[name] += told[name]
            seconds = time.monotonic() - started
            counts = ", ".join(f"{number:,} {name}" for name, number in total.items())
            print(f"\r{seconds:6.0f} s  {counts}, {failures} failed", end="", flush=True)
            if seconds > given.seconds:
                child.terminate()
                break
        if child.wait() != 0 and current is not None:
            failures += 1
            _report(current, given.shrinking)
        seed += CASES
    print(f"\nseed {given.seed}: {failures} failed")
    return 1 if failures else 0


def _report(current: dict[str, Any], seconds: float) -> None:
    case = {**DRIVERS[current["driver"]].make(current["profile"], current["seed"])}
    case |= {"use": current["driver"], "variant": current["variant"]}
    print(f"\nfailed: {current}; making it smaller", flush=True)
    least = shrink(case, fails_in_a_process, seconds)
    path = Path(f"differential-{current['driver']}-{current['seed']}.json")
    path.write_text(json.dumps(least))
    print(f"{rows_in(least)} rows in {path}, again by --case {path}:\n{written(least)[:4000]}")


def _take_some(seed: int, drivers: list[str]) -> int:
    """Take cases from this seed on; say which before, and how large they were after."""
    for number in range(seed, seed + CASES):
        rng = random.Random(number)
        driver = rng.choice(drivers)
        use = DRIVERS[driver]
        profile = rng.choice(use.profiles)
        own, *others = use.variants(profile)
        chosen = [own, *rng.sample(others, min(KINDS, len(others)))]
        label = {"driver": driver, "profile": profile, "seed": number}
        print(json.dumps({**label, "variant": own}), flush=True)
        case = use.make(profile, number)
        expected = use.expect(case)
        for variant in chosen:
            print(json.dumps({**label, "variant": variant}), flush=True)
            try:
                use.run(case, expected, variant)
            except Difference as wrong:
                print(wrong, file=sys.stderr)
                return 1
        counted = {
            "cases": len(chosen),
            "rows": rows_in(case) * len(chosen),
            "answers": use.size(expected) * len(chosen),
        }
        print(json.dumps(counted), flush=True)
    return 0


def _take_file(path: Path) -> int:
    case: Case = json.loads(path.read_text())
    use = DRIVERS[case["use"]]
    try:
        use.run(case, use.expect(case), case["variant"])
    except Difference as wrong:
        print(wrong)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

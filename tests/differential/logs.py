"""Whole logs through ``nearcast replay``, compared with the oracle line by line.

``python -m differential.logs --seconds 600``, in the folder of the tests, makes long random logs
of all modes and operations, bad lines included, writes them to files, replays each with several
kinds in processes of their own, and compares every change that comes out with those of the oracle
(for short logs) or of the fast reference. Nothing but the command line of nearcast is used.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from contract.changes import rows
from differential.hub_cases import HUB_PROFILES, hub_case
from differential.reference import FastHub
from oracle import Oracle, OracleRejects
from oracle.hub import parse

import nearcast as nc

Json = dict[str, Any]
KINDS = 3  # of the others, per log, besides auto
_SHORT = 150  # events that the oracle itself takes


def main() -> int:
    """Compare logs until the time is over; 1 if any differed."""
    arguments = argparse.ArgumentParser(prog="differential.logs", description=__doc__)
    arguments.add_argument("--seconds", type=float, default=600)
    arguments.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    arguments.add_argument("--keep", type=Path, default=Path(), help="folder for logs that differ")
    given = arguments.parse_args()
    end = time.monotonic() + given.seconds
    total = {"logs": 0, "events": 0, "rejected": 0, "changes": 0}
    failures, seed = 0, given.seed
    while time.monotonic() < end:
        problem, counted = compare(seed)
        if problem is not None:
            failures += 1
            path = given.keep / f"log-{seed}.ndjson"
            path.write_bytes(b"\n".join(make_log(seed)[1]))
            print(f"\nseed {seed}, {path}: {problem}", flush=True)
        for name in total:
            total[name] += counted[name]
        counts = ", ".join(f"{number:,} {name}" for name, number in total.items())
        print(f"\r{counts}, {failures} failed", end="", flush=True)
        seed += 1
    print(f"\nseeds {given.seed} to {seed - 1}: {failures} failed")
    return 1 if failures else 0


def make_log(seed: int) -> tuple[Json, list[bytes]]:
    """Return the settings of a hub and the lines of a log."""
    rng = random.Random(f"log {seed}")
    case = hub_case(rng.choice(list(HUB_PROFILES)), seed)
    events = [event for step in case["steps"] for event in step.get("rows", ())]
    is_short = rng.random() < 0.6
    if is_short:
        first = rng.randrange(max(1, len(events) - _SHORT))
        events = events[:8] + events[first : first + _SHORT]
    lines = [json.dumps(event, ensure_ascii=rng.random() < 0.5).encode() for event in events]
    for _ in range(rng.choice((0, 1, 5)) if is_short else 0):  # only the oracle checks all fields
        lines.insert(rng.randrange(len(lines) + 1), _broken(rng, lines))
    return case["settings"]["hub"], lines


def _broken(rng: random.Random, lines: list[bytes]) -> bytes:
    line = bytearray(rng.choice(lines or [b"{}"]))
    at = rng.randrange(len(line))
    choice = rng.randrange(3)
    if choice == 0:
        return b"  " if rng.random() < 0.5 else bytes(line[:at])
    if choice == 1:
        line[at] = rng.choice(b'{}[]",:0-aN')
    else:
        line[at:at] = rng.choice((b"null", b'"', b"-", b" ", b"9" * 20, b"\xff"))
    return bytes(line).replace(b"\n", b" ")


def compare(seed: int) -> tuple[str | None, dict[str, int]]:
    """Return what differs, if anything, and how much was compared."""
    rng = random.Random(f"kinds {seed}")
    settings, lines = make_log(seed)
    expected, rejected = _expected(settings, lines)
    counted = {"logs": 0, "events": 0, "rejected": 0, "changes": 0}
    tops = [kind.name for kind in nc.topk_kinds()]
    others = rng.sample([kind.name for kind in nc.indexes()], KINDS)
    for index in ("auto", *others):
        flags = ["--index", index, "--topk", "auto" if index == "auto" else rng.choice(tops)]
        found, count = _replayed(settings, lines, flags)
        if count != len(rejected):
            return f"{flags}: {count} rejected, {len(rejected)} expected: {rejected}", counted
        problem = _difference(found, expected)
        if problem is not None:
            return f"{flags}: {problem}", counted
        counted["logs"] += 1
        counted["events"] += len(lines)
        counted["rejected"] += len(rejected)
        counted["changes"] += len(expected)
    return None, counted


def _expected(settings: Json, lines: list[bytes]) -> tuple[list[Json], list[int]]:
    is_short = len(lines) <= _SHORT + 20 and len(b"".join(lines)) < 100_000
    hub = Oracle(**settings) if is_short else FastHub(**settings)
    changes: list[Json] = []
    rejected: list[int] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            changes += hub.apply(number, dict(parse(line)))
        except OracleRejects:
            rejected.append(number)
    return changes, rejected


def _replayed(settings: Json, lines: list[bytes], flags: list[str]) -> tuple[list[Json], int]:
    """Return the changes that the command writes, and how many lines it reports as bad."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.ndjson"
        log.write_bytes(b"\n".join(lines))
        space = ",".join(map(str, settings["space"]))
        nearcast = str(Path(sys.executable).parent / "nearcast")
        command = [nearcast, "replay", str(log), "--on-error", "skip", f"--space={space}", *flags]
        for name in ("count", "seconds"):
            if f"window_{name}" in settings:
                command += [f"--window-{name}", str(settings[f"window_{name}"])]
        if settings["weights"] is not None:
            weights = Path(folder) / "weights.json"
            weights.write_text(json.dumps(settings["weights"]))
            command += ["--weights", str(weights)]
        done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        return [{"event": 0, "failed": done.stderr.decode()[-2000:]}], 0
    bad = sum(line.startswith(f"{log}:") for line in done.stderr.decode().splitlines())
    return [json.loads(line) for line in done.stdout.splitlines()], bad


def _difference(found: list[Json], expected: list[Json]) -> str | None:
    """Compare changes as rows, scores in the units in which they are compared."""
    if any("failed" in change for change in found):
        return str(found[0]["failed"])
    one, other = rows(found), rows(expected)
    if one == other:
        return None
    missing = [row for row in other if row not in set(one)][:3]
    extra = [row for row in one if row not in set(other)][:3]
    return f"{len(one)} changes, {len(other)} expected; missing {missing}, too much {extra}"


if __name__ == "__main__":
    sys.exit(main())

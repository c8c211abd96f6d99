"""The smallest case that still fails: rows are left out in ever smaller parts."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from differential.cases import Case, rows_in

if TYPE_CHECKING:
    from collections.abc import Callable

TESTS = Path(__file__).parent.parent
_ATTEMPT_SECONDS = 300


def shrink(case: Case, fails: Callable[[Case], bool], seconds: float) -> Case:
    """Leave out steps and rows while the rest still fails, for at most so long."""
    end = time.monotonic() + seconds
    part = max(1, rows_in(case) // 2)
    while time.monotonic() < end:
        smaller = _without_a_part(case, part, fails, end)
        if smaller is not None:
            case = smaller
        elif part == 1:
            break
        else:
            part //= 2
    return case


def _without_a_part(
    case: Case, part: int, fails: Callable[[Case], bool], end: float
) -> Case | None:
    for first in range(0, rows_in(case), part):
        if time.monotonic() > end:
            return None
        smaller = _tidied(_cut(case, first, first + part))
        if fails(smaller):
            return smaller
    return None


def _cut(case: Case, first: int, last: int) -> Case:
    """Leave out the rows from first to last, counted through all steps, and steps without rows."""
    steps = []
    at = 0
    for step in case["steps"]:
        if "rows" not in step:
            steps.append(step)
            continue
        rows = [row for i, row in enumerate(step["rows"], start=at) if not first <= i < last]
        at += len(step["rows"])
        if rows:
            steps.append({**step, "rows": rows})
    return {**case, "steps": steps}


def _tidied(case: Case) -> Case:
    """Leave out erasing what is not there, which a matcher refuses."""
    if case["driver"] != "tables":
        return case
    live: set[Any] = set()
    steps = []
    for step in case["steps"]:
        if step["do"] == "drop":
            step = {**step, "rows": [id_ for id_ in step["rows"] if id_ in live]}
            live -= set(step["rows"])
        elif step["do"] in ("table", "single"):
            live |= {row["id"] for row in step["rows"]}
        steps.append(step)
    return {**case, "steps": steps}


def fails_in_a_process(case: Case) -> bool:
    """Take the steps in a process of its own, which may die of them."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(case, file)
        file.flush()
        command = [sys.executable, "-m", "differential", "--case", file.name]
        done = subprocess.run(command, cwd=TESTS, capture_output=True, timeout=_ATTEMPT_SECONDS)
    return done.returncode != 0

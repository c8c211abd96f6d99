"""What a driver runs: settings and steps as plain JSON, so that a case can be kept and shrunk.

A step is `{"do": ..., "rows": [...], ...}`; rows can be left out one by one.
"""

from __future__ import annotations

import json
from typing import Any

Case = dict[str, Any]
Step = dict[str, Any]


class Difference(AssertionError):
    """The core and the reference disagree."""


def rows_in(case: Case) -> int:
    """Return how many rows all steps have."""
    return sum(len(step.get("rows", ())) for step in case["steps"])


def written(case: Case) -> str:
    """Return a case as lines: settings, then each step and its rows."""
    lines = [json.dumps({"driver": case["driver"], "settings": case["settings"]})]
    for step in case["steps"]:
        lines.append(json.dumps({name: step[name] for name in step if name != "rows"}))
        lines += [json.dumps(row) for row in step.get("rows", ())]
    return "\n".join(lines)


def difference(where: str, found: list[Any], expected: list[Any]) -> Difference:
    """Say what is missing and what is too much."""
    known, truth = set(found), set(expected)
    missing = sorted(truth - known, key=str)[:5]
    extra = sorted(known - truth, key=str)[:5]
    twice = len(found) - len(known)
    counts = f"{len(found)} found, {len(expected)} expected, {twice} twice"
    return Difference(f"{where}: {counts}; missing {missing}, too much {extra}")

"""How much processor time have the processes below this one used? Java, and Python in its workers.

On a busy machine a wall clock measures the neighbours. Linux only.
"""

from __future__ import annotations

import os
from pathlib import Path

PROC = Path("/proc")


def descendants_seconds() -> float | None:
    """Return the processor time of all descendants, those that ended too; None if unknown."""
    if not (PROC / "self" / "stat").is_file():
        return None
    ticks = os.sysconf("SC_CLK_TCK")
    children: dict[int, list[tuple[int, float]]] = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit() and (found := _read(folder)):
            parent, spent = found
            children.setdefault(parent, []).append((int(folder.name), spent / ticks))
    total, waiting = 0.0, [os.getpid()]
    while waiting:
        for process, used in children.get(waiting.pop(), []):
            total += used
            waiting.append(process)
    return total


def _read(folder: Path) -> tuple[int, int] | None:
    """Return the parent of a process, and the ticks that it and its ended children used."""
    try:
        text = (folder / "stat").read_text()
    except OSError:  # ended meanwhile
        return None
    fields = text[text.rindex(")") + 2 :].split()  # the name before may contain anything
    return int(fields[1]), sum(map(int, fields[11:15]))

"""Hubs that workers save from time to time, so that nobody has to start with the first step.

Steps are numbered from 0. After every so many each hub is saved to a file of its own; whoever needs
one opens the newest file of an earlier step and does again what came since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nearcast.hub import Hub

if TYPE_CHECKING:
    from pathlib import Path


def save_file(folder: Path, number: int, owner: int) -> Path:
    """Return where a hub is saved after a step."""
    return folder / "saved" / f"hub-{owner:05}-step-{number:09}.snapshot"


def save_hub(hub: Hub, folder: Path, number: int, owner: int, every: int) -> None:
    """Save a hub if it is time, and nobody has."""
    target = save_file(folder, number, owner)
    if (number + 1) % every == 0 and not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        hub.save(target)


def open_hub(folder: Path, number: int, owner: int, every: int) -> tuple[Hub, int] | None:
    """Return a hub as it was saved last before a step, and after which; None: it never was."""
    for seen in range(number // every * every - 1, -1, -every):
        path = save_file(folder, seen, owner)
        if path.is_file():
            return Hub.open(path), seen
    return None

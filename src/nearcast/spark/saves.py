"""Hubs that workers keep, and save from time to time.

Steps are numbered from 0. A worker that has a hub brings it forward by the steps that it missed.
One that has not opens the newest file of an earlier step, or starts with an empty hub: so any
worker can do any hub, and a worker that dies takes nothing with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from nearcast.hub import Hub

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Answer = TypeVar("Answer")

SAVE_EVERY = 64
"""Steps after which a hub is saved: how many a worker without it has to do again at most."""


class KeptHubs(Generic[Answer]):
    """The hubs of this process, by folder and owner.

    Parameters
    ----------
    step
        Does one step, given hub, folder, number of the step and owner; returns what it changed.
    """

    def __init__(self, step: Callable[[Hub, Path, int, int], Answer]) -> None:
        self._step = step
        self._kept: dict[tuple[str, int], tuple[Hub, int]] = {}

    def clear(self) -> None:
        """Forget all hubs, as a worker that dies does."""
        self._kept.clear()

    def advance(self, folder: Path, number: int, owner: int, make: Callable[[], Hub]) -> Answer:
        """Bring a hub, which `make` makes, to a step and return what that step changed."""
        key = (str(folder), owner)
        # Out of the table while it changes: what an error leaves behind is not used again.
        hub, seen = self._kept.pop(key, (None, -1))
        if hub is None or seen >= number:
            hub, seen = _open_hub(folder, number, owner) or (make(), -1)
        for missed in range(seen + 1, number):
            self._step(hub, folder, missed, owner)
            _save_hub(hub, folder, missed, owner)  # the worker that was asked to may not have
        answer = self._step(hub, folder, number, owner)
        _save_hub(hub, folder, number, owner)
        self._kept[key] = (hub, number)
        return answer


def _save_file(folder: Path, number: int, owner: int) -> Path:
    return folder / "saved" / f"hub-{owner:05}-step-{number:09}.snapshot"


def _save_hub(hub: Hub, folder: Path, number: int, owner: int) -> None:
    """Save a hub if it is time and it was not saved yet."""
    target = _save_file(folder, number, owner)
    if (number + 1) % SAVE_EVERY == 0 and not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        hub.save(target)


def _open_hub(folder: Path, number: int, owner: int) -> tuple[Hub, int] | None:
    """Return a hub as it was saved last before a step, and after which; None: it never was."""
    for seen in range(number // SAVE_EVERY * SAVE_EVERY - 1, -1, -SAVE_EVERY):
        path = _save_file(folder, seen, owner)
        if path.is_file():
            return Hub.open(path), seen
    return None

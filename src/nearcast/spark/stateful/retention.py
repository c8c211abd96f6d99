"""What is saved, and what is therefore no longer needed?"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nearcast.spark.stamps import Stamp
from nearcast.spark.stateful.sequencing import from_bytes
from nearcast.spark.stateful.work import Saved, answers_name, decision_name, moved_name

if TYPE_CHECKING:
    from nearcast.spark.folders import Folder

_NAME = "saves"


@dataclass(frozen=True)
class Saves:
    """Where states are: of the driver's life, of partitions, of merging workers."""

    number: int = -1
    """The batch after which it was last changed."""
    life: Saved | None = None
    partitions: dict[int, Saved] = field(default_factory=dict)
    merging: dict[int, Saved] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Folder) -> Saves:
        """Return the newest."""
        names = (folder / _NAME).names()
        if not names:
            return cls()
        facts = json.loads((folder / _NAME).read(names[-1]))

        def saved(value: Any) -> Saved:  # noqa: ANN401 — JSON
            return Saved(value[0], [(name, Stamp(*stamp)) for name, stamp in value[1]])

        return cls(
            facts["number"],
            None if facts["life"] is None else saved(facts["life"]),
            {int(at): saved(value) for at, value in facts["partitions"].items()},
            {int(at): saved(value) for at, value in facts["merging"].items()},
        )

    def with_new(
        self,
        number: int,
        life: Any,  # noqa: ANN401 — JSON
        partitions: dict[int, Any],
        merging: dict[int, Any],
    ) -> Saves:
        """Return the same after further states were saved."""

        def merged(old: dict[int, Saved], new: dict[int, Any]) -> dict[int, Saved]:
            return {**old, **{at: _saved(number, objects) for at, objects in new.items()}}

        return Saves(
            number,
            self.life if life is None else _saved(number, life),
            merged(self.partitions, partitions),
            merged(self.merging, merging),
        )

    def write(self, folder: Folder) -> None:
        """Make this the newest."""
        facts = {
            "number": self.number,
            "life": self.life,
            "partitions": self.partitions,
            "merging": self.merging,
        }
        (folder / _NAME).write(f"{self.number:09}.json", json.dumps(facts).encode())

    def objects(self) -> set[str]:
        """Return the names of all that is needed."""
        states = [*self.partitions.values(), *self.merging.values()]
        if self.life is not None:
            states.append(self.life)
        return {name for state in states for name, _ in state.objects}

    def oldest(self, partitions: int, *, has_merging: bool) -> int:
        """Return the last batch that no state needs to see again."""
        states = [self.life, *(self.partitions.get(at) for at in range(partitions))]
        if has_merging:
            states += [self.merging.get(at) for at in range(partitions)]
        return min(-1 if state is None else state.seen for state in states)


def _saved(number: int, objects: Any) -> Saved:  # noqa: ANN401
    return Saved(number, [(name, Stamp(*stamp)) for name, stamp in objects])


def trim(
    folder: Folder, saves: Saves, decided: int, *, oldest: int, is_thorough: bool = False
) -> None:
    """Remove what no restart needs.

    Parameters
    ----------
    folder, saves
        Of a pipeline.
    decided
        The last batch that was decided.
    oldest
        Of `Saves.oldest`.
    is_thorough
        Look for what a driver that died left behind, too.
    """
    for name in (folder / _NAME).names()[:-1]:
        (folder / _NAME).delete(name)
    needed = saves.objects()
    _keep_only(folder / "saved", needed)
    for number in _numbers(folder / "decided"):
        if number <= oldest:
            for name, _ in from_bytes(folder.read(decision_name(number))).batch.files:
                (folder / "log").delete(name)
            folder.delete(decision_name(number))
    for number in _numbers(folder / "answers"):
        if number <= oldest:
            for name, _ in json.loads(folder.read(answers_name(number))):
                (folder / "raw").delete(name)
            folder.delete(answers_name(number))
    for number in _numbers(folder / "moved"):
        if number <= oldest:
            for name, _ in json.loads(folder.read(moved_name(number))):
                (folder / "log").delete(name)
            folder.delete(moved_name(number))
    if is_thorough:
        _remove_unnamed(folder, decided)


def _remove_unnamed(folder: Folder, decided: int) -> None:
    """Remove what was written and never named: of batches that died before their decision."""
    decisions = [from_bytes(folder.read(decision_name(n))) for n in _numbers(folder / "decided")]
    moved = [json.loads(folder.read(moved_name(n))) for n in _numbers(folder / "moved")]
    named = {name for one in decisions for name, _ in one.batch.files}
    _keep_only(folder / "log", named | {name for one in moved for name, _ in one})
    answers = [json.loads(folder.read(answers_name(n))) for n in _numbers(folder / "answers")]
    _keep_only(folder / "raw", {name for one in answers for name, _ in one})
    if folder.has_published(f"batch={decided}") or decided < 0:
        _keep_only(folder / "parts", set())


def _keep_only(folder: Folder, needed: set[str]) -> None:
    for name in folder.names():
        if name not in needed:
            folder.delete(name)


def _numbers(folder: Folder) -> list[int]:
    return [int(name.partition(".")[0]) for name in folder.names()]

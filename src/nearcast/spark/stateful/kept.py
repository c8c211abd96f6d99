"""What workers keep between batches, so that most of them need not open anything.

A state has the number of the last batch that it has seen. A worker that has it brings it forward by
the batches that it missed. One that has not opens what was saved last, and does the batches since:
so any worker can do any partition, and a worker that dies takes nothing with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from nearcast.errors import SnapshotError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

State = TypeVar("State")
Answer = TypeVar("Answer")


class Kept(Generic[State]):
    """The states of this process."""

    def __init__(self) -> None:
        self._states: dict[Hashable, tuple[State, int]] = {}
        self.hits = 0
        self.opened = 0

    def states(self) -> list[tuple[State, int]]:
        """Return all of them, with the last batch in each."""
        return list(self._states.values())

    def clear(self) -> None:
        """Forget all of them, as a worker that dies does."""
        self._states.clear()

    def advance(
        self,
        key: Hashable,
        number: int,
        open_: Callable[[], tuple[State, int]],
        step: Callable[[State, int], Answer],
    ) -> tuple[State, Answer]:
        """Bring a state to a batch; return it, and what that batch changed.

        Parameters
        ----------
        key
            Whose state.
        number
            Of the batch.
        open_
            Returns what was saved last, and the number of the last batch in it; -1: none is.
        step
            Does one batch.
        """
        state = self._taken(key, number - 1, open_, step)
        answer = step(state, number)
        self._states[key] = (state, number)
        return state, answer

    def look(
        self,
        key: Hashable,
        number: int,
        open_: Callable[[], tuple[State, int]],
        step: Callable[[State, int], object],
    ) -> State:
        """Return a state as it is after a batch."""
        state = self._taken(key, number, open_, step)
        self._states[key] = (state, number)
        return state

    def _taken(
        self,
        key: Hashable,
        number: int,
        open_: Callable[[], tuple[State, int]],
        step: Callable[[State, int], object],
    ) -> State:
        """Return a state after a batch, out of the table.

        What an error leaves behind is not used again.
        """
        known = self._states.pop(key, None)
        if known is None or known[1] > number:
            self.opened += 1
            known = open_()
        else:
            self.hits += 1
        state, seen = known
        if seen > number:
            what = f"batch {number + 1} cannot be done again"
            raise SnapshotError(what, got=seen, wanted="a state that was saved before it")
        for missed in range(seen + 1, number + 1):
            step(state, missed)
        return state

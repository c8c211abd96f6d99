"""What was known of an id, row by row of a batch, and what is known after it."""

from __future__ import annotations

from typing import Generic, TypeVar

Value = TypeVar("Value")


class Timeline(Generic[Value]):
    """A table whose entries change within a batch.

    Parameters
    ----------
    known
        What stands at the begin; `settle` brings it to the end.
    """

    def __init__(self, known: dict[str, Value]) -> None:
        self._known = known
        self._changes: dict[str, list[tuple[float, Value | None]]] = {}

    def set(self, id_: str, row: float, value: Value | None) -> None:
        """Say what holds from a row on; rows come in order. None: nothing is known any more."""
        self._changes.setdefault(id_, []).append((row, value))

    def __contains__(self, id_: str) -> bool:
        """Whether anything was known of an id, at any row."""
        return id_ in self._known or id_ in self._changes

    def at(self, id_: str, row: float) -> Value | None:
        """Return what holds at a row."""
        for since, value in reversed(self._changes.get(id_, ())):
            if since <= row:
                return value
        return self._known.get(id_)

    def settle(self) -> None:
        """Keep what stands at the end; what is empty is not worth it."""
        for id_, changes in self._changes.items():
            value = changes[-1][1]
            if not value:
                self._known.pop(id_, None)
            else:
                self._known[id_] = value
        self._changes.clear()

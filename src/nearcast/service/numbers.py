"""The last number of each subscriber: a dictionary to look at, columns to count with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray


class Numbers:
    """Numbers by subscriber; those that are not there have 0.

    Examples
    --------
    >>> numbers = Numbers()
    >>> numbers.advance(["anna", "ben"], np.array([2, 1]))
    array([0, 0])
    >>> numbers.get("anna"), numbers.advance(["ben"], np.array([5])).tolist(), len(numbers)
    (2, [1], 2)
    """

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._values = np.zeros(1024, np.int64)

    def get(self, owner: str) -> int:
        """Return the last number of a subscriber."""
        place = self._places.get(owner)
        return 0 if place is None else int(self._values[place])

    def set(self, owner: str, number: int) -> None:
        """Note the last number of a subscriber."""
        self._values[self._find([owner])[0]] = number

    def update(self, numbers: Iterable[tuple[str, int]]) -> None:
        """Note the last numbers of many."""
        pairs = list(numbers)
        places = self._find([owner for owner, _ in pairs])
        self._values[places] = [number for _, number in pairs]

    def advance(self, owners: list[str], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Take so many numbers for each of these, who differ; return the last ones before."""
        places = self._find(owners)
        before: NDArray[np.int64] = self._values[places]
        self._values[places] = before + counts
        return before

    def _find(self, owners: list[str]) -> list[int]:
        known = self._places
        try:
            return list(map(known.__getitem__, owners))
        except KeyError:
            found = [known.setdefault(owner, len(known)) for owner in owners]
        while len(known) > len(self._values):
            self._values = np.concatenate([self._values, np.zeros_like(self._values)])
        return found

    def __len__(self) -> int:
        """Return how many subscribers there are."""
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        """Yield the subscribers."""
        return iter(self._places)

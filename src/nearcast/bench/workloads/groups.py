"""Message groups: how long a message is, and whether it has a point or a box.

The papers measure short and long messages, each with a point or a range [Rt §7, LFilter §6]. Here
`short` is the preset's own length, so that tweets stay tweets; `varied` is the papers' short group.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

Length = Literal["short", "varied", "medium", "long"]
Extent = Literal["point", "range"]

TOKEN_RANGES: Mapping[Length, tuple[int, int] | None] = MappingProxyType(
    {"short": None, "varied": (6, 20), "medium": (30, 50), "long": (100, 1_000)}
)
"""Distinct tokens per message, both ends included; None leaves it to the preset."""

MESSAGE_AREA_SHARE = (1e-4, 1e-2)
"""Area of a range message as a share of the space."""


@dataclass(frozen=True, slots=True)
class Group:
    """A message group, written `length-extent`; or messages of exactly so many tokens."""

    length: Length = "short"
    extent: Extent = "point"
    exact: int | None = None

    @property
    def name(self) -> str:
        """The group as the command line writes it."""
        return f"{self.exact or self.length}-{self.extent}"

    @property
    def tokens(self) -> tuple[int, int] | None:
        """Smallest and largest number of distinct tokens, None for the preset's own length."""
        return TOKEN_RANGES[self.length] if self.exact is None else (self.exact, self.exact)

    @property
    def coordinates(self) -> int:
        """How many coordinates say where a message is."""
        return 2 if self.extent == "point" else 4


GROUPS: Mapping[str, Group] = MappingProxyType(
    {
        group.name: group
        for group in (
            Group(length, extent) for length in get_args(Length) for extent in get_args(Extent)
        )
    }
)


def find_group(name: str) -> Group:
    """Return the group written `length-extent`.

    Raises
    ------
    ValueError
        If there is none; the message lists those that exist.

    Examples
    --------
    >>> find_group("long-range").tokens
    (100, 1000)
    """
    try:
        return GROUPS[name]
    except KeyError:
        msg = f"no message group is called {name!r}; there are {', '.join(GROUPS)}"
        raise ValueError(msg) from None

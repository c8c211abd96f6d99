"""What was subscribed? Definitions, as users said them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from nearcast import columns
from nearcast.model import MODES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearcast.model import Area, Mode, Point


@dataclass(frozen=True, slots=True)
class Definition:
    """A subscription, by the names that `Hub.subscribe` takes. What was not said is None.

    Examples
    --------
    >>> Definition("s1", "match", keywords="coffee -decaf", expires=60.0)
    Definition(id='s1', mode='match', keywords='coffee -decaf', expires=60.0)
    """

    id: str
    mode: Mode
    keywords: str | tuple[str, ...] | None = None
    """An expression as it was written, or a list of keywords."""
    area: Area | None = None
    where: str | None = None
    except_: Area | None = None
    live: bool = False
    at: Point | None = None
    k: int | None = None
    alpha: float | None = None
    threshold: float | None = None
    expires: float | None = None

    def __repr__(self) -> str:
        """Return what was said, without what was not."""
        given = [(part.name, getattr(self, part.name)) for part in fields(self)]
        shown = [f"{name}={value!r}" for name, value in given if value is not None]
        return f"Definition({', '.join(part for part in shown if part != 'live=False')})"


def definition_of(id: str, parts: tuple[Any, ...]) -> Definition:
    """Return a definition from what the core says of a subscription."""
    clauses, area, (mode, live, k, alpha, threshold, at, expires) = parts
    name = MODES[mode]
    return Definition(
        id,
        name,
        keywords=_keywords(clauses),
        area=columns.area_of_core(area),
        live=live,
        at=at,
        k=k if name == "top" else None,
        alpha=None if name == "match" else alpha,
        threshold=threshold if name == "rank" else None,
        expires=expires,
    )


def _keywords(clauses: Sequence[tuple[list[str], list[str]]]) -> str | tuple[str, ...] | None:
    """Return clauses as keywords that require the same."""
    if len(clauses) == 1 and not clauses[0][1]:
        return tuple(clauses[0][0]) or None
    return " OR ".join(_alternative(*clause) for clause in clauses)


def _alternative(positive: Sequence[str], negative: Sequence[str]) -> str:
    return " AND ".join([*map(_quoted, positive), *(f"NOT {_quoted(word)}" for word in negative)])


def _quoted(word: str) -> str:
    return f'"{word}"' if word.upper() in ("AND", "OR", "NOT") else word

"""What was subscribed? Definitions, as users said them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from nearcast import columns
from nearcast.model import MODES
from nearcast.said import read_said

if TYPE_CHECKING:
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
    words, area, (mode, live, k, alpha, threshold, at, expires), excluded, said = parts
    name = MODES[mode]
    keywords, where = read_said(id, said) if said else (words or None, None)
    return Definition(
        id,
        name,
        keywords=tuple(keywords) if isinstance(keywords, list) else keywords,
        area=columns.area_of_core(area),
        where=where,
        except_=columns.area_of_core(excluded),
        live=live,
        at=at,
        k=k if name == "top" else None,
        alpha=None if name == "match" else alpha,
        threshold=threshold if name == "rank" else None,
        expires=expires,
    )

"""What are windows, clauses and changes? Values only: checked when made, never changed.

Those of space are in `nearcast.areas`; they can be imported from here too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from nearcast.areas import (
    Area,
    Areas,
    Bbox,
    Circle,
    MultiPolygon,
    Place,
    Point,
    Polygon,
    Ring,
    area_from,
    bbox_from,
    number,
    point_from,
)
from nearcast.errors import InvalidParameterError, Verbatim, shown

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "CHANGE_KINDS",
    "MODES",
    "REASONS",
    "Area",
    "Areas",
    "Bbox",
    "Change",
    "ChangeKind",
    "Circle",
    "Clause",
    "Mode",
    "MultiPolygon",
    "Place",
    "Point",
    "Polygon",
    "Promise",
    "Reason",
    "Ring",
    "Window",
    "area_from",
    "bbox_from",
    "is_encodable",
    "number",
    "point_from",
    "whole_number",
]

Mode: TypeAlias = Literal["match", "rank", "top"]
ChangeKind: TypeAlias = Literal["added", "removed", "updated"]
Reason: TypeAlias = Literal[
    "published",
    "subscribed",
    "moved",
    "expired",
    "retracted",
    "displaced",
    "refilled",
    "changed",
]
MODES: tuple[Mode, ...] = get_args(Mode)
CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)
REASONS: tuple[Reason, ...] = get_args(Reason)

_MAX_COUNT = 2**63 - 1
_set = object.__setattr__


def whole_number(value: object, name: str, high: int = _MAX_COUNT) -> int:
    """Return `value` as an int of 1 to `high`; a bool or a float is not one."""
    if isinstance(value, Integral) and not isinstance(value, bool) and 1 <= int(value) <= high:
        return int(value)
    what = f"{name} is not a whole number in range"
    raise InvalidParameterError(what, got=value, wanted=f"a whole number from 1 to {high}")


def is_encodable(text: str) -> bool:
    """Whether it can be written as UTF-8: a lone surrogate cannot."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Window:
    """How long messages live: the newest `count`, or `seconds` each. Exactly one is given."""

    count: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        """Refuse both, none, and what is not positive."""
        if (self.count is None) == (self.seconds is None):
            raise InvalidParameterError(
                "window is ambiguous" if self.count is not None else "window is empty",
                got=Verbatim(f"count={shown(self.count)}, seconds={shown(self.seconds)}"),
                wanted="exactly one of count and seconds",
            )
        if self.count is not None:
            _set(self, "count", whole_number(self.count, "window count"))
        if self.seconds is not None:
            _set(self, "seconds", _positive(self.seconds, "window seconds"))

    def __repr__(self) -> str:
        """Return the one that is given."""
        given = f"count={self.count}" if self.seconds is None else f"seconds={self.seconds}"
        return f"Window({given})"


def _positive(value: object, name: str) -> float:
    converted = number(value, name)
    if converted <= 0:
        what = f"{name} is not positive"
        raise InvalidParameterError(what, got=value, wanted="more than 0")
    return converted


class _ClauseParts(NamedTuple):
    positive: frozenset[str]
    negative: frozenset[str] = frozenset()


class Clause(_ClauseParts):
    """A message satisfies it with all its `positive` and none of its `negative` tokens.

    What is known to be right may be made by `_make`, which does not check.
    """

    __slots__ = ()

    def __new__(cls, positive: Iterable[str], negative: Iterable[str] = frozenset()) -> Self:
        """Refuse what are not collections of words."""
        parts = (_word_set(positive, "positive"), _word_set(negative, "negative"))
        return tuple.__new__(cls, parts)


def _word_set(words: object, name: str) -> frozenset[str]:
    if not isinstance(words, (str, bytes, bytearray)) and isinstance(words, Iterable):
        try:
            found = words if type(words) is frozenset else frozenset(words)
        except TypeError:  # something in it has no hash, so it is no word
            found = None
        if found is not None and all(isinstance(w, str) and is_encodable(w) for w in found):
            return found
    what = f"{name} of a clause is not a set of words"
    wanted = "strings without lone surrogates"
    raise InvalidParameterError(what, got=words, wanted=wanted)


@dataclass(frozen=True, slots=True)
class Change:
    """One message entered or left what one subscription holds, or has a new version.

    Parameters
    ----------
    event
        1-based number of the event that caused it.
    subscription, message
        Their ids.
    change, reason
        What happened, and why.
    score
        Of rank and top subscriptions.
    """

    event: int
    subscription: str
    message: str
    change: ChangeKind
    reason: Reason
    score: float | None = None

    def __repr__(self) -> str:
        """Return what happened; a score only if there is one."""
        score = "" if self.score is None else f", score={self.score!r}"
        return (
            f"Change(event={self.event}, subscription={self.subscription!r}, "
            f"message={self.message!r}, change={self.change!r}, reason={self.reason!r}{score})"
        )


@dataclass(frozen=True, slots=True)
class Promise:
    """How far a subscriber may go from where it last said it is: see `nearcast.safe_region`.

    Parameters
    ----------
    event
        1-based number of the event that caused it.
    subscription
        Its id.
    safe_distance
        In degrees, or in metres for a circle; it replaces what was promised before.
    """

    event: int
    subscription: str
    safe_distance: float

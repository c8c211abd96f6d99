"""Events as values that check themselves: what cannot be an event cannot be made.

The one definition of what an event may hold. Lines and mappings (`nearcast.events`) hand over what
they have and leave the checking to these classes; a value that is made by hand is checked alike.
Numbers become floats, positions tuples, timestamps seconds and areas `Area` values.

What nearly every event brings (floats in range, ASCII ids) passes by comparisons alone, because a
stream of lines pays for each call.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from math import inf
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from nearcast.errors import (
    InvalidEventError,
    InvalidMessageError,
    InvalidParameterError,
    InvalidSubscriptionError,
    NearcastError,
    shown,
)
from nearcast.model import (
    MODES,
    Area,
    Bbox,
    Clause,
    Mode,
    Place,
    Point,
    area_from,
    is_encodable,
    number,
    point_from,
    whole_number,
)
from nearcast.times import read_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_K = 2**31 - 1

_set = object.__setattr__


@dataclass(frozen=True, slots=True)
class Subscribe:
    """A subscription begins. `clauses` is None without keywords, () if they are never true."""

    id: str
    mode: Mode
    clauses: tuple[Clause, ...] | None = None
    area: Area | None = None
    at: Point | None = None
    k: int | None = None
    alpha: float | None = None
    threshold: float | None = None
    live: bool = False
    expires: float | None = None
    time: float | None = None

    def __post_init__(self) -> None:
        """Refuse what is no subscription of its mode."""
        try:
            _check_id(self.id)
            check = _MODE_CHECKS.get(self.mode) if isinstance(self.mode, str) else None
            if check is None:
                _refuse_mode(self.mode)
            if self.clauses is not None:
                _check_clauses(self)
            check(self)
            _check_moment(self, "time")
            _check_moment(self, "expires")
        except NearcastError as error:
            error.locate(named("subscription", self.id))
            raise


@dataclass(frozen=True, slots=True)
class Publish:
    """A message appears."""

    id: str
    text: str
    place: Place
    time: float | None = None
    expires: float | None = None

    def __post_init__(self) -> None:
        """Refuse what is no message."""
        try:
            _check_id(self.id)
            if not isinstance(self.text, str):
                what = "text is missing" if self.text is None else "text is not a string"
                raise InvalidMessageError(what, got=self.text, wanted="a string", field="text")
            if not _is_plain_point(self.place):
                _set(self, "place", _read_place(self.place))
            time, expires = self.time, self.expires
            if time is not None and not (type(time) is float and -inf < time < inf):
                _check_moment(self, "time")
            if expires is not None and not (type(expires) is float and -inf < expires < inf):
                _check_moment(self, "expires")
        except NearcastError as error:
            error.locate(named("message", self.id))
            raise


@dataclass(frozen=True, slots=True)
class Move:
    """A subscription gets another area, or a top subscription another point."""

    id: str
    area: Area | None = None
    at: Point | None = None
    time: float | None = None

    def __post_init__(self) -> None:
        """Refuse what names no place, or two."""
        try:
            _check_id(self.id)
            if (self.area is None) == (self.at is None):
                what = "area is missing" if self.area is None else "both area and at are there"
                wanted = "exactly one of area and at"
                raise InvalidSubscriptionError(what, wanted=wanted, field="area")
            if self.area is not None:
                _set(self, "area", area_from(self.area))
            else:
                _set(self, "at", point_from(self.at, error=InvalidSubscriptionError))
            _check_moment(self, "time")
        except NearcastError as error:
            error.locate(named("subscription", self.id))
            raise


@dataclass(frozen=True, slots=True)
class Retract:
    """A message is taken back."""

    id: str
    time: float | None = None

    def __post_init__(self) -> None:
        """Refuse what names no message."""
        _check_named(self, "message")


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """A subscription ends."""

    id: str
    time: float | None = None

    def __post_init__(self) -> None:
        """Refuse what names no subscription."""
        _check_named(self, "subscription")


Event: TypeAlias = Subscribe | Publish | Move | Retract | Unsubscribe


def named(noun: str, id: object) -> str:
    """Return the subscription or message that an error is about."""
    return f"{noun} {shown(id)}" if isinstance(id, str) else noun


def did_you_mean(unknown: Iterable[object], known: Iterable[str]) -> str | None:
    """Return a hint if one of the first names looks like a known one."""
    for name, _ in zip(unknown, range(3), strict=False):
        # difflib takes quadratic time: longer names are not compared
        close = (
            get_close_matches(name, known, 1) if isinstance(name, str) and name[40:] == "" else []
        )
        if close:
            return f"did you mean {close[0]!r} instead of {name!r}?"
    return None


# ---- ids, moments, places -------------------------------------------------------------------


def _check_named(event: Retract | Unsubscribe, noun: str) -> None:
    try:
        _check_id(event.id)
        _check_moment(event, "time")
    except NearcastError as error:
        error.locate(named(noun, event.id))
        raise


def _check_id(id: object) -> None:
    if isinstance(id, str) and id and (id.isascii() or is_encodable(id)):
        return
    what = "id is missing" if id is None else "id is not an id"
    wanted = "a string that is not empty and has no lone surrogates"
    raise InvalidEventError(what, got=id, wanted=wanted, field="id")


def _check_moment(event: Event, name: str) -> None:
    value = getattr(event, name)
    if value is None or (type(value) is float and -inf < value < inf):
        return
    _set(event, name, read_time(value, name))


def _is_plain_point(place: object) -> bool:
    """Whether it is a tuple of two floats in range, as nearly every place is."""
    if type(place) is tuple and len(place) == 2:
        lon, lat = place
        return type(lon) is type(lat) is float and -180 <= lon <= 180 and -90 <= lat <= 90
    return False


def _read_place(place: object) -> Place:
    if isinstance(place, Bbox):
        return place
    if place is None:
        what, wanted = "at is missing", "exactly one of at and bbox"
        raise InvalidMessageError(what, wanted=wanted, field="at")
    return point_from(place, error=InvalidMessageError)


# ---- subscriptions --------------------------------------------------------------------------


def _refuse_mode(mode: object) -> NoReturn:
    wanted = "one of " + ", ".join(map(repr, MODES))
    hint = did_you_mean([mode], MODES)
    what = "mode is unknown"
    raise InvalidSubscriptionError(what, got=mode, wanted=wanted, hint=hint, field="mode")


def _check_clauses(event: Subscribe) -> None:
    clauses = event.clauses
    if type(clauses) is tuple and all(type(clause) is Clause for clause in clauses):
        return
    if not isinstance(clauses, (list, tuple)) or not all(isinstance(c, Clause) for c in clauses):
        what = "clauses are not clauses"
        wanted = "a tuple of Clause"
        raise InvalidSubscriptionError(what, got=clauses, wanted=wanted, field="keywords")
    _set(event, "clauses", tuple(clauses))


def _refuse_given(event: Subscribe, names: tuple[str, ...]) -> None:
    for name in names:
        value = getattr(event, name)
        if value is not None:
            what = f"{name} has no meaning in mode {event.mode!r}"
            raise InvalidSubscriptionError(what, got=value, wanted="no such field", field=name)


def _check_live(event: Subscribe) -> None:
    if not isinstance(event.live, bool):
        what = "live is not a truth value"
        raise InvalidSubscriptionError(what, got=event.live, wanted="true or false", field="live")


def _require(event: Subscribe, name: str, wanted: str) -> object:
    value: object = getattr(event, name)
    if value is None:
        what = f"{name} is missing"
        raise InvalidSubscriptionError(what, wanted=wanted, field=name)
    return value


def _set_number(event: Subscribe, name: str, read: Callable[[], float]) -> None:
    try:
        _set(event, name, read())
    except InvalidParameterError as error:
        wrong = InvalidSubscriptionError
        raise wrong(
            error.what, got=error.got, wanted=error.wanted, hint=error.hint, field=name
        ) from None


def _set_share(event: Subscribe, name: str, wanted: str) -> None:
    value = _require(event, name, wanted)
    _set_number(event, name, lambda: number(value, name, 0, 1))


def _require_plain_clause(event: Subscribe) -> None:
    """Keywords of rank and top are words that count, so there is one clause without negation."""
    if event.clauses is None:
        what = "keywords is missing"
        raise InvalidSubscriptionError(what, wanted="plain keywords", field="keywords")
    if len(event.clauses) != 1 or not event.clauses[0].positive or event.clauses[0].negative:
        what = f"clauses are not plain keywords, which mode {event.mode!r} needs"
        wanted = "one clause with positive words alone"
        raise InvalidSubscriptionError(what, got=event.clauses, wanted=wanted, field="keywords")


def _check_match(event: Subscribe) -> None:
    _refuse_given(event, ("k", "alpha", "threshold", "at"))
    if event.area is not None:
        _set(event, "area", area_from(event.area))
    elif event.clauses is None:
        what = "neither keywords nor area is there"
        raise InvalidSubscriptionError(what, wanted="at least one of them", field="keywords")
    elif not all(clause.positive for clause in event.clauses):
        what = "a clause has no positive word, and there is no area"
        wanted = "a positive word in each clause, or an area"
        raise InvalidSubscriptionError(what, got=event.clauses, wanted=wanted, field="keywords")
    _check_live(event)


def _check_rank(event: Subscribe) -> None:
    _refuse_given(event, ("k", "at"))
    wanted = "[west, south, east, north]"
    area = area_from(_require(event, "area", wanted))
    if not isinstance(area, Bbox):
        what = "area is not a box, which mode 'rank' needs"
        raise InvalidSubscriptionError(what, got=event.area, wanted=wanted, field="area")
    _set(event, "area", area)
    _require_plain_clause(event)
    _set_share(event, "alpha", "a number from 0 to 1")
    wanted = "a number more than 0, at most 1"
    _set_share(event, "threshold", wanted)
    if event.threshold == 0:
        what = "threshold is out of range"
        raise InvalidSubscriptionError(what, got=0.0, wanted=wanted, field="threshold")
    _check_live(event)


def _check_top(event: Subscribe) -> None:
    _refuse_given(event, ("area", "threshold"))
    _check_live(event)
    if event.live:
        _refuse_given(event, ("live",))
    k = _require(event, "k", "a whole number of at least 1")
    at = _require(event, "at", "[lon, lat]")
    _require_plain_clause(event)
    _set(event, "at", point_from(at, error=InvalidSubscriptionError))
    _set_number(event, "k", lambda: whole_number(k, "k", MAX_K))
    _set_share(event, "alpha", "a number from 0 to 1")


_MODE_CHECKS: dict[str, Callable[[Subscribe], None]] = {
    "match": _check_match,
    "rank": _check_rank,
    "top": _check_top,
}

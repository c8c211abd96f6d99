"""Events as values that check themselves: what cannot be an event cannot be made.

The one definition of what an event may hold. Lines and mappings (`nearcast.events`) hand over what
they have and leave the checking to these classes; a value that is made by hand is checked alike.
Numbers become floats, positions tuples, timestamps seconds and areas `Area` values.

What nearly every event brings (floats in range, ASCII ids) passes by comparisons alone, because a
stream of lines pays for each call.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from math import inf
from typing import TYPE_CHECKING, ClassVar, NoReturn, TypeAlias

from nearcast.attributes import Attributes
from nearcast.errors import (
    InvalidEventError,
    InvalidMessageError,
    InvalidParameterError,
    InvalidSubscriptionError,
    NearcastError,
    shown,
)
from nearcast.expressions import holds_without_words, plain_tokens
from nearcast.model import (
    MODES,
    Area,
    Bbox,
    Mode,
    Place,
    Point,
    area_from,
    is_encodable,
    number,
    point_from,
    whole_number,
)
from nearcast.times import TIME_LIMIT, read_time
from nearcast.tree_checks import check_keywords, check_where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from nearcast.attributes import AttributeValue
    from nearcast.expressions import Keywords, Where

MAX_K = 2**31 - 1

_set = object.__setattr__


@dataclass(frozen=True, slots=True)
class Subscribe:
    """A subscription begins, or with `replace` takes the place of one.

    `said_keywords` and `said_where` are the text that keywords and where were read from, if any.
    """

    id: str
    mode: Mode
    keywords: Keywords | None = None
    area: Area | None = None
    at: Point | None = None
    k: int | None = None
    alpha: float | None = None
    threshold: float | None = None
    live: bool = False
    expires: float | None = None
    time: float | None = None
    where: Where | None = None
    except_: Area | None = None
    replace: bool = False
    said_keywords: str | tuple[str, ...] | None = field(default=None, compare=False)
    said_where: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Refuse what is no subscription of its mode."""
        try:
            _check_id(self.id)
            check = _MODE_CHECKS.get(self.mode) if isinstance(self.mode, str) else None
            if check is None:
                _refuse_mode(self.mode)
            if self.keywords is not None:
                check_keywords(self.keywords)
            if self.where is not None:
                check_where(self.where)
            if self.live is not False:
                _check_flag(self, "live")
            if self.replace is not False:
                _check_flag(self, "replace")
            check(self)
            if self.said_keywords is not None or self.said_where is not None:
                _check_said(self)
            if self.time is not None:
                _check_moment(self, "time")
            if self.expires is not None:
                _check_moment(self, "expires")
        except NearcastError as error:
            error.locate(named("subscription", self.id))
            raise


@dataclass(frozen=True, slots=True)
class Publish:
    """A message appears, or with `replace` takes the place of one."""

    id: str
    text: str
    place: Place
    time: float | None = None
    expires: float | None = None
    attributes: Mapping[str, AttributeValue] | None = None
    replace: bool = False

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
            if time is not None and not (type(time) is float and -inf < time < TIME_LIMIT):
                _check_moment(self, "time")
            if expires is not None and not (type(expires) is float and -inf < expires < TIME_LIMIT):
                _check_moment(self, "expires")
            if self.attributes is not None and type(self.attributes) is not Attributes:
                _set(self, "attributes", Attributes(self.attributes))
            if self.replace is not False:
                _check_flag(self, "replace")
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


@dataclass(frozen=True, slots=True)
class Advance:
    """Nothing happens but time: the clock moves, and what is due goes. It concerns no id."""

    time: float
    id: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Refuse what is no time."""
        try:
            if self.time is None:
                what = "time is missing"
                raise InvalidEventError(what, wanted="the time to advance to", field="time")
            _check_moment(self, "time")
        except NearcastError as error:
            error.locate("advance")
            raise


Event: TypeAlias = Subscribe | Publish | Move | Retract | Unsubscribe | Advance


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
    if value is None or (type(value) is float and -inf < value < TIME_LIMIT):
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


def _refuse_given(event: Subscribe, names: tuple[str, ...]) -> None:
    for given in names:
        value = getattr(event, given)
        if value is not None:
            name = given.rstrip("_")
            what = f"{name} has no meaning in mode {event.mode!r}"
            raise InvalidSubscriptionError(what, got=value, wanted="no such field", field=name)


def _check_flag(event: Subscribe | Publish, name: str) -> None:
    value = getattr(event, name)
    if not isinstance(value, bool):
        what = f"{name} is not a truth value"
        wrong = InvalidMessageError if isinstance(event, Publish) else InvalidSubscriptionError
        raise wrong(what, got=value, wanted="true or false", field=name)


def _check_said(event: Subscribe) -> None:
    said = event.said_keywords
    if said is not None and type(said) is not str:
        if not isinstance(said, (list, tuple)):
            said = (said,)
        _set(event, "said_keywords", tuple([_text(each, "said_keywords") for each in said]))
    elif said is not None and not said.isascii():
        _set(event, "said_keywords", _text(said, "said_keywords"))
    if event.said_where is not None:
        _set(event, "said_where", _text(event.said_where, "said_where"))


def _text(said: object, name: str) -> str:
    """Return text that can be written: no token and no value has a lone surrogate."""
    if not isinstance(said, str):
        what = f"{name} is not a string"
        raise InvalidSubscriptionError(what, got=said, wanted="a string", field=name)
    return said if is_encodable(said) else _SURROGATE.sub("\ufffd", said)


_SURROGATE = re.compile("[\ud800-\udfff]")


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


def _require_plain_keywords(event: Subscribe) -> None:
    """Keywords of rank and top are words that count, so they are neither joined nor negated."""
    if event.keywords is None:
        what = "keywords is missing"
        raise InvalidSubscriptionError(what, wanted="plain keywords", field="keywords")
    if plain_tokens(event.keywords) is None:
        what = f"keywords are not plain, which mode {event.mode!r} needs"
        got = event.keywords if event.said_keywords is None else event.said_keywords
        wanted = "words without OR, NOT, phrases and prefixes"
        raise InvalidSubscriptionError(what, got=got, wanted=wanted, field="keywords")


def _check_match(event: Subscribe) -> None:
    _refuse_given(event, ("k", "alpha", "threshold", "at"))
    if event.except_ is not None:
        _set(event, "except_", area_from(event.except_, field="except"))
    if event.area is not None:
        _set(event, "area", area_from(event.area))
    elif event.where is None:
        _check_keywords_alone(event)


def _check_keywords_alone(event: Subscribe) -> None:
    if event.keywords is None:
        what = "neither keywords nor area nor where is there"
        raise InvalidSubscriptionError(what, wanted="at least one of them", field="keywords")
    if holds_without_words(event.keywords):
        what = "keywords: a message without any of them satisfies them"
        raise InvalidSubscriptionError(
            what,
            got=event.keywords if event.said_keywords is None else event.said_keywords,
            wanted="a keyword without NOT in each alternative, an area or a where",
            hint="add a word that must be there, as in 'coffee -decaf', or an area",
            field="keywords",
        )


def _check_rank(event: Subscribe) -> None:
    _refuse_given(event, ("k", "at", "except_"))
    wanted = "[west, south, east, north]"
    area = area_from(_require(event, "area", wanted))
    if not isinstance(area, Bbox):
        what = "area is not a box, which mode 'rank' needs"
        raise InvalidSubscriptionError(what, got=event.area, wanted=wanted, field="area")
    _set(event, "area", area)
    _require_plain_keywords(event)
    _set_share(event, "alpha", "a number from 0 to 1")
    wanted = "a number more than 0, at most 1"
    _set_share(event, "threshold", wanted)
    if event.threshold == 0:
        what = "threshold is out of range"
        raise InvalidSubscriptionError(what, got=0.0, wanted=wanted, field="threshold")


def _check_top(event: Subscribe) -> None:
    _refuse_given(event, ("area", "threshold", "except_"))
    if event.live:
        _refuse_given(event, ("live",))
    k = _require(event, "k", "a whole number of at least 1")
    at = _require(event, "at", "[lon, lat]")
    _require_plain_keywords(event)
    _set(event, "at", point_from(at, error=InvalidSubscriptionError))
    _set_number(event, "k", lambda: whole_number(k, "k", MAX_K))
    _set_share(event, "alpha", "a number from 0 to 1")


_MODE_CHECKS: dict[str, Callable[[Subscribe], None]] = {
    "match": _check_match,
    "rank": _check_rank,
    "top": _check_top,
}

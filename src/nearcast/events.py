"""The event format: one line, one event; the only place where its field names occur.

An event is a JSON object with an ``op`` and the fields of that op. Fields that the op does not
know are an error that names them, and so are fields that are null: leave them out. Times are
seconds since the epoch or RFC 3339 with an offset, and become seconds.

Of a name that occurs twice in an object the last value counts, as everywhere in Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from json import JSONDecodeError, JSONDecoder
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

from nearcast.errors import (
    InvalidEventError,
    InvalidMessageError,
    InvalidParameterError,
    InvalidSubscriptionError,
    NearcastError,
    Verbatim,
    shown,
)
from nearcast.keywords import parse, plain
from nearcast.model import (
    MODES,
    Area,
    Bbox,
    Change,
    Clause,
    Mode,
    Place,
    Point,
    area_from,
    bbox_from,
    number,
    point_from,
    whole_number,
)
from nearcast.text import DEFAULT_ANALYZER

if TYPE_CHECKING:
    from nearcast.text import Analyzer

MAX_K = 2**31 - 1
_MAX_NAMED = 20


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


@dataclass(frozen=True, slots=True)
class Publish:
    """A message appears."""

    id: str
    text: str
    place: Place
    time: float | None = None
    expires: float | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """A subscription gets another area, or a top subscription another point."""

    id: str
    area: Area | None = None
    at: Point | None = None
    time: float | None = None


@dataclass(frozen=True, slots=True)
class Retract:
    """A message is taken back."""

    id: str
    time: float | None = None


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """A subscription ends."""

    id: str
    time: float | None = None


Event: TypeAlias = Subscribe | Publish | Move | Retract | Unsubscribe
_Fields: TypeAlias = Mapping[str, object]
_T = TypeVar("_T")


# ---- lines and mappings ---------------------------------------------------------------------


def read_event(line: bytes | str, analyzer: Analyzer = DEFAULT_ANALYZER) -> Event:
    """Read one line.

    Raises
    ------
    InvalidEventError
        If it is not a JSON object in UTF-8, or not an event.
    InvalidSubscriptionError, InvalidMessageError
        If what the event brings cannot be.

    Examples
    --------
    >>> read_event('{"op": "retract", "id": "m1", "time": "1970-01-01T00:01:00Z"}')
    Retract(id='m1', time=60.0)
    """
    try:
        fields = _decode(line if isinstance(line, str) else line.decode())
    except InvalidEventError:
        raise
    except UnicodeDecodeError as error:
        what = f"line is not UTF-8: byte {error.start} cannot be read"
        raise InvalidEventError(what, got=line, wanted="JSON in UTF-8") from None
    except RecursionError:
        what = "line is nested too deeply"
        raise InvalidEventError(what, got=line, wanted="an event") from None
    except JSONDecodeError as error:
        what = f"line is not JSON: {error.msg} at character {error.pos}"
        raise InvalidEventError(what, got=line, wanted="one JSON object") from None
    return event_from(fields, analyzer)


def _refuse_constant(literal: str) -> NoReturn:
    what = "line is not JSON"
    raise InvalidEventError(what, got=Verbatim(literal), wanted="a finite number")


def _integer(digits: str) -> float:
    """Read an integer; one that no float can hold becomes infinite, and is refused as such."""
    return int(digits) if len(digits) < 400 else float(digits)


_decode: Callable[[str], Any] = JSONDecoder(
    parse_constant=_refuse_constant, parse_int=_integer
).decode


def event_from(fields: Mapping[str, object], analyzer: Analyzer = DEFAULT_ANALYZER) -> Event:
    """Read an event from a mapping with the fields of a line; areas may be `Area` values.

    Raises
    ------
    InvalidEventError, InvalidSubscriptionError, InvalidMessageError
        As `read_event`.
    """
    if not isinstance(fields, (dict, Mapping)):
        what = "event is not an object"
        raise InvalidEventError(what, got=fields, wanted="an object with an op")
    op = fields.get("op")
    reader = _READERS.get(op) if isinstance(op, str) else None
    if reader is None:
        raise _unknown_op(fields)
    noun, known, read = reader
    try:
        _check_names(fields, known)
        return read(_id(fields), fields, analyzer)
    except NearcastError as error:
        error.locate(_name(noun, fields))
        raise


def _name(noun: str, fields: _Fields) -> str:
    return f"{noun} {shown(fields['id'])}" if isinstance(fields.get("id"), str) else noun


def _unknown_op(fields: _Fields) -> InvalidEventError:
    wanted = "one of " + ", ".join(map(repr, _READERS))
    if "op" not in fields:
        return InvalidEventError("event has no op", got=fields, wanted=wanted, field="op")
    op = fields["op"]
    hint = _did_you_mean([op], _READERS)
    return InvalidEventError("op is unknown", got=_json(op), wanted=wanted, hint=hint, field="op")


def _json(value: object) -> object:
    return Verbatim("null") if value is None else value


def _check_names(fields: _Fields, known: Mapping[str, None]) -> None:
    if not fields.keys() <= known.keys():
        unknown = [name for name in fields if name not in known]
        listed = ", ".join(map(shown, unknown[:_MAX_NAMED]))
        more = f" and {len(unknown) - _MAX_NAMED} more" if len(unknown) > _MAX_NAMED else ""
        what = f"unknown field{'s' if len(unknown) > 1 else ''} {listed}{more}"
        raise InvalidEventError(
            what,
            wanted="only " + ", ".join(known),
            hint=_did_you_mean(unknown, known),
            field=unknown[0] if isinstance(unknown[0], str) else None,
        )
    for name, value in fields.items():
        if value is None:
            what = f"{name} is null"
            raise InvalidEventError(what, wanted="a value", hint=f"leave {name} out", field=name)


def _did_you_mean(unknown: list[Any], known: Mapping[str, object]) -> str | None:
    for name in unknown[:3]:
        # difflib takes quadratic time, and nobody mistypes a name of 40 letters
        close = (
            get_close_matches(name, known, 1) if isinstance(name, str) and name[40:] == "" else []
        )
        if close:
            return f"did you mean {close[0]!r} instead of {name!r}?"
    return None


# ---- fields ---------------------------------------------------------------------------------


def _required(fields: _Fields, name: str, wanted: str, error: type[NearcastError]) -> object:
    if name not in fields:
        what = f"{name} is missing"
        raise error(what, wanted=wanted, field=name)
    return fields[name]


def _id(fields: _Fields) -> str:
    value = fields.get("id")
    if isinstance(value, str) and value and (value.isascii() or _is_encodable(value)):
        return value
    wanted = "a string that is not empty and has no lone surrogates"
    _required(fields, "id", wanted, InvalidEventError)
    what = "id is not an id"
    raise InvalidEventError(what, got=value, wanted=wanted, field="id")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _time(fields: _Fields, name: str) -> float | None:
    return read_time(fields[name], name) if name in fields else None


def _subscription_value(read: Callable[[], _T], name: str) -> _T:
    try:
        return read()
    except InvalidParameterError as error:
        wrong = InvalidSubscriptionError
        raise wrong(
            error.what, got=error.got, wanted=error.wanted, hint=error.hint, field=name
        ) from None


def _unit(fields: _Fields, name: str, wanted: str) -> float:
    value = _required(fields, name, wanted, InvalidSubscriptionError)
    return _subscription_value(lambda: number(value, name, 0, 1), name)


def _threshold(fields: _Fields) -> float:
    wanted = "a number more than 0, at most 1"
    threshold = _unit(fields, "threshold", wanted)
    if threshold == 0:
        what = "threshold is out of range"
        raise InvalidSubscriptionError(what, got=threshold, wanted=wanted, field="threshold")
    return threshold


def _live(fields: _Fields) -> bool:
    value = fields.get("live", False)
    if not isinstance(value, bool):
        what = "live is not a truth value"
        raise InvalidSubscriptionError(what, got=value, wanted="true or false", field="live")
    return value


def _refuse(fields: _Fields, mode: Mode, names: tuple[str, ...]) -> None:
    for name in names:
        if name in fields:
            what = f"{name} has no meaning in mode {mode!r}"
            raise InvalidSubscriptionError(
                what, got=fields[name], wanted="no such field", field=name
            )


def _plain_clauses(fields: _Fields, analyzer: Analyzer) -> tuple[Clause]:
    words = _required(fields, "keywords", "plain keywords", InvalidSubscriptionError)
    return (Clause(plain(words, analyzer)),)  # type: ignore[arg-type]


# ---- subscribe ------------------------------------------------------------------------------


def _read_subscribe(id_: str, fields: _Fields, analyzer: Analyzer) -> Subscribe:
    mode = fields.get("mode", "match")
    reader = _MODES.get(mode) if isinstance(mode, str) else None
    if reader is None:
        what = "mode is unknown"
        wanted = "one of " + ", ".join(map(repr, MODES))
        hint = _did_you_mean([mode], _MODES)
        raise InvalidSubscriptionError(what, got=mode, wanted=wanted, hint=hint, field="mode")
    return reader(id_, fields, analyzer)


def _read_match(id_: str, fields: _Fields, analyzer: Analyzer) -> Subscribe:
    _refuse(fields, "match", ("k", "alpha", "threshold", "at"))
    if "keywords" not in fields and "area" not in fields:
        what = "neither keywords nor area is there"
        raise InvalidSubscriptionError(what, wanted="at least one of them", field="keywords")
    words = fields.get("keywords")
    return Subscribe(
        id_,
        "match",
        clauses=None if words is None else parse(words, analyzer),  # type: ignore[arg-type]
        area=area_from(fields["area"]) if "area" in fields else None,
        live=_live(fields),
        expires=_time(fields, "expires"),
        time=_time(fields, "time"),
    )


def _read_rank(id_: str, fields: _Fields, analyzer: Analyzer) -> Subscribe:
    _refuse(fields, "rank", ("k", "at"))
    wanted = "[west, south, east, north]"
    area = area_from(_required(fields, "area", wanted, InvalidSubscriptionError))
    if not isinstance(area, Bbox):
        what = "area is not a box, which mode 'rank' needs"
        raise InvalidSubscriptionError(what, got=fields["area"], wanted=wanted, field="area")
    return Subscribe(
        id_,
        "rank",
        clauses=_plain_clauses(fields, analyzer),
        area=area,
        alpha=_unit(fields, "alpha", "a number from 0 to 1"),
        threshold=_threshold(fields),
        live=_live(fields),
        expires=_time(fields, "expires"),
        time=_time(fields, "time"),
    )


def _read_top(id_: str, fields: _Fields, analyzer: Analyzer) -> Subscribe:
    _refuse(fields, "top", ("area", "threshold"))
    if _live(fields):
        _refuse(fields, "top", ("live",))
    k = _required(fields, "k", "a whole number of at least 1", InvalidSubscriptionError)
    at = _required(fields, "at", "[lon, lat]", InvalidSubscriptionError)
    return Subscribe(
        id_,
        "top",
        clauses=_plain_clauses(fields, analyzer),
        at=point_from(at, error=InvalidSubscriptionError),
        k=_subscription_value(lambda: whole_number(k, "k", MAX_K), "k"),
        alpha=_unit(fields, "alpha", "a number from 0 to 1"),
        expires=_time(fields, "expires"),
        time=_time(fields, "time"),
    )


_MODES: dict[str, Callable[[str, _Fields, Analyzer], Subscribe]] = {
    "match": _read_match,
    "rank": _read_rank,
    "top": _read_top,
}


# ---- the other ops --------------------------------------------------------------------------


def _read_publish(id_: str, fields: _Fields, _analyzer: Analyzer) -> Publish:
    text = fields.get("text")
    if not isinstance(text, str):
        _required(fields, "text", "a string", InvalidMessageError)
        what = "text is not a string"
        raise InvalidMessageError(what, got=text, wanted="a string", field="text")
    return Publish(id_, text, _place(fields), _time(fields, "time"), _time(fields, "expires"))


def _place(fields: _Fields) -> Place:
    _exactly_one(fields, "at", "bbox", InvalidMessageError)
    if "bbox" in fields:
        return bbox_from(fields["bbox"], error=InvalidMessageError)
    at = fields["at"]
    if type(at) is list and len(at) == 2:
        lon, lat = at
        # Nearly every message is this one; whatever is wrong with others is said below.
        if type(lon) is type(lat) is float and -180 <= lon <= 180 and -90 <= lat <= 90:
            return (lon, lat)
    return point_from(at, error=InvalidMessageError)


def _exactly_one(fields: _Fields, one: str, other: str, error: type[NearcastError]) -> None:
    if (one in fields) == (other in fields):
        what = f"both {one} and {other} are there" if one in fields else f"{one} is missing"
        raise error(what, wanted=f"exactly one of {one} and {other}", field=one)


def _read_move(id_: str, fields: _Fields, _analyzer: Analyzer) -> Move:
    _exactly_one(fields, "area", "at", InvalidSubscriptionError)
    time = _time(fields, "time")
    if "area" in fields:
        return Move(id_, area=area_from(fields["area"]), time=time)
    return Move(id_, at=point_from(fields["at"], error=InvalidSubscriptionError), time=time)


def _read_retract(id_: str, fields: _Fields, _analyzer: Analyzer) -> Retract:
    return Retract(id_, _time(fields, "time"))


def _read_unsubscribe(id_: str, fields: _Fields, _analyzer: Analyzer) -> Unsubscribe:
    return Unsubscribe(id_, _time(fields, "time"))


_Reader: TypeAlias = tuple[str, dict[str, None], Callable[[str, _Fields, "Analyzer"], Event]]


def _reader(noun: str, names: str, read: Callable[[str, _Fields, Analyzer], Event]) -> _Reader:
    return noun, dict.fromkeys(["op", "id", *names.split()]), read


_SUBSCRIBE_FIELDS = "mode keywords area at k alpha threshold live expires time"
_READERS: dict[str, _Reader] = {
    "subscribe": _reader("subscription", _SUBSCRIBE_FIELDS, _read_subscribe),
    "publish": _reader("message", "text at bbox time expires", _read_publish),
    "move": _reader("subscription", "area at time", _read_move),
    "retract": _reader("message", "time", _read_retract),
    "unsubscribe": _reader("subscription", "time", _read_unsubscribe),
}


# ---- times ----------------------------------------------------------------------------------

_RFC_3339 = re.compile(
    r"""([0-9]{4})-([0-9]{2})-([0-9]{2})            # date
        [Tt\ ]
        ([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?
        (?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))""",
    re.VERBOSE,
)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_DAYS_OF_400_YEARS = 146_097
_NINES = str.maketrans("0123456789", "9876543210")


def read_time(value: object, field: str) -> float:
    """Return seconds since the epoch of a number or an RFC 3339 timestamp with an offset.

    A leap second is the second after it, as in POSIX.

    Raises
    ------
    InvalidEventError
        If it is neither, or no such day or second exists; its `field` is `field`.

    Examples
    --------
    >>> read_time("2026-01-02T03:04:05.5+01:00", "time")
    1767319445.5
    """
    if not isinstance(value, str):
        try:
            return number(value, field)
        except InvalidParameterError as error:
            wanted = "seconds since the epoch, or RFC 3339 with an offset"
            raise InvalidEventError(error.what, got=value, wanted=wanted, field=field) from None
    found = _RFC_3339.fullmatch(value)
    if found is None:
        what = f"{field} is not a timestamp"
        raise InvalidEventError(
            what,
            got=value,
            wanted="RFC 3339 with an offset, such as 2026-01-02T03:04:05Z",
            hint="a number of seconds goes without quotes",
            field=field,
        )
    seconds = _whole_seconds(found)
    if seconds is None:
        what = f"{field} does not exist"
        wanted = "a day of the calendar and a time of that day"
        raise InvalidEventError(what, got=value, wanted=wanted, field=field)
    return _with_fraction(seconds, (found[7] or "").rstrip("0"))


def _whole_seconds(found: re.Match[str]) -> int | None:
    """Return the seconds before the fraction, or None if there is no such time."""
    year, month, day, hour, minute, second = map(int, found.group(1, 2, 3, 4, 5, 6))
    offset_hour, offset_minute = int(found[9] or 0), int(found[10] or 0)
    if hour > 23 or minute > 59 or second > 60 or offset_hour > 23 or offset_minute > 59:
        return None
    try:
        # `date` has no year 0, RFC 3339 has; the calendar repeats after 400 years.
        days = date(year or 400, month, day).toordinal() - (0 if year else _DAYS_OF_400_YEARS)
    except ValueError:
        return None
    offset = (offset_hour * 60 + offset_minute) * (-60 if found[8] == "-" else 60)
    seconds = (days - _EPOCH_DAY) * 86_400 + hour * 3_600 + minute * 60 + second - offset
    return None if second == 60 and not _is_month_start(seconds) else seconds


def _is_month_start(seconds: int) -> bool:
    """Tell whether a second may follow a leap second: these end a month in UTC."""
    days, rest = divmod(seconds, 86_400)
    return (
        rest == 0
        and 1 <= days + _EPOCH_DAY <= date.max.toordinal()
        and (date.fromordinal(days + _EPOCH_DAY).day == 1)
    )


def _with_fraction(seconds: int, digits: str) -> float:
    """Add ``0.digits``, rounding once however many there are; `digits` does not end in 0."""
    if not digits:
        return float(seconds)
    if seconds >= 0:
        return float(f"{seconds}.{digits}")
    # -5 + 0.25 is -4.75: what is written after the point is the complement.
    complement = digits[:-1].translate(_NINES) + str(10 - int(digits[-1]))
    return -float(f"{-seconds - 1}.{complement}")


# ---- out ------------------------------------------------------------------------------------


def write_change(change: Change) -> str:
    """Return a change as one line of JSON, in ASCII and without its end of line.

    Examples
    --------
    >>> write_change(Change(4, "s1", "m1", "added", "published"))
    '{"event":4,"subscription":"s1","message":"m1","change":"added","reason":"published"}'
    """
    score = "" if change.score is None else f',"score":{change.score!r}'
    return (
        f'{{"event":{change.event},"subscription":{encode_basestring_ascii(change.subscription)}'
        f',"message":{encode_basestring_ascii(change.message)}'
        f',"change":"{change.change}","reason":"{change.reason}"{score}}}'
    )

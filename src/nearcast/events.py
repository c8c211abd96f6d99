"""The event format: one line, one event. Field names occur here and in `event_lines.py` only.

An event is a JSON object with an ``op`` and the fields of that op. Fields that the op does not
know are an error that names them, and so are fields that are null: leave them out. Times are
seconds since the epoch or RFC 3339 with an offset, and become seconds.

Of a name that occurs twice in an object the last value counts, as everywhere in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from json import JSONDecodeError, JSONDecoder
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

from msgspec.json import Decoder as MsgspecDecoder

from nearcast.errors import InvalidEventError, InvalidMessageError, NearcastError, Verbatim, shown
from nearcast.event_values import (
    Advance,
    Event,
    Move,
    Publish,
    Retract,
    Subscribe,
    Unsubscribe,
    did_you_mean,
    named,
)
from nearcast.keywords import as_list, parse
from nearcast.model import Change, bbox_from
from nearcast.text import DEFAULT_ANALYZER
from nearcast.times import read_time
from nearcast.where import parse as parse_where

if TYPE_CHECKING:
    from nearcast.text import Analyzer

__all__ = [
    "Advance",
    "Event",
    "Move",
    "Publish",
    "Retract",
    "Subscribe",
    "Unsubscribe",
    "event_from",
    "read_event",
    "read_time",
    "write_change",
]

_MAX_NAMED = 20


_Fields: TypeAlias = Mapping[str, object]


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
        return event_from(_decode(line), analyzer)
    except (NearcastError, ValueError, RecursionError):
        return event_from(_decode_carefully(line), analyzer)


_decode: Callable[[bytes | str], Any] = MsgspecDecoder().decode
"""Reads most lines, and reads them right; what it refuses is read again, for the words."""


def _decode_carefully(line: bytes | str) -> Any:  # noqa: ANN401 — whatever JSON holds
    try:
        return _decode_by_python(line if isinstance(line, str) else line.decode())
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


def _refuse_constant(literal: str) -> NoReturn:
    what = "line is not JSON"
    raise InvalidEventError(what, got=Verbatim(literal), wanted="a finite number")


def _integer(digits: str) -> float:
    """Read an integer; one that no float can hold becomes infinite, and is refused as such."""
    return int(digits) if len(digits) < 400 else float(digits)


_decode_by_python: Callable[[str], Any] = JSONDecoder(
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
    noun, known, parts_of, make = reader
    try:
        _check_names(fields, known)
        parts = parts_of(fields, analyzer)
    except NearcastError as error:
        error.locate(named(noun, fields.get("id")))
        raise
    return make(*parts)  # which checks them, and names itself in errors


def _unknown_op(fields: _Fields) -> InvalidEventError:
    wanted = "one of " + ", ".join(map(repr, _READERS))
    if "op" not in fields:
        return InvalidEventError("event has no op", got=fields, wanted=wanted, field="op")
    op = fields["op"]
    hint = did_you_mean([op], _READERS)
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
            hint=did_you_mean(unknown, known),
            field=unknown[0] if isinstance(unknown[0], str) else None,
        )
    for name, value in fields.items():
        if value is None:
            what = f"{name} is null"
            raise InvalidEventError(what, wanted="a value", hint=f"leave {name} out", field=name)


# ---- fields to the parts of a value ---------------------------------------------------------


def _subscribe_parts(fields: _Fields, analyzer: Analyzer) -> tuple[Any, ...]:
    get = fields.get
    words = as_list(get("keywords"))
    where: Any = get("where")
    keywords = None if words is None else parse(words, analyzer)
    return (
        get("id"),
        get("mode", "match"),
        keywords,
        get("area"),
        get("at"),
        get("k"),
        get("alpha"),
        get("threshold"),
        get("live", False),
        get("expires"),
        get("time"),
        None if where is None else parse_where(where),
        get("except"),
        get("replace", False),
        words,
        where,
    )


def _publish_parts(fields: _Fields, _analyzer: Analyzer) -> tuple[Any, ...]:
    get = fields.get
    place: object = get("at")
    if type(place) is list:
        place = tuple(place)
    if "bbox" in fields:
        if place is not None:
            what = "both at and bbox are there"
            raise InvalidMessageError(what, wanted="exactly one of at and bbox", field="at")
        place = bbox_from(fields["bbox"], error=InvalidMessageError)
    times = (get("time"), get("expires"))
    return (get("id"), get("text"), place, *times, get("attributes"), get("replace", False))


def _move_parts(fields: _Fields, _analyzer: Analyzer) -> tuple[Any, ...]:
    return (fields.get("id"), fields.get("area"), fields.get("at"), fields.get("time"))


def _advance_parts(fields: _Fields, _analyzer: Analyzer) -> tuple[Any, ...]:
    return (fields.get("time"),)


def _named_parts(fields: _Fields, _analyzer: Analyzer) -> tuple[Any, ...]:
    return (fields.get("id"), fields.get("time"))


class _Reader(NamedTuple):
    noun: str
    known: dict[str, None]
    parts: Callable[[_Fields, Analyzer], tuple[Any, ...]]
    make: Callable[..., Event]


def _reader(
    noun: str,
    names: str,
    parts: Callable[[_Fields, Analyzer], tuple[Any, ...]],
    make: Callable[..., Event],
) -> _Reader:
    return _Reader(noun, dict.fromkeys(["op", *names.split()]), parts, make)


_SUBSCRIBE_FIELDS = (
    "id mode keywords area except where at k alpha threshold live expires time replace"
)
_PUBLISH_FIELDS = "id text at bbox attributes time expires replace"
_READERS: dict[str, _Reader] = {
    "subscribe": _reader("subscription", _SUBSCRIBE_FIELDS, _subscribe_parts, Subscribe),
    "publish": _reader("message", _PUBLISH_FIELDS, _publish_parts, Publish),
    "move": _reader("subscription", "id area at time", _move_parts, Move),
    "retract": _reader("message", "id time", _named_parts, Retract),
    "unsubscribe": _reader("subscription", "id time", _named_parts, Unsubscribe),
    "advance": _reader("advance", "time", _advance_parts, Advance),
}


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

"""Checks of single JSON values; each returns the value or rejects the event."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

Position = tuple[float, float]

_RFC3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ]((?:[01]\d|2[0-3]):\d\d:\d\d)(\.\d+)?"
    r"([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)",
    re.ASCII,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class OracleRejects(Exception):
    """The event is invalid; nothing has changed."""


def require(truth: bool, problem: str) -> None:
    """Reject the event unless `truth`."""
    if not truth:
        raise OracleRejects(problem)


def only_fields(
    value: Mapping[str, Any],
    allowed: Collection[str],
    where: str,
    may_be_null: Collection[str] = (),
) -> None:
    """Reject fields outside `allowed`, and nulls."""
    unknown = sorted(set(value) - set(allowed))
    require(not unknown, f"{where}: unknown fields {unknown}")
    nulls = sorted(name for name in value if value[name] is None and name not in may_be_null)
    require(not nulls, f"{where}: null in {nulls}")


def identifier(value: object) -> str:
    """Return a non-empty string."""
    require(isinstance(value, str) and value != "", f"id must be a non-empty string: {value!r}")
    return str(value)


def number(value: object, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a finite number within [low, high]; booleans are not numbers."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise OracleRejects(f"not a number: {value!r}")
    try:
        result = float(value)
    except OverflowError as error:
        raise OracleRejects("number too large") from error
    require(math.isfinite(result) and low <= result <= high, f"out of range: {value!r}")
    return result


def sequence(value: object, lengths: Collection[int] | None = None) -> list[Any]:
    """Return a list, of one of the given lengths."""
    if not isinstance(value, (list, tuple)):
        raise OracleRejects(f"not a list: {value!r}")
    require(lengths is None or len(value) in lengths, f"wrong length: {value!r}")
    return list(value)


def position(value: object, lengths: Collection[int] = (2,)) -> Position:
    """Return lon and lat; a third number, where allowed, is ignored."""
    numbers = [number(entry) for entry in sequence(value, lengths)]
    return number(numbers[0], -180, 180), number(numbers[1], -90, 90)


def moment(value: object) -> float:
    """Return seconds since the epoch, from a number or from RFC 3339 with an offset."""
    seconds = number(value) if not isinstance(value, str) else _read_rfc3339(value)
    require(seconds < 1e11, f"a time in milliseconds: {value!r}")
    return seconds


def truth(value: object) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise OracleRejects(f"neither true nor false: {value!r}")
    return value


def _read_rfc3339(value: str) -> float:
    parts = _RFC3339.fullmatch(value)
    if parts is None:
        raise OracleRejects(f"neither a number nor RFC 3339 with an offset: {value!r}")
    try:
        local = datetime.fromisoformat(f"{parts[1]}T{parts[2]}+00:00")
    except ValueError as error:
        raise OracleRejects(f"no such date or time: {value!r}") from error
    whole = (local - _EPOCH) // timedelta(seconds=1) - _offset_seconds(parts[4])
    return float(whole + Fraction("0" + (parts[3] or "")))


def _offset_seconds(offset: str) -> int:
    if offset in "Zz":
        return 0
    size = int(offset[1:3]) * 3600 + int(offset[4:6]) * 60
    return -size if offset[0] == "-" else size

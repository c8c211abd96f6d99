"""Moments: seconds since the epoch, from numbers, aware datetimes or RFC 3339 with an offset."""

from __future__ import annotations

import re
from datetime import date, datetime, timezone

from nearcast.errors import InvalidEventError, InvalidParameterError
from nearcast.model import number

_RFC_3339 = re.compile(
    r"""([0-9]{4})-([0-9]{2})-([0-9]{2})            # date
        [Tt\ ]
        ([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?
        (?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))""",
    re.VERBOSE,
)
TIME_LIMIT = 1e11
"""Seconds at which a time is taken for milliseconds: the year 5138."""
_WANTED = "seconds since the epoch, an aware datetime, or RFC 3339 with an offset"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_DAYS_OF_400_YEARS = 146_097
_NINES = str.maketrans("0123456789", "9876543210")


def read_time(value: object, field: str) -> float:
    """Return seconds since the epoch of a number, an aware datetime or an RFC 3339 timestamp.

    A leap second is the second after it, as in POSIX.

    Raises
    ------
    InvalidEventError
        If it is none of these, no such day or second exists, or the number must be milliseconds;
        its `field` is `field`.

    Examples
    --------
    >>> read_time("2026-01-02T03:04:05.5+01:00", "time")
    1767319445.5
    """
    if isinstance(value, str):
        return _read_timestamp(value, field)
    if isinstance(value, datetime):
        return _read_datetime(value, field)
    try:
        seconds = number(value, field)
    except InvalidParameterError as error:
        raise InvalidEventError(error.what, got=value, wanted=_WANTED, field=field) from None
    if seconds >= TIME_LIMIT:
        what = f"{field} is too large for seconds"
        wanted = "seconds since the epoch, less than 100,000,000,000"
        hint = "is it in milliseconds? Divide it by 1,000"
        raise InvalidEventError(what, got=value, wanted=wanted, hint=hint, field=field)
    return seconds


def _read_datetime(value: datetime, field: str) -> float:
    if value.utcoffset() is None:
        what = f"{field} is a datetime without an offset"
        hint = "give it a timezone, as in datetime.now(timezone.utc)"
        raise InvalidEventError(what, got=value, wanted=_WANTED, hint=hint, field=field)
    return (value - _EPOCH).total_seconds()


def _read_timestamp(value: str, field: str) -> float:
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

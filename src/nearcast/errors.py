"""One tree of errors, each built from the same parts: what, got, wanted, hint, field.

Who raises what
---------------
==========================  ====================================================================
`InvalidEventError`         `events`: broken JSON, an unknown op or field, a bad id or time
`InvalidSubscriptionError`  `model.area_from`, `keywords`, `events`, `Hub`, `Matcher`: a wrong
                            area, mode or number of a subscription
`ExpressionError`           `keywords`: an expression that cannot be read, with the position
`InvalidMessageError`       `events`, `Hub`, `Matcher`: a wrong text or place of a message
`InvalidParameterError`     `model` values made directly, and every option of a constructor
`DuplicateIdError`          `Hub`, `Matcher`: the id is in use
`UnknownIdError`            `Hub`, `Matcher`: move or unsubscribe of an id that is not there
`SnapshotError`             saving and opening: not a snapshot, damaged, or of another version
`CapacityError`             `Hub`, `Matcher`: more than a structure can count or address
`UnsupportedError`          an index kind that is asked for what it does not do
`NotCopyableError`          `pickle` and `copy` of what lives in the memory of its process
`InternalError`             our bug; please report it
==========================  ====================================================================

`KeepsNothingWarning` is a warning of `Hub` and never raised, unless Python is told to.

The first five are also a `ValueError`, `DuplicateIdError` too; the others are what a Python
programmer would catch: `KeyError`, `OSError`, `OverflowError`, `NotImplementedError`, `TypeError`.
"""

from __future__ import annotations

import reprlib
import sys
import warnings
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Self

MAX_SHOWN = 80


class Verbatim(str):
    """A `got` that is printed as it stands, without quotes: ``got null``."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the words themselves."""
        return str(self)


class _Shortener(reprlib.Repr):
    """`repr` in bounded time and length, also of what `repr` itself refuses."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = MAX_SHOWN
        self.maxlist = self.maxtuple = self.maxdict = 6
        self.maxlevel = 3

    def repr_int(self, x: int, level: int) -> str:
        """Show a long integer by its size: `repr` of one may raise, or take long."""
        if x.bit_length() > 200:
            return f"<an integer of {x.bit_length()} bits>"
        return super().repr_int(x, level)


_shortener = _Shortener()


def shown(value: object) -> str:
    """Return `value` as an error message prints it: its repr, at most 80 characters.

    Examples
    --------
    >>> shown("s1")
    "'s1'"
    >>> len(shown("x" * 1000))
    80
    """
    text = str(value) if isinstance(value, Verbatim) else _shortener.repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


class NearcastError(Exception):
    """Base of all errors of this package.

    Parameters
    ----------
    what
        What is wrong, and with what: ``"subscription 's1': area: latitude is out of range"``.
    got
        The value that was refused; printed shortened. `Verbatim` prints without quotes.
    wanted
        What would have been accepted.
    hint
        What the caller may want to do.
    field
        The field of the event, or the parameter, that is to blame.

    Examples
    --------
    >>> print(NearcastError("k is too small", got=0, wanted="at least 1", hint="leave it out"))
    k is too small: got 0, wanted at least 1; hint: leave it out
    """

    code: ClassVar[str] = "nearcast_error"
    event: int | None = None
    """Number of the event of a batch that was rejected (`Hub.apply`)."""
    changes: pa.Table | None = None
    """Table of the changes of the events before it."""

    def __init__(
        self,
        what: str,
        *,
        got: object = None,
        wanted: str | None = None,
        hint: str | None = None,
        field: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.got = got
        self.wanted = wanted
        self.hint = hint
        self.field = field

    @classmethod
    def of(cls, error: NearcastError, *, field: str) -> Self:
        """Return `error` as an error of this class, about `field`."""
        return cls(
            f"{field}: {error.what}",
            got=error.got,
            wanted=error.wanted,
            hint=error.hint,
            field=field,
        )

    def locate(self, where: str) -> None:
        """Say in front of the message what it is about, such as ``subscription 's1'``."""
        self.what = f"{where}: {self.what}"
        self.args = (self.what,)

    def __str__(self) -> str:
        """Return ``what: got …, wanted …; hint: …`` without the parts that are None."""
        return f"{self.summary}; hint: {self.hint}" if self.hint else self.summary

    @property
    def summary(self) -> str:
        """The text without the hint, for programs that show it in a place of its own."""
        parts = []
        if self.got is not None:
            parts.append(f"got {shown(self.got)}")
        if self.wanted is not None:
            parts.append(f"wanted {self.wanted}")
        return f"{self._headline()}: {', '.join(parts)}" if parts else self._headline()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the parts; a `got` of an unusual type goes as its printed form."""
        return _rebuild, (type(self), self.what, self._parts())

    def _headline(self) -> str:
        return self.what

    def _parts(self) -> dict[str, Any]:
        plain = self.got is None or type(self.got) in _PLAIN
        return {
            "got": self.got if plain else Verbatim(shown(self.got)),
            "wanted": self.wanted,
            "hint": self.hint,
            "field": self.field,
        }


_PLAIN = frozenset({bool, int, float, str, bytes, Verbatim})


def _rebuild(cls: type[NearcastError], what: str, parts: dict[str, Any]) -> NearcastError:
    return cls(what, **parts)


class InvalidSubscriptionError(NearcastError, ValueError):
    """A subscription that cannot be: its keywords, area, mode or numbers are wrong."""

    code = "invalid_subscription"


class ExpressionError(InvalidSubscriptionError):
    """A keyword expression that cannot be read.

    Parameters
    ----------
    what, got, wanted, hint, field
        As in `NearcastError`.
    position
        Offset of the culprit in the expression, in characters, from 0.
    """

    code = "invalid_expression"

    def __init__(
        self,
        what: str,
        *,
        position: int,
        got: object = None,
        wanted: str | None = None,
        hint: str | None = None,
        field: str | None = None,
    ) -> None:
        super().__init__(what, got=got, wanted=wanted, hint=hint, field=field)
        self.position = position

    def _headline(self) -> str:
        return f"{self.what} at position {self.position}"

    def _parts(self) -> dict[str, Any]:
        return {**super()._parts(), "position": self.position}


class InvalidMessageError(NearcastError, ValueError):
    """A message that cannot be: its text or its place is wrong."""

    code = "invalid_message"


class InvalidEventError(NearcastError, ValueError):
    """Something that is not an event: broken JSON, an unknown op or field, a bad id or time."""

    code = "invalid_event"


class InvalidParameterError(NearcastError, ValueError):
    """A value or an option that is out of its range or of the wrong type."""

    code = "invalid_parameter"


class DuplicateIdError(NearcastError, ValueError):
    """An id that is in use cannot be used again."""

    code = "duplicate_id"


class UnknownIdError(NearcastError, KeyError):
    """No subscription or message has this id."""

    code = "unknown_id"


class SnapshotError(NearcastError, OSError):
    """A snapshot cannot be written or read."""

    code = "snapshot"


class CapacityError(NearcastError, OverflowError):
    """More than a structure can count or address; what was asked for has not been done."""

    code = "capacity"


class UnsupportedError(NearcastError, NotImplementedError):
    """An index kind that does not do what was asked; another does."""

    code = "unsupported"


class NotCopyableError(NearcastError, TypeError):
    """A hub or a matcher cannot be copied or pickled: it lives in the memory of its process."""

    code = "not_copyable"


class KeepsNothingWarning(UserWarning):
    """A live or top subscription in a hub without a window, which keeps only what has an expiry."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line that called into this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back and str(frame.f_globals.get("__name__")).startswith("nearcast."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class InternalError(NearcastError):
    """A bug of this package, not of its caller. Please report it."""

    code = "internal"

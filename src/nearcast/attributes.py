"""What may a message say of itself? Names with a number, a string, true or false, or strings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import inf
from numbers import Real
from typing import Any, NoReturn, TypeAlias

from nearcast.errors import InvalidMessageError, InvalidParameterError, Verbatim, shown
from nearcast.model import is_encodable, number

MAX_ATTRIBUTES = 64
NAME = r"[A-Za-z_][A-Za-z0-9_.]*"
NAME_WANTED = "letters, digits, _ and . in ASCII, the first a letter or _"

AttributeValue: TypeAlias = float | str | bool | tuple[str, ...]

_FIELD = "attributes"
_is_name = re.compile(NAME).fullmatch


def is_attribute_name(name: object) -> bool:
    """Return whether an attribute may have this name."""
    return isinstance(name, str) and _is_name(name) is not None


class Attributes(dict[str, AttributeValue]):
    """Attributes that are checked and cannot be changed.

    Numbers are floats, so an integer of more than 53 bits is rounded to the nearest one, as it is
    when it is compared. Lists are tuples.

    Raises
    ------
    InvalidMessageError
        If they are too many, or a name or a value cannot be.

    Examples
    --------
    >>> Attributes({"price": 1150, "type": "flat", "tags": ["new", "quiet"]})
    Attributes({'price': 1150.0, 'type': 'flat', 'tags': ('new', 'quiet')})
    """

    __slots__ = ()

    def __init__(self, given: Mapping[str, object] = {}) -> None:
        if not isinstance(given, Mapping):
            what = "attributes are not an object"
            wanted = "an object of names and values"
            raise InvalidMessageError(what, got=given, wanted=wanted, field=_FIELD)
        if len(given) > MAX_ATTRIBUTES:
            what, got = "attributes are too many", Verbatim(f"{len(given)} names")
            wanted = f"at most {MAX_ATTRIBUTES}"
            raise InvalidMessageError(what, got=got, wanted=wanted, field=_FIELD)
        super().__init__({_name(name): _value(name, value) for name, value in given.items()})

    def __hash__(self) -> int:  # type: ignore[override]
        """Return the same for equal attributes."""
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call."""
        return Attributes, (dict(self),)

    def __repr__(self) -> str:
        """Return the call that makes them."""
        return f"Attributes({super().__repr__()})"

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        what = "attributes cannot be changed"
        raise TypeError(what)

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = pop = popitem = clear = setdefault = _refuse


def _name(name: object) -> str:
    if type(name) is str and _is_name(name):
        return name
    if isinstance(name, str) and _is_name(name):
        return str(name)
    what = "attributes: a name is not a name"
    raise InvalidMessageError(what, got=name, wanted=NAME_WANTED, field=_FIELD)


def _value(name: str, value: object) -> AttributeValue:
    if type(value) is float and -inf < value < inf:
        return value
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _string(name, value)
    if isinstance(value, (list, tuple)):
        for entry in value:
            if not isinstance(entry, str):
                what = f"attributes: {name} has an entry that is not a string"
                wanted = "strings in the list"
                raise InvalidMessageError(what, got=entry, wanted=wanted, field=_FIELD)
        return tuple([_string(name, entry) for entry in value])
    if isinstance(value, (int, Real)):
        try:
            return number(value, name)
        except InvalidParameterError as error:
            raise InvalidMessageError.of(error, field=_FIELD) from None
    what = f"attributes: {name} is {'null' if value is None else 'no value'}"
    raise InvalidMessageError(
        what,
        got=value,
        wanted="a number, a string, true, false or a list of strings",
        hint=f"leave {name} out" if value is None else None,
        field=_FIELD,
    )


def _string(name: str, value: str) -> str:
    if not is_encodable(value):
        what = f"attributes: {name} has a lone surrogate"
        raise InvalidMessageError(what, got=shown(value), wanted="Unicode text", field=_FIELD)
    return str(value)

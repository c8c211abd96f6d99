"""Arguments that only a hub takes: a batch of events, and the space of top lists."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral

from nearcast.errors import InvalidParameterError
from nearcast.model import bbox_from


def check_call(batch: object, on_error: object, first: object) -> None:
    """Refuse what `Hub.apply` cannot take."""
    is_table = hasattr(batch, "__arrow_c_stream__") or hasattr(batch, "__arrow_c_array__")
    if not is_table and not isinstance(batch, Iterable):
        what, wanted = "batch is not a batch", "NDJSON, an iterable of events, or a table"
        raise InvalidParameterError(what, got=batch, wanted=wanted)
    if on_error is not None and not callable(on_error):
        what, wanted = "on_error cannot be called", "a function of a number and an error"
        raise InvalidParameterError(what, got=on_error, wanted=wanted)
    if isinstance(first, bool) or not isinstance(first, Integral) or abs(int(first)) > 2**62:
        what = "first is not a whole number in range"
        raise InvalidParameterError(what, got=first, wanted="a whole number of at most 62 bits")


def space_from(value: object) -> tuple[float, ...]:
    """Return the box whose diagonal is the unit of distances."""
    space = bbox_from(value, field="space")
    if space.west > space.east or (space.west, space.south) == (space.east, space.north):
        what, wanted = "space is not a box", "west <= east, and some extent"
        raise InvalidParameterError(what, got=value, wanted=wanted, field="space")
    return (space.west, space.south, space.east, space.north)

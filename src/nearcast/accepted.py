"""What may users pass? Types of arguments that are read into values, for editors and type checkers.

What is passed is checked when it is read (`model.py`, `event_values.py`): a type here promises
nothing to the core.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol, TypeAlias

from nearcast.model import Area, Bbox


class HasGeoInterface(Protocol):
    """A geometry of shapely or of another library that speaks its interface."""

    @property
    def __geo_interface__(self) -> Mapping[str, Any]:
        """The geometry as GeoJSON."""


TimeLike: TypeAlias = float | str | datetime
"""Seconds since the epoch, RFC 3339 with an offset, or an aware datetime."""

PointLike: TypeAlias = Sequence[float] | Mapping[str, Any] | HasGeoInterface
"""(lon, lat), a GeoJSON Point, or a point of shapely."""

BoxLike: TypeAlias = Sequence[float] | Bbox
"""(west, south, east, north); west > east: across the antimeridian."""

_OneArea: TypeAlias = Area | Sequence[float] | Mapping[str, Any] | HasGeoInterface
AreaLike: TypeAlias = _OneArea | Sequence[_OneArea]
"""An area value, (west, south, east, north), GeoJSON, a geometry; a list of these: their union."""

KeywordsLike: TypeAlias = str | Sequence[str]
"""An expression, or a list of keywords that are all required."""

AttributesLike: TypeAlias = Mapping[str, float | str | bool | Sequence[str]]
"""Names and values: numbers, strings, truth values, lists of strings."""

ClockLike: TypeAlias = Literal["events", "wall"] | Callable[[], float]
"""Where the time of an event that has none comes from."""

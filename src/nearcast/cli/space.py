"""The box that an option names: `--space west,south,east,north`."""

from __future__ import annotations

from nearcast.cli.usage import UsageError
from nearcast.model import Bbox, bbox_from


def space_from(text: str) -> Bbox:
    """Read a box that has some extent and does not cross the antimeridian."""
    what, wanted = "space is not a box", "west,south,east,north with west <= east, and some extent"
    try:
        space = bbox_from([float(part) for part in text.split(",")], error=UsageError)
    except ValueError:
        raise UsageError(what, got=text, wanted=wanted) from None
    if space.west > space.east or (space.west, space.south) == (space.east, space.north):
        raise UsageError(what, got=text, wanted=wanted)
    return space

"""Which line of the log is an event? Most messages are logged as they came, without being read.

A body is plain if it can be seen, without reading it as JSON, that it publishes a message and asks
nothing of the service: its id stands first, it is one line, and it has neither `op` nor a time of
its own. Such a body becomes a line by putting op and time in front. Whether it is JSON, and a
message, the hub finds out, which has to read it anyway.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeGuard

import msgspec

from nearcast.errors import InvalidEventError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearcast.service.jobs import Said

PUBLISHES = b'{"op":"publish",'
"""How each line of the log begins that is a publication: op stands first."""
_ID = b'"id"'
_encode = msgspec.json.Encoder().encode
_named = re.compile(rb'\{"id": ?"([ !#-\[\]-~]{1,512})"[,}]').match
"""An id of printable ASCII without quotes and backslashes: it is what it looks like."""


def has_marks(content: bytes) -> bool:
    """Whether there is something in bodies that the service has to read.

    A name may be spelled with escapes, so these count as well; a carriage return would end
    a line of a stream.
    """
    return (
        b'"op"' in content
        or b'"time"' in content
        or b'"expires"' in content
        or b"\\u006" in content
        or b"\\u007" in content
        or b"\r" in content
    )


def plain_id(body: bytes) -> str | None:
    """Return the id of a body that is plain; None: it has to be read.

    Examples
    --------
    >>> plain_id(b'{"id": "m1", "text": "coffee"}'), plain_id(b'{"text": "coffee", "id": "m1"}')
    ('m1', None)
    """
    found = _named(body)
    if found is None or has_marks(body) or b"\n" in body or body.count(_ID) > 1:
        return None
    return found[1].decode()


def are_plain(lines: Sequence[bytes], content: bytes) -> bool:
    """Whether all lines of some content are plain; empty ones are not.

    Examples
    --------
    >>> lines = [b'{"id": "m1"}', b'{"id": "m2"}']
    >>> are_plain(lines, b" ".join(lines))
    True
    """
    if has_marks(content) or content.count(_ID) != len(lines):
        return False
    return all(map(_named, lines))


def line_of(event: Said, head: bytes) -> bytes:
    """Return an event as a line of the log.

    Parameters
    ----------
    event
        Its fields, or a body that is plain.
    head
        What stands in front of plain bodies: see `head_at`.

    Raises
    ------
    InvalidEventError
        If it holds a number that JSON readers disagree about.
    """
    if isinstance(event, bytes):
        return head + event[1:]
    try:
        return _encode(event)
    except (OverflowError, ValueError) as error:
        what = "event has a number that is too large"
        raise InvalidEventError(what, got=str(error), wanted="numbers of 64 bits") from None


def are_all_plain(events: Sequence[Said]) -> TypeGuard[Sequence[bytes]]:
    """Whether all of these are plain bodies."""
    return set(map(type, events)) == {bytes}


def plain_lines(bodies: Sequence[bytes], head: bytes) -> list[bytes]:
    """Return plain bodies as lines of the log."""
    return [head + body[1:] for body in bodies]


def head_at(time: float | None) -> bytes:
    """Return what stands in front of plain bodies; None: events bring their own time."""
    return PUBLISHES if time is None else b'%s"time":%s,' % (PUBLISHES, repr(time).encode())


def op_of(event: Said) -> str:
    """Return what an event does."""
    return "publish" if isinstance(event, bytes) else str(event["op"])

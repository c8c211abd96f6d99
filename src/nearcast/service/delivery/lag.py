"""How long does a delivery take, from commit to sent? Seen at the oldest one of each write."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client import Histogram

_CHANGE = b'"type":"change"'
_AT = b'"at":'
_HEAD = 300
"""Bytes in which the type stands: id, number and type come first."""


def committed_at(body: bytes) -> float | None:
    """Return when a change was committed; None of a digest, which waits on purpose.

    Examples
    --------
    >>> committed_at(b'{"id":"anna-1","number":1,"type":"change","event":3,"at":5.25}')
    5.25
    """
    if _CHANGE not in body[:_HEAD]:
        return None
    start = body.index(_AT) + len(_AT)
    return float(body[start : start + 40].partition(b",")[0].partition(b"}")[0])


class Lag:
    """Notes how late deliveries of one way are sent."""

    __slots__ = ("_times",)

    def __init__(self, times: Histogram, way: str) -> None:
        self._times = times.labels(way)

    def note(self, at: float | None) -> None:
        """Note that what was committed then has just been sent."""
        if at is not None:
            self._times.observe(max(0.0, time.time() - at))

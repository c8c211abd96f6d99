"""Events as the core reads them: tuples of plain values, without copies of what is large."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from nearcast import columns, events
from nearcast.model import MODES
from nearcast.said import said_of
from nearcast.text import DEFAULT_ANALYZER

if TYPE_CHECKING:
    from nearcast import _core
    from nearcast.events import Event
    from nearcast.text import Analyzer

Record: TypeAlias = tuple[int, str, float | None, float | None, Any, Any, Any, bool, Any]
_SUBSCRIBE, _PUBLISH, _MOVE, _RETRACT, _UNSUBSCRIBE, _ADVANCE = range(6)
OPS: dict[type, int] = {
    events.Subscribe: _SUBSCRIBE,
    events.Publish: _PUBLISH,
    events.Move: _MOVE,
    events.Retract: _RETRACT,
    events.Unsubscribe: _UNSUBSCRIBE,
    events.Advance: _ADVANCE,
}
"""Codes of ops in the core."""


def core_record(event: Event, analyzer: Analyzer = DEFAULT_ANALYZER) -> Record:
    """Return an event as the core reads it."""
    if isinstance(event, events.Publish):
        words = analyzer.places(event.text)
        place, times = columns.core_place(event.place), (event.time, event.expires)
        more = event.attributes or None
        return (_PUBLISH, event.id, *times, words, place, None, event.replace, more)
    if isinstance(event, events.Subscribe):
        area = columns.core_area(event.area)
        keywords = columns.core_keywords(event.keywords)
        times, wishes = (event.time, event.expires), _wishes(event, keywords)
        details = (_details(event), event.replace, wishes)
        return (_SUBSCRIBE, event.id, *times, keywords, area, *details)
    if isinstance(event, events.Move):
        area = columns.core_area(event.area)
        return (_MOVE, event.id, event.time, None, None, area, event.at, False, None)
    if isinstance(event, events.Advance):
        return (_ADVANCE, "", event.time, None, None, None, None, False, None)
    op = _RETRACT if isinstance(event, events.Retract) else _UNSUBSCRIBE
    return (op, event.id, event.time, None, None, None, None, False, None)


def put_message(batch: _core.EventBatch, row: int, event: events.Publish, text: str) -> None:
    """Put a message into its row, with a text that can be written as UTF-8."""
    place, times = columns.core_place(event.place), (event.time, event.expires)
    batch.put_message(row, event.id, text, place, *times, event.attributes or None, event.replace)


def _wishes(event: events.Subscribe, keywords: object) -> tuple[Any, ...] | None:
    """Return what a subscription of words and an area does not have."""
    said = said_of(event, keywords)
    if event.where is None and event.except_ is None and said is None:
        return None
    where = None if event.where is None else columns.core_expression(event.where)
    return (where, columns.core_area(event.except_), said)


def _details(event: events.Subscribe) -> tuple[Any, ...] | None:
    """Return what a plain match subscription does not have."""
    if event.mode == "match" and not event.live:
        return None
    mode = MODES.index(event.mode)
    shares = (event.alpha or 0.0, event.threshold or 0.0)
    return (mode, event.live, event.k or 0, *shares, event.at)

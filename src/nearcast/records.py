"""Events as the core reads them: tuples of checked values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from nearcast import columns, events
from nearcast.errors import UnsupportedError
from nearcast.model import MODES
from nearcast.text import DEFAULT_ANALYZER

if TYPE_CHECKING:
    from nearcast.events import Event
    from nearcast.text import Analyzer

Record: TypeAlias = tuple[int, str, float | None, float | None, Any, Any, Any, bool]
_SUBSCRIBE, _PUBLISH, _MOVE, _RETRACT, _UNSUBSCRIBE, _ADVANCE = range(6)


def core_record(event: Event, analyzer: Analyzer = DEFAULT_ANALYZER) -> Record:
    """Return an event as the core reads it."""
    if isinstance(event, events.Publish):
        _refuse_what_is_to_come(event)
        words = analyzer.analyze(event.text)
        place = columns.core_place(event.place)
        return (_PUBLISH, event.id, event.time, event.expires, words, place, None, event.replace)
    if isinstance(event, events.Subscribe):
        area = columns.core_area(event.area)
        _refuse_what_is_to_come(event)
        clauses = columns.core_clauses(event.keywords)
        times = (event.time, event.expires)
        return (_SUBSCRIBE, event.id, *times, clauses, area, _details(event), event.replace)
    if isinstance(event, events.Move):
        area = columns.core_area(event.area)
        return (_MOVE, event.id, event.time, None, None, area, event.at, False)
    if isinstance(event, events.Advance):
        return (_ADVANCE, "", event.time, None, None, None, None, False)
    op = _RETRACT if isinstance(event, events.Retract) else _UNSUBSCRIBE
    return (op, event.id, event.time, None, None, None, None, False)


def _refuse_what_is_to_come(event: events.Subscribe | events.Publish) -> None:
    """Refuse what the event format has and the core does not know yet."""
    for name in ("where", "except_", "attributes"):
        if getattr(event, name, None):
            what = f"{name.rstrip('_')} is not matched yet"
            raise UnsupportedError(what, wanted="no such field", field=name.rstrip("_"))


def _details(event: events.Subscribe) -> tuple[Any, ...] | None:
    """Return what a plain match subscription does not have."""
    if event.mode == "match" and not event.live:
        return None
    mode = MODES.index(event.mode)
    shares = (event.alpha or 0.0, event.threshold or 0.0)
    return (mode, event.live, event.k or 0, *shares, event.at)

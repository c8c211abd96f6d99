"""The event format, from the classes that check it; what a mode needs is found by trying.

An example of each kind is taken as far as it is needed: a field without which it is refused is
needed, and one that the mode has no meaning for is refused when it is added.
"""

from __future__ import annotations

import json
from dataclasses import fields
from inspect import getdoc
from typing import TYPE_CHECKING, Any

from nearcast.errors import NearcastError
from nearcast.event_values import (
    Advance,
    Move,
    Publish,
    Retract,
    Subscribe,
    Unsubscribe,
)
from nearcast.events import _READERS, event_from, read_event, write_change
from nearcast.model import Change
from nearcast.service.http.schemas import PUBLISH_FIELDS, SUBSCRIBE_FIELDS
from tools.docs.tables import code, table

if TYPE_CHECKING:
    from collections.abc import Mapping

_BOX = [-74.0, 40.7, -73.9, 40.8]
EXAMPLES: tuple[tuple[str, type, Mapping[str, Any]], ...] = (
    ("subscribe", Subscribe, {"id": "s1", "keywords": "coffee AND (free OR sale)", "area": _BOX}),
    (
        "subscribe, mode rank",
        Subscribe,
        {
            "id": "s2",
            "mode": "rank",
            "keywords": ["flood"],
            "area": _BOX,
            "alpha": 0.3,
            "threshold": 0.6,
        },
    ),
    (
        "subscribe, mode top",
        Subscribe,
        {"id": "s3", "mode": "top", "keywords": ["jazz"], "at": [-74, 40.7], "k": 5, "alpha": 0.4},
    ),
    ("publish", Publish, {"id": "m1", "text": "Free coffee!", "at": [-73.98, 40.75], "time": 12.5}),
    ("move", Move, {"id": "s1", "area": [-73.99, 40.7, -73.95, 40.76]}),
    ("retract", Retract, {"id": "m1"}),
    ("unsubscribe", Unsubscribe, {"id": "s1"}),
    ("advance", Advance, {"time": "2026-03-01T09:00:00Z"}),
)
"""One event of each kind: its title, its class, its fields."""

VALUES: Mapping[str, Any] = {
    "mode": "match",
    "keywords": ["coffee"],
    "area": _BOX,
    "except": _BOX,
    "where": "price <= 1200",
    "at": [-74, 40.7],
    "bbox": _BOX,
    "attributes": {"price": 1150},
    "k": 5,
    "alpha": 0.4,
    "threshold": 0.6,
    "live": True,
    "replace": True,
    "expires": 3600,
    "time": 12.5,
}
"""A value for each field that is tried."""


def page() -> str:
    """Return the page."""
    intro = (
        "# Event format\n\nNDJSON in UTF-8: one JSON object per line, with an `op`. The rules that "
        "every line obeys are in [DESIGN.md](../DESIGN.md#21-events); this page lists the fields.\n"
    )
    change = write_change(Change(3, "s1", "m1", "added", "published"))
    scored = write_change(Change(9, "s3", "m1", "removed", "expired", 0.75))
    rows = [(code(f.name), code(str(f.type))) for f in fields(Change)]
    out = (
        f"## What comes out: changes\n\n{getdoc(Change)}\n\n```json\n{change}\n{scored}\n```\n\n"
        f"{table(('field', 'type'), rows)}"
    )
    return "\n".join([intro, *(_part(*example) for example in EXAMPLES), out])


def _part(title: str, kind: type, example: Mapping[str, Any]) -> str:
    event = {"op": title.partition(",")[0], **example}
    line = json.dumps(event)
    read_event(line)
    rows = []
    for name in _READERS[event["op"]].known:
        if name == "op":
            continue
        rows.append((code(name), need(event, name), *_described(kind, name)))
    told = (getdoc(kind) or "").partition("\n\n")[0]
    columns = ("field", "needed", "value", "default")
    return f"## {title}\n\n{told}\n\n```json\n{line}\n```\n\n{table(columns, rows)}"


def need(event: Mapping[str, Any], name: str) -> str:
    """Return whether an event needs a field, may have it, or is refused with it."""
    without = {key: value for key, value in event.items() if key != name}
    if name == "mode":
        return "no" if event.get("mode", "match") == "match" else "yes"
    if name in event:
        return _alone(event, name) or "no" if is_event(without) else _instead(event, name)
    if is_event({**event, name: VALUES[name]}):
        return _alone(event, name) or "no"
    partners = [key for key in event if key not in ("op", "id")]
    swaps = [key for key in partners if is_event(_swapped(event, key, name))]
    return f"instead of `{swaps[0]}`" if swaps else "refused"


def _alone(event: Mapping[str, Any], name: str) -> str:
    """Return which fields, one of them, make an event of an id, if this field does."""
    bare = {key: value for key, value in event.items() if key in ("op", "id")}
    known = [key for key in _READERS[event["op"]].known if key in VALUES]
    enough = [key for key in known if is_event({**bare, key: VALUES[key]})]
    if is_event(bare) or name not in enough:
        return ""
    return f"one of {', '.join(map(code, enough))}"


def _instead(event: Mapping[str, Any], name: str) -> str:
    known = [k for k in _READERS[event["op"]].known if k not in event and k in VALUES]
    others = [key for key in known if is_event(_swapped(event, name, key))]
    return "yes" if not others else "yes, or " + ", ".join(map(code, others))


def _swapped(event: Mapping[str, Any], old: str, new: str) -> dict[str, Any]:
    kept = {key: value for key, value in event.items() if key != old}
    return {**kept, new: VALUES[new]}


def is_event(candidate: Mapping[str, Any]) -> bool:
    """Whether this is accepted."""
    try:
        event_from(candidate)
    except NearcastError:
        return False
    return True


def _described(kind: type, name: str) -> tuple[str, str]:
    schemas = PUBLISH_FIELDS if kind is Publish else SUBSCRIBE_FIELDS
    schema = schemas.get(name, {})
    own = {field.name.rstrip("_"): field for field in fields(kind)}
    field = own.get(name, own.get("place"))
    default = schema.get("default", None if field is None else field.default)
    plain = default if isinstance(default, (bool, str)) else ""
    return _value(schema), code(json.dumps(plain) if plain != "" else "")


def _value(schema: Mapping[str, Any]) -> str:
    if "description" in schema:
        return str(schema["description"])
    if "enum" in schema:
        return ", ".join(map(code, schema["enum"]))
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    more = f", at least {low}" if "minimum" in schema else f", more than {low}" if low == 0 else ""
    more += f", at most {schema['maximum']}" if "maximum" in schema else ""
    return f"{schema.get('type', 'string')}{more}"

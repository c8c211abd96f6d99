"""Events and whole logs, in which ids are used again, and times and lives meet."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from oracle import Oracle, OracleRejects

from strategies.attributes import attributes, wheres
from strategies.space import areas, bboxes, coordinates, message_places
from strategies.text import expressions, free_expressions, keyword_lists, plain_keywords, texts

if TYPE_CHECKING:
    from collections.abc import Sequence

Json = dict[str, Any]
Strategy = st.SearchStrategy

PLACES_OF_MODE: dict[str, tuple[str, Strategy[Any]]] = {
    "match": ("area", areas),
    "rank": ("area", bboxes),
    "top": ("at", coordinates),
}
subscription_ids: Strategy[str] = st.sampled_from(("s1", "s2", "s3", "s4", "m1"))
message_ids: Strategy[str] = st.sampled_from(("m1", "m2", "m3", "m4", "m5", "m6", "s1"))
_shares = st.sampled_from((0.5, 0, 0.25, 0.3, 1))
_thresholds = st.sampled_from((0.5, 0.1, 0.25, 0.3, 0.75, 1))


_PARTS = (
    *(("keywords",), ("area",), ("keywords", "area"), ("keywords", "area")),
    *(("where",), ("keywords", "where"), ("area", "where"), ("keywords", "area", "where")),
)


@st.composite
def _subscriptions(draw: st.DrawFn, modes: Sequence[str]) -> Json:
    mode = draw(st.sampled_from(tuple(modes)))
    event: Json = {"op": "subscribe", "id": draw(subscription_ids)}
    if mode == "match":
        event |= draw(_match_terms())
        if draw(st.booleans()):
            event["mode"] = mode
    else:
        event |= {"mode": mode, "keywords": draw(plain_keywords), "alpha": draw(_shares)}
        if draw(st.integers(0, 2)) == 0:
            event["where"] = draw(wheres)
    if mode == "rank":
        event |= {"area": draw(bboxes), "threshold": draw(_thresholds)}
    if mode == "top":
        event |= {"at": draw(coordinates), "k": draw(st.integers(1, 3))}
    elif draw(st.booleans()):
        event["live"] = draw(st.sampled_from((True, True, True, False)))
    return event


@st.composite
def _match_terms(draw: st.DrawFn) -> Json:
    parts = draw(st.sampled_from(_PARTS))
    written = expressions if parts == ("keywords",) else free_expressions
    everything = {
        "keywords": st.one_of(keyword_lists, written, written),
        "area": areas,
        "where": wheres,
    }
    terms = {name: draw(everything[name]) for name in parts}
    if draw(st.integers(0, 4)) == 0:
        terms["except"] = draw(areas)
    return terms


def subscribe_events(modes: Sequence[str] = ("match",)) -> Strategy[Json]:
    """Return subscribe events without times."""
    return _subscriptions(modes)


@st.composite
def publish_events(draw: st.DrawFn) -> Json:
    """Draw publish events without times."""
    event = {"op": "publish", "id": draw(message_ids), "text": draw(texts), **draw(message_places)}
    if draw(st.integers(0, 3)) > 0:
        event["attributes"] = draw(attributes())
    return event


_BAD_LINES: tuple[bytes, ...] = (
    b"{",
    b"[]",
    b"null",
    b'"publish"',
    b"\xff\xfe",
    b'{"op": "publish"}',
    b'{"op": "explode", "id": "m1"}',
    b'{"op": "retract", "id": ""}',
    b'{"op": "retract", "id": "m1", "colour": 1}',
    b'{"op": "retract", "id": "m1", "time": NaN}',
    b'{"op": "retract", "id": "m1", "time": 1e999}',
    b'{"op": "retract", "id": "m1", "time": null}',
    b'{"op": "retract", "id": "m1", "time": true}',
    b'{"op": "retract", "id": "m1", "time": "1970-01-01T00:00:09"}',
    b'{"op": "publish", "id": "m9", "text": "a", "at": [0, 91], "time": 50}',
    b'{"op": "publish", "id": "m9", "text": "a", "at": [181, 0], "time": 50}',
    b'{"op": "publish", "id": "m9", "text": "a", "at": [0, 0], "bbox": [0, 0, 1, 1]}',
    b'{"op": "publish", "id": "m9", "text": "a", "bbox": [0, 1, 1, 0]}',
    b'{"op": "subscribe", "id": "s9"}',
    b'{"op": "subscribe", "id": "s9", "keywords": []}',
    b'{"op": "subscribe", "id": "s9", "keywords": "(a"}',
    b'{"op": "subscribe", "id": "s9", "keywords": "NOT a"}',
    b'{"op": "subscribe", "id": "s9", "keywords": ["&"]}',
    b'{"op": "subscribe", "id": "s9", "keywords": "a", "k": 1}',
    b'{"op": "subscribe", "id": "s9", "keywords": "a", "expires": 0}',
    b'{"op": "subscribe", "id": "s9", "area": {"type": "Circle", "center": [0, 0]}}',
    b'{"op": "subscribe", "id": "s9", "area": {"type": "Polygon", "coordinates": []}}',
    b'{"op": "move", "id": "s9", "area": [0, 0, 1, 1], "time": 50}',
    b'{"op": "unsubscribe", "id": "s9", "time": 50}',
    b'{"op": "advance"}',
    b'{"op": "advance", "time": 50, "id": "m1"}',
    b'{"op": "advance", "time": 1e11}',
    b'{"op": "advance", "time": 1700000000000}',
    b'{"op": "publish", "id": "m9", "text": "a", "at": [0, 0], "expires": 100000000000}',
    b'{"op": "publish", "id": "m9", "text": "a", "at": [0, 0], "replace": 1, "time": 50}',
    b'{"op": "publish", "id": "m9", "text": "a", "at": [0, 0], "attributes": {"a": null}}',
    b'{"op": "publish", "id": "m9", "text": "a", "at": [0, 0], "attributes": {"a": [1]}}',
    b'{"op": "publish", "id": "m9", "text": "a", "at": [0, 0], "attributes": {"a b": 1}}',
    b'{"op": "publish", "id": "m9", "text": "a", "at": [0, 0], "attributes": {"a": {}}}',
    b'{"op": "publish", "id": "m9", "text": "a", "at": [0, 0], "attributes": {"a": 1e999}}',
    b'{"op": "publish", "id": "m9", "text": "a", "at": [0, 0], "attributes": null}',
    b'{"op": "publish", "id": "m9", "text": "a", "at": [0, 0], "where": "a = 1"}',
    b'{"op": "subscribe", "id": "s9", "keywords": "a:b"}',
    b'{"op": "subscribe", "id": "s9", "keywords": "a*"}',
    b'{"op": "subscribe", "id": "s9", "keywords": "a && b"}',
    b'{"op": "subscribe", "id": "s9", "keywords": "a !"}',
    b'{"op": "subscribe", "id": "s9", "keywords": "a or"}',
    b'{"op": "subscribe", "id": "s9", "keywords": "-a", "time": 50}',
    b'{"op": "subscribe", "id": "s9", "except": [0, 0, 1, 1]}',
    b'{"op": "subscribe", "id": "s9", "keywords": "-a", "except": [0, 0, 1, 1]}',
    b'{"op": "subscribe", "id": "s9", "keywords": "a", "where": "b"}',
    b'{"op": "subscribe", "id": "s9", "keywords": "a", "where": "b < \'c\'"}',
    b'{"op": "subscribe", "id": "s9", "keywords": "a", "where": ""}',
    b'{"op": "subscribe", "id": "s9", "keywords": "a", "replace": "true"}',
    b'{"op": "subscribe", "id": "s1", "keywords": "(", "replace": true, "time": 50}',
    b'{"op": "subscribe", "id": "s1", "keywords": "a", "replace": true, "expires": -9}',
    b'{"op": "subscribe", "id": "s9", "area": []}',
    b'{"op": "subscribe", "id": "s9", "area": [[0, 0, 1, 1], 5]}',
    b'{"op": "subscribe", "id": "s9", "area": {"type": "FeatureCollection", "features": []}}',
    b'{"op": "subscribe", "id": "s9", "area": {"type": "Feature", "geometry": null}}',
    b'{"op": "subscribe", "id": "s9", "mode": "rank", "keywords": "a OR b", "alpha": 1,'
    b' "threshold": 1, "area": [0, 0, 1, 1]}',
    b'{"op": "subscribe", "id": "s9", "mode": "rank", "keywords": "a", "alpha": 1,'
    b' "threshold": 1, "area": [[0, 0, 1, 1], [0, 0, 1, 2]]}',
    b'{"op": "subscribe", "id": "s9", "mode": "top", "keywords": "ab*", "alpha": 1, "k": 1,'
    b' "at": [0, 0]}',
    b'{"op": "subscribe", "id": "s9", "mode": "top", "keywords": "a", "alpha": 1, "k": 1,'
    b' "at": [0, 0], "except": [0, 0, 1, 1]}',
)
bad_lines: Strategy[bytes] = st.sampled_from(_BAD_LINES)
_OPERATIONS = (
    *(("publish",) * 8 + ("subscribe",) * 3 + ("move", "move", "retract", "unsubscribe", "bad")),
    *("advance", "publish again", "publish again", "subscribe again"),
)


@st.composite
def event_logs(
    draw: st.DrawFn,
    modes: Sequence[str] = ("match",),
    bad_lines: bool = False,
    max_size: int = 25,
) -> list[Json | bytes]:
    """Draw a log; some events are rejected for the state they meet (see `accepted`)."""
    log: list[Json | bytes] = []
    mode_of: dict[str, str] = {}
    used: set[str] = set()
    clock = 0.0
    size = draw(st.integers(1, max_size))
    opening = ["subscribe"] * draw(st.integers(0, 3)) + ["publish"] * draw(st.integers(0, 3))
    rest = draw(st.lists(st.sampled_from(_OPERATIONS), min_size=size, max_size=size))
    for operation in (opening + rest)[:max_size]:
        if operation == "bad":
            if bad_lines:
                log.append(draw(st.sampled_from(_BAD_LINES)))
            continue
        event = draw(_operation(operation, modes, mode_of))
        if operation in ("publish again", "subscribe again"):
            event["replace"] = draw(st.sampled_from((True, True, True, True, False)))
        elif event["op"] in ("publish", "subscribe"):
            event["id"] = draw(_mostly_fresh(event["id"], used))
        if event["op"] in ("publish", "subscribe"):
            used.add(event["id"])
        if event["op"] == "subscribe":
            known = event["id"] in mode_of and not event.get("replace")
            mode = mode_of[event["id"]] if known else event.get("mode", "match")
            mode_of[event["id"]] = mode
        if event["op"] == "unsubscribe":
            mode_of.pop(event["id"], None)
        time = clock + draw(st.sampled_from((-3, -1, 0, 0, 1, 1, 2, 5)))
        if operation == "advance" or draw(st.booleans()):
            event["time"] = draw(_written_time(time))
            clock = max(clock, time)
        if event["op"] in ("publish", "subscribe") and draw(st.booleans()):
            event["expires"] = draw(_written_time(clock + draw(_LIFETIMES[event["op"]])))
        log.append(event)
    return log


_LIFETIMES = {
    "publish": st.sampled_from((-1, 0, 1, 2, 3, 5, 10)),
    "subscribe": st.sampled_from((0, 2, 3, 5, 10, 20, 20)),
}


def _operation(operation: str, modes: Sequence[str], mode_of: dict[str, str]) -> Strategy[Json]:
    if operation.startswith("publish"):
        return publish_events()
    if operation.startswith("subscribe"):
        return subscribe_events(modes)
    if operation == "advance":
        return st.builds(dict, op=st.just("advance"))
    if operation == "move":
        return _moves(dict(mode_of))
    ids = message_ids if operation == "retract" else _mostly_known(mode_of)
    return ids.map(lambda chosen: {"op": operation, "id": chosen})


def _mostly_fresh(name: str, used: set[str]) -> Strategy[str]:
    """Return the name or, mostly if it was used before, one that was not."""
    fresh = next(f"{name[0]}{n}" for n in range(1, len(used) + 2) if f"{name[0]}{n}" not in used)
    return st.sampled_from((fresh, fresh, name) if name in used else (name,))


def _mostly_known(mode_of: dict[str, str]) -> Strategy[str]:
    known = st.sampled_from(sorted(mode_of)) if mode_of else subscription_ids
    return st.one_of(known, known, known, subscription_ids)


@st.composite
def _moves(draw: st.DrawFn, mode_of: dict[str, str]) -> Json:
    """Draw a move, mostly of a subscription that is there and to a place that fits its mode."""
    chosen = draw(_mostly_known(mode_of))
    name, places = PLACES_OF_MODE[mode_of.get(chosen, "match")]
    return {"op": "move", "id": chosen, name: draw(places)}


def _written_time(seconds: float) -> Strategy[float | str]:
    """Return a moment as a number or, rarely, as RFC 3339."""
    utc = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)
    elsewhere = utc.astimezone(timezone(timedelta(hours=5, minutes=30)))
    zulu = utc.isoformat().replace("+00:00", "Z")
    return st.sampled_from((seconds, seconds, seconds, zulu, elsewhere.isoformat()))


def accepted(log: Sequence[Json | bytes], **settings: Any) -> list[Json]:
    """Return the events of a log that a hub with these settings accepts when fed only those."""
    oracle = Oracle(**settings)
    kept: list[Json] = []
    for event in log:
        with suppress(OracleRejects):
            if not isinstance(event, bytes):
                oracle.apply(len(kept) + 1, event)
                kept.append(event)
    return kept


def ndjson(log: Sequence[Json | bytes]) -> list[bytes]:
    """Return the log as lines."""
    return [
        line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode()
        for line in log
    ]

"""Generators of events, with few distinct coordinates and tokens: borders and ties are common.

Everything is JSON-able. Circles stay away from distances at which only rounding would decide.
"""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from oracle import Oracle, OracleRejects

import nearcast as nc

if TYPE_CHECKING:
    from collections.abc import Sequence

Json = dict[str, Any]
Strategy = st.SearchStrategy

# Text ---------------------------------------------------------------------------------------------

_WORDS = (
    *("coffee", "free", "sale", "jazz", "a", "b", "c"),
    *("Coffee", "ＣＯＦＦＥＥ", "straße", "STRASSE", "ﬁre", "fire", "İzmir", "izmir"),
    *("cafe\u0301", "café", "٣", "3", "x²", "e\u0301\u0323", "नमस्ते", "Ǆ"),
)
_COMPOUNDS = ("at&t", "AT&T", "rock-n-roll", "3.5", "a🙂b", "free/sale", "b\u200bc")
_SEPARATORS = (" ", "  ", "-", "&", ", ", "🙂", "\u2028", "\u00a0", "_", "\n", "\u200d", "'", "")

tokens: Strategy[str] = st.sampled_from(("a", "b", "c", "coffee"))
words: Strategy[str] = st.one_of(tokens, st.sampled_from(_WORDS), st.sampled_from(_COMPOUNDS))


@st.composite
def _texts(draw: st.DrawFn) -> str:
    chosen = draw(st.lists(words, max_size=6))
    return "".join(word + draw(st.sampled_from(_SEPARATORS)) for word in chosen)


_wild_texts = st.text(st.characters(codec="utf-8"), max_size=8)
_plain_texts = st.lists(tokens, max_size=5).map(" ".join)
texts: Strategy[str] = st.one_of(_plain_texts, _plain_texts, _plain_texts, _texts(), _wild_texts)
keyword_lists: Strategy[list[str]] = st.one_of(
    st.lists(tokens, min_size=1, max_size=2),
    st.lists(tokens, min_size=1, max_size=3),
    st.lists(words, min_size=1, max_size=4),
)

_quoted = st.lists(words, min_size=1, max_size=2).map(lambda chosen: f'"{" ".join(chosen)}"')
_keywords = st.one_of(tokens, tokens, tokens, words, _quoted)


def _group(inner: Strategy[str]) -> Strategy[str]:
    """Return conjunctions that start with a positive keyword, so that no clause lacks one."""
    operand = st.one_of(_keywords, inner.map("({})".format))
    negation = st.sampled_from(("-", "NOT ", "NOT NOT ", "--"))
    extra = st.one_of(operand, st.tuples(negation, operand).map("".join))
    rest = st.lists(st.tuples(st.sampled_from((" ", " AND ")), extra).map("".join), max_size=2)
    return st.tuples(_keywords, rest.map("".join)).map("".join)


def _alternatives(inner: Strategy[str]) -> Strategy[str]:
    return st.lists(_group(inner), min_size=1, max_size=2).map(" OR ".join)


expressions: Strategy[str] = st.recursive(_keywords, _alternatives, max_leaves=6)

_LEXEMES = ("AND", "OR", "NOT", "(", ")", "-", "-a", "a", "b", '"', '"a b"', "and", "&", "a-b", " ")
wild_expressions: Strategy[str] = st.lists(st.sampled_from(_LEXEMES), max_size=8).flatmap(
    lambda lexemes: st.sampled_from(("", " ")).map(lambda glue: glue.join(lexemes))
)

# Space --------------------------------------------------------------------------------------------

_NEAR = (-1, -0.5, 0, 0.1, 0.2, 0.3, 0.5, 1, 2)
longitudes: Strategy[float] = st.one_of(
    st.sampled_from(_NEAR), st.sampled_from((-180, -179.5, -179, 179, 179.5, 180))
)
latitudes: Strategy[float] = st.one_of(st.sampled_from(_NEAR), st.sampled_from((-90, -60, 60, 90)))
coordinates: Strategy[list[float]] = st.tuples(longitudes, latitudes).map(list)
_near_coordinates = st.tuples(st.sampled_from(_NEAR), st.sampled_from(_NEAR)).map(list)


@st.composite
def _bboxes(draw: st.DrawFn) -> list[float]:
    """Draw a box; one in four crosses the antimeridian, equal sides happen by themselves."""
    south, north = sorted((draw(latitudes), draw(latitudes)))
    west, east = sorted((draw(longitudes), draw(longitudes)))
    if draw(st.integers(0, 3)) == 0:
        west, east = east, west
    return [west, south, east, north]


_near_boxes = st.tuples(_near_coordinates, _near_coordinates).map(
    lambda ends: [*map(min, *ends), *map(max, *ends)]
)
bboxes: Strategy[list[float]] = st.one_of(_bboxes(), _near_boxes)

_RADII = (1, 50_000, 60_000, 112_000, 160_000, 1_000_000, 10_100_000, 20_016_000)


@st.composite
def _circles(draw: st.DrawFn) -> Json:
    center = draw(st.one_of(_near_coordinates, coordinates))
    # At a pole all longitudes are one point, but only up to rounding.
    radii = _RADII if abs(center[1]) == 90 else (0, *_RADII)
    return {"type": "Circle", "center": center, "radius_m": draw(st.sampled_from(radii))}


circles: Strategy[Json] = _circles()


def _box_ring(west: float, south: float, east: float, north: float) -> list[list[float]]:
    return [[west, south], [east, south], [east, north], [west, north]]


def _diamond_ring(west: float, south: float, east: float, north: float) -> list[list[float]]:
    lon, lat = (west + east) / 2, (south + north) / 2
    return [[lon, south], [east, lat], [lon, north], [west, lat]]


_rings_in_box = st.sampled_from((_box_ring, _diamond_ring))


@st.composite
def _holed(draw: st.DrawFn) -> list[list[list[float]]]:
    """Draw a box with a hole that lies inside it and may touch its border or fill it."""
    lons = sorted(draw(st.lists(st.sampled_from(_NEAR), min_size=4, max_size=4)))
    lats = sorted(draw(st.lists(st.sampled_from(_NEAR), min_size=4, max_size=4)))
    outer = _box_ring(lons[0], lats[0], lons[3], lats[3])
    return [outer, draw(_rings_in_box)(lons[1], lats[1], lons[2], lats[2])]


@st.composite
def _closed(draw: st.DrawFn, open_rings: list[list[list[float]]]) -> list[list[list[float]]]:
    """Close each ring, turn some around and give some a height."""
    closed = []
    for ring in open_rings:
        turned = ring[::-1] if draw(st.booleans()) else ring
        height: list[float] = [7] if draw(st.integers(0, 7)) == 0 else []
        closed.append([[*at, *height] for at in (*turned, turned[0])])
    return closed


_slanted = st.lists(st.one_of(_near_coordinates, coordinates), min_size=3, max_size=5)
_polygon_rings = st.one_of(
    st.tuples(_rings_in_box, _near_boxes).map(lambda drawn: [drawn[0](*drawn[1])]),
    _slanted.map(lambda ring: [ring]),
    _holed(),
).flatmap(_closed)
polygons: Strategy[Json] = st.one_of(
    _polygon_rings.map(lambda rings: {"type": "Polygon", "coordinates": rings}),
    st.lists(_polygon_rings, min_size=1, max_size=3).map(
        lambda parts: {"type": "MultiPolygon", "coordinates": parts}
    ),
)
areas: Strategy[Any] = st.one_of(bboxes, circles, polygons)
message_places: Strategy[Json] = st.one_of(
    _near_coordinates.map(lambda at: {"at": at}),
    _near_coordinates.map(lambda at: {"at": at}),
    coordinates.map(lambda at: {"at": at}),
    bboxes.map(lambda bbox: {"bbox": bbox}),
)

PLACES_OF_MODE: dict[str, tuple[str, Strategy[Any]]] = {
    "match": ("area", areas),
    "rank": ("area", bboxes),
    "top": ("at", coordinates),
}

# Settings -----------------------------------------------------------------------------------------

windows: Strategy[Json] = st.one_of(
    st.just({}),
    st.builds(lambda n: {"window_count": n}, st.integers(1, 4)),
    st.builds(lambda t: {"window_seconds": t}, st.sampled_from((1, 2, 5))),
)
weights: Strategy[Json | None] = st.one_of(
    st.none(),
    st.builds(
        lambda df: {"documents": 9, "df": df},
        st.dictionaries(st.sampled_from(("a", "b", "c", "coffee", "fire")), st.integers(0, 9)),
    ),
)


def window_of(drawn: Json) -> nc.Window | None:
    """Return drawn settings as a hub takes them."""
    sizes = {name.removeprefix("window_"): size for name, size in drawn.items()}
    return nc.Window(**sizes) if sizes else None


def weights_of(drawn: Json | None) -> nc.Weights | None:
    """Return drawn weights as a hub takes them."""
    return None if drawn is None else nc.Weights(**drawn)


# Events -------------------------------------------------------------------------------------------

subscription_ids: Strategy[str] = st.sampled_from(("s1", "s2", "s3", "s4", "m1"))
message_ids: Strategy[str] = st.sampled_from(("m1", "m2", "m3", "m4", "m5", "m6", "s1"))
_shares = st.sampled_from((0.5, 0, 0.25, 0.3, 1))
_thresholds = st.sampled_from((0.5, 0.1, 0.25, 0.3, 0.75, 1))


@st.composite
def _subscriptions(draw: st.DrawFn, modes: Sequence[str]) -> Json:
    mode = draw(st.sampled_from(tuple(modes)))
    event: Json = {"op": "subscribe", "id": draw(subscription_ids)}
    if mode == "match":
        parts = draw(st.sampled_from((("keywords",), ("area",), ("keywords", "area"))))
        everything = {"keywords": st.one_of(keyword_lists, expressions), "area": areas}
        event |= {name: draw(everything[name]) for name in parts}
        if draw(st.booleans()):
            event["mode"] = mode
    else:
        event |= {"mode": mode, "keywords": draw(_plain_keywords), "alpha": draw(_shares)}
    if mode == "rank":
        event |= {"area": draw(bboxes), "threshold": draw(_thresholds)}
    if mode == "top":
        event |= {"at": draw(coordinates), "k": draw(st.integers(1, 3))}
    elif draw(st.booleans()):
        event["live"] = draw(st.sampled_from((True, True, True, False)))
    return event


_plain_keywords = st.one_of(
    keyword_lists, keyword_lists.map(lambda given: " AND ".join(f'"{word}"' for word in given))
)


def subscribe_events(modes: Sequence[str] = ("match",)) -> Strategy[Json]:
    """Return subscribe events without times."""
    return _subscriptions(modes)


@st.composite
def publish_events(draw: st.DrawFn) -> Json:
    """Draw publish events without times."""
    return {"op": "publish", "id": draw(message_ids), "text": draw(texts), **draw(message_places)}


_BAD_LINES = (
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
)
bad_lines: Strategy[bytes] = st.sampled_from(_BAD_LINES)
_OPERATIONS = (
    ("publish",) * 8 + ("subscribe",) * 3 + ("move", "move", "retract", "unsubscribe", "bad")
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
        if event["op"] in ("publish", "subscribe"):
            event["id"] = draw(_mostly_fresh(event["id"], used))
            used.add(event["id"])
        if event["op"] == "subscribe":
            mode_of.setdefault(event["id"], event.get("mode", "match"))
        if event["op"] == "unsubscribe":
            mode_of.pop(event["id"], None)
        time = clock + draw(st.sampled_from((-3, -1, 0, 0, 1, 1, 2, 5)))
        if draw(st.booleans()):
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
    if operation == "publish":
        return publish_events()
    if operation == "subscribe":
        return subscribe_events(modes)
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

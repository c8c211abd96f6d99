"""No line, however broken, gives anything but an event or an error of ours."""

from __future__ import annotations

from unittest import mock

from fuzz.mutate import ROUNDS, SEED, mutations, survives

from nearcast import events
from nearcast.errors import InvalidEventError, NearcastError
from nearcast.events import (
    Advance,
    Move,
    Publish,
    Retract,
    Subscribe,
    Unsubscribe,
    read_event,
    read_time,
)

CORPUS = [
    '{"op": "subscribe", "id": "s1", "keywords": "coffee AND (free OR sale) -decaf", "area":'
    ' {"type": "Circle", "center": [-73.98, 40.75], "radius_m": 800}}',
    '{"op": "subscribe", "id": "s2", "mode": "top", "keywords": ["jazz", "concert"],'
    ' "at": [-73.99, 40.73], "k": 5, "alpha": 0.4}',
    '{"op": "subscribe", "id": "s3", "mode": "rank", "keywords": ["flood"],'
    ' "area": [-74, 40, -73, 41], "alpha": 0.3, "threshold": 0.6, "live": true}',
    '{"op":"subscribe","id":"s4","area":{"type":"Polygon","coordinates":'
    "[[[0,0],[4,0],[4,4],[0,4],[0,0]],[[1,1],[2,1],[2,2],[1,1]]]}}",
    '{"op":"subscribe","id":"s5","area":{"type":"MultiPolygon","coordinates":'
    '[[[[0,0],[4,0],[4,4],[0,0]]],[[[5,5,1],[6,5,1],[6,6,1],[5,5,1]]]]},"live":false}',
    '{"op": "publish", "id": "m1", "text": "Free coffee at Bryant Park!",'
    ' "at": [-73.9836, 40.7536], "time": 12.5, "expires": 3600}',
    '{"op":"publish","id":"é","text":"漢字 \\u00e9","bbox":[170,-1,-170,1],'
    '"time":"2026-01-02T03:04:05.25+01:00"}',
    '{"op": "move", "id": "s1", "area": [-73.99, 40.7, -73.95, 40.76]}',
    '{"op": "move", "id": "s2", "at": [1.5, 2e0], "time": 1e3}',
    '{"op": "retract", "id": "m1"}',
    '{"op": "unsubscribe", "id": "s1", "time": "1969-12-31T23:59:60Z"}',
    '{"op":"subscribe","id":"s6","keywords":"-sold \\"new york\\" balc*","replace":true,'
    '"where":"price <= 1200 AND type IN (\'flat\')","except":[0,0,1,1]}',
    '{"op":"publish","id":"m2","text":"Flat","at":[0,0],"replace":true,'
    '"attributes":{"price":1150,"type":"flat","tags":["a","b"],"new":false}}',
    '{"op": "advance", "time": 7200}',
]
EVENTS = (Subscribe, Publish, Move, Retract, Unsubscribe, Advance)
BYTES = [line.encode() for line in CORPUS]
TIMES = [
    "2026-01-02T03:04:05Z",
    "1985-04-12T23:20:50.52Z",
    "1990-12-31T15:59:60-08:00",
    "1937-01-01 12:00:27.87+00:20",
]


def read_all(lines) -> int:
    accepted = 0
    for line in lines:
        event = survives(read_event, line, NearcastError)
        assert event is None or isinstance(event, EVENTS), repr(line)
        accepted += event is not None
    return accepted


def test_mutated_bytes_give_an_event_or_an_error() -> None:
    assert read_all(mutations(SEED, BYTES, ROUNDS)) > ROUNDS / 50


def test_mutated_characters_give_an_event_or_an_error() -> None:
    assert read_all(mutations(SEED + 1, CORPUS, ROUNDS)) > ROUNDS / 50


def test_a_line_is_read_alike_by_the_fast_decoder_and_by_the_careful_one() -> None:
    with mock.patch.object(events, "_decode", refuse):
        careful = [outcome(line) for line in mutations(SEED + 3, CORPUS, ROUNDS)]
        careful += [outcome(line) for line in mutations(SEED + 4, BYTES, ROUNDS)]
    fast = [outcome(line) for line in mutations(SEED + 3, CORPUS, ROUNDS)]
    fast += [outcome(line) for line in mutations(SEED + 4, BYTES, ROUNDS)]
    assert fast == careful


def refuse(_line) -> None:
    raise ValueError


def outcome(line) -> tuple[object, str]:
    try:
        return read_event(line), ""
    except NearcastError as error:
        return None, str(error)


def test_a_mutated_timestamp_gives_seconds_or_an_error() -> None:
    for text in mutations(SEED + 2, TIMES, ROUNDS):
        seconds = survives(lambda t: read_time(t, "time"), text, InvalidEventError)
        assert seconds is None or isinstance(seconds, float), repr(text)

"""A line is read into a table as it is read alone: the same event, or the same error."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest
from fuzz.mutate import ROUNDS, SEED, mutations
from fuzz.test_fuzz_events import CORPUS as EVENT_LINES
from fuzz.test_fuzz_events import TIMES
from fuzz.test_fuzz_verdicts import CORPUS as EVENTS
from fuzz.test_fuzz_verdicts import changed

from nearcast import event_reader
from nearcast.attributes import Attributes
from nearcast.errors import NearcastError
from nearcast.event_table import EVENTS as TABLE
from nearcast.event_table import read_events
from nearcast.events import Move, Publish, Retract, Subscribe, read_event
from nearcast.hub import Hub
from nearcast.model import MODES, Bbox

pytestmark = pytest.mark.filterwarnings("ignore::nearcast.KeepsNothingWarning")

GOOD = b'{"op": "retract", "id": "before"}'
PUBLISH = '{"op": "publish", "id": "m", "text": "a", "at": [0, 0]%s}'
BOXED = '{"op": "publish", "id": "m", "text": "a", "bbox": %s}'
SUBSCRIBE = '{"op": "subscribe", "id": "s", %s}'
MOVE = '{"op": "move", "id": "s", %s}'
ODD = [
    *(
        PUBLISH % f', "time": {time}'
        for time in ("-0.0", "-0", "1e400", "1" * 400, "99999999999.9")
    ),
    *(PUBLISH % f', "time": {time}' for time in ("1e11", "NaN", "Infinity", "true", "null", '"x"')),
    *(
        PUBLISH % f', "expires": {time}'
        for time in ("1e11", "null", '"1970-01-01T00:00:09Z"', "[]")
    ),
    PUBLISH % ', "time": 9007199254740993, "expires": 123456789.123456789123',
    PUBLISH % ', "id": "twice"',
    PUBLISH % ', "op": "retract"',
    PUBLISH % ', "op": "publish"',
    PUBLISH % ', "at": null',
    PUBLISH % ', "at": [0, 0, 5]',
    PUBLISH % ', "bbox": [0, 0, 1, 1]',
    PUBLISH % ', "colour": 1',
    PUBLISH % ', "replace": 1',
    PUBLISH % ', "replace": true',
    PUBLISH % ', "text": null',
    PUBLISH % ', "text": ""',
    PUBLISH % ', "text": "\\ud800 lone \\udc00"',
    PUBLISH % ', "text": "\\ud83d\\ude00 pair"',
    PUBLISH % ', "text": "NUL \\u0000 inside"',
    PUBLISH % ', "id": "\\ud800"',
    PUBLISH % ', "id": ""',
    PUBLISH % ', "id": 5',
    PUBLISH % f', "id": "{"long" * 5000}"',
    *(
        PUBLISH % f', "attributes": {said}'
        for said in (
            *("{}", "null", "[]", '{"a": null}', '{"a": [1]}', '{"a": []}', '{"a": ["x", "y"]}'),
            *('{"a": true}', '{"a": 1e400}', '{"a": 12345678901234567890123}', '{"a": -0}'),
            *('{"": 1}', '{"a b": 1}', '{"é": 1}', '{"a": "\\ud800"}', '{"a": 1, "a": "x"}'),
            json.dumps({f"n{i}": i for i in range(64)}),
            json.dumps({f"n{i}": i for i in range(65)}),
        )
    ),
    *(
        BOXED % box
        for box in ("[5, 5, 5, 5]", "[170, 0, -170, 1]", "[0, 1, 1, 0]", "[0, 0, 1]", "[0,0,1,91]")
    ),
    *(
        MOVE % to
        for to in (
            *('"area": [0, 0, 1, 1]', '"at": [1, 2]', '"at": [1, 2, 3]', '"area": [true, 0, 1, 1]'),
            *('"area": [[0, 0, 1, 1]]', '"at": {"type": "Point", "coordinates": [1, 2]}'),
            *('"area": [0, 0, 1, 1], "at": [0, 0]', '"time": 1', '"area": null, "at": [0, 0]'),
            *('"area": [0, 1, 1, 0]', '"at": [181, 0]', '"area": [0, 0, 1e400, 1]'),
        )
    ),
    *(
        SUBSCRIBE % said
        for said in (
            *('"keywords": "coffee"', '"keywords": "Coffee tea"', '"keywords": ["tea", "tea"]'),
            *('"keywords": ["Tea"]', '"keywords": "tea or"', '"keywords": "not"', '"keywords": ""'),
            *('"keywords": []', '"keywords": ["or"]', '"keywords": ["a b"]', '"keywords": "a  b"'),
            *('"keywords": ["a", "é"]', '"keywords": "a&b"', '"keywords": [5]', '"keywords": null'),
            *('"area": [0, 0, 1, 1]', '"area": [170, 0, -170, 1]', '"area": [0, 1, 1, 0]'),
            *('"live": true', '"keywords": "a", "live": true', '"keywords": "a", "live": 1'),
            *('"keywords": "a", "mode": "match", "k": 1', '"keywords": "a", "mode": "best"'),
            *('"keywords": "a", "at": [0, 0]', '"keywords": "a", "where": "b = 1"'),
            *('"keywords": "a", "where": null', '"keywords": "a", "except": [0, 0, 1, 1]'),
            '"keywords": "a", "expires": "2026-01-02T03:04:05Z", "replace": true',
            '"keywords": ' + json.dumps([f"w{i}" for i in range(64)]),
            '"keywords": ' + json.dumps([f"w{i}" for i in range(65)]),
            '"keywords": ' + json.dumps(" ".join(map(str, range(65)))),
            *(
                f'"mode": "rank", "keywords": "a B", {terms}'
                for terms in (
                    '"area": [0, 0, 1, 1], "alpha": 0.5, "threshold": 1',
                    '"area": [0, 0, 1, 1], "alpha": 0, "threshold": 0',
                    '"area": [0, 0, 1, 1], "alpha": 1.5, "threshold": 1',
                    '"area": [0, 0, 1, 1], "alpha": 0.5',
                    '"alpha": 0.5, "threshold": 1',
                    '"area": [0, 0, 1, 1], "alpha": 0.5, "threshold": 1, "k": 3, "live": true',
                    '"area": [0, 0, 1, 1], "alpha": 0.5, "threshold": 1, "live": true',
                )
            ),
            *(
                f'"mode": "top", "keywords": ["a", "b"], {terms}'
                for terms in (
                    '"at": [1, 2], "alpha": 1, "k": 5',
                    '"at": [1, 2], "alpha": 1, "k": 0',
                    '"at": [1, 2], "alpha": 1, "k": 2147483647',
                    '"at": [1, 2], "alpha": 1, "k": 2147483648',
                    '"at": [1, 2], "alpha": 1, "k": 5.0',
                    '"at": [1, 2], "alpha": 1, "k": true',
                    '"at": [1, 2], "alpha": 1, "k": 5, "live": true',
                    '"at": [1, 2], "alpha": 1, "k": 5, "live": false',
                    '"at": [1, 2], "alpha": 1, "k": 5, "threshold": 1',
                    '"at": [1, 2], "alpha": 1, "k": 5, "area": [0, 0, 1, 1]',
                    '"at": [1, 2, 3], "alpha": 1, "k": 5',
                )
            ),
        )
    ),
    '{"op": "advance", "time": "1970-01-01T00:01:00+00:00"}',
    '{"op": "advance", "time": null}',
    '{"op": "advance"}',
    '{"op": "advance", "time": 1, "id": "m"}',
    '{"id": "m", "op": "retract"}',
    '{"op": "retract", "id": "m"}\r',
    ' \t{"op": "retract", "id": "m"} ',
    '\ufeff{"op": "retract", "id": "m"}',
    '{"op": "retract", "id": "m"} {}',
    '{"op": "retract", "id": "m"},',
    '{"op": null, "id": "m"}',
    '{"op": 5}',
    "null",
    "[]",
    "\x0b",
    "\u00a0",
    "\x00",
]


def expected(line: Any) -> dict[str, Any] | str:
    """Return what a line alone is: the row that it should be, or its error."""
    try:
        event = read_event(line)
    except NearcastError as error:
        return f"{type(error).__name__} {error}"
    row: dict[str, Any] = {"op": type(event).__name__.lower(), "id": event.id or None}
    row["time"] = event.time
    if isinstance(event, (Publish, Subscribe)):
        row |= {"expires": event.expires, "replace": event.replace}
    if isinstance(event, Publish):
        row["text"] = without_surrogates(event.text)
        row["place"] = sides(event.place)
        row["attributes"] = event.attributes or None
    if isinstance(event, Subscribe):
        row |= {"mode": event.mode, "live": event.live, "definition": definition(event)}
    if isinstance(event, Move):
        place = event.area if event.at is None else event.at
        is_shape = event.at is None and not isinstance(place, Bbox)
        row["target"] = "shape" if is_shape else "box" if event.at is None else "point"
        row |= {"line": line_text(line)} if is_shape else {"place": sides(place)}
    return row


def sides(place: Any) -> tuple[float, ...]:
    if isinstance(place, Bbox):
        return (place.west, place.south, place.east, place.north)
    return (*place, *place)


def line_text(line: bytes | str) -> str:
    return without_surrogates((line if isinstance(line, str) else line.decode()).strip())


def without_surrogates(text: str) -> str:
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def definition(batch: Any) -> Any:
    """Return what a hub says of a subscription, or why it refuses it."""
    hub = Hub()
    try:
        hub.apply(batch if isinstance(batch, pa.Table) else [batch])
    except NearcastError as error:
        return str(error)
    said = next(hub.subscriptions())
    # Words that are all wanted come back in any order.
    return (
        replace(said, keywords=tuple(sorted(said.keywords)))
        if type(said.keywords) is tuple
        else said
    )


DEFINITION = ("line", "words", "said", "alpha", "threshold", "k", "west", "south", "east", "north")


def found(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the table without what it does not say."""
    if row["op"] == "subscribe":
        row = row | {"definition": definition(pa.Table.from_pylist([row], TABLE))}
        row |= dict.fromkeys(DEFINITION)
    said = {name: value for name, value in row.items() if value is not None and name != "event"}
    place = tuple(said.pop(side, None) for side in ("west", "south", "east", "north"))
    if place != (None,) * 4:
        said["place"] = place
    if "attributes" in said:
        said["attributes"] = Attributes(json.loads(said["attributes"]))
    return said


def read(lines: list[Any]) -> list[dict[str, Any] | str]:
    """Return what all lines together are, each as `expected` says it."""
    errors: dict[int, str] = {}
    table = read_events(
        lines, on_error=lambda n, e: errors.update({n: f"{type(e).__name__} {e}"}), first=0
    )
    rows = {row["event"]: found(row) for row in table.to_pylist()}
    assert not rows.keys() & errors.keys()
    return [rows.get(n, errors.get(n, "nothing")) for n in range(len(lines))]


def check(lines: list[Any]) -> int:
    """Compare; return how many lines are events."""
    lines = [line for line in lines if line.strip()]
    accepted = 0
    for line, got in zip(lines, read(lines), strict=True):
        wanted = expected(line)
        if isinstance(wanted, dict):
            wanted = {name: value for name, value in wanted.items() if value is not None}
            accepted += 1
        assert got == wanted, f"{line!r}; NEARCAST_FUZZ_SEED={SEED}"
    return accepted


@pytest.mark.parametrize("chunk", [1, 2, 3, 256])
def test_odd_lines_are_read_as_they_are_alone(chunk) -> None:
    with mock.patch.object(event_reader, "CHUNK_LINES", chunk):
        assert check(ODD) > 20
        assert check([line.encode("utf-8", "surrogatepass") for line in ODD]) > 20


@pytest.mark.parametrize("chunk", [2, 256])
def test_mutated_lines_are_read_as_they_are_alone(chunk) -> None:
    lines = list(mutations(SEED + 20, EVENT_LINES, ROUNDS))
    rng = random.Random(SEED + 21)
    lines += [json.dumps(changed(rng, rng.choice(EVENTS))) for _ in range(ROUNDS)]
    with mock.patch.object(event_reader, "CHUNK_LINES", chunk):
        assert check(lines) > ROUNDS / 50


def test_mutated_bytes_are_read_as_they_are_alone() -> None:
    corpus = [line.encode() for line in EVENT_LINES]
    corpus += [json.dumps(event).encode() for event in EVENTS]
    with mock.patch.object(event_reader, "CHUNK_LINES", 2):
        assert check(list(mutations(SEED + 22, corpus, ROUNDS))) > ROUNDS / 50


def test_mutated_timestamps_are_read_as_they_are_alone() -> None:
    times = [*TIMES, "2026-12-31T23:59:59.999999+00:00", "2255-06-05T23:47:34.1Z"]
    times += ["1970-01-01T00:00:00Z", "1970-01-01T00:59:59.5+01:00", "2024-02-29t00:00:00.000001z"]
    mutated = mutations(SEED + 24, times, ROUNDS)
    lines = [json.dumps({"op": "advance", "time": time}) for time in mutated]
    assert check(lines) > ROUNDS / 50
    rng = random.Random(SEED + 25)
    digits = [str(rng.randrange(10 ** rng.randrange(1, 9))) for _ in range(ROUNDS)]
    days = (f"{rng.randrange(1960, 2300)}-{rng.randrange(1, 13):02}-28" for _ in digits)
    lines = [
        json.dumps({"op": "advance", "time": f"{day}T12:34:56.{after}-05:30"})
        for day, after in zip(days, digits, strict=True)
    ]
    assert check(lines) == ROUNDS


def test_a_mutated_line_among_good_ones_spoils_none_of_them() -> None:
    good = [GOOD.replace(b"before", f"m{i}".encode()) for i in range(4)]
    for line in mutations(SEED + 23, [line.encode() for line in EVENT_LINES], ROUNDS // 4):
        if not line.strip() or b"\n" in line:
            continue
        for at in (0, 2, 4):
            log = [*good[:at], line, *good[at:]]
            errors: dict[int, Any] = {}
            table = read_events(b"\n".join(log), on_error=errors.__setitem__)
            retracted = [row["id"] for row in table.to_pylist() if row["op"] == "retract"]
            assert [id_ for id_ in retracted if id_ in {f"m{i}" for i in range(4)}][:4]
            assert errors.keys() <= {at + 1}, repr(line)
            assert table.num_rows + len(errors) == 5, repr(line)


def test_all_ops_and_modes_are_met() -> None:
    kinds = [expected(line) for line in EVENT_LINES]
    assert {row["op"] for row in kinds if isinstance(row, dict)} >= {"publish", "move", "advance"}
    assert {row.get("mode") for row in kinds if isinstance(row, dict)} >= set(MODES)
    assert isinstance(read_event(GOOD), Retract)

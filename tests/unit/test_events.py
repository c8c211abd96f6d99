"""A line is an event, or an error that names the event and the field."""

from __future__ import annotations

import json
import re
import sys
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearcast.errors import (
    ExpressionError,
    InvalidEventError,
    InvalidMessageError,
    InvalidSubscriptionError,
    NearcastError,
)
from nearcast.events import (
    Advance,
    Move,
    Publish,
    Retract,
    Subscribe,
    Unsubscribe,
    event_from,
    read_event,
    read_time,
    write_change,
)
from nearcast.expressions import And, Compare, Exists, Not, Word
from nearcast.model import Bbox, Change, Circle
from nearcast.text import Analyzer

MATCH = {"op": "subscribe", "id": "s1", "keywords": "coffee -decaf", "area": [-74, 40, -73, 41]}
RANK = {
    "op": "subscribe",
    "id": "s3",
    "mode": "rank",
    "keywords": ["flood"],
    "area": [-74, 40, -73, 41],
    "alpha": 0.3,
    "threshold": 0.6,
}
TOP = {
    "op": "subscribe",
    "id": "s2",
    "mode": "top",
    "keywords": ["jazz", "concert"],
    "at": [-73.99, 40.73],
    "k": 5,
    "alpha": 0.4,
}
PUBLISH = {"op": "publish", "id": "m1", "text": "Free coffee!", "at": [-73.9836, 40.7536]}
MOVE = {"op": "move", "id": "s1", "area": [-73.99, 40.7, -73.95, 40.76]}
RETRACT = {"op": "retract", "id": "m1"}
UNSUBSCRIBE = {"op": "unsubscribe", "id": "s1"}
ADVANCE = {"op": "advance", "time": 7200}
EVERY: list[dict[str, Any]] = [MATCH, RANK, TOP, PUBLISH, MOVE, RETRACT, UNSUBSCRIBE]
MISSING = object()
COFFEE = And((Word(("coffee",)), Not(Word(("decaf",)))))


def _name(value):
    """Name a value the same in every process."""
    return "missing" if value is MISSING else repr(value)


def altered(event, **changes):
    """Return the event with some fields replaced; `MISSING` takes one out."""
    return {k: v for k, v in {**event, **changes}.items() if v is not MISSING}


# ---- good events -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "event"),
    [
        (
            MATCH,
            Subscribe(
                "s1",
                "match",
                keywords=COFFEE,
                area=Bbox(-74, 40, -73, 41),
            ),
        ),
        (
            altered(MATCH, area=MISSING),
            Subscribe("s1", "match", COFFEE),
        ),
        (
            altered(MATCH, keywords=MISSING, live=True, expires=9, time=1, mode="match"),
            Subscribe("s1", "match", area=Bbox(-74, 40, -73, 41), live=True, expires=9.0, time=1.0),
        ),
        (
            altered(MATCH, keywords="a -a", area=MISSING),
            Subscribe("s1", "match", And((Word(("a",)), Not(Word(("a",)))))),
        ),
        (
            altered(RANK, live=True),
            Subscribe(
                "s3",
                "rank",
                keywords=Word(("flood",)),
                area=Bbox(-74, 40, -73, 41),
                alpha=0.3,
                threshold=0.6,
                live=True,
            ),
        ),
        (
            altered(TOP, live=False, expires="1970-01-01T00:00:07Z"),
            Subscribe(
                "s2",
                "top",
                keywords=And((Word(("jazz",)), Word(("concert",)))),
                at=(-73.99, 40.73),
                k=5,
                alpha=0.4,
                expires=7.0,
            ),
        ),
        (
            altered(MATCH, keywords="-sold", where="price <= 9", area=MISSING, replace=True)
            | {"except": [0, 0, 1, 1]},
            Subscribe(
                "s1",
                "match",
                Not(Word(("sold",))),
                where=Compare("price", "<=", 9.0),
                except_=Bbox(0, 0, 1, 1),
                replace=True,
            ),
        ),
        (
            altered(MATCH, keywords=MISSING, where="price EXISTS", area=MISSING),
            Subscribe("s1", "match", where=Exists("price")),
        ),
        (
            altered(TOP, where="a = 'b'"),
            Subscribe(
                "s2",
                "top",
                And((Word(("jazz",)), Word(("concert",)))),
                at=(-73.99, 40.73),
                k=5,
                alpha=0.4,
                where=Compare("a", "=", "b"),
            ),
        ),
        (
            altered(PUBLISH, attributes={"price": 9, "tags": ["a"], "new": True}, replace=True),
            Publish(
                "m1",
                "Free coffee!",
                (-73.9836, 40.7536),
                attributes={"price": 9.0, "tags": ("a",), "new": True},
                replace=True,
            ),
        ),
        (ADVANCE, Advance(7200.0)),
        (altered(ADVANCE, time="1970-01-01T02:00:00Z"), Advance(7200.0)),
        (PUBLISH, Publish("m1", "Free coffee!", (-73.9836, 40.7536))),
        (
            altered(PUBLISH, text="", at=MISSING, bbox=[170, 0, -170, 1], time=12.5, expires=3600),
            Publish("m1", "", Bbox(170, 0, -170, 1), 12.5, 3600.0),
        ),
        (altered(PUBLISH, at=[1, 2]), Publish("m1", "Free coffee!", (1.0, 2.0))),
        (MOVE, Move("s1", area=Bbox(-73.99, 40.7, -73.95, 40.76))),
        (altered(MOVE, area=MISSING, at=[1, 2], time=3), Move("s1", at=(1.0, 2.0), time=3.0)),
        (altered(RETRACT, time=-1.5), Retract("m1", -1.5)),
        (UNSUBSCRIBE, Unsubscribe("s1")),
    ],
    ids=lambda v: v.get("mode", v["op"]) if isinstance(v, dict) else "",
)
def test_an_event_is_read_alike_from_text_bytes_and_mapping(fields, event) -> None:
    line = json.dumps(fields, ensure_ascii=False)
    assert read_event(line) == event
    assert read_event(f" {line} \r\n".encode()) == event
    assert event_from(fields) == event


def test_numbers_of_an_event_are_floats_whatever_they_were() -> None:
    event = read_event(b'{"op":"publish","id":"m","text":"","at":[1,2],"time":3,"expires":4}')
    assert isinstance(event, Publish)
    assert isinstance(event.place, tuple)
    assert [type(v) for v in (*event.place, event.time, event.expires)] == [float] * 4


def test_a_mapping_may_hold_values_of_the_model_and_arrays() -> None:
    circle = Circle((0, 0), 5)
    event = event_from(altered(MATCH, area=circle))
    assert isinstance(event, Subscribe)
    assert event.area is circle
    for at in (np.array([1.5, 2.5]), (1.5, 2.5)):
        message = event_from(altered(PUBLISH, at=at))
        assert isinstance(message, Publish)
        assert message.place == (1.5, 2.5)


def test_keywords_are_read_by_the_given_analyzer() -> None:
    analyzer = Analyzer(stem=lambda token: token.rstrip("s"))
    for event in (
        event_from(altered(TOP, keywords="cats"), analyzer),
        read_event(json.dumps(altered(MATCH, keywords="cats")), analyzer),
    ):
        assert isinstance(event, Subscribe)
        assert event.keywords == Word(("cat",))


# ---- lines that are not events ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "claim"),
    [
        (b"", "not JSON"),
        (b"\n", "not JSON"),
        (b"{", "not JSON"),
        (b'{"op": "retract", "id": "m1"', "not JSON"),
        (b'{"op": "retract", "id": "m1"} x', "not JSON: Extra data at character 30"),
        (b'{"op": "retract", "id": "m1"}{}', "not JSON: Extra data"),
        (b"{'op': 'retract'}", "not JSON"),
        (b'{"op": "retract", "id": "a\nb"}', "not JSON"),
        (b"[]", "not an object"),
        (b"null", "not an object"),
        (b'"retract"', "not an object"),
        (b"1", "not an object"),
        (b"NaN", "got NaN, wanted a finite number"),
        (b'{"op": "retract", "id": "m1", "time": Infinity}', "got Infinity"),
        (b'{"op": "retract", "id": "m1", "time": -Infinity}', "got -Infinity"),
        (b'{"op": "retract", "id": "\xff"}', "not UTF-8: byte 25"),
        (b'{"op": "retract", "id": "\xed\xa0\x80"}', "not UTF-8"),
        (b"\xef\xbb\xbf{}", "not JSON"),
        (b"\x00", "not JSON"),
        (b"[" * 1_000_000, "nested too deeply"),
        (b'{"op": ' * 1_000_000, "nested too deeply"),
        (b"{}", "event has no op"),
        (b'{"op": null}', "op is unknown: got null"),
        (b'{"op": 5}', "op is unknown: got 5"),
        (b'{"op": ["publish"]}', "op is unknown"),
        (b'{"op": "PUBLISH", "id": "m"}', "op is unknown"),
    ],
    ids=range(26),
)
def test_a_line_that_is_not_an_event_says_why(line, claim) -> None:
    with pytest.raises(InvalidEventError, match=re.escape(claim)) as caught:
        read_event(line)
    assert len(str(caught.value)) < 300


def test_nesting_below_the_limit_of_python_is_refused_by_its_field() -> None:
    depth = sys.getrecursionlimit() // 3
    line = json.dumps(PUBLISH)[:-1] + ', "bbox": ' + "[" * depth + "]" * depth + "}"
    with pytest.raises(NearcastError):
        read_event(line)


def test_a_mistyped_op_is_suggested() -> None:
    with pytest.raises(InvalidEventError) as caught:
        event_from({"op": "publsh"})
    assert caught.value.hint == "did you mean 'publish' instead of 'publsh'?"


# ---- fields ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fields", EVERY, ids=lambda f: f.get("mode", f["op"]))
def test_unknown_fields_are_all_named(fields) -> None:
    with pytest.raises(InvalidEventError, match="unknown fields 'zzz', 'colour'") as caught:
        event_from({**fields, "zzz": 1, "colour": None})
    assert caught.value.field == "zzz"
    assert repr(fields["id"]) in str(caught.value)


def test_a_mistyped_field_is_suggested() -> None:
    with pytest.raises(InvalidEventError, match="unknown field 'keyword'") as caught:
        event_from(altered(MATCH, keywords=MISSING, keyword="a"))
    assert caught.value.hint == "did you mean 'keywords' instead of 'keyword'?"


def test_ten_thousand_unknown_fields_make_a_message_that_can_be_read() -> None:
    with pytest.raises(InvalidEventError, match="and 9980 more") as caught:
        event_from({**RETRACT, **{f"{'x' * 200}{i}": 1 for i in range(10_000)}})
    assert len(str(caught.value)) < 2500


@pytest.mark.parametrize(
    ("fields", "name"),
    [(fields, name) for fields in EVERY for name in fields if name != "op"],
    ids=lambda v: v if isinstance(v, str) else v.get("mode", v["op"]),
)
def test_a_null_field_should_be_left_out(fields, name) -> None:
    with pytest.raises(InvalidEventError, match=f"{name} is null") as caught:
        event_from({**fields, name: None})
    assert caught.value.hint == f"leave {name} out"


@pytest.mark.parametrize("fields", EVERY, ids=lambda f: f.get("mode", f["op"]))
@pytest.mark.parametrize("id_", ["", 5, True, ["s"], "\ud800", "a\udfff", MISSING], ids=_name)
def test_an_id_is_a_string_that_can_be_written(fields, id_) -> None:
    with pytest.raises(InvalidEventError, match="id is") as caught:
        event_from(altered(fields, id=id_))
    assert caught.value.field == "id"
    assert str(caught.value).encode()


@pytest.mark.parametrize("id_", ["0", " ", "é", "\U0001f389", "x" * 10_000, "\x00", "\n"])
def test_any_other_string_is_an_id(id_) -> None:
    assert read_event(json.dumps({**RETRACT, "id": id_})).id == id_


BAD_SUBSCRIPTIONS: list[tuple[dict[str, Any], Any, str, str]] = [
    (MATCH, {"keywords": MISSING, "area": MISSING}, "keywords", "neither keywords nor area"),
    (MATCH, {"keywords": []}, "keywords", "empty"),
    (MATCH, {"keywords": ""}, "keywords", "empty"),
    (MATCH, {"keywords": 5}, "keywords", "neither an expression nor a list"),
    (MATCH, {"keywords": ["a", 5]}, "keywords", "entry 1"),
    (MATCH, {"keywords": ["&"]}, "keywords", "entry 0"),
    (MATCH, {"keywords": "a OR -b", "area": MISSING}, "keywords", "without any of them"),
    (MATCH, {"keywords": " OR ".join(map(str, range(1025)))}, "keywords", "too many keywords"),
    (MATCH, {"where": 5}, "where", "where is not a string"),
    (MATCH, {"where": "price <"}, "where", "a value is missing at position 7"),
    (MATCH, {"except": [0, 0, 0]}, "except", "wrong length"),
    (MATCH, {"replace": 1}, "replace", "truth value"),
    (RANK, {"except": [0, 0, 1, 1]}, "except", "no meaning"),
    (TOP, {"except": [0, 0, 1, 1]}, "except", "no meaning"),
    (MATCH, {"area": [0, 0, 1]}, "area", "wrong length"),
    (MATCH, {"area": [0, 0, 1, nan]}, "area", "north is not finite"),
    (MATCH, {"area": [0, 0, 181, 1]}, "area", "east is out of range"),
    (MATCH, {"area": [0, 2, 1, 1]}, "area", "south is greater than north"),
    (MATCH, {"area": "world"}, "area", "is not a list"),
    (MATCH, {"area": {"type": "Circle", "center": [0, 0], "radius_m": -1}}, "area", "radius_m"),
    (MATCH, {"k": 5}, "k", "no meaning in mode 'match'"),
    (MATCH, {"alpha": 0.5}, "alpha", "no meaning in mode 'match'"),
    (MATCH, {"threshold": 0.5}, "threshold", "no meaning in mode 'match'"),
    (MATCH, {"at": [0, 0]}, "at", "no meaning in mode 'match'"),
    (MATCH, {"mode": "rnk"}, "mode", "mode is unknown"),
    (MATCH, {"mode": ["match"]}, "mode", "mode is unknown"),
    (MATCH, {"live": 1}, "live", "not a truth value"),
    (MATCH, {"live": "true"}, "live", "not a truth value"),
    (RANK, {"keywords": MISSING}, "keywords", "missing"),
    (RANK, {"keywords": "a OR b"}, "keywords", "not plain"),
    (RANK, {"keywords": "a -b"}, "keywords", "not plain"),
    (RANK, {"area": MISSING}, "area", "missing"),
    (RANK, {"area": {"type": "Circle", "center": [0, 0], "radius_m": 1}}, "area", "not a box"),
    (RANK, {"alpha": MISSING}, "alpha", "missing"),
    (RANK, {"alpha": -0.1}, "alpha", "out of range"),
    (RANK, {"alpha": 1.1}, "alpha", "out of range"),
    (RANK, {"alpha": nan}, "alpha", "not finite"),
    (RANK, {"alpha": True}, "alpha", "not a number"),
    (RANK, {"threshold": MISSING}, "threshold", "missing"),
    (RANK, {"threshold": 0}, "threshold", "out of range"),
    (RANK, {"threshold": 1.5}, "threshold", "out of range"),
    (RANK, {"threshold": "0.5"}, "threshold", "not a number"),
    (RANK, {"k": 5}, "k", "no meaning in mode 'rank'"),
    (RANK, {"at": [0, 0]}, "at", "no meaning in mode 'rank'"),
    (TOP, {"keywords": MISSING}, "keywords", "missing"),
    (TOP, {"keywords": "a OR b"}, "keywords", "not plain"),
    (TOP, {"at": MISSING}, "at", "missing"),
    (TOP, {"at": [0, 91]}, "at", "out of range"),
    (TOP, {"at": [0, 0, 0]}, "at", "not a position"),
    (TOP, {"k": MISSING}, "k", "missing"),
    (TOP, {"k": 0}, "k", "whole number"),
    (TOP, {"k": -1}, "k", "whole number"),
    (TOP, {"k": 1.0}, "k", "whole number"),
    (TOP, {"k": True}, "k", "whole number"),
    (TOP, {"k": 10**400}, "k", "whole number"),
    (TOP, {"k": "5"}, "k", "whole number"),
    (TOP, {"alpha": MISSING}, "alpha", "missing"),
    (TOP, {"alpha": 2}, "alpha", "out of range"),
    (TOP, {"area": [0, 0, 1, 1]}, "area", "no meaning in mode 'top'"),
    (TOP, {"threshold": 0.5}, "threshold", "no meaning in mode 'top'"),
    (TOP, {"live": True}, "live", "no meaning in mode 'top'"),
    (MOVE, {"area": MISSING}, "area", "missing"),
    (MOVE, {"at": [0, 0]}, "area", "both area and at"),
    (MOVE, {"area": [0]}, "area", "wrong length"),
    (MOVE, {"area": MISSING, "at": [0]}, "at", "not a position"),
]


@pytest.mark.parametrize(
    ("fields", "changes", "field", "claim"),
    BAD_SUBSCRIPTIONS,
    ids=[f"{f.get('mode', f['op'])}-{n}-{i}" for i, (f, _, n, _) in enumerate(BAD_SUBSCRIPTIONS)],
)
def test_a_wrong_subscription_names_itself_and_the_field(fields, changes, field, claim) -> None:
    with pytest.raises(InvalidSubscriptionError, match=claim) as caught:
        event_from(altered(fields, **changes))
    assert caught.value.field == field
    assert str(caught.value).startswith(f"subscription {fields['id']!r}: ")


def test_the_position_in_an_expression_survives() -> None:
    with pytest.raises(ExpressionError, match=r"subscription 's1': keywords: .* at position 2"):
        event_from(altered(MATCH, keywords="a )"))


@pytest.mark.parametrize(
    ("changes", "field", "claim"),
    [
        ({"text": MISSING}, "text", "text is missing"),
        ({"text": 5}, "text", "text is not a string"),
        ({"text": ["a"]}, "text", "text is not a string"),
        ({"at": MISSING}, "at", "at is missing.*exactly one of at and bbox"),
        ({"bbox": [0, 0, 1, 1]}, "at", "both at and bbox"),
        ({"at": [0]}, "at", "not a position"),
        ({"at": [0, 0, 0]}, "at", "not a position"),
        ({"at": {}}, "at", "geometry is not a point"),
        ({"at": "0,0"}, "at", "not a list"),
        ({"at": [0, "0"]}, "at", "latitude of point is not a number"),
        ({"at": [True, 0]}, "at", "longitude of point is not a number"),
        ({"at": [nan, 0.0]}, "at", "not finite"),
        ({"at": [0.0, -inf]}, "at", "not finite"),
        ({"at": [10**400, 0]}, "at", "not finite"),
        ({"at": [180.00001, 0.0]}, "at", "out of range"),
        ({"at": [0.0, -90.00001]}, "at", "out of range"),
        ({"at": MISSING, "bbox": [0, 1, 1, 0]}, "bbox", "south is greater than north"),
        ({"at": MISSING, "bbox": [0, 0, 1]}, "bbox", "wrong length"),
        ({"at": MISSING, "bbox": {"type": "Circle"}}, "bbox", "not a list"),
    ],
)
def test_a_wrong_message_names_itself_and_the_field(changes, field, claim) -> None:
    with pytest.raises(InvalidMessageError, match=claim) as caught:
        event_from(altered(PUBLISH, **changes))
    assert caught.value.field == field
    assert str(caught.value).startswith("message 'm1': ")


@pytest.mark.parametrize("digits", [310, 399, 400, 5_000, 1_000_000])
def test_integers_too_large_for_a_float_are_refused_quickly(digits) -> None:
    line = json.dumps(PUBLISH)[:-1] + ', "time": ' + "9" * digits + "}"
    with pytest.raises(InvalidEventError, match="time is not finite"):
        read_event(line)


def test_a_number_that_overflows_is_refused() -> None:
    with pytest.raises(InvalidEventError, match="time is not finite"):
        read_event('{"op": "retract", "id": "m", "time": 1e999}')


# ---- times -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:00z", 0),
        ("1970-01-01 00:00:00Z", 0),
        ("1970-01-01T00:00:00-00:00", 0),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1969-12-31T16:00:00-08:00", 0),
        ("1985-04-12T23:20:50.52Z", 482196050.52),
        ("1996-12-19T16:39:57-08:00", 851042397),
        ("2000-02-29T00:00:00Z", 951782400),
        ("1937-01-01T12:00:27.87+00:20", -1041337172.13),
        ("1969-12-31T23:59:59.75Z", -0.25),
        ("1990-12-31T23:59:60Z", 662688000),
        ("1990-12-31T15:59:60-08:00", 662688000),
        ("2016-12-31T23:59:60.5Z", 1483228800.5),
        ("0000-01-01T00:00:00Z", -62167219200),
        ("0001-01-01T00:00:00Z", -62135596800),
        ("9999-12-31T23:59:59Z", 253402300799),
        ("1970-01-01T00:00:00.000000Z", 0),
    ],
)
def test_timestamps_become_seconds(text, seconds) -> None:
    assert read_time(text, "time") == seconds


@settings(deadline=None)
@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
    st.text(alphabet="0123456789", min_size=1, max_size=30),
    st.integers(-23 * 60 - 59, 23 * 60 + 59),
)
def test_a_timestamp_is_rounded_once(moment, digits, minutes) -> None:
    moment = moment.replace(microsecond=0, tzinfo=timezone(timedelta(minutes=minutes)))
    offset = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    text = f"{moment:%Y-%m-%dT%H:%M:%S}.{digits}{offset}"
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    exact = (moment - epoch) // timedelta(seconds=1) + Fraction(f"0.{digits}")
    assert read_time(text, "time") == float(exact)


def test_a_fraction_of_a_million_digits_is_read() -> None:
    assert read_time(f"1970-01-01T00:00:01.{'0' * 10**6}1Z", "time") == 1.0
    assert read_time(f"1969-12-31T23:59:59.{'9' * 10**6}Z", "time") == 0.0


@pytest.mark.parametrize(
    "value",
    [
        "",
        "12.5",
        "2026-01-02",
        "2026-01-02T03:04:05",
        "2026-01-02T03:04Z",
        "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05,5Z",
        "2026-01-02T03:04:05+01",
        "2026-01-02T03:04:05+0100",
        "2026-01-02T03:04:05+24:00",
        "2026-01-02T03:04:05+01:60",
        "2026-01-02T24:00:00Z",
        "2026-01-02T03:60:00Z",
        "2026-01-02T03:04:61Z",
        "2026-01-02T03:04:60Z",
        "2026-01-02T23:59:60Z",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "9999-12-31T23:59:60Z",
        "0000-01-01T00:00:60+00:01",
        " 2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05Z\n",
        "２026-01-02T03:04:05Z",
        "+2026-01-02T03:04:05Z",
        nan,
        inf,
        True,
        10**400,
        [],
        {},
    ],
    ids=repr,
)
@pytest.mark.parametrize("field", ["time", "expires"])
def test_what_is_not_a_moment_is_refused(value, field) -> None:
    with pytest.raises(InvalidEventError, match=f"{field} (is not|does not exist)") as caught:
        event_from({**PUBLISH, field: value})
    assert caught.value.field == field


# ---- changes ---------------------------------------------------------------------------------


def test_a_change_is_one_line_of_json_with_a_score_only_if_it_has_one() -> None:
    change = Change(4, "s1", "m1", "added", "published")
    assert json.loads(write_change(change)) == {
        "event": 4,
        "subscription": "s1",
        "message": "m1",
        "change": "added",
        "reason": "published",
    }
    scored = Change(5, "s1", "m1", "removed", "displaced", 0.1)
    assert json.loads(write_change(scored))["score"] == 0.1


@settings(deadline=None)
@given(st.text(), st.text(), st.none() | st.floats(0, 1))
def test_any_ids_and_score_come_back_from_the_line(subscription, message, score) -> None:
    line = write_change(Change(1, subscription, message, "added", "refilled", score))
    assert len(line.splitlines()) == 1
    assert line.isascii()
    found = json.loads(line)
    assert (found["subscription"], found["message"]) == (subscription, message)
    assert found.get("score") == score

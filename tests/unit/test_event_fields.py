"""Fields of events: what was said, attributes, times; right ones are read, wrong ones named."""

from __future__ import annotations

import pickle
from datetime import date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from nearcast.attributes import Attributes
from nearcast.errors import InvalidEventError, InvalidMessageError, InvalidSubscriptionError
from nearcast.events import Publish, Subscribe, event_from

MATCH = {"op": "subscribe", "id": "s1", "keywords": "coffee -decaf", "area": [-74, 40, -73, 41]}
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


def altered(event, **changes):
    return {**event, **changes}


def test_what_was_said_is_kept_beside_what_it_means() -> None:
    event = event_from(altered(TOP, where=" price<9 "))
    assert isinstance(event, Subscribe)
    assert (event.said_keywords, event.said_where) == (("jazz", "concert"), " price<9 ")
    event = event_from(altered(MATCH, keywords="É -\ud800b"))
    assert isinstance(event, Subscribe)
    assert event.said_keywords == "É -\ufffdb"


def test_keywords_may_be_an_array_of_numpy() -> None:
    event = event_from(altered(TOP, keywords=np.array(["jazz", "concert"])))
    assert event == event_from(TOP)
    assert isinstance(event, Subscribe)
    assert event.said_keywords == ("jazz", "concert")
    for wrong in (np.array([["a"]]), np.array(["a", 5], object), np.array([], str)):
        with pytest.raises(InvalidSubscriptionError):
            event_from(altered(TOP, keywords=wrong))


def test_an_event_value_is_hashed_and_pickled() -> None:
    event = event_from(altered(PUBLISH, attributes={"price": 9, "tags": ["a"]}))
    assert pickle.loads(pickle.dumps(event)) == event
    assert hash(event) == hash(event_from(altered(PUBLISH, attributes={"tags": ["a"], "price": 9})))
    subscribed = event_from(altered(TOP, where="a IN (1, 'b')"))
    assert pickle.loads(pickle.dumps(subscribed)) == subscribed
    assert hash(pickle.loads(pickle.dumps(subscribed))) == hash(subscribed)


@pytest.mark.parametrize(
    ("fields", "claim"),
    [
        ({"op": "advance"}, "advance: time is missing"),
        ({"op": "advance", "time": "soon"}, "advance: time is not a timestamp"),
        ({"op": "advance", "time": 1e11}, "milliseconds"),
        ({"op": "advance", "id": "s1", "time": 1}, "unknown field 'id'"),
    ],
)
def test_a_wrong_advance_says_so(fields, claim) -> None:
    with pytest.raises(InvalidEventError) as caught:
        event_from(fields)
    assert claim in f"{caught.value} {caught.value.hint}"


# ---- attributes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "claim"),
    [
        (5, "not an object"),
        ([["a", 1]], "not an object"),
        ({"a": None}, "a is null"),
        ({"a": {}}, "a is no value"),
        ({"a": [1]}, "a has an entry that is not a string"),
        ({"a": ["b", None]}, "a has an entry that is not a string"),
        ({"a": [["b"]]}, "a has an entry that is not a string"),
        ({"a": "\ud800"}, "a has a lone surrogate"),
        ({"a": ["\ud800"]}, "a has a lone surrogate"),
        ({"a": float("nan")}, "a is not finite"),
        ({"a": float("inf")}, "a is not finite"),
        ({"a": 10**400}, "a is not finite"),
        ({"a": b"x"}, "a is no value"),
        ({"": 1}, "a name is not a name"),
        ({"1a": 1}, "a name is not a name"),
        ({"a b": 1}, "a name is not a name"),
        ({"é": 1}, "a name is not a name"),
        ({"a\n": 1}, "a name is not a name"),
        ({5: 1}, "a name is not a name"),
        ({f"a{i}": 1 for i in range(65)}, "too many: got 65 names"),
    ],
)
def test_wrong_attributes_are_refused_by_name(attributes, claim) -> None:
    with pytest.raises(InvalidMessageError, match=claim) as caught:
        event_from(altered(PUBLISH, attributes=attributes))
    assert caught.value.field == "attributes"
    assert "message 'm1'" in str(caught.value)


def test_right_attributes_are_floats_strings_bools_and_tuples() -> None:
    given = {"_a.B9": 2**53 + 1, "b": np.float32(0.5), "c": [], "d": "", "e": False, "f": -0.0}
    event = event_from(altered(PUBLISH, attributes=given))
    assert isinstance(event, Publish)
    expected = {"_a.B9": 2.0**53, "b": 0.5, "c": (), "d": "", "e": False, "f": 0.0}
    assert event.attributes == expected
    assert [type(v) for v in event.attributes.values()] == [float, float, tuple, str, bool, float]
    assert event_from(altered(PUBLISH, attributes={f"a{i}": i for i in range(64)}))
    assert event_from(altered(PUBLISH, attributes={}))


def test_attributes_cannot_be_changed() -> None:
    attributes: Any = Attributes({"a": 1})
    for change in (
        lambda: attributes.__setitem__("b", 1),
        lambda: attributes.update(b=1),
        lambda: attributes.pop("a"),
        attributes.clear,
    ):
        with pytest.raises(TypeError, match="cannot be changed"):
            change()
    assert attributes == {"a": 1.0}


# ---- times -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("time", "seconds"),
    [
        (datetime(1970, 1, 1, 0, 1, tzinfo=timezone.utc), 60.0),
        (datetime(1970, 1, 1, tzinfo=timezone(timedelta(hours=-1))), 3600.0),
        (datetime(2026, 1, 2, 3, 4, 5, 500_000, tzinfo=timezone.utc), 1767323045.5),
        (99_999_999_999, 99_999_999_999.0),
        (-1e12, -1e12),
    ],
)
def test_times_are_numbers_or_aware_datetimes(time, seconds) -> None:
    event = event_from(altered(PUBLISH, time=time, expires=time))
    assert isinstance(event, Publish)
    assert (event.time, event.expires) == (seconds, seconds)


@pytest.mark.parametrize(
    ("time", "claim"),
    [
        (datetime(2026, 1, 1), "datetime without an offset"),
        (1e11, "is it in milliseconds"),
        (1_767_323_045_500, "is it in milliseconds"),
        (date(2026, 1, 1), "not a number"),
    ],
)
@pytest.mark.parametrize("name", ["time", "expires"])
@pytest.mark.parametrize("fields", [MATCH, PUBLISH], ids=["subscribe", "publish"])
def test_a_time_that_is_not_plausible_is_refused(fields, name, time, claim) -> None:
    with pytest.raises(InvalidEventError) as caught:
        event_from(altered(fields, **{name: time}))
    assert claim in f"{caught.value} {caught.value.hint}"
    assert caught.value.field == name

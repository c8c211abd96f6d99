"""`Hub`: the life of messages and subscriptions, one event at a time or many."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import nearcast as nc
from nearcast import events
from nearcast.hub import CHANGES

BOX = [0, 0, 2, 2]
HERE = (1, 1)
EARTH_M = 6_371_008.8


def publish(id_, text="tea", **fields):
    return {"op": "publish", "id": id_, "text": text, "at": [1, 1], **fields}


def reached(changes):
    return sorted(change.subscription for change in changes)


def live(hub):
    return hub.stats()["live_messages"]


@pytest.fixture
def hub():
    hub = nc.Hub()
    hub.subscribe("s", keywords="tea", area=BOX)
    return hub


# ---- one event ------------------------------------------------------------------------------


def test_a_message_reaches_whom_it_matches_as_added_and_published(hub):
    hub.subscribe("elsewhere", keywords="tea", area=[5, 5, 6, 6])
    hub.subscribe("anywhere", keywords="tea OR coffee")
    hub.subscribe("never", keywords="tea -tea")
    changes = hub.publish("m", "Free TEA", at=HERE)
    assert sorted(changes, key=lambda change: change.subscription) == [
        nc.Change(1, "anywhere", "m", "added", "published"),
        nc.Change(1, "s", "m", "added", "published"),
    ]


def test_a_subscription_with_several_clauses_gets_a_message_once(hub):
    hub.subscribe("either", keywords="tea OR free OR (tea free)")
    assert reached(hub.publish("m", "free tea", at=(9, 9))) == ["either"]


def test_only_publishing_delivers(hub):
    assert hub.subscribe("t", keywords="tea") == []
    assert hub.move("t", area=BOX) == []
    assert hub.unsubscribe("t") == []
    assert hub.retract("m") == []


def test_a_message_may_be_a_box(hub):
    assert reached(hub.publish("m", "tea", bbox=[2, 2, 3, 3])) == ["s"]
    assert reached(hub.publish("m", "tea", bbox=nc.Bbox(3, 3, 4, 4))) == []


def test_areas_may_be_values():
    hub = nc.Hub()
    hub.subscribe("s1", keywords="coffee AND (free OR sale)", area=nc.Circle((-73.98, 40.75), 800))
    assert reached(hub.publish("m1", "Free coffee!", at=(-73.9836, 40.7536))) == ["s1"]
    assert reached(hub.publish("m1", "Free coffee!", at=(-73.96, 40.7536))) == []


def test_fields_that_are_none_are_not_there(hub):
    hub.subscribe("t", keywords="x", area=None, expires=None)
    assert reached(hub.publish("m", "x", at=HERE, bbox=None, time=None)) == ["t"]


def test_an_unknown_field_is_an_error_that_names_it(hub):
    with pytest.raises(nc.InvalidEventError, match="unknown field 'keyword'") as caught:
        hub.subscribe("t", keyword="x")
    assert caught.value.field == "keyword"


def test_length_and_membership_are_those_of_subscriptions(hub):
    hub.publish("m", "tea", at=HERE, expires=9)
    assert len(hub) == 1
    assert "s" in hub
    assert not [id_ for id_ in ("m", "x", "", 5, None, "\ud800") if id_ in hub]


def test_a_window_is_a_window():
    with pytest.raises(nc.InvalidParameterError, match="window is not a window: got 5"):
        nc.Hub(window=5)


@pytest.mark.parametrize("kind", [kind.name for kind in nc.indexes()])
def test_every_index_kind_serves_a_hub(kind):
    hub = nc.Hub(index=kind, window=nc.Window(count=2))
    hub.subscribe("s", keywords="tea", area=BOX)
    hub.move("s", area=[5, 5, 6, 6])
    assert hub.publish("m1", "tea", at=HERE) == []
    assert reached(hub.publish("m2", "tea", at=(5, 5))) == ["s"]


# ---- the clock ------------------------------------------------------------------------------


def test_the_clock_starts_at_zero_and_is_the_largest_time_seen(hub):
    assert hub.clock == 0
    hub.publish("m", "x", at=HERE, time=-5)
    assert hub.clock == 0
    hub.retract("m", time=7.5)
    assert hub.clock == 7.5
    hub.publish("m", "x", at=HERE, time=3)
    assert hub.clock == 7.5
    hub.subscribe("t", keywords="x", time="1970-01-01T00:00:10Z")
    assert hub.clock == 10
    hub.move("t", area=BOX, time=11)
    hub.unsubscribe("t", time=12)
    assert hub.clock == 12


def test_an_event_without_time_happens_at_the_clock(hub):
    hub.retract("none", time=100)
    hub.publish("m", "tea", at=HERE, expires=100)
    assert live(hub) == 0
    hub.publish("m", "tea", at=HERE, expires=101)
    assert live(hub) == 1


def test_a_late_message_is_delivered(hub):
    hub.retract("none", time=100)
    assert reached(hub.publish("m", "tea", at=HERE, time=1)) == ["s"]


def test_a_subscription_that_is_late_subscribes_at_the_clock(hub):
    hub.retract("none", time=100)
    with pytest.raises(
        nc.InvalidSubscriptionError, match="a time after the clock, which is at 100"
    ):
        hub.subscribe("t", keywords="x", time=1, expires=50)
    hub.subscribe("t", keywords="x", time=1, expires=100.5)
    assert "t" in hub


# ---- the life of messages -------------------------------------------------------------------


def test_without_window_and_expiry_a_message_is_delivered_and_its_id_free_again(hub):
    for _ in range(3):
        assert reached(hub.publish("m", "tea", at=HERE)) == ["s"]
    assert live(hub) == 0


def test_a_message_that_has_expired_already_is_delivered_and_not_kept(hub):
    hub.retract("none", time=10)
    for expires in (10, 9, -1):
        assert reached(hub.publish("m", "tea", at=HERE, expires=expires)) == ["s"]
    assert live(hub) == 0


def test_the_id_of_a_live_message_is_in_use_until_it_expires(hub):
    hub.publish("m", "tea", at=HERE, expires=10)
    with pytest.raises(nc.DuplicateIdError, match="message 'm': got the id of a live message"):
        hub.publish("m", "tea", at=HERE, time=9.999)
    assert reached(hub.publish("m", "tea", at=HERE, time=10, expires=20)) == ["s"]
    assert live(hub) == 1


def test_a_message_lives_its_seconds_from_its_own_time():
    hub = nc.Hub(window=nc.Window(seconds=10))
    hub.publish("m1", "x", at=HERE, time=100)
    hub.publish("late", "x", at=HERE, time=95)
    hub.publish("too late", "x", at=HERE, time=90)
    assert live(hub) == 2
    hub.retract("none", time=105)
    assert live(hub) == 1
    with pytest.raises(nc.DuplicateIdError):
        hub.publish("m1", "x", at=HERE, time=109.9)
    hub.publish("m1", "x", at=HERE, time=110)
    assert live(hub) == 1


def test_of_window_and_own_expiry_the_first_ends_a_message():
    hub = nc.Hub(window=nc.Window(seconds=10))
    hub.publish("own", "x", at=HERE, expires=5)
    hub.publish("window", "x", at=HERE, expires=50)
    hub.retract("none", time=5)
    assert live(hub) == 1
    hub.retract("none", time=10)
    assert live(hub) == 0


def test_the_oldest_message_leaves_a_full_window():
    hub = nc.Hub(window=nc.Window(count=2))
    for id_ in ("m1", "m2", "m3"):
        hub.publish(id_, "x", at=HERE)
    assert live(hub) == 2
    hub.publish("m1", "x", at=HERE)  # has left, its id is free; now m2 leaves
    hub.publish("m2", "x", at=HERE)
    with pytest.raises(nc.DuplicateIdError, match="'m1'"):
        hub.publish("m1", "x", at=HERE)


def test_a_message_with_an_expiry_leaves_a_full_window_too():
    hub = nc.Hub(window=nc.Window(count=1))
    hub.publish("m1", "x", at=HERE, expires=1000)
    hub.publish("m2", "x", at=HERE)
    hub.publish("m1", "x", at=HERE, expires=5)
    assert live(hub) == 1
    hub.retract("none", time=5)
    assert live(hub) == 0


def test_retracting_frees_the_id_and_is_harmless_twice():
    hub = nc.Hub(window=nc.Window(count=5))
    hub.publish("m", "x", at=HERE)
    for _ in range(2):
        assert hub.retract("m") == []
        assert live(hub) == 0
    hub.publish("m", "x", at=HERE)
    assert live(hub) == 1


def test_messages_and_subscriptions_have_separate_ids():
    hub = nc.Hub(window=nc.Window(count=5))
    hub.publish("x", "tea", at=HERE)
    hub.subscribe("x", keywords="tea")
    assert reached(hub.publish("y", "tea", at=HERE)) == ["x"]
    hub.retract("x")
    assert "x" in hub
    hub.unsubscribe("x")
    hub.subscribe("y", keywords="tea")


# ---- the life of subscriptions --------------------------------------------------------------


def test_a_subscription_expires_before_the_event_at_that_time(hub):
    hub.subscribe("t", keywords="tea", expires=10)
    assert reached(hub.publish("m", "tea", at=HERE, time=9.9)) == ["s", "t"]
    assert reached(hub.publish("m", "tea", at=HERE, time=10)) == ["s"]
    assert "t" not in hub
    hub.subscribe("t", keywords="tea", expires=20)
    assert reached(hub.publish("m", "tea", at=HERE, time=19)) == ["s", "t"]


def test_an_id_that_expires_now_can_be_used_by_the_event_that_ends_it(hub):
    hub.subscribe("t", keywords="tea", expires=10)
    hub.subscribe("t", keywords="coffee", time=10)
    assert reached(hub.publish("m", "tea coffee", at=(9, 9))) == ["t"]
    hub.retract("none", time=1000)
    assert "t" in hub  # the old expiry is not the new one's


def test_what_has_expired_can_be_neither_moved_nor_unsubscribed(hub):
    hub.subscribe("t", keywords="tea", expires=10)
    for op in (lambda: hub.move("t", area=BOX, time=10), lambda: hub.unsubscribe("t", time=11)):
        with pytest.raises(nc.UnknownIdError):
            op()
        assert hub.clock == 0
        assert "t" in hub


def test_unsubscribing_takes_the_expiry_along(hub):
    hub.subscribe("t", keywords="tea", expires=10)
    hub.unsubscribe("t")
    hub.subscribe("t", keywords="tea")
    hub.retract("none", time=10)
    assert "t" in hub


def test_moving_keeps_keywords_and_expiry(hub):
    hub.subscribe("t", keywords="tea OR (coffee -decaf)", area=BOX, expires=10)
    hub.move("t", area={"type": "Circle", "center": [50, 50], "radius_m": 1000})
    assert reached(hub.publish("m", "coffee", at=HERE)) == []
    assert reached(hub.publish("m", "coffee", at=(50, 50))) == ["t"]
    assert reached(hub.publish("m", "decaf coffee", at=(50, 50))) == []
    hub.retract("none", time=10)
    assert "t" not in hub


def test_a_subscription_without_an_area_can_get_one(hub):
    hub.subscribe("t", keywords="tea")
    hub.move("t", area=[5, 5, 6, 6])
    assert reached(hub.publish("m", "tea", at=HERE)) == ["s"]


# ---- rejected events ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("event", "error"),
    [
        ({"op": "subscribe", "id": "s", "keywords": "x"}, nc.DuplicateIdError),
        (
            {"op": "subscribe", "id": "t", "keywords": "x", "expires": 5},
            nc.InvalidSubscriptionError,
        ),
        (
            {"op": "subscribe", "id": "t", "keywords": "x", "expires": 49},
            nc.InvalidSubscriptionError,
        ),
        ({"op": "subscribe", "id": "t", "keywords": [f"w{i}" for i in range(8192)]}, ValueError),
        ({"op": "subscribe", "id": "t"}, nc.InvalidSubscriptionError),
        ({"op": "subscribe", "id": "t", "keywords": "x", "live": True}, nc.UnsupportedError),
        (
            {
                "op": "subscribe",
                "id": "t",
                "mode": "top",
                "keywords": ["x"],
                "at": [0, 0],
                "k": 1,
                "alpha": 0.5,
            },
            nc.UnsupportedError,
        ),
        (
            {
                "op": "subscribe",
                "id": "t",
                "mode": "rank",
                "keywords": ["x"],
                "area": BOX,
                "alpha": 0.5,
                "threshold": 0.5,
            },
            nc.UnsupportedError,
        ),
        ({"op": "publish", "id": "live", "text": "x", "at": [0, 0]}, nc.DuplicateIdError),
        ({"op": "publish", "id": "m", "text": "x", "at": [0, 91]}, nc.InvalidMessageError),
        ({"op": "publish", "id": "m", "text": "x"}, nc.InvalidMessageError),
        ({"op": "move", "id": "none", "area": BOX}, nc.UnknownIdError),
        ({"op": "move", "id": "s", "at": [0, 0]}, nc.UnsupportedError),
        ({"op": "move", "id": "s"}, nc.InvalidSubscriptionError),
        ({"op": "unsubscribe", "id": "none"}, nc.UnknownIdError),
        ({"op": "retract", "id": ""}, nc.InvalidEventError),
        ({"op": "retract", "id": "m", "colour": 1}, nc.InvalidEventError),
    ],
    ids=lambda value: f"{value['op']}" if isinstance(value, dict) else value.__name__,
)
def test_a_rejected_event_changes_nothing_the_clock_included(event, error):
    hub = nc.Hub()
    hub.subscribe("s", keywords="tea", area=BOX)
    hub.subscribe("ends at 20", keywords="tea", expires=20)
    hub.publish("live", "tea", at=HERE, time=10, expires=60)
    hub.publish("ends at 30", "tea", at=HERE, expires=30)
    before = (hub.clock, len(hub), live(hub), hub.match("tea x", at=HERE))
    with pytest.raises(error):
        hub.apply([{**event, "time": 50}])
    assert (hub.clock, len(hub), live(hub), hub.match("tea x", at=HERE)) == before
    assert reached(hub.publish("m", "tea", at=HERE)) == ["ends at 20", "s"]


def test_what_this_version_does_not_do_says_so(hub):
    with pytest.raises(nc.UnsupportedError, match=r"'t': mode is not there.*got 'top'") as caught:
        hub.subscribe("t", mode="top", keywords=["x"], at=HERE, k=1, alpha=0.5)
    assert caught.value.field == "mode"
    with pytest.raises(nc.UnsupportedError, match="'t': live is not there") as caught:
        hub.subscribe("t", keywords=["x"], live=True)
    assert caught.value.field == "live"
    with pytest.raises(NotImplementedError, match="only a top subscription moves to a point"):
        hub.move("s", at=HERE)


def test_unknown_ids_are_key_errors_that_name_them(hub):
    for op in (hub.unsubscribe, lambda id_: hub.move(id_, area=BOX)):
        with pytest.raises(KeyError) as caught:
            op("none")
        assert str(caught.value) == (
            "subscription 'none': got an id that is not subscribed, wanted an id in use"
        )


# ---- many events ----------------------------------------------------------------------------

LOG = [
    {"op": "subscribe", "id": "t", "keywords": "tea"},
    publish("m1", time=1),
    {"op": "unsubscribe", "id": "t"},
    publish("m2", "é tea\u2028!", time=2),
]
EXPECTED = [(2, "s", "m1"), (2, "t", "m1"), (4, "s", "m2")]


def rows(table):
    return sorted((row["event"], row["subscription"], row["message"]) for row in table.to_pylist())


def lines(log):
    return [json.dumps(event, ensure_ascii=False) for event in log]


@pytest.mark.parametrize(
    "batch",
    [
        LOG,
        iter(LOG),
        lines(LOG),
        [line.encode() for line in lines(LOG)],
        "\n".join(lines(LOG)).encode(),
        "\n".join(lines(LOG)).encode() + b"\n",
        "\r\n".join(lines(LOG)).encode(),
        bytearray("\n".join(lines(LOG)).encode()),
        "\n".join(lines(LOG)),
        [events.event_from(event) for event in LOG],
        [LOG[0], lines(LOG)[1], events.event_from(LOG[2]), lines(LOG)[3].encode()],
    ],
    ids=[
        *("dicts", "iterator", "strings", "lines", "bytes", "newline"),
        *("crlf", "bytearray", "string", "values", "mixed"),
    ],
)
def test_events_come_in_many_shapes(hub, batch):
    table = hub.apply(batch)
    assert table.schema == CHANGES
    assert rows(table) == EXPECTED
    assert set(table["change"].to_pylist()) == {"added"}
    assert set(table["reason"].to_pylist()) == {"published"}
    assert table["score"].null_count == 3
    assert hub.clock == 2


def test_no_events_give_an_empty_table(hub):
    for batch in ([], b"", b"\n \n\r\n", ""):
        table = hub.apply(batch)
        assert table.num_rows == 0
        assert table.schema == CHANGES


def test_blank_lines_count_and_are_no_events(hub):
    log = b"\n" + lines(LOG)[1].encode() + b"\n \t\r\n\n" + lines(LOG)[3].encode()
    assert rows(hub.apply(log)) == [(2, "s", "m1"), (5, "s", "m2")]


def test_numbers_start_at_first(hub):
    assert rows(hub.apply(LOG, first=100)) == [(101, "s", "m1"), (101, "t", "m1"), (103, "s", "m2")]


BAD = [
    publish("m1", time=1),  # 1
    b"{",  # 2
    {"op": "unsubscribe", "id": "none", "time": 50},  # 3
    publish("m4", time=4),  # 4
    {"op": "subscribe", "id": "s", "keywords": "x"},  # 5
    {"op": "explode"},  # 6
    publish("m7", time=7),  # 7
]


def test_without_a_callback_the_first_rejected_event_ends_the_batch(hub):
    unreadable, unknown, in_use = BAD[:2] + BAD[3:4], BAD[:1] + BAD[2:4], BAD[3:]
    for bad in (BAD, unreadable, unknown, in_use):
        hub = nc.Hub()
        hub.subscribe("s", keywords="tea")
        with pytest.raises(nc.NearcastError) as caught:
            hub.apply(bad, first=1)
        assert caught.value.event == 2
        assert isinstance(caught.value.changes, pa.Table)
        assert rows(caught.value.changes) == [(1, "s", bad[0]["id"])]
        assert hub.clock == bad[0]["time"]


def test_an_event_that_cannot_be_read_does_not_hide_an_earlier_rejection(hub):
    log = [publish("m1"), {"op": "unsubscribe", "id": "none"}, publish("m3"), b"{"]
    with pytest.raises(nc.UnknownIdError) as caught:
        hub.apply(log, first=11)
    assert caught.value.event == 12
    assert rows(caught.value.changes) == [(11, "s", "m1")]


def test_with_a_callback_the_others_are_applied_and_numbers_come_in_order(hub):
    rejected = []
    table = hub.apply(BAD, on_error=lambda number, error: rejected.append((number, error)))
    assert rows(table) == [(1, "s", "m1"), (4, "s", "m4"), (7, "s", "m7")]
    assert [number for number, _ in rejected] == [2, 3, 5, 6]
    assert [type(error) for _, error in rejected] == [
        nc.InvalidEventError,
        nc.UnknownIdError,
        nc.DuplicateIdError,
        nc.InvalidEventError,
    ]
    assert hub.clock == 7


def test_a_batch_is_the_same_as_one_event_at_a_time():
    log = [
        {"op": "subscribe", "id": "s1", "keywords": "a", "expires": 6},
        publish("m1", "a", time=1, expires=5),
        publish("m1", "a", time=3),
        publish("m1", "a", time=5),
        {"op": "move", "id": "s1", "area": BOX, "time": 4},
        publish("m2", "a", time=6),
        {"op": "move", "id": "s1", "area": BOX},
        {"op": "subscribe", "id": "s1", "keywords": "a"},
        publish("m2", "a"),
    ]
    together, singly = nc.Hub(), nc.Hub()
    bad = ([], [])
    all_rows = rows(together.apply(log, on_error=lambda number, _: bad[0].append(number)))
    one_by_one = []
    for number, event in enumerate(log, 1):
        one_by_one += rows(
            singly.apply([event], first=number, on_error=lambda number, _: bad[1].append(number))
        )
    assert all_rows == one_by_one == [(2, "s1", "m1"), (4, "s1", "m1"), (9, "s1", "m2")]
    assert bad == ([3, 7], [3, 7])


def test_an_iterable_that_breaks_changes_nothing(hub):
    def broken():
        yield publish("m1", time=5)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        hub.apply(broken())
    assert hub.clock == 0


# ---- questions ------------------------------------------------------------------------------


def test_matching_is_a_dry_run():
    hub = nc.Hub(window=nc.Window(count=5))
    hub.subscribe("s", keywords="tea", area=BOX)
    before = hub.stats()
    assert hub.match("Tea!", at=HERE) == ["s"]
    assert hub.match(["tea"], bbox=(2, 2, 3, 3)) == ["s"]
    assert hub.match("tea", at=(5, 5)) == []
    assert (hub.stats(), hub.clock) == (before, 0)


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (["x", 1], {"at": HERE}, "neither a text nor tokens"),
        ("x", {}, "no place"),
        ("x", {"at": HERE, "bbox": BOX}, "two places"),
        ("x", {"at": (0, 91)}, "at: latitude of point is out of range"),
    ],
)
def test_a_question_about_a_wrong_message_is_refused(hub, text, place, said):
    with pytest.raises(nc.InvalidMessageError, match=said):
        hub.match(text, **place)


RING = ((0.0, 0.0), (9.0, 0.0), (9.0, 9.0), (0.0, 0.0))
HOLE = ((5.0, 1.0), (6.0, 1.0), (6.0, 2.0), (5.0, 1.0))
AREAS = [
    None,
    nc.Bbox(0, 0, 2, 2),
    nc.Bbox(170, -10, -170, 10),
    nc.Bbox(-180, -90, 180, 90),
    nc.Bbox(1, 1, 1, 1),
    nc.Circle((-73.98, 40.75), 800),
    nc.Circle((180, 90), 0),
    nc.Polygon((RING,)),
    nc.Polygon((RING, HOLE)),
    nc.MultiPolygon((nc.Polygon((RING, HOLE)), nc.Polygon((HOLE,)))),
]


def clause(positive, negative=""):
    return nc.Clause(frozenset(positive.split()), frozenset(negative.split()))


@pytest.mark.parametrize("area", AREAS, ids=lambda area: type(area).__name__)
def test_a_subscription_comes_back_as_it_was_given(area):
    hub = nc.Hub()
    hub.subscribe("s", keywords="Tea AND (free OR sale) -decaf OR jazz", area=area)
    clauses, found = hub.subscription("s")
    assert set(clauses) == {
        clause("tea free", "decaf"),
        clause("tea sale", "decaf"),
        clause("jazz"),
    }
    assert found == area
    hub.subscribe("moved", keywords="x", area=BOX)
    if area is not None:
        hub.move("moved", area=area)
        assert hub.subscription("moved") == ((clause("x"),), area)


def test_a_subscription_without_keywords_or_that_never_matches_comes_back_as_such(hub):
    hub.subscribe("place", area=BOX)
    hub.subscribe("never", keywords="a -a")
    assert hub.subscription("place") == (None, nc.Bbox(*BOX))
    assert hub.subscription("never") == ((), None)


@pytest.mark.parametrize("id_", ["none", "", 5, None, "\ud800"])
def test_a_subscription_that_is_not_there_is_unknown(hub, id_):
    with pytest.raises(nc.UnknownIdError, match=re.escape(repr(id_))):
        hub.subscription(id_)
    with pytest.raises(nc.UnknownIdError):
        hub.explain(id_, "x", at=HERE)


# ---- explanations ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "text", "said"),
    [
        ("tea", "Tea!", "match: has tea; inside the area"),
        ("tea free", "free", "no match: lacks tea; inside the area"),
        ("tea free sale", "x", "no match: lacks free, sale, tea; inside the area"),
        ("tea -decaf", "decaf tea", "no match: has the excluded decaf; inside the area"),
        ("tea -decaf", "Decaf", "no match: lacks tea and has the excluded decaf; inside the area"),
        (
            "(tea free) OR (tea sale new)",
            "free",
            "no match: lacks tea (best of 2 alternatives); inside the area",
        ),
        ("tea OR jazz", "jazz", "match: has jazz (best of 2 alternatives); inside the area"),
        ("tea -tea", "tea", "no match: the keywords exclude each other; inside the area"),
        (None, "x", "match: needs no keyword; inside the area"),
    ],
)
def test_an_explanation_says_what_is_missing(keywords, text, said):
    hub = nc.Hub()
    hub.subscribe("s", keywords=keywords, area=BOX)
    explanation = hub.explain("s", text, at=HERE)
    assert str(explanation) == said
    assert explanation.matches == (hub.match(text, at=HERE) == ["s"])
    assert explanation.outside_m == 0


def test_an_explanation_without_an_area_is_inside_everywhere():
    hub = nc.Hub()
    hub.subscribe("s", keywords="tea")
    assert str(hub.explain("s", "tea", at=(180, 90))) == "match: has tea; inside the area"


def test_an_explanation_of_keywords_and_area_has_both(hub):
    assert str(hub.explain("s", "tea", at=(2.001, 1))) == (
        "no match: has tea; 111 m outside the area"
    )
    assert str(hub.explain("s", "x", at=(3, 1))) == (
        "no match: lacks tea; 111.2 km outside the area"
    )


@pytest.mark.parametrize("text", [None, 5, b"tea", ["tea"]])
def test_an_explanation_needs_a_text(hub, text):
    with pytest.raises(nc.InvalidMessageError, match="text is not a string"):
        hub.explain("s", text, at=HERE)


def sphere(points):
    lon, lat = np.radians(np.asarray(points, float)).T
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)


def border(ring, steps=400):
    """Points all along a ring."""
    share = np.linspace(0, 1, steps)[:, None]
    edges = [(np.asarray(a), np.asarray(b)) for a, b in pairwise(ring)]
    return np.concatenate([a * (1 - share) + b * share for a, b in edges])


def box_ring(west, south, east, north):
    if west <= east:
        return border([(west, south), (east, south), (east, north), (west, north), (west, south)])
    halves = [box_ring(west, south, 180, north), box_ring(-180, south, east, north)]
    return np.concatenate(halves)


def true_distance(area, place):
    """The least distance of many points of both borders, by chords."""
    here = sphere([place] if len(place) == 2 else box_ring(*place)[::7])
    if isinstance(area, nc.Circle):
        there, less = sphere([area.center]), area.radius_m
    elif isinstance(area, nc.Bbox):
        there, less = sphere(box_ring(area.west, area.south, area.east, area.north)), 0
    else:
        parts = [area] if isinstance(area, nc.Polygon) else area.polygons
        there = sphere(np.concatenate([border(r) for part in parts for r in part.rings]))
        less = 0
    chord = min(np.linalg.norm(there - point, axis=1).min() for point in here)
    return 2 * EARTH_M * math.asin(chord / 2) - less


BIG_HOLE = ((1.0, 1.0), (8.0, 1.0), (8.0, 8.0), (1.0, 8.0), (1.0, 1.0))
HOLLOW = nc.Polygon((((0, 0), (9, 0), (9, 9), (0, 9), (0, 0)), BIG_HOLE))
FRANCE = nc.Polygon((((-4, 48), (2, 51), (8, 49), (7, 43), (-1, 43), (-4, 48)),))
FIJI = nc.MultiPolygon(
    (
        nc.Polygon((((177, -19), (180, -19), (180, -16), (177, -16), (177, -19)),)),
        nc.Polygon((((-180, -19), (-179, -19), (-179, -16), (-180, -16), (-180, -19)),)),
    )
)
LONDON = nc.Circle((-0.12, 51.5), 20_000)


@pytest.mark.parametrize(
    ("area", "place"),
    [
        (nc.Bbox(0, 0, 2, 2), (3, 1)),
        (nc.Bbox(0, 0, 2, 2), (3, 4)),
        (nc.Bbox(0, 50, 10, 60), (-20, 55)),
        (nc.Bbox(0, 50, 10, 60), (-20, 20, -15, 56)),
        (nc.Bbox(0, 50, 10, 60), (2, 61, 3, 62)),
        (nc.Bbox(0, 50, 10, 60), (-80, 57)),
        (nc.Bbox(0, 50, 10, 60), (-50, 20, 50, 40)),
        (nc.Bbox(-10, -10, 10, 10), (90, 80)),
        (nc.Bbox(170, -10, 175, 10), (-179, 5)),
        (nc.Bbox(-175, -10, -170, 10), (160, 5)),
        (nc.Bbox(170, -10, -170, 10), (165, 0)),
        (nc.Bbox(170, -10, -170, 10), (-160, 30)),
        (nc.Bbox(170, -10, -170, 10), (-165, 0, -160, 5)),
        (nc.Bbox(160, -10, 165, 10), (175, 0, -175, 5)),
        (nc.Bbox(-170, -10, -165, 10), (170, 20, -179, 25)),
        (nc.Bbox(-180, 60, 180, 70), (0, 50)),
        (nc.Bbox(-180, 60, 180, 70), (33, 89.5)),
        (LONDON, (2.35, 48.85)),
        (LONDON, (-0.12, 51.8)),
        (LONDON, (1, 50, 3, 53)),
        (nc.Circle((179.5, 0), 1000), (-179.5, 0)),
        (nc.Circle((179.5, 0), 1000), (-180, -1, -179, 1)),
        (nc.Circle((-179.5, 10), 1000), (170, 0, 178, 20)),
        (nc.Circle((0, 89.9), 1000), (180, 89.9)),
        (FRANCE, (-0.12, 51.5)),
        (FRANCE, (20, 46)),
        (FRANCE, (3, 42.9)),
        (FRANCE, (9, 44, 12, 46)),
        (HOLLOW, (4, 5)),
        (HOLLOW, (1.01, 5)),
        (HOLLOW, (3, 3, 5, 7.5)),
        (HOLLOW, (20, 20)),
        (FIJI, (-178, -17)),
        (FIJI, (175, -17)),
        (FIJI, (-170, -30)),
        (FIJI, (-178, -17, -177, -16)),
    ],
    ids=lambda value: str(value)[:45],
)
def test_how_far_outside_is_right_to_five_per_cent(area, place):
    hub = nc.Hub()
    hub.subscribe("s", area=area)
    where = {"at": place} if len(place) == 2 else {"bbox": place}
    explanation = hub.explain("s", "x", **where)
    assert not explanation.matches
    assert explanation.outside_m == pytest.approx(true_distance(area, place), rel=0.05)


def test_what_is_outside_is_never_called_inside(hub):
    """For boxes and polygons -180 and 180 are different numbers, though the same meridian."""
    hub.subscribe("edge", area=[-180, 0, -170, 1])
    explanation = hub.explain("edge", "x", at=(180, 0.5))
    assert not explanation.matches
    assert str(explanation) == "no match: needs no keyword; 0 m outside the area"

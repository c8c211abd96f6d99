"""`Hub.apply`: many events at once, and what one bad event does to the others."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hub_events import BOX, HERE, live, publish, reached

import nearcast as nc
from nearcast import events
from nearcast.changes import CHANGES, changes_of

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
        ({"op": "publish", "id": "live", "text": "x", "at": [0, 0]}, nc.DuplicateIdError),
        ({"op": "publish", "id": "m", "text": "x", "at": [0, 91]}, nc.InvalidMessageError),
        ({"op": "publish", "id": "m", "text": "x"}, nc.InvalidMessageError),
        ({"op": "move", "id": "none", "area": BOX}, nc.UnknownIdError),
        ({"op": "move", "id": "s", "at": [0, 0]}, nc.InvalidSubscriptionError),
        ({"op": "move", "id": "s"}, nc.InvalidSubscriptionError),
        ({"op": "unsubscribe", "id": "none"}, nc.UnknownIdError),
        ({"op": "retract", "id": ""}, nc.InvalidEventError),
        ({"op": "retract", "id": "m", "colour": 1}, nc.InvalidEventError),
    ],
    ids=lambda value: f"{value['op']}" if isinstance(value, dict) else value.__name__,
)
def test_a_rejected_event_changes_nothing_the_clock_included(event, error) -> None:
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


def test_a_place_must_suit_the_mode() -> None:
    hub = nc.Hub(window=nc.Window(count=5))
    hub.subscribe("s", keywords="tea", area=BOX)
    with pytest.raises(nc.InvalidSubscriptionError, match="'s': move: got at, wanted area"):
        hub.move("s", at=HERE)
    hub.subscribe("t", mode="top", keywords=["x"], at=HERE, k=1, alpha=0.5)
    with pytest.raises(nc.InvalidSubscriptionError, match="'t': move: got area, wanted at"):
        hub.move("t", area=BOX)
    hub.subscribe("r", mode="rank", keywords=["x"], area=BOX, alpha=0.5, threshold=0.5)
    with pytest.raises(
        nc.InvalidSubscriptionError, match="'r': move: got an area that is not a box"
    ):
        hub.move("r", area=nc.Circle(HERE, 10))


def test_results_are_what_is_held() -> None:
    hub = nc.Hub(window=nc.Window(count=2))
    hub.subscribe("live", keywords="tea", area=BOX, live=True)
    hub.subscribe("top", mode="top", keywords=["tea"], at=HERE, k=1, alpha=0)
    hub.subscribe("rank", mode="rank", keywords=["tea"], area=BOX, alpha=0, threshold=1, live=True)
    hub.subscribe("plain", keywords="tea")
    for id_ in ("m1", "m2", "m3"):
        hub.publish(id_, "tea", at=HERE)
    assert sorted(hub.results("live")) == [("m2", None), ("m3", None)]
    assert hub.results("top") == [("m3", 1.0)]
    assert sorted(hub.results("rank")) == [("m2", 1.0), ("m3", 1.0)]
    with pytest.raises(nc.UnsupportedError, match="'plain' holds nothing"):
        hub.results("plain")
    with pytest.raises(nc.UnknownIdError):
        hub.results("none")


def test_unknown_ids_are_key_errors_that_name_them(hub) -> None:
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
def test_events_come_in_many_shapes(hub, batch) -> None:
    table = hub.apply(batch)
    assert table.schema == CHANGES
    assert rows(table) == EXPECTED
    assert set(table["change"].to_pylist()) == {"added"}
    assert set(table["reason"].to_pylist()) == {"published"}
    assert table["score"].null_count == 3
    assert hub.clock == 2


def test_no_events_give_an_empty_table(hub) -> None:
    nothing: list[Any] = [[], b"", b"\n \n\r\n", ""]
    for batch in nothing:
        table = hub.apply(batch)
        assert table.num_rows == 0
        assert table.schema == CHANGES


def test_blank_lines_count_and_are_no_events(hub) -> None:
    log = b"\n" + lines(LOG)[1].encode() + b"\n \t\r\n\n" + lines(LOG)[3].encode()
    assert rows(hub.apply(log)) == [(2, "s", "m1"), (5, "s", "m2")]


def test_numbers_start_at_first(hub) -> None:
    assert rows(hub.apply(LOG, first=100)) == [(101, "s", "m1"), (101, "t", "m1"), (103, "s", "m2")]


BAD: list[Any] = [
    publish("m1", time=1),  # 1
    b"{",  # 2
    {"op": "unsubscribe", "id": "none", "time": 50},  # 3
    publish("m4", time=4),  # 4
    {"op": "subscribe", "id": "s", "keywords": "x"},  # 5
    {"op": "explode"},  # 6
    publish("m7", time=7),  # 7
]


def test_without_a_callback_the_first_rejected_event_ends_the_batch(hub) -> None:
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


def test_an_event_that_cannot_be_read_does_not_hide_an_earlier_rejection(hub) -> None:
    log = [publish("m1"), {"op": "unsubscribe", "id": "none"}, publish("m3"), b"{"]
    with pytest.raises(nc.UnknownIdError) as caught:
        hub.apply(log, first=11)
    assert caught.value.event == 12
    assert rows(caught.value.changes) == [(11, "s", "m1")]


def test_with_a_callback_the_others_are_applied_and_numbers_come_in_order(hub) -> None:
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


def test_a_batch_is_the_same_as_one_event_at_a_time() -> None:
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
    bad: tuple[list[int], list[int]] = ([], [])
    all_rows = rows(together.apply(log, on_error=lambda number, _: bad[0].append(number)))
    one_by_one = []
    for number, event in enumerate(log, 1):
        one_by_one += rows(
            singly.apply([event], first=number, on_error=lambda number, _: bad[1].append(number))
        )
    assert all_rows == one_by_one == [(2, "s1", "m1"), (4, "s1", "m1"), (9, "s1", "m2")]
    assert bad == ([3, 7], [3, 7])


def test_an_iterable_that_breaks_changes_nothing(hub) -> None:
    def broken():
        yield publish("m1", time=5)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        hub.apply(broken())
    assert hub.clock == 0


def test_a_matcher_is_not_a_hub_nor_the_other_way_round(tmp_path) -> None:
    nc.Hub().save(tmp_path / "hub")
    nc.Matcher().save(tmp_path / "matcher")
    with pytest.raises(nc.SnapshotError, match="got a hub or its life, wanted a matcher"):
        nc.Matcher.open(tmp_path / "hub")
    with pytest.raises(nc.SnapshotError, match="got a matcher or life alone, wanted a hub"):
        nc.Hub.open(tmp_path / "matcher")


# ---- one event alone ------------------------------------------------------------------------

SINGLE: list[dict[str, Any]] = [
    {"op": "subscribe", "id": "é", "keywords": "x OR y", "area": BOX, "live": True},
    {"op": "subscribe", "id": "r", "mode": "rank", "keywords": "x", "area": BOX, "live": True}
    | {"alpha": 0.5, "threshold": 0.5},
    {"op": "subscribe", "id": "t", "mode": "top", "keywords": "x", "at": HERE, "k": 1}
    | {"alpha": 0.5},
    {"op": "publish", "id": "m1", "text": "x", "at": HERE, "time": 1},
    {"op": "publish", "id": "m2", "text": "x x y", "at": HERE, "time": 2, "expires": 50},
    {"op": "publish", "id": "m2", "text": "x", "at": HERE},
    {"op": "publish", "id": "m3", "text": "x", "at": [0, 91]},
    {"op": "subscribe", "id": "t", "keywords": "x"},
    {"op": "move", "id": "é", "area": [50, 50, 51, 51], "time": 3},
    {"op": "move", "id": "none", "area": BOX},
    {"op": "retract", "id": "m1"},
    {"op": "unsubscribe", "id": "r", "time": 60},
    {"op": "unsubscribe", "id": "r"},
    {"op": "publish", "id": "m4", "text": "y", "bbox": [49, 49, 50, 50]},
]


def test_an_event_alone_does_what_it_does_in_a_batch() -> None:
    alone = nc.Hub(window=nc.Window(count=5), safe_region=True)
    batched = nc.Hub(window=nc.Window(count=5), safe_region=True)
    for event in SINGLE:
        fields = {name: value for name, value in event.items() if name != "op"}
        try:
            found: object = getattr(alone, event["op"])(**fields)
        except nc.NearcastError as error:
            found = (type(error), str(error))
        try:
            expected: object = changes_of(batched.apply([event]))
        except nc.NearcastError as error:
            expected = (type(error), str(error))
        assert found == expected
        assert alone.take_promises() == batched.take_promises()
    assert alone.stats() == batched.stats()
    alone.check_invariants()


def test_an_event_that_is_refused_alone_says_that_nothing_changed() -> None:
    hub = nc.Hub()
    with pytest.raises(nc.UnknownIdError) as caught:
        hub.unsubscribe("none")
    assert caught.value.event == 1
    assert caught.value.changes == CHANGES.empty_table()

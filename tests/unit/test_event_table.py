"""Tables of events: what they hold, in which layouts they come, and what is wrong with some."""

from __future__ import annotations

import json
import math
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest
from hub_events import HERE, publish, reached

import nearcast as nc
from nearcast import event_lines, event_reader, events
from nearcast.event_table import EVENTS, OUTLINE, read_events
from nearcast.life import Life

pytestmark = pytest.mark.filterwarnings("ignore::nearcast.KeepsNothingWarning")

LOG: list[dict[str, Any]] = [
    {"op": "subscribe", "id": "t", "keywords": "tea", "live": True},
    publish("m1", time=1, expires=9, attributes={"price": 5, "tags": ["a", "b"], "new": True}),
    {"op": "move", "id": "t", "area": [-1, -1, 60, 60]},
    {"op": "move", "id": "t", "area": {"type": "Circle", "center": HERE, "radius_m": 1e6}},
    publish("m2", "é tea\u2028!", time=2, expires=9),
    {"op": "retract", "id": "m1"},
    {"op": "advance", "time": 9},
    {"op": "unsubscribe", "id": "t"},
]
LINES = [json.dumps(event) for event in LOG]
NDJSON = "\n".join(LINES).encode()


def changes(batch: Any) -> list[dict[str, Any]]:
    hub = nc.Hub(window=nc.Window(count=9))
    hub.subscribe("s", keywords="tea", where="price <= 5 AND tags = 'b' AND new = TRUE")
    return list(hub.apply(batch).to_pylist())


EXPECTED = changes(LOG)


def test_lines_know_the_fields_of_events() -> None:
    for kind in event_lines.KINDS:
        config = kind.__struct_config__
        known = set(events._READERS[str(config.tag)].known) - {"op"}
        assert set(kind.__struct_encode_fields__) == known
        assert config.forbid_unknown_fields
    tags = [str(kind.__struct_config__.tag) for kind in event_lines.KINDS]
    assert sorted(tags) == sorted(events._READERS)


@pytest.mark.parametrize(
    "source",
    [
        *(NDJSON, NDJSON.decode(), NDJSON + b"\n", LINES, iter(LINES), pa.array(LINES)),
        *(pa.chunked_array([LINES[:3], LINES[3:]]), pa.array(LINES).cast(pa.binary())),
    ],
    ids=["bytes", "string", "newline", "lines", "iterator", "column", "chunks", "binary"],
)
def test_lines_come_in_many_shapes(source) -> None:
    table = read_events(source)
    assert table.schema == EVENTS
    assert table["event"].to_pylist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert changes(table) == EXPECTED


@pytest.mark.parametrize(
    "layout",
    [
        lambda table: pa.concat_tables([table.slice(0, 2), table.slice(2)]),
        lambda table: pa.concat_tables([table, table]).slice(len(table)),
        lambda table: table.to_batches()[0],
        lambda table: pa.RecordBatchReader.from_batches(table.schema, table.to_batches(3)),
        lambda table: table.cast(
            pa.schema(
                [
                    (f.name, pa.large_string() if f.type == pa.string() else f.type)
                    for f in table.schema
                ]
            )
        ),
        lambda table: pa.table(
            {
                name: table[name].dictionary_encode()
                if table.schema.field(name).type == pa.string()
                else table[name]
                for name in table.column_names
            }
        ),
        lambda table: table.select(table.column_names[::-1]),
        lambda table: table.drop_columns(["event", "surplus"]),
    ],
    ids=["chunked", "sliced", "batch", "stream", "large", "dictionary", "reversed", "fewer"],
)
def test_tables_come_in_many_layouts(layout) -> None:
    assert changes(layout(read_events(NDJSON))) == EXPECTED


def test_other_libraries_make_tables_too() -> None:
    polars = pytest.importorskip("polars")
    assert changes(polars.from_arrow(read_events(NDJSON))) == EXPECTED


def test_a_row_that_is_wrong_is_an_event_that_is_rejected() -> None:
    good = read_events(NDJSON).to_pylist()[1]
    wrong = [
        ({"op": None}, "event has no op"),
        ({"op": "explode"}, "op is unknown: got 'explode'"),
        ({"id": None}, "id is missing"),
        ({"id": ""}, "id is not an id: got ''"),
        ({"text": None}, "message 'm1': text is missing"),
        ({"time": 1e11}, "message 'm1': time is too large for seconds"),
        ({"expires": 1e300}, "message 'm1': expires is too large for seconds"),
        ({"west": 181.0}, "message 'm1': bbox: west is out of range: got 181.0"),
        ({"south": 91.0}, "message 'm1': bbox: south is out of range"),
        ({"east": None}, "message 'm1': bbox: east is not a number"),
        ({"attributes": "{"}, "attributes are not JSON"),
        ({"attributes": '{"a b": 1}'}, "attributes: a name is not a name"),
        ({"op": "subscribe"}, "subscription is not whole"),
        ({"op": "advance", "time": None}, "unknown field"),
    ]
    for change, expected in wrong:
        table = pa.Table.from_pylist([good | change, good | {"id": "after"}], EVENTS)
        rejected: dict[int, Any] = {}
        hub = nc.Hub()
        hub.subscribe("s", keywords="tea")
        found = hub.apply(table, on_error=rejected.__setitem__)
        assert [row["message"] for row in found.to_pylist()] == ["after"]
        assert list(rejected) == [2]
        assert expected in str(rejected[2])
        with pytest.raises(nc.NearcastError) as caught:
            nc.Hub().apply(table)
        assert caught.value.event == 2


def test_a_table_that_is_no_table_of_events_changes_nothing(hub) -> None:
    table = read_events(NDJSON)
    wrong: list[Any] = [
        (table.drop_columns(["op"]), "column 'op' is missing"),
        (table.append_column("colour", table["op"]), "column 'colour' is not understood"),
        (table.set_column(3, "time", table["op"]), "column 'time' has the wrong type"),
        (table.set_column(5, "replace", table["time"]), "column 'replace' has the wrong type"),
        (table.set_column(0, "event", table["time"]), "column 'event' has the wrong type"),
    ]
    for given, expected in wrong:
        with pytest.raises(nc.InvalidParameterError, match=expected):
            hub.apply(given)
        with pytest.raises(nc.InvalidParameterError, match=expected):
            Life().apply(given)
    assert hub.clock == 0


def test_a_line_must_be_that_of_its_row(hub) -> None:
    line = json.dumps({"op": "subscribe", "id": "t", "keywords": "tea OR coffee"})
    row = read_events([line]).to_pylist()[0]
    for change in ({"id": "other"}, {"line": LINES[3]}):
        with pytest.raises(nc.InvalidParameterError, match="line"):
            hub.apply(pa.Table.from_pylist([row | change], EVENTS))


def test_columns_say_when_a_line_happens(hub) -> None:
    line = json.dumps({"op": "subscribe", "id": "t", "keywords": "tea", "time": 3})
    (row,) = read_events([line]).to_pylist()
    hub.apply(pa.Table.from_pylist([row | {"time": 50.0, "expires": 60.0}], EVENTS))
    assert hub.clock == 50
    assert hub.subscription("t").expires == 60
    assert hub.subscription("t").keywords == "tea"


@pytest.mark.parametrize(
    "change",
    [
        *({"words": None}, {"words": ""}, {"words": "a  b"}, {"words": " a"}),
        *({"k": 0.0}, {"k": 1.5}, {"k": 2.0**31}, {"k": None}, {"alpha": 2.0}, {"alpha": None}),
        *({"west": None}, {"east": 5.0}, {"live": True}, {"mode": "rank"}),
        {"mode": "match", "words": None, "west": None},
        {"mode": "rank", "threshold": 0.0},
    ],
    ids=str,
)
def test_a_subscription_in_columns_is_checked(hub, change) -> None:
    row = {"event": 1, "op": "subscribe", "id": "t", "words": "green tea", "mode": "top"}
    row |= {"west": 1.0, "south": 2.0, "east": 1.0, "north": 2.0, "k": 2.0, "alpha": 0.5}
    with pytest.raises(nc.InvalidEventError, match="subscription is not whole"):
        hub.apply(pa.Table.from_pylist([row | change], EVENTS))
    assert "t" not in hub
    hub.apply(pa.Table.from_pylist([row], EVENTS))
    assert sorted(hub.subscription("t").keywords) == ["green", "tea"]


def test_a_hub_with_options_reads_keywords_itself() -> None:
    hub = nc.Hub(analyzer=nc.Analyzer(stop_words={"the"}))
    hub.apply([json.dumps({"op": "subscribe", "id": "s", "keywords": ["the", "tea"]})])
    assert hub.match("tea", at=HERE) == ["s"]


def test_a_live_subscription_from_a_line_warns_that_nothing_is_kept() -> None:
    for live in ({"live": True}, {"mode": "top", "at": [0, 0], "k": 1, "alpha": 0.5}):
        line = json.dumps({"op": "subscribe", "id": "s", "keywords": "tea", **live})
        with pytest.warns(nc.KeepsNothingWarning, match="subscription 's' is"):
            nc.Hub().apply([line])


def test_a_message_without_an_end_stays_until_it_is_told_to_go() -> None:
    hub = nc.Hub()
    hub.subscribe("s", keywords="tea", live=True, expires=1e9)
    first = {**read_events(NDJSON).to_pylist()[1], "expires": math.inf, "event": 1}
    second = first | {"id": "m2", "time": 1e8, "surplus": "m1", "event": 7}
    third = {"event": 8, "op": "advance", "time": 1e8, "surplus": "m2"}
    unknown = {"event": 9, "op": "advance", "time": 1e8, "surplus": "gone"}
    table = pa.Table.from_pylist([first, second, third, unknown], EVENTS)
    found = [(c["event"], c["message"], c["reason"]) for c in hub.apply(table).to_pylist()]
    assert sorted(found) == [
        *((1, "m1", "published"), (7, "m1", "expired"), (7, "m2", "published")),
        (8, "m2", "expired"),
    ]


# ---- chunks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("lines", [3, 4, 5, 7, 8, 9])
@pytest.mark.parametrize("shape", [list, b"\n".join], ids=["lines", "bytes"])
def test_an_error_at_any_place_of_a_chunk_spoils_nothing_else(lines, shape) -> None:
    log = [b'{"op": "retract", "id": "m%d"}' % n for n in range(lines)]
    sizes: dict[str, Any] = {"CHUNK_LINES": 4, "CHUNK_BYTES": len(b"\n".join(log[:4]))}
    for bad in range(lines):
        for wrong in (b"{", b'{"op": "retract", "id": ""}', b""):
            given = shape([*log[:bad], wrong, *log[bad + 1 :]])
            errors: dict[int, Any] = {}
            with mock.patch.multiple(event_reader, **sizes):
                table = read_events(given, on_error=errors.__setitem__)
            expected = [n for n in range(1, lines + 1) if n != bad + 1]
            assert table["event"].to_pylist() == expected
            assert list(errors) == ([bad + 1] if wrong else [])
            if wrong:
                with (
                    mock.patch.multiple(event_reader, **sizes),
                    pytest.raises(nc.InvalidEventError) as caught,
                ):
                    read_events(given)
                assert caught.value.event == bad + 1


def test_an_event_over_two_lines_is_two_bad_lines() -> None:
    errors: list[int] = []
    log = b'{"op": "retract",\n "id": "m"}\n{"op": "retract", "id": "n"}'
    table = read_events(log, on_error=lambda n, _: errors.append(n))
    assert (errors, table["event"].to_pylist()) == ([1, 2], [3])


def test_two_events_in_one_line_are_no_event() -> None:
    errors: list[int] = []
    two = '{"op": "retract", "id": "m"}\n{"op": "retract", "id": "n"}'
    table = read_events(
        [two, "", '{"op": "advance", "time": 1}'], on_error=lambda n, _: errors.append(n)
    )
    assert (errors, table["event"].to_pylist()) == ([1], [3])


def test_a_line_may_end_with_a_newline_of_its_own() -> None:
    assert read_events([line + "\n" for line in LINES]) == read_events(LINES)


# ---- texts and clocks -----------------------------------------------------------------------


def test_an_error_of_the_analyzer_rejects_its_message_alone() -> None:
    def tokenizer(text: str) -> list[str]:
        return ["\ud800"] if "bad" in text else text.split()

    hub = nc.Hub(analyzer=nc.Analyzer(tokenizer=tokenizer))
    hub.subscribe("s", keywords="tea")
    log = [json.dumps(publish("m1")), json.dumps(publish("m2", "bad tea"))]
    log.append(json.dumps(publish("m3")))
    rejected: list[int] = []
    found = hub.apply(log, on_error=lambda n, _: rejected.append(n)).to_pylist()
    assert (rejected, [row["message"] for row in found]) == ([2], ["m1", "m3"])
    with pytest.raises(nc.InvalidParameterError, match="tokenizer") as caught:
        hub.apply(log, first=5)
    assert caught.value.event == 6


def test_a_lone_surrogate_separates_words(hub) -> None:
    line = json.dumps(publish("m1", "green\ud800tea"))
    assert reached(nc.changes.changes_of(hub.apply([line]))) == ["s"]
    assert reached(nc.changes.changes_of(hub.apply(read_events([line])))) == ["s"]


def test_events_without_a_time_get_the_clock_s_one_after_the_other() -> None:
    for shape in (list, read_events):
        times = iter([5.0, 6.0, 7.0, 8.0])
        hub = nc.Hub(clock=times.__next__)
        log = [publish("m1"), {"op": "subscribe", "id": "t", "keywords": "x", "expires": 6.5}]
        log += [publish("m2", time=6.25), {"op": "retract", "id": "m"}]
        hub.apply(shape([json.dumps(event) for event in log]))
        assert hub.clock == 7
        assert next(times) == 8
        assert "t" not in hub


def test_a_clock_that_fails_rejects_the_event() -> None:
    hub = nc.Hub(clock=lambda: 1e12)
    rejected: list[int] = []
    lines = [json.dumps(publish("m1")), json.dumps(publish("m2", time=3))]
    hub.apply(lines, on_error=lambda n, _: rejected.append(n))
    assert (rejected, hub.clock) == ([1], 3)


def test_life_takes_only_tables_that_are_right() -> None:
    table = read_events(NDJSON)
    assert Life(nc.Window(count=5)).apply(table.select(OUTLINE)).clock[-1] == 9
    wrong = pa.Table.from_pylist([{"event": 1, "op": "subscribe", "id": "s"}], EVENTS)
    with pytest.raises(nc.InvalidParameterError, match="row 0 is no event"):
        Life().apply(wrong)

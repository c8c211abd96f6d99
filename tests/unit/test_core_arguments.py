"""The extension trusts no caller: nonsense in any argument of any entry point raises.

Entry points and their arguments are read from the stub, so that a new one is covered unasked; one
without good arguments in the table below is only met with nonsense.
"""

from __future__ import annotations

import ast
import random
from math import inf, nan
from pathlib import Path
from typing import Any

import arrow_capsules as made
import numpy as np
import pyarrow as pa
import pytest
from arrow_capsules import Table

import nearcast
from nearcast import _core
from nearcast.event_lines import KINDS, PublishLine, SubscribeLine

BOX = (0.0, 0.0, 1.0, 1.0)
SQUARE = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)]
EMPTY = np.zeros(0)


def messages(tokens=(("jazz",),)):
    """Return a batch of messages, as the core reads it from a table."""
    table = pa.table(
        {"tokens": pa.array(tokens, pa.list_(pa.string())), "lon": [0.5], "lat": [0.5]}
    )
    return _core.MessageStream(table).next()


def texts(*given):
    here = {"lon": [0.5] * len(given), "lat": [0.5] * len(given)}
    return _core.MessageStream(pa.table({"text": list(given), **here})).next()


def coded(codes):
    """Return a batch of messages whose tokens are these codes of a dictionary of two words."""
    tokens = made.lists([0, len(codes)], made.codes(list(codes), "jazz", "blues"))
    here = {name: made.numbers([0.5]) for name in ("lon", "lat")}
    return _core.MessageStream(Table({"tokens": tokens, **here})).next()


def event(op, **parts):
    names = ("id", "time", "expires", "words", "area", "details", "replaces", "more")
    return (op, *({"id": "s", "replaces": False, **parts}.get(name) for name in names))


def batch(*records):
    """Return a batch of events, as `Hub.apply` makes it."""
    made = _core.EventBatch(KINDS, may_split=True)
    for number, record in enumerate(records):
        made.put_record(made.add(number), record)
    return made


JAZZ: Any = ["jazz"]
SOLD: Any = ((0, ["sold"]), (6,), (1, ["new", None, "york"]), (2, "ba"), (8, 2), (7, 2))
CHEAP: Any = ((3, "price", 3, 9.0), (4, "type", ["flat", True]), (5, "rooms"), (7, 3))
EVENTS = [
    event(0, words=JAZZ, area=BOX),
    event(0, id="w", words=SOLD, more=(CHEAP, BOX, "said")),
    event(0, id="r", words=JAZZ, area=BOX, details=(1, True, 0, 0.5, 0.5, None)),
    event(0, id="t", words=JAZZ, details=(2, False, 3, 0.5, 0.0, (0.0, 0.0))),
    event(1, id="m", words=["jazz"], area=(0.5, 0.5), time=1.0, expires=9.0),
    event(2, area=(SQUARE, [4], [1])),
    event(1, id="m", words=["jazz"], area=(0.5, 0.5), expires=9.0, replaces=True),
    event(0, words=JAZZ, details=(2, False, 3, 0.5, 0.0, (0.0, 0.0)), replaces=True),
    event(3, id="m"),
    event(4),
    event(5, id="", time=20.0),
]
POINTS = (np.array([0, 1, 2]), np.array([0, 1], np.uint32), np.zeros(2), np.zeros(2))
SUBSCRIPTIONS = pa.record_batch(
    {
        "id": ["a"],
        "keywords": [["jazz"]],
        **{side: [0.0] for side in ("west", "south")},
        **{name: [1.0] for name in ("east", "north", "alpha", "threshold")},
    }
)
GOOD = {
    "replaces": True,
    "index": "auto",
    "parameters": {},
    "id": "s",
    "keywords": SOLD,
    "where": CHEAP,
    "excluded": BOX,
    "attributes": {"price": 3, "type": ["a", "b"], "new": True, "none": ()},
    "area": BOX,
    "ids": pa.array(["s"]),
    "table": SUBSCRIPTIONS,
    "messages": messages(),
    "cache": _core.TokenCache(),
    "texts": ["jazz"],
    "tokens": [["jazz"]],
    "is_timed": False,
    "ends": np.array([1]),
    "answers": np.array([5]),
    "words": ["jazz"],
    "place": (0.5, 0.5),
    "at": (0.5, 0.5),
    "is_growing": True,
    "alpha": 0.5,
    "threshold": 0.5,
    "documents": 9,
    "df": {"jazz": 3},
    "window_count": 9,
    "window_seconds": None,
    "window": 9,
    "space": (-180.0, -90.0, 180.0, 90.0),
    "arrival": "auto",
    "expiry": "",
    "top_parameters": {},
    "is_safe": True,
    "event": EVENTS[0],
    "kinds": KINDS,
    "values": [PublishLine("m", "jazz", (0.5, 0.5)), SubscribeLine("s", keywords=JAZZ)],
    "first": 1,
    "number": 1,
    "row": 0,
    "rows": 1,
    "text": "jazz",
    "time": 1.0,
    "expires": 9.0,
    "times": (1.0, 9.0),
    "mode": 0,
    "target": 0,
    "live": False,
    "line": "{}",
    "is_outline": False,
    "are_all": True,
    "may_split": True,
    "first_row": 0,
    "max_string_bytes": 100,
    "stops_at_error": False,
    "subscription": "s",
    "message": "m",
    "k": 3,
    "subscriptions": np.array([0]),
    "path": "/nowhere/at/all",
    "verify": None,
}
OWN = {
    ("MessageStream.__init__", "table"): pa.table({"text": ["é"], "lon": [0.5], "lat": [0.5]}),
    ("Records.__arrow_c_array__", "requested_schema"): None,
    ("TopStream.start_epoch", "df"): np.array([3, 4]),
    ("TopStream.publish", "messages"): POINTS,
    ("EventBatch.add_table", "table"): pa.table({"op": ["retract"], "id": ["m"]}),
    ("EventBatch.put_message", "attributes"): {"price": 3},
    ("EventBatch.put_outline", "op"): 0,
    ("EventBatch.put_outline", "place"): None,
    ("EventBatch.put_attributes", "attributes"): {"price": 3},
    ("EventBatch.put_record", "record"): EVENTS[0],
    ("Hub.measure", "events"): EVENTS,
    ("TopStream.subscribe", "rows"): POINTS,
    ("TopStream.subscribe", "alpha"): np.full(2, 0.5),
    ("TopStream.look_at_all", "rows"): POINTS,
    ("TopStream.look_at_all", "alpha"): np.full(2, 0.5),
}
HOSTILE = [
    None,
    True,
    0,
    -1,
    2**31,
    2**32 - 1,
    2**63,
    2**64,
    10**400,
    0.5,
    nan,
    inf,
    "",
    "x",
    "a\0b",
    "\ud800",
    b"x",
    (),
    [],
    {},
    object(),
    (nan, 0.0),
    (0.0, inf),
    (500.0, 0.0),
    ("a", "b"),
    (0.0, 0.0, -1.0),
    (0.0, 0.0, nan),
    (0.0, 5.0, 1.0, 1.0),
    (1.0, 0.0, -1.0, 1.0),
    (1.0, 1.0, 1.0, 1.0),
    (SQUARE, [], []),
    (SQUARE, [3], [1]),
    (SQUARE, [5], [1]),
    (SQUARE, [4], [2]),
    (SQUARE, [4, 2], [1]),
    (SQUARE, [-4], [1]),
    (SQUARE[:3], [3], [1]),
    ([*SQUARE[:3], (0.0, 0.5)], [4], [1]),
    ([(nan, 0.0)] * 4, [4], [1]),
    ([()] * 4, [4], [1]),
    [None],
    [()],
    [("a",)],
    [([1], [])],
    [(["\ud800"], [])],
    [(None, None)],
    [(["a"] * 9000, [])],
    [1, 2],
    ["jazz", None],
    ((0, []),),
    ((0, ["a"]), (0, ["b"])),
    ((6,),),
    ((0, ["a"]), (7, 2)),
    ((0, ["a"]), (7, 0)),
    ((0, ["a"]), (8, 2**40)),
    ((0, ["a"]), *((6,),) * 600),
    ((0, ["a"] * 70_000),),
    ((1, [None, None]),),
    ((1, []),),
    ((2, "a"),),
    ((2, "a", "b"),),
    ((3, "p", 9, 1.0),),
    ((3, "p", 2, "text"),),
    ((3, "p", 2, nan),),
    ((3, "p\0", 0, 1.0),),
    ((3, "", 0, 1.0),),
    ((4, "p", []),),
    ((4, "p", [None]),),
    ((5, 5),),
    ((9,),),
    ((),),
    {"p": nan},
    {"p": [5]},
    {"p": {}},
    {"": 1},
    {"p": ["a"] * 70_000},
    np.zeros(1),
    np.zeros(1, np.int32),
    np.zeros((2, 2)),
    np.array([nan]),
    np.array([-1]),
    np.array([2**62]),
    np.array([0, 2**62]),
    np.array([5, 1]),
    np.zeros(4)[::2],
    np.zeros(0, np.int64),
    np.array(["a"]),
    (np.zeros(1),),
    (np.array([nan]), np.zeros(1)),
    (np.zeros(1), np.zeros(5)),
    (np.zeros(1), np.zeros(1), np.zeros(1)),
    (np.ones(1), np.ones(1), np.zeros(1), np.zeros(1)),
    (np.zeros(1), np.zeros(1), np.zeros(0), np.zeros(1)),
    (np.array([0, 9]), np.zeros(1, np.uint8)),
    (np.array([-1, 1]), np.zeros(1, np.uint8)),
    (np.array([5, 2]), np.zeros(9, np.uint8)),
    (np.array([0, 2**62]), np.zeros(9, np.uint8)),
    (np.zeros(0, np.int64), np.zeros(0, np.uint8)),
    messages([["jazz", "blues"]]),
    texts("jazz", "é"),
    coded([0]),
    coded([1, 2]),
    coded([-1]),
    coded([2**31 - 1]),
    pa.array([1, None]),
    pa.array(["a", ""]),
    pa.array([b"\xff"]),
    pa.table({"id": [1, 1], "keywords": [["jazz"]] * 2}),
    pa.table({"id": [1], "keywords": [["jazz"]], "west": [0.0]}),
    Table({"id": made.strings(b"\xff"), "keywords": made.lists([0, 1], made.strings("a"))}),
    Table({"id": made.strings("x"), "keywords": made.lists([0, 5], made.strings("a"))}),
    Table({"id": made.strings("x"), "keywords": made.lists([0, 1], made.codes([7], "a"))}),
    {"jazz": 10},
    {"jazz": -1},
    {"jazz": 2**64},
    {5: 1},
    {"\ud800": 1},
    [["jazz", 5]],
    [["\ud800"]],
    (np.array([0, 9, 2]), *POINTS[1:]),
    (np.array([0, 1, 9]), *POINTS[1:]),
    (np.array([0, 1]), *POINTS[1:]),
    (POINTS[0], np.array([0, 2**32 - 1], np.uint32), *POINTS[2:]),
    (*POINTS[:2], np.array([nan, 0.0]), np.zeros(2)),
    (*POINTS[:3], np.zeros(1)),
    (np.array([0, 0, 0]), *POINTS[1:]),
    [event(99)],
    [event(0, words=JAZZ, area=BOX, replaces=1)],
    [event(1, words=["a"], area=(0.5, 0.5), replaces=None)],
    [event(-1)],
    [event(0)],
    [event(0, words=JAZZ, area=BOX, id=5)],
    [event(0, words=JAZZ, area=BOX, id="\ud800")],
    [event(0, words=JAZZ, area=BOX, time=inf)],
    [event(0, words=JAZZ, area=BOX, expires="x")],
    [event(0, words=JAZZ, area=BOX, details=())],
    [event(0, words=JAZZ, area=BOX, details=(7, True, 0, 0.5, 0.5, None))],
    [event(0, words=JAZZ, area=None, details=(1, True, 0, 0.5, 0.5, None))],
    [event(0, words=JAZZ, area=(0.0, 0.0, 5.0), details=(1, True, 0, 0.5, 0.5, None))],
    [event(0, words=JAZZ, area=BOX, details=(1, True, 0, nan, 0.5, None))],
    [event(0, words=JAZZ, area=BOX, details=(1, True, 0, 0.5, 0.0, None))],
    [event(0, words=[], area=BOX, details=(1, True, 0, 0.5, 0.5, None))],
    [event(0, words=SOLD, area=BOX, details=(1, True, 0, 0.5, 0.5, None))],
    [event(0, words=[], details=(2, False, 3, 0.5, 0.0, (0.0, 0.0)))],
    [event(0, words=JAZZ, details=(2, False, 0, 0.5, 0.0, (0.0, 0.0)))],
    [event(0, words=JAZZ, details=(2, False, -3, 0.5, 0.0, (0.0, 0.0)))],
    [event(0, words=JAZZ, details=(2, False, 2**32, 0.5, 0.0, (0.0, 0.0)))],
    [event(0, words=JAZZ, details=(2, False, 3, 0.5, 0.0, None))],
    [event(0, words=JAZZ, details=(2, False, 3, 0.5, 0.0, (nan, 0.0)))],
    [event(0, words=JAZZ, more=())],
    [event(0, words=JAZZ, more=(JAZZ, None, None))],
    [event(0, words=JAZZ, more=(CHEAP, 5, None))],
    [event(0, words=JAZZ, more=(CHEAP, None, 5))],
    [event(0, words=JAZZ, details=(2, False, 3, 0.5, 0.0, (0.0, 0.0)), more=(None, BOX, None))],
    [event(1, words=["a"], area=(0.5, 0.5), more={"a": None})],
    [event(1, words=None, area=BOX)],
    [event(1, words=["a"], area=None)],
    [event(1, words=["a"], area=(1.0, 2.0, 3.0))],
    [event(1, words=["a"], area=(nan, 2.0))],
    [EVENTS[0], event(2)],
    [EVENTS[0], event(2, details=(0.0, 0.0))],
    [EVENTS[1], event(2, id="r", area=(0.0, 0.0, 5.0))],
    [EVENTS[2], event(2, id="t", area=BOX)],
    [EVENTS[2], event(2, id="t", details=(nan, 0.0))],
]


def entry_points():
    """Return (class or None, name, arguments) of all that can be called, from the stub."""
    stub = Path(nearcast.__file__).parent / "_core.pyi"
    found = []
    for node in ast.parse(stub.read_text()).body:
        own = node.body if isinstance(node, ast.ClassDef) else [node]
        for item in own:
            if isinstance(item, ast.FunctionDef) and not item.decorator_list:
                names = [arg.arg for arg in item.args.args if arg.arg != "self"]
                where = node.name if isinstance(node, ast.ClassDef) else None
                found.append((where, item.name, names))
    return found


def good(where, method, name):
    for key in (f"{where}.{method}", method):
        if (key, name) in OWN:
            return OWN[key, name]
    if name == "events":
        return batch(*EVENTS)  # one that is applied is closed
    return fresh(where) if name == "other" else GOOD.get(name)


def fresh(where):
    if where == "MessageBatch":
        return texts("é")
    if where in ("Answer", "Records"):
        answer = fresh("Matcher").match(messages(), _core.TokenCache(), 0)
        return answer if where == "Answer" else answer.batches(100)[0]
    names = next(names for cls, name, names in entry_points() if (cls, name) == (where, "__init__"))
    return getattr(_core, where)(*(good(where, "__init__", name) for name in names))


def filled(where):
    """Return an object that has something to be hurt."""
    target = fresh(where)
    if where == "Hub":
        target.apply(batch(*EVENTS[:4]), stops_at_error=True)
    elif where == "EventBatch":
        target.add_read([PublishLine("m", "jazz", (0.5, 0.5))], 1)
    elif where == "TopStream":
        target.subscribe(POINTS, np.full(2, 0.5), 2)
        target.publish(POINTS)
    elif where == "Matcher":
        target.subscribe("s", JAZZ, BOX)
    elif where == "RankMatcher":
        target.subscribe("s", ["jazz"], BOX, 0.5, 0.5)
    return target


def check(target):
    """Check the structure of what has one."""
    if hasattr(target, "check_invariants"):
        target.check_invariants()


class Caller:
    """Calls one entry point again and again; after a call that worked, of an object as new."""

    def __init__(self, where, method) -> None:
        self.where, self.method = where, method
        self.target = None

    def function(self):
        if self.where is None or self.method == "__init__":
            return getattr(_core, self.where or self.method)
        self.target = self.target or filled(self.where)
        return getattr(self.target, self.method)

    def call(self, arguments) -> None:
        """What it raises must be an error of ours or Python's refusal of types."""
        try:
            self.function()(*arguments)
            check(self.target)
            if not self.method.endswith("_plain"):  # these change nothing, or publish once
                self.target = None
        except nearcast.InternalError:
            pytest.fail(
                f"{self.where}.{self.method}{tuple(arguments)} says that nearcast has a bug"
            )
        except (nearcast.NearcastError, TypeError):
            pass


ENTRY_POINTS = [point for point in entry_points() if point[2]]


def test_the_stub_names_every_entry_point() -> None:
    listed = {(where, name) for where, name, _ in entry_points()}
    for where in ("Matcher", "RankMatcher", "Hub", "Ledger", "TopStream"):
        public = {
            n for n in vars(getattr(_core, where)) if callable(getattr(getattr(_core, where), n))
        }
        methods = {n for n in public if not n.startswith("_")}
        assert methods <= {name for cls, name in listed if cls == where}


@pytest.mark.parametrize(
    ("where", "method", "names"), ENTRY_POINTS, ids=lambda v: v if isinstance(v, str) else ""
)
def test_nonsense_in_any_argument_raises(where, method, names, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # a name of a file is no nonsense
    known = [good(where, method, name) for name in names]
    caller = Caller(where, method)
    for place in range(len(names)):
        for value in HOSTILE:
            caller.call([*known[:place], value, *known[place + 1 :]])
    rng = random.Random(7)
    for _ in range(100):
        caller.call([rng.choice(HOSTILE) for _ in names])
    caller.call(known)
    check(caller.target)


def test_an_error_says_which_event_and_which_part() -> None:
    hub = fresh("Hub")
    with pytest.raises(nearcast.InvalidParameterError, match="event 1: k: got 0, wanted a whole"):
        hub.measure([EVENTS[0], event(0, words=JAZZ, details=(2, False, 0, 0.5, 0.0, (0.0, 0.0)))])
    assert len(hub) == 0


def test_an_outline_is_no_event_for_a_hub() -> None:
    for op, target in ((0, 0), (2, 0), (2, 3)):
        outlines = _core.EventBatch(KINDS, may_split=True)
        row = outlines.add(1)
        outlines.put_outline(row, op, "s", (None, None), False, 0, target, False, None, "{}")
        with pytest.raises(nearcast.InvalidParameterError, match="row 0 of the batch"):
            fresh("Hub").apply(outlines, stops_at_error=True)


def test_a_batch_that_was_applied_is_closed() -> None:
    applied = batch(*EVENTS)
    fresh("Hub").apply(applied, stops_at_error=True)
    with pytest.raises(nearcast.InvalidParameterError, match="applied"):
        applied.add(5)

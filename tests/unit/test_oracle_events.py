"""The oracle, pinned by examples worked out by hand: the event format (2.1)."""

from __future__ import annotations

import json

from oracle import (
    Oracle,
    replay,
)
from oracle_events import (
    publish,
    rank,
    retract,
    subscribe,
    top,
)


def test_the_example_of_the_design_replays() -> None:
    lines = [
        b'{"op": "subscribe", "id": "s1", "keywords": "coffee AND (free OR sale) -decaf", "area":'
        b' {"type": "Circle", "center": [-73.98, 40.75], "radius_m": 800}}',
        b'{"op": "subscribe", "id": "s2", "mode": "top", "keywords": ["jazz", "concert"],'
        b' "at": [-73.99, 40.73], "k": 5, "alpha": 0.4}',
        b'{"op": "subscribe", "id": "s3", "mode": "rank", "keywords": ["flood"],'
        b' "area": [-74, 40, -73, 41], "alpha": 0.3, "threshold": 0.6, "live": true}',
        b'{"op": "publish", "id": "m1", "text": "Free coffee at Bryant Park!",'
        b' "at": [-73.9836, 40.7536], "time": 12.5, "expires": 3600}',
        b'{"op": "move", "id": "s1", "area": [-73.99, 40.7, -73.95, 40.76]}',
        b'{"op": "retract", "id": "m1"}',
        b'{"op": "unsubscribe", "id": "s1"}',
    ]
    added = {"event": 4, "subscription": "s1", "message": "m1"}
    assert replay(lines) == ([{**added, "change": "added", "reason": "published"}], [])


def test_rank_and_top_changes_carry_a_score_and_match_changes_do_not() -> None:
    oracle = Oracle(window_count=1)
    oracle.apply(1, subscribe("s", keywords="a"))
    oracle.apply(2, top(alpha=0))
    oracle.apply(3, rank(alpha=0.5))
    common = {"event": 7, "message": "m", "change": "added", "reason": "published"}
    assert sorted(oracle.apply(7, publish("m", "a")), key=lambda c: c["subscription"]) == [
        {**common, "subscription": "r", "score": 1.0},
        {**common, "subscription": "s"},
        {**common, "subscription": "t", "score": 1.0},
    ]


def test_blank_lines_are_numbered_and_bad_ones_stop_or_are_skipped() -> None:
    good = [json.dumps(e).encode() for e in (subscribe("s", keywords="a"), publish("m"))]
    lines = [b"\n", good[0], b"  \r\n", b"{", b'{"op": "publish"}', good[1] + b"\n", b"\xff", b"[]"]
    assert replay(lines) == ([], [4])
    changes, rejected = replay(lines, on_error="skip")
    assert [change["event"] for change in changes] == [6]
    assert rejected == [4, 5, 7, 8]
    nan = b'{"op": "retract", "id": "m", "time": NaN}'
    assert replay([nan, b'{"op": "retract", "id": "m", "time": 1e999}'], "skip") == ([], [1, 2])


def test_the_event_of_an_expiry_is_the_line_that_triggered_it() -> None:
    oracle = Oracle()
    oracle.apply(1, subscribe("s", keywords="a", live=True))
    oracle.apply(2, publish("m", expires=3))
    assert [change["event"] for change in oracle.apply(8, retract("x", time=3))] == [8]

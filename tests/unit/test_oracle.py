"""The oracle itself, pinned by examples worked out by hand from DESIGN.md sections 1 and 2."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import (
    Oracle,
    OracleRejects,
    Weights,
    analyze,
    area_touches,
    dnf,
    matches,
    rank_score,
    read_message,
    read_subscription,
    replay,
    top_score,
    units,
)
from oracle.events import decide
from oracle.space import Box, distance_m, distance_to_box_m, read_area, read_bbox
from strategies import accepted, areas, event_logs, message_places, ndjson, subscribe_events

Event = dict[str, Any]

DEGREE_M = 6_371_008.8 * math.pi / 180  # 111 195.08 m along a meridian


def clauses(*written: str) -> set[tuple[frozenset[str], frozenset[str]]]:
    """Read clauses written as "a b -c"."""
    return {
        (
            frozenset(word for word in clause.split() if word[0] != "-"),
            frozenset(word[1:] for word in clause.split() if word[0] == "-"),
        )
        for clause in written
    }


def subscribe(name: object, **fields: Any) -> Event:
    return {"op": "subscribe", "id": name, **fields}


def publish(name: str, text: object = "a", **fields: Any) -> Event:
    where = {} if "bbox" in fields else {"at": [0, 0]}
    return {"op": "publish", "id": name, "text": text, **where, **fields}


def top(name: str = "t", **fields: Any) -> Event:
    given = {"mode": "top", "keywords": ["a"], "at": [0, 0], "k": 1, "alpha": 1}
    return subscribe(name, **{**given, **fields})


def rank(name: str = "r", **fields: Any) -> Event:
    box = [0, 0, 2, 2]
    given = {"mode": "rank", "keywords": ["a"], "area": box, "alpha": 0.5, "threshold": 0.5}
    return subscribe(name, **{**given, **fields})


def retract(name: str, **fields: Any) -> Event:
    return {"op": "retract", "id": name, **fields}


def move(name: str, **fields: Any) -> Event:
    return {"op": "move", "id": name, **fields}


def unsubscribe(name: str, **fields: Any) -> Event:
    return {"op": "unsubscribe", "id": name, **fields}


def short(changes: list[Event]) -> set[str]:
    """Write changes as "s +m reason"; a change delivered twice fails."""
    sign = {"added": "+", "removed": "-"}
    written = [
        f"{c['subscription']} {sign[c['change']]}{c['message']} {c['reason']}" for c in changes
    ]
    assert len(written) == len(set(written))
    return set(written)


class Hub:
    """An oracle that numbers its events and answers in short form."""

    def __init__(self, **options: Any) -> None:
        self.oracle = Oracle(**options)
        self.line = 0

    def __call__(self, event: Event) -> set[str]:
        self.line += 1
        return short(self.oracle.apply(self.line, event))

    def rejects(self, event: Event) -> bool:
        """Tell whether the event is rejected, and check that it then changes nothing."""
        before = self.oracle._state
        copy = before.copy()
        try:
            self.oracle.apply(0, event)
        except OracleRejects:
            assert self.oracle._state is before
            assert before == copy
            return True
        return False


# 1.1 Text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Free coffee at Bryant Park!", ["free", "coffee", "at", "bryant", "park"]),
        ("", []),
        ("🙂 - _ \u2028", []),
        ("AT&T rock-n-roll", ["at", "t", "rock", "n", "roll"]),
        ("a a A", ["a", "a", "a"]),
        ("Straße", ["strasse"]),
        ("ﬁre", ["fire"]),
        ("ＣＯＦＦＥＥ３", ["coffee3"]),
        ("cafe\u0301", ["caf\u00e9"]),
        ("q\u0301x", ["q\u0301x"]),  # a mark that composes with nothing stays in the token
        ("İ", ["i\u0307"]),
        ("٣ apples", ["٣", "apples"]),
        ("x²", ["x2"]),
        ("Ⅻ", ["xii"]),
        ("snake_case", ["snake", "case"]),  # an underscore is punctuation
        ("a🙂b\u200bc", ["a", "b", "c"]),
    ],
)
def test_tokens_are_runs_of_letters_marks_and_digits(text: str, expected: list[str]) -> None:
    assert analyze(text) == expected


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        (["a", "b"], ["a b"]),
        (["a b", "a"], ["a b"]),
        (["AND", "-a", "(OR"], ["and a or"]),  # no operators in a list
        ("a", ["a"]),
        ("a b", ["a b"]),
        ("a AND b", ["a b"]),
        ("a OR b", ["a", "b"]),
        ("a and b", ["a and b"]),  # operators are upper case
        ("a Or b", ["a or b"]),
        ('a "OR" b', ["a or b"]),
        ("a OR b c", ["a", "b c"]),  # AND before OR
        ("a AND b OR c AND d", ["a b", "c d"]),
        ("a NOT b OR c", ["a -b", "c"]),  # NOT first
        ("a NOT b c", ["a -b c"]),
        ("a -b", ["a -b"]),
        ("a --b", ["a b"]),
        ("a NOT NOT b", ["a b"]),
        ("a -(b OR c)", ["a -b -c"]),
        ("a -(b c)", ["a -b", "a -c"]),
        ("a -(b -c)", ["a -b", "a c"]),
        ('a -"b c"', ["a -b", "a -c"]),
        ("a-b", ["a b"]),  # a hyphen negates only at the start of a word
        ("a -b-c", ["a -b", "a -c"]),
        ('"a b"', ["a b"]),  # in any order, quoted or not
        ("x -AT&T", ["x -at", "x -t"]),
        ("AT&T", ["at t"]),
        ("(a OR b) (c OR d)", ["a c", "a d", "b c", "b d"]),
        ("coffee AND (free OR sale) -decaf", ["coffee free -decaf", "coffee sale -decaf"]),
        ("(a)(b)", ["a b"]),
        ('a"b"c', ["a b c"]),
        ('"a"-b', ["a -b"]),
        ("a(b)", ["a b"]),
        ("ANDa", ["anda"]),
        ("a -a", []),  # contradicts itself, is dropped
        ("a -a OR b", ["b"]),
        ("a OR a", ["a"]),
        ("a OR a b", ["a", "a b"]),
        ("Straße OR STRASSE", ["strasse"]),
        ("a\u00a0b\tc\nd", ["a b c d"]),
    ],
)
def test_keywords_become_clauses(keywords: object, expected: list[str]) -> None:
    assert dnf(keywords) == clauses(*expected)


@pytest.mark.parametrize(
    "keywords",
    [
        *([], ["a", "&"], [""], ["a", 3], None, 3, {"a": 1}),
        *("", "  ", "()", "(a", "a)", ")", "a AND", "AND a", "a OR", "OR", "NOT", "a OR OR b"),
        *("a AND OR b", "a (", '"a', 'a "', '""', "&", "a &", "-", "a -", "a - b", "a --", "(a -)"),
        *("a -AND", "a -)"),
        *("-a", "NOT a", "a OR -b", "-(a b)", "-(a -a)"),  # a clause without a positive keyword
    ],
)
def test_bad_keywords_are_an_error(keywords: object) -> None:
    with pytest.raises(OracleRejects):
        dnf(keywords)


def test_at_most_64_distinct_clauses_may_be_left() -> None:
    pairs = [f"(a{i} OR b{i})" for i in range(7)]
    assert len(dnf(" ".join(pairs[:6]))) == 64
    assert len(dnf(" ".join(pairs[:6]) + " OR " + " ".join(pairs[:6]))) == 64
    assert len(dnf(" ".join(pairs) + " -a6")) == 64
    with pytest.raises(OracleRejects):
        dnf(" ".join(pairs))
    with pytest.raises(OracleRejects):
        dnf(" OR ".join(f"w{i}" for i in range(65)))


@pytest.mark.parametrize(
    ("keywords", "text", "expected"),
    [
        ("a b", "b x a", True),
        ("a b", "a", False),
        ("a -b", "a", True),
        ("a -b", "a b", False),
        ("x -AT&T", "x at", True),
        ("x -AT&T", "x t at", False),
        ("a OR b", "b", True),
        ("a -a", "a", False),  # accepted, never matches
        (["STRASSE"], "straße", True),
        (["a"], "", False),
    ],
)
def test_a_message_satisfies_one_clause(keywords: object, text: str, expected: bool) -> None:
    assert matches(subscribe("s", keywords=keywords), publish("m", text)) is expected


def test_one_of_keywords_and_area_must_be_there() -> None:
    assert matches(subscribe("s", area=[0, 0, 1, 1]), publish("m", ""))
    assert not matches(subscribe("s", area=[1, 1, 2, 2]), publish("m", ""))
    assert matches(subscribe("s", keywords="a"), publish("m", at=[180, -90]))
    with pytest.raises(OracleRejects):
        matches(subscribe("s"), publish("m"))


# 1.2 Space ----------------------------------------------------------------------------------------

SQUARE = [[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]]
HOLE = [[1, 1], [3, 1], [3, 3], [1, 3], [1, 1]]
TRIANGLE = [[0, 0], [3, 1], [0, 1], [0, 0]]


def polygon(*rings: object) -> Event:
    return {"type": "Polygon", "coordinates": list(rings)}


def circle(lon: float, lat: float, radius_m: float) -> Event:
    return {"type": "Circle", "center": [lon, lat], "radius_m": radius_m}


@pytest.mark.parametrize(
    ("area", "at", "expected"),
    [
        (None, [5, 5], True),
        ([0, 0, 1, 1], [1, 1], True),  # borders are closed
        ([0, 0, 1, 1], [1.0000000000000002, 1], False),
        ([1, 1, 1, 1], [1, 1], True),
        ([170, 0, -170, 1], [175, 0], True),
        ([170, 0, -170, 1], [-175, 0], True),
        ([170, 0, -170, 1], [180, 0], True),
        ([170, 0, -170, 1], [-180, 0], True),
        ([170, 0, -170, 1], [0, 0], False),
        ([170, 0, 180, 1], [-180, 0], False),  # -180 and 180 are different numbers
        (polygon(SQUARE), [0, 0], True),
        (polygon(SQUARE), [4, 2], True),
        (polygon(SQUARE), [2, 2], True),
        (polygon(SQUARE), [5, 2], False),
        (polygon(SQUARE), [5, 4], False),  # in line with a side, but beyond it
        (polygon([[1, 1], [2, 2], [3, 3], [1, 1]]), [2.5, 2.5], True),  # all border, no inside
        (polygon([[1, 1], [2, 2], [3, 3], [1, 1]]), [2.5, 2.6], False),
        (polygon([[1, 1], [1, 1], [1, 1], [1, 1]]), [1, 1], True),
        (polygon(SQUARE, HOLE), [2, 2], False),  # holes count as outside
        (polygon(SQUARE, HOLE), [1, 2], True),  # their border as inside
        (polygon(SQUARE, HOLE), [3, 3], True),
        (polygon(SQUARE, HOLE), [0.5, 2], True),
        (polygon(TRIANGLE), [1.5, 0.5], True),
        (polygon(TRIANGLE), [0.3, 0.1], True),
        (polygon(TRIANGLE), [3 * 0.1, 0.1], False),  # right of the edge, but only exactly
        (polygon(TRIANGLE[::-1]), [0.2, 0.1], True),
        (polygon([[0, 0, 9], [1, 0, 8], [1, 1, 7], [0, 0, 6]]), [0.5, 0.25], True),
        ({"type": "MultiPolygon", "coordinates": [[SQUARE, HOLE], [HOLE]]}, [2, 2], True),
        ({"type": "MultiPolygon", "coordinates": [[TRIANGLE], [HOLE]]}, [2, 0.5], False),
        (circle(0, 0, 0), [0, 0], True),
        (circle(0, 0, DEGREE_M * 1.001), [0, 1], True),
        (circle(0, 0, DEGREE_M * 0.999), [0, 1], False),
        (circle(0, 60, DEGREE_M * 0.501), [1, 60], True),  # half as long at 60 degrees
        (circle(0, 60, DEGREE_M * 0.499), [1, 60], False),
        (circle(180, 0, 0), [-180, 0], True),  # circles are spherical
        (circle(179.5, 0, DEGREE_M * 1.001), [-179.5, 0], True),
        (circle(0, 89, DEGREE_M * 2.001), [180, 89], True),  # across the pole
        (circle(0, 89, DEGREE_M * 1.999), [180, 89], False),
    ],
)
def test_a_point_touches_an_area(area: object, at: list[float], expected: bool) -> None:
    assert area_touches(area, {"at": at}) is expected


@pytest.mark.parametrize(
    ("area", "bbox", "expected"),
    [
        ([0, 0, 1, 1], [1, 1, 2, 2], True),
        ([0, 0, 1, 1], [1.1, 0, 2, 1], False),
        ([0, 0, 1, 1], [0, 2, 1, 3], False),
        ([170, 0, -170, 1], [160, 0, 170, 1], True),
        ([170, 0, -170, 1], [-175, 0, 165, 1], True),
        ([170, 0, -170, 1], [-165, 0, 165, 1], False),
        ([-180, 0, -170, 1], [175, 0, -175, 1], True),
        ([175, 0, -175, 1], [170, 0, -170, 1], True),
        (polygon(SQUARE, HOLE), [1.5, 1.5, 2.5, 2.5], False),  # wholly in the hole
        (polygon(SQUARE, HOLE), [1.5, 1.5, 3, 2.5], True),  # reaches its border
        (polygon(SQUARE, HOLE), [-1, -1, 5, 5], True),
        (polygon(SQUARE), [1, 1, 2, 2], True),  # the box is inside the polygon
        (polygon(HOLE), [0, 0, 4, 4], True),  # the polygon is inside the box
        (polygon(SQUARE), [4, 4, 5, 5], True),
        (polygon(SQUARE), [4.5, 0, 5, 5], False),
        (polygon(SQUARE), [-1, 1, 5, 2], True),  # crosses, no corner inside either
        (polygon(TRIANGLE), [1.5, 0, 2, 0.5], True),  # touches the slanted edge with a corner
        (polygon(TRIANGLE), [1.6, 0, 2, 0.5333], False),  # there the edge is at 0.53333...
        (polygon(TRIANGLE), [1.6, 0, 2, 0.5334], True),
        (polygon(TRIANGLE), [2, 0, 3, 0.6], False),
        (polygon(SQUARE, HOLE), [2, 2, 2, 2], False),
        (circle(0, 0, DEGREE_M * 1.001), [1, -1, 2, 1], True),
        (circle(0, 0, DEGREE_M * 0.999), [1, -1, 2, 1], False),
        (circle(0, 0, 1), [-1, -1, 1, 1], True),
        (circle(5, 5, DEGREE_M * 1.001), [4, 6, 6, 8], True),
        (circle(5, 5, DEGREE_M * 0.999), [4, 6, 6, 8], False),
        (circle(179, 0, DEGREE_M * 2.001), [-179, 0, -178, 1], True),
        (circle(179, 0, DEGREE_M * 1.999), [-179, 0, -178, 1], False),
        (circle(179, 0, 1), [178, -1, -178, 1], True),
    ],
)
def test_a_box_touches_an_area(area: object, bbox: list[float], expected: bool) -> None:
    assert area_touches(area, {"bbox": bbox}) is expected


def test_distance_is_the_great_circle() -> None:
    assert distance_m((0, 0), (0, 90)) == pytest.approx(90 * DEGREE_M)
    assert distance_m((0, 0), (180, 0)) == pytest.approx(180 * DEGREE_M)
    assert distance_m((10, 90), (70, 90)) == pytest.approx(0, abs=1e-6)
    assert distance_m((0, 45), (90, 45)) == pytest.approx(60 * DEGREE_M)


def test_the_nearest_point_of_a_box_may_lie_inside_a_meridian_edge() -> None:
    # From lat 60, the nearest point of a meridian 60 degrees away has tan = tan 60 / cos 60.
    box = Box(60, 0, 70, 90)
    nearest = math.degrees(math.atan(math.tan(math.radians(60)) / math.cos(math.radians(60))))
    expected = distance_m((0, 60), (60, nearest))
    assert nearest == pytest.approx(73.9, abs=0.01)
    assert distance_to_box_m((0, 60), box) == pytest.approx(expected)
    assert expected < distance_m((0, 60), (60, 60)) - 1000
    assert distance_to_box_m((0, 60), Box(60, 0, 70, 70)) == pytest.approx(
        distance_m((0, 60), (60, 70))
    )
    assert distance_to_box_m((0, 60), Box(170, 0, 180, 80)) == pytest.approx(
        distance_m((0, 60), (170, 80))
    )


@settings(max_examples=60, deadline=None)
@given(
    st.tuples(st.integers(-180, 180), st.integers(-90, 90)),
    st.tuples(st.integers(-18, 18), st.integers(-18, 18), st.integers(-9, 9), st.integers(-9, 9)),
)
def test_no_point_of_a_grid_on_the_box_is_nearer(
    center: tuple[int, int], sides: tuple[int, int, int, int]
) -> None:
    (west, east), (south, north) = sorted(sides[:2]), sorted(sides[2:])
    box = Box(west * 10, south * 10, east * 10, north * 10)
    steps = range(21)
    grid = min(
        distance_m(center, (box.west + (box.east - box.west) * i / 20, lat))
        for i in steps
        for lat in (box.south + (box.north - box.south) * j / 20 for j in steps)
    )
    nearest = distance_to_box_m(center, box)
    spacing = max(box.east - box.west, box.north - box.south) / 20 * DEGREE_M
    assert grid - 2 * spacing - 1e-3 <= nearest <= grid + 1e-3


def test_the_centre_of_a_box_across_the_antimeridian_is_in_range() -> None:
    assert read_bbox([0, 0, 2, 4])[1] == (1, 2)
    assert read_bbox([170, 0, -160, 0])[1] == (-175, 0)
    assert read_bbox([160, 0, -170, 0])[1] == (175, 0)
    assert read_bbox([170, 0, -170, 0])[1] == (180, 0)


@pytest.mark.parametrize(
    "area",
    [
        *([0, 0, 1], [0, 0, 1, 1, 1], [0, 1, 1, 0], [181, 0, 1, 1], [0, 0, 1, 91], [0, 0, "1", 1]),
        *([0, 0, True, 1], [0, 0, math.nan, 1], [0, 0, math.inf, 1], [0, 0, None, 1]),
        *([0, 0, 10**400, 1], "box", 3, {}, {"type": "Point", "coordinates": [0, 0]}),
        *(circle(0, 0, -1), circle(0, 91, 1), {"type": "Circle", "center": [0, 0]}),
        *({**circle(0, 0, 1), "center": [0, 0, 0]}, {**circle(0, 0, 1), "unit": "m"}),
        *(polygon(), polygon(SQUARE[:4]), polygon([[0, 0], [1, 1], [0, 0]]), polygon(SQUARE, [])),
        *(polygon([[0, 0], [181, 0], [1, 1], [0, 0]]), polygon([[0], [1], [1], [0]])),
        *({"type": "MultiPolygon", "coordinates": []}, {"type": "Polygon"}),
        {"type": "MultiPolygon", "coordinates": [SQUARE]},
    ],
)
def test_bad_areas_are_an_error(area: object) -> None:
    with pytest.raises(OracleRejects):
        read_area(area)


# 1.3 Modes ----------------------------------------------------------------------------------------


def psi(subscription: Event, message: Event, weights: Weights | None = None) -> float:
    wanted, read = read_subscription(subscription), read_message(message)
    area = read_bbox(subscription["area"])[0]
    return rank_score(wanted.tokens, area, wanted.alpha, read.tokens, read.place, weights)


@pytest.mark.parametrize(
    ("area", "place", "expected"),
    [
        ([0, 0, 2, 2], {"at": [2, 2]}, 1),
        ([0, 0, 2, 2], {"at": [3, 2]}, 0),
        ([1, 1, 1, 1], {"at": [1, 1]}, 1),  # a point message comes first
        ([1, 0, 1, 2], {"at": [1, 1]}, 1),
        ([1, 0, 1, 2], {"bbox": [0, 0, 2, 2]}, 1),  # zero size: covered wholly
        ([1, 0, 1, 2], {"bbox": [0, 0, 2, 1]}, 0),
        ([1, 1, 1, 1], {"bbox": [1, 1, 1, 1]}, 1),
        ([180, 0, -180, 0], {"bbox": [170, 0, -170, 0]}, 1),
        ([180, 0, -180, 0], {"bbox": [170, 0, 180, 0]}, 0),
        ([0, 0, 2, 2], {"bbox": [1, 1, 3, 3]}, 0.25),
        ([0, 0, 2, 2], {"bbox": [-9, -9, 9, 9]}, 1),
        ([0, 0, 2, 2], {"bbox": [2, 0, 3, 2]}, 0),  # a shared side has no size
        ([0, 0, 2, 2], {"bbox": [1, 1, 1, 1]}, 0),
        ([170, 0, -170, 2], {"bbox": [175, 0, -165, 1]}, 15 / 40),
        ([170, 0, -170, 2], {"bbox": [-180, 0, 180, 2]}, 1),
    ],
)
def test_spatial_part_of_rank(area: list[float], place: Event, expected: float) -> None:
    message = {"op": "publish", "id": "m", "text": "", **place}
    assert psi(rank(area=area, alpha=1), message) == pytest.approx(expected)


def test_rank_adds_both_parts_and_compares_with_the_threshold() -> None:
    subscription = rank(keywords=["a", "b", "c"], alpha=0.4)
    message = publish("m", "a b b x", bbox=[1, 0, 3, 2])
    assert psi(subscription, message) == pytest.approx(0.4 * 0.5 + 0.6 * 2 / 3)
    assert matches({**subscription, "threshold": 0.6}, message)
    assert not matches({**subscription, "threshold": 0.600000002}, message)


def test_thresholds_are_compared_in_units_of_a_billionth() -> None:
    message = publish("m", "a", at=[9, 9])
    for threshold, expected in [(0.3333333333, True), (0.333333334, False)]:
        subscription = rank(keywords=["a", "b", "c"], alpha=0, threshold=threshold)
        assert matches(subscription, message) is expected
    assert matches(rank(keywords=["a", "b", "c"], alpha=0, threshold=0.33333333349), message)
    assert units(0.1 + 0.2) == units(0.3) == 300_000_000
    assert units(0.0000000016) == 2


def test_weights_are_the_idf_of_the_epoch() -> None:
    weights = Weights(9, {"a": 9, "b": 4})
    subscription = rank(keywords=["a", "b", "c"], alpha=0)
    total = 1 + (math.log(2) + 1) + (math.log(10) + 1)  # c is not listed: df 0
    assert psi(subscription, publish("m", "a"), weights) == pytest.approx(1 / total)
    assert psi(subscription, publish("m", "b"), weights) == pytest.approx((math.log(2) + 1) / total)
    assert psi(subscription, publish("m", "a")) == pytest.approx(1 / 3)
    assert Weights(0, {"a": 0}).df == {"a": 0}
    for documents, counts in [(3, {"a": 1, "b": 4}), (3, {"a": -1}), (-1, {})]:
        with pytest.raises(ValueError, match="df"):
            Weights(documents, counts)


def score(text: str, **fields: Any) -> float:
    place = fields.pop("place", {"at": [0, 0]})
    settings = {name: fields.pop(name) for name in ("space", "weights") if name in fields}
    wanted = read_subscription(top(**fields))
    message = read_message({"op": "publish", "id": "m", "text": text, **place})
    return top_score(
        wanted.tokens, wanted.at, wanted.alpha, message.tokens, message.place, **settings
    )


def test_nearness_is_euclidean_in_degrees_over_the_diagonal() -> None:
    diagonal = math.hypot(360, 180)
    assert score("a") == 1
    assert score("a", place={"at": [3, 4]}) == pytest.approx(1 - 5 / diagonal)
    assert score("a", at=[1, 2], place={"at": [4, 6]}) == pytest.approx(1 - 5 / diagonal)
    assert score("a", at=[-180, 0], place={"at": [180, 0]}) == pytest.approx(1 - 360 / diagonal)
    assert score("a", place={"at": [6, 8]}, space=(0, 0, 3, 4)) == -1  # not clamped
    assert score("a", place={"bbox": [2, 2, 4, 6]}) == pytest.approx(1 - 5 / diagonal)
    assert score("a", at=[-175, 0], place={"bbox": [170, 0, -160, 0]}) == 1


def test_text_similarity_is_the_cosine_of_tf_idf() -> None:
    def cosine(text: str, *keywords: str, weights: Weights | None = None) -> float:
        return score(text, keywords=list(keywords), alpha=0, weights=weights)

    assert cosine("a", "a") == pytest.approx(1)
    assert cosine("a x", "a") == pytest.approx(1 / math.sqrt(2))  # all tokens are in the norm
    assert cosine("a a x", "a") == pytest.approx(2 / math.sqrt(5))  # tf counts in the message
    assert cosine("a", "a", "b") == pytest.approx(1 / math.sqrt(2))
    assert cosine("a", "a", "A", "b") == pytest.approx(1 / math.sqrt(2))  # subscription tf is 1
    rare = math.log(10) + 1
    weights = Weights(9, {"a": 9})
    assert cosine("a x", "a", weights=weights) == pytest.approx(1 / math.hypot(1, rare))
    assert cosine("a b", "b", weights=weights) == pytest.approx(rare / math.hypot(1, rare))
    assert score("a x", alpha=0.25, place={"at": [3, 4]}) == pytest.approx(
        0.25 * (1 - 5 / math.hypot(360, 180)) + 0.75 / math.sqrt(2)
    )


def test_a_top_subscription_wants_what_shares_a_keyword() -> None:
    assert matches(top(keywords=["a", "b"]), publish("m", "b x", at=[180, 90]))
    assert not matches(top(keywords=["a", "b"]), publish("m", "x"))


def test_top_lists_order_by_score_then_by_newness() -> None:
    hub = Hub(window_count=9)
    for name, at in [("far", [9, 0]), ("old", [1, 0]), ("new", [0, 1]), ("other", [0, 0])]:
        hub(publish(name, "b" if name == "other" else "a", at=at))
    assert hub(top(k=2)) == {"t +new subscribed", "t +old subscribed"}
    assert [name for name, _ in hub.oracle.top("t")] == ["new", "old"]
    hub(top("one", k=1))
    assert [name for name, _ in hub.oracle.top("one")] == ["new"]


def test_scores_that_differ_by_less_than_half_a_unit_tie() -> None:
    hub = Hub(window_count=9)
    hub(publish("old", at=[1e-9, 0]))
    hub(publish("new", at=[2e-9, 0]))
    hub(top(k=2))
    assert [name for name, _ in hub.oracle.top("t")] == ["new", "old"]


def without(event: Event, name: str) -> Event:
    return {field: value for field, value in event.items() if field != name}


BAD_SUBSCRIPTIONS = [
    *(subscribe("s", keywords="a", k=1), subscribe("s", keywords="a", alpha=1)),
    *(subscribe("s", keywords="a", at=[0, 0]), subscribe("s", keywords="a", threshold=1)),
    *(subscribe("s", keywords="a", live=1), subscribe("s", keywords="a", colour=1)),
    *(subscribe("s", keywords=None, area=[0, 0, 1, 1]), subscribe("s", keywords="a", mode="best")),
    *(subscribe("", keywords="a"), subscribe(3, keywords="a"), without(subscribe("s"), "id")),
    *(subscribe("s", keywords="a", expires=5), subscribe("s", keywords="a", time=9, expires=9)),
    *(subscribe("s1", keywords="b"), top("s1")),
    *(rank(k=1), rank(at=[0, 0]), rank(threshold=0), rank(threshold=1.1), rank(alpha=-0.1)),
    *(rank(alpha=True), rank(area=circle(0, 0, 1)), rank(area=polygon(SQUARE))),
    *(rank(keywords="a OR b"), rank(keywords="a -b"), rank(keywords="a -a"), rank(keywords=[])),
    *(without(rank(), name) for name in ("alpha", "threshold", "area", "keywords")),
    *(top(area=[0, 0, 1, 1]), top(threshold=1), top(live=True), top(k=0), top(k=1.0)),
    *(top(k=True), top(alpha=1.1), top(at=[0, 0, 0]), top(keywords="a OR b"), top(at=[0, 91])),
    *(without(top(), name) for name in ("alpha", "k", "at", "keywords")),
]
BAD_EVENTS = [
    *(publish("m", at=[0, 0, 0]), publish("m", text=3), publish(""), publish("m", colour=1)),
    *({**publish("m"), "bbox": [0, 0, 1, 1]}, without(publish("m"), "at"), publish("m1")),
    *(publish("m", time=None), publish("m", time=True), publish("m", expires=math.nan)),
    *(publish("m", time="5"), publish("m", time="2020-01-01T00:00:00"), retract("")),
    *(publish("m", time="2020-02-30T00:00:00Z"), publish("m", time="2020-01-01")),
    *(publish("m", time="2020-01-01T24:00:00Z"), publish("m", time="2020-01-01T00:00:00+24:00")),
    *({"op": "stop", "id": "m"}, {"id": "m"}, {"op": ["publish"]}, retract("m", at=[0, 0])),
    *(unsubscribe("unknown"), unsubscribe("s1", mode="match"), move("unknown", area=[0, 0, 1, 1])),
    *(move("s1"), move("s1", at=[0, 0]), move("s1", area=[0, 0, 1, 1], at=[0, 0])),
    *(move("s1", area=None), move("t1", area=[0, 0, 1, 1]), move("r1", area=circle(0, 0, 1))),
]


@pytest.mark.parametrize("event", BAD_SUBSCRIPTIONS + BAD_EVENTS)
def test_a_rejected_event_changes_nothing(event: Event) -> None:
    hub = Hub(window_seconds=10)
    for valid in (subscribe("s1", keywords="a", live=True), top("t1"), rank("r1")):
        hub(valid)
    hub(publish("m1", time=5))
    assert hub.rejects(event)
    if "time" not in event:
        assert hub.rejects({**event, "time": 6})
    assert hub.oracle.clock == 5


def test_what_is_optional_is_accepted() -> None:
    hub = Hub()
    for number, valid in enumerate(
        [
            subscribe("", keywords="a", mode="match", live=False, time=0, expires=1),
            rank(keywords="a b", live=True),
            rank(keywords="a OR a", alpha=1, threshold=1),
            top(keywords='"a b"', live=False, k=10**9),
            subscribe("", area=[0, 0, 0, 0]),
            publish("", "", bbox=[170, 0, -170, 1], time=-5, expires=-7.5),
        ]
    ):
        assert not hub.rejects({**valid, "id": str(number)})


# 1.4 Life -----------------------------------------------------------------------------------------


def test_without_window_and_expires_a_message_is_delivered_but_not_kept() -> None:
    hub = Hub()
    hub(subscribe("s", keywords="a"))
    hub(subscribe("live", keywords="a", live=True))
    hub(top())
    assert hub(publish("m")) == {"s +m published", "live +m published"}
    assert hub(retract("m")) == set()
    assert hub(publish("m")) == {"s +m published", "live +m published"}  # the id is free again
    assert hub.oracle.live_messages() == []


def test_with_expires_it_is_kept_until_then() -> None:
    hub = Hub()
    hub(subscribe("s", keywords="a"))
    hub(subscribe("live", keywords="a", live=True))
    hub(top())
    assert hub(publish("m", time=1, expires=5)) == {
        "s +m published",
        "live +m published",
        "t +m published",
    }
    assert hub(retract("nothing", time=4.9)) == set()
    assert hub(retract("nothing", time=5)) == {"live -m expired", "t -m expired"}


def test_a_message_that_has_expired_already_is_not_kept() -> None:
    hub = Hub(window_count=5)
    hub(subscribe("live", keywords="a", live=True))
    hub(top())
    assert hub(publish("m", time=5, expires=5)) == {"live +m published"}
    assert hub(publish("m", expires=4)) == {"live +m published"}
    assert hub(publish("m", time=2, expires=3)) == {"live +m published"}  # judged by the clock
    assert hub.oracle.live_messages() == []


def test_a_message_that_is_not_kept_pushes_nothing_out_of_the_window() -> None:
    hub = Hub(window_count=1)
    hub(publish("m1"))
    hub(publish("m2", expires=0))
    assert hub.oracle.live_messages() == ["m1"]


def test_a_count_window_lets_the_oldest_published_go_first() -> None:
    hub = Hub(window_count=2)
    hub(subscribe("live", keywords="a", live=True))
    hub(publish("m1", time=9))
    hub(publish("m2", time=3))
    assert hub(publish("m3")) == {"live +m3 published", "live -m1 expired"}
    hub(retract("m3"))
    assert hub(publish("m4")) == {"live +m4 published"}
    assert hub(publish("m5")) == {"live +m5 published", "live -m2 expired"}


def test_a_seconds_window_counts_from_the_message_s_own_time() -> None:
    hub = Hub(window_seconds=10)
    hub(subscribe("live", keywords="a", live=True))
    hub(publish("m1", time=20))
    hub(publish("late", time=12))
    hub(publish("undated"))
    hub(publish("brief", expires=21))
    hub(publish("long", expires=99))
    hub(publish("too-late", time=10))
    assert hub.oracle.live_messages() == ["m1", "late", "undated", "brief", "long"]
    assert hub(retract("x", time=21)) == {"live -brief expired"}
    assert hub(retract("x", time=22)) == {"live -late expired"}
    assert hub(retract("x", time=30)) == {
        "live -m1 expired",
        "live -undated expired",
        "live -long expired",
    }


def test_ids_in_use_cannot_be_used_again() -> None:
    hub = Hub(window_count=5)
    hub(publish("x"))
    assert not hub.rejects(subscribe("x", keywords="a"))  # separate ids
    assert hub.rejects(subscribe("x", keywords="b"))
    assert hub.rejects(publish("x"))
    assert hub.rejects(publish("x", expires=0))
    assert hub(retract("x")) == set()
    assert not hub.rejects(publish("x"))


def test_an_id_freed_by_an_expiry_is_free_for_the_event_that_causes_it() -> None:
    hub = Hub()
    hub(subscribe("live", keywords="a", live=True))
    hub(subscribe("brief", keywords="a", live=True, expires=5))
    hub(top())
    hub(publish("m", expires=5))
    assert hub.rejects(publish("m", time=4))
    assert hub.rejects(subscribe("brief", keywords="a", time=4))
    assert hub(publish("m", time=5, expires=9)) == {
        "live -m expired",
        "live +m published",
        "brief -m expired",
        "t -m expired",
        "t +m published",
    }
    assert hub(subscribe("brief", keywords="a", live=True)) == {"brief +m subscribed"}


def test_retracting_what_is_not_live_only_moves_the_clock() -> None:
    hub = Hub()
    hub(publish("m", expires=5))
    assert hub(retract("unknown", time=3)) == set()
    assert hub.oracle.clock == 3
    assert hub.oracle.live_messages() == ["m"]


def test_live_sets_gain_and_lose() -> None:
    hub = Hub(window_count=9)
    hub(publish("here"))
    hub(publish("there", at=[5, 5]))
    hub(publish("other", "b"))
    around = {"keywords": "a", "area": [-1, -1, 1, 1]}
    assert hub(subscribe("live", live=True, **around)) == {"live +here subscribed"}
    assert hub(subscribe("once", **around)) == set()
    elsewhere = [4, 4, 6, 6]
    assert hub(move("once", area=elsewhere)) == set()
    assert hub(move("live", area=elsewhere)) == {"live -here moved", "live +there moved"}
    assert hub(move("live", area=[-9, -9, 9, 9])) == {"live +here moved"}
    assert hub(publish("more", at=[5, 5])) == {"once +more published", "live +more published"}
    assert hub(retract("there")) == {"live -there retracted"}
    assert hub(unsubscribe("live")) == set()
    assert hub(publish("last", at=[0, 0])) == set()


def test_a_live_rank_set_follows_the_score() -> None:
    hub = Hub(window_count=9)
    hub(publish("m", "a b", bbox=[0, 0, 1, 2]))
    oracle = hub.oracle
    [gained] = oracle.apply(2, rank(keywords=["a", "c"], alpha=0.5, threshold=0.5, live=True))
    assert gained["reason"] == "subscribed"
    assert gained["score"] == pytest.approx(0.5)
    [lost] = oracle.apply(3, move("r", area=[0, 0, 4, 2]))
    assert (lost["change"], lost["reason"]) == ("removed", "moved")
    assert lost["score"] == pytest.approx(0.5)  # the score with which it was held
    [back] = oracle.apply(4, move("r", area=[0, 0, 1, 1]))
    assert back["score"] == pytest.approx(0.75)
    [gone] = oracle.apply(5, retract("m"))
    assert (gone["reason"], gone["score"]) == ("retracted", pytest.approx(0.75))


def test_a_top_list_displaces_and_refills() -> None:
    hub = Hub(window_count=9)
    hub(top(k=2))
    assert hub(publish("m3", at=[3, 0])) == {"t +m3 published"}
    assert hub(publish("m2", at=[2, 0])) == {"t +m2 published"}
    assert hub(publish("m4", at=[4, 0])) == set()
    assert hub(publish("m1", at=[1, 0])) == {"t +m1 published", "t -m3 displaced"}
    assert hub(retract("m2")) == {"t -m2 retracted", "t +m3 refilled"}
    assert hub(move("t", at=[9, 0])) == {"t -m1 moved", "t +m4 moved"}
    assert hub(retract("m1")) == set()
    assert hub(unsubscribe("t")) == set()


def test_a_newer_message_displaces_its_equal() -> None:
    hub = Hub(window_count=9)
    hub(top(k=1))
    hub(publish("m1"))
    assert hub(publish("m2")) == {"t +m2 published", "t -m1 displaced"}


def test_a_top_list_changes_once_per_event() -> None:
    hub = Hub(window_count=9)
    hub(publish("m1", at=[1, 0], expires=5))
    hub(publish("m2", at=[2, 0], expires=6))
    hub(publish("m3", at=[3, 0]))
    hub(publish("m4", at=[4, 0]))
    assert hub(top(k=1)) == {"t +m1 subscribed"}
    # m2 would have refilled the list between the two expiries, m3 before the arrival of m5.
    assert hub(publish("m5", at=[0, 0], time=7)) == {"t -m1 expired", "t +m5 published"}
    assert hub(retract("m5")) == {"t -m5 retracted", "t +m3 refilled"}


def test_falling_out_of_the_window_refills_a_top_list() -> None:
    hub = Hub(window_count=2)
    hub(publish("m1", at=[1, 0]))
    hub(publish("m2", at=[2, 0]))
    hub(top(k=1))
    assert hub(publish("m3", at=[3, 0])) == {"t -m1 expired", "t +m2 refilled"}


def test_a_top_subscription_that_is_gone_after_the_event_hears_nothing() -> None:
    hub = Hub()
    hub(publish("m", expires=5))
    hub(top())
    hub(top("brief", expires=6))
    assert hub(unsubscribe("t", time=7)) == set()


def test_subscriptions_expire() -> None:
    hub = Hub(window_count=9)
    hub(subscribe("s", keywords="a", expires=5))
    assert hub(publish("m1", time=4.5)) == {"s +m1 published"}
    assert hub(publish("m2", time=5)) == set()
    assert hub.rejects(unsubscribe("s"))


def test_things_expire_in_order_and_messages_before_subscriptions_at_the_same_moment() -> None:
    hub = Hub()
    for name, expires in [("s3", 3), ("s4", 4), ("s5", 5)]:
        hub(subscribe(name, keywords="a", live=True, expires=expires))
    hub(publish("m", expires=4))
    assert hub(retract("x", time=9)) == {"s4 -m expired", "s5 -m expired"}


def test_an_expiry_is_told_before_the_unsubscribe_that_causes_it() -> None:
    hub = Hub()
    hub(subscribe("s", keywords="a", live=True))
    hub(publish("m", expires=4))
    assert hub(unsubscribe("s", time=4)) == {"s -m expired"}


def test_the_clock_starts_at_zero_and_never_goes_back() -> None:
    hub = Hub()
    assert hub.oracle.clock == 0
    hub(publish("m1", time=-5))
    assert hub.oracle.clock == 0
    hub(publish("m1", time=7))
    hub(publish("m1", time=3))
    hub(publish("m1"))
    assert hub.oracle.clock == 7
    assert hub.rejects(subscribe("s", keywords="a", time=6, expires=7))
    assert not hub.rejects(subscribe("s", keywords="a", time=6, expires=7.5))


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("1970-01-01T00:00:12.5Z", 12.5),
        ("1970-01-01t05:30:01+05:30", 1),
        ("1969-12-31T23:00:00-01:00", 0),
        ("2024-02-29T00:00:00z", 1709164800),
        (12, 12),
    ],
)
def test_times_are_numbers_or_rfc_3339(written: object, seconds: float) -> None:
    hub = Hub()
    hub(publish("m", time=written))
    assert hub.oracle.clock == seconds


def test_a_new_epoch_weighs_everything_at_once() -> None:
    hub = Hub(window_count=9)
    hub(publish("common", "a"))
    hub(publish("rare", "b"))
    hub(top(keywords=["a", "b"], alpha=0))
    hub(rank(keywords=["a", "b"], area=[0, 0, 1, 1], alpha=0, threshold=0.5, live=True))
    assert short(hub.oracle.reweigh(5, {"documents": 9, "df": {"b": 9}})) == {
        "t -rare displaced",
        "t +common refilled",
        "r -rare moved",
    }
    assert short(hub.oracle.reweigh(6, None)) == {
        "t -common displaced",
        "t +rare refilled",
        "r +rare moved",
    }


@pytest.mark.parametrize(
    "options",
    [
        {"window_count": 0},
        {"window_seconds": 0},
        {"window_count": 1, "window_seconds": 1},
        {"space": (0, 0, 0, 0)},
        {"space": (1, 0, 0, 1)},
        {"space": (0, 1, 1, 0)},
    ],
)
def test_bad_settings_are_an_error(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"window|space"):
        Oracle(**options)


def test_a_space_may_be_a_line() -> None:
    assert Oracle(space=(0, 0, 1, 0)).clock == Oracle(space=(0, 0, 0, 1)).clock == 0


# 2.1 Events ---------------------------------------------------------------------------------------


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


# Whole logs ---------------------------------------------------------------------------------------

_windows = st.sampled_from(({}, {"window_count": 3}, {"window_seconds": 4}))
_all_modes = ("match", "rank", "top")


@settings(max_examples=80, deadline=None)
@given(event_logs(_all_modes, bad_lines=True), _windows)
def test_adding_up_the_changes_of_a_log_gives_the_sets_held(
    log: list[Event | bytes], window: Event
) -> None:
    """The signed changes of live and top subscriptions never add twice or remove what is absent."""
    oracle = Oracle(**window)
    held: Counter[tuple[str, str]] = Counter()
    for number, event in enumerate(accepted(log, **window), start=1):
        changes = oracle.apply(number, event)
        fresh = event["id"] if event["op"] == "subscribe" else None
        held = Counter({pair: n for pair, n in held.items() if pair[0] != fresh})
        for change in changes:
            if not (change["subscription"] == fresh and change["change"] == "removed"):
                sign = 1 if change["change"] == "added" else -1
                held[change["subscription"], change["message"]] += sign
        sets = sets_held(oracle)
        held = Counter({pair: n for pair, n in held.items() if n and pair[0] in sets})
        once = event["id"] if event["op"] == "publish" else None
        if once not in oracle.live_messages():  # delivered, not kept
            held = Counter({pair: n for pair, n in held.items() if pair[1] != once})
        assert held == Counter((name, message) for name in sets for message in sets[name])


def sets_held(oracle: Oracle) -> dict[str, set[str]]:
    """Recompute the sets of the live and top subscriptions."""
    state = oracle._state
    sets: dict[str, set[str]] = {}
    for name, subscription in state.subscriptions.items():
        if subscription.mode == "top":
            sets[name] = {message for message, _ in oracle.top(name)}
        elif subscription.live:
            every = state.messages.values()
            sets[name] = {m.id for m in every if decide(subscription, m, None)[0]}
    return sets


@settings(max_examples=60, deadline=None)
@given(event_logs(_all_modes, bad_lines=True))
def test_a_log_with_rejected_lines_gives_the_changes_of_one_without(
    log: list[Event | bytes],
) -> None:
    changes, rejected = replay(ndjson(log), "skip", window_count=3)
    blanked = [
        b"" if number in rejected else line for number, line in enumerate(ndjson(log), start=1)
    ]
    assert replay(blanked, window_count=3) == (changes, [])


@settings(max_examples=100, deadline=None)
@given(subscribe_events(_all_modes))
def test_generated_subscriptions_are_valid(event: Event) -> None:
    read_subscription(event)


@settings(max_examples=200, deadline=None)
@given(areas, message_places)
def test_a_message_touches_an_area_if_a_corner_of_it_does(area: object, place: Event) -> None:
    if "bbox" in place:
        west, south, east, north = place["bbox"]
        corners = [[lon, lat] for lon in (west, east) for lat in (south, north)]
        if any(area_touches(area, {"at": corner}) for corner in corners):
            assert area_touches(area, place)

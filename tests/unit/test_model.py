"""Values are checked when they are made, and say which number is wrong."""

from __future__ import annotations

import dataclasses
import pickle
from fractions import Fraction
from math import inf, nan
from typing import Any, ClassVar

import numpy as np
import pytest

from nearcast.errors import InvalidMessageError, InvalidParameterError, InvalidSubscriptionError
from nearcast.model import (
    Bbox,
    Change,
    Circle,
    Clause,
    MultiPolygon,
    Polygon,
    Window,
    area_from,
    bbox_from,
    point_from,
)

# Lists, where the types promise tuples: the constructors take both.
SQUARE: Any = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]
RINGS: Any = [SQUARE]
PARTS: Any = [[SQUARE]]
ONE_OPEN: Any = [[SQUARE], [SQUARE[1:]]]
WITH_HEIGHT: Any = [[[x, y, 9] for x, y in SQUARE]]
NOT_NUMBERS: list[Any] = [True, None, "1", [], {}, 1j, b"1"]
NOT_FINITE = [nan, inf, -inf, 10**400, -(10**400), np.float64("nan")]


@pytest.mark.parametrize("bad", NOT_NUMBERS + NOT_FINITE, ids=repr)
@pytest.mark.parametrize("side", ["west", "south", "east", "north"])
def test_each_side_of_a_box_must_be_a_finite_number(side, bad) -> None:
    with pytest.raises(InvalidParameterError, match=f"^{side} is not (a number|finite)"):
        Bbox(**{"west": 0, "south": 0, "east": 1, "north": 1, side: bad})


@pytest.mark.parametrize(
    ("side", "limit"), [("west", 180), ("south", 90), ("east", 180), ("north", 90)]
)
def test_each_side_of_a_box_ends_at_its_limit_and_not_before(side, limit) -> None:
    sides = {"west": 0, "south": -90, "east": 1, "north": 90}
    for sign in (1, -1):
        if side != "south" or sign < 0:
            Bbox(**{**sides, "south": -90, side: sign * limit})
        with pytest.raises(InvalidParameterError, match=f"{side} is out of range"):
            Bbox(**{**sides, side: sign * np.nextafter(limit, inf)})


def test_a_box_may_cross_the_antimeridian_or_be_a_point() -> None:
    assert Bbox(170, 0, -170, 1).west == 170
    assert Bbox(5, 5, 5, 5) == Bbox(5.0, 5.0, 5.0, 5.0)


def test_a_box_upside_down_hints_at_swapping() -> None:
    with pytest.raises(InvalidParameterError, match="got south 41 and north 40") as caught:
        Bbox(0, 41, 1, 40)
    assert "swap" in str(caught.value.hint)


@pytest.mark.parametrize("number", [np.float32(1), np.int64(1), Fraction(1), 1])
def test_any_real_number_becomes_a_float(number) -> None:
    assert type(Bbox(0, 0, number, 1).east) is float


@pytest.mark.parametrize("radius", [-1, -0.001, nan, inf, True, "5", 10**400], ids=repr)
def test_a_radius_is_a_finite_number_from_zero(radius) -> None:
    with pytest.raises(InvalidParameterError, match=r"^radius_m is"):
        Circle((0, 0), radius)


def test_a_circle_may_be_a_point() -> None:
    assert Circle((1, 2), 0) == Circle((1.0, 2.0), 0.0)


@pytest.mark.parametrize("center", [5, "ab", [1], [1, 2, 3], {}, {1, 2}, None, [1, "2"], [nan, 0]])
def test_a_center_is_a_pair_of_numbers(center) -> None:
    with pytest.raises(InvalidParameterError, match="center"):
        Circle(center, 1)


def test_swapped_coordinates_are_hinted_at_only_where_swapping_would_help() -> None:
    with pytest.raises(InvalidParameterError, match="latitude of center") as caught:
        Circle((40.7, -120), 1)
    assert "swapped" in str(caught.value.hint)
    with pytest.raises(InvalidParameterError, match="latitude of center") as caught:
        Circle((120, 100), 1)
    assert caught.value.hint is None


def test_positions_of_rings_may_have_an_altitude_that_is_ignored() -> None:
    assert Polygon(WITH_HEIGHT) == Polygon(RINGS)


@pytest.mark.parametrize(
    ("rings", "claim"),
    [
        ([], "polygon has no rings"),
        (5, "polygon is not a list"),
        ([[]], "ring 0 is too short: got 0 positions"),
        ([SQUARE[:2] + SQUARE[:1]], "ring 0 is too short: got 3 positions"),
        ([SQUARE[:-1]], "ring 0 is not closed"),
        ([SQUARE, SQUARE[1:]], "ring 1 is not closed"),
        ([[[0, 0, 0, 0], *SQUARE[1:]]], "position 0 is not a position"),
        ([[[0, 0, nan], *SQUARE[1:]]], "altitude of polygon, ring 0, position 0"),
        ([[[0, 0], [1, 0], [1, 91], [0, 0]]], "latitude of polygon, ring 0, position 2"),
        (SQUARE, "longitude|is not a list"),
    ],
)
def test_a_polygon_names_the_ring_and_the_position_that_is_wrong(rings, claim) -> None:
    with pytest.raises(InvalidParameterError, match=claim):
        Polygon(rings)


def test_a_multipolygon_takes_polygons_or_their_rings() -> None:
    assert MultiPolygon(PARTS) == MultiPolygon((Polygon(RINGS),))
    with pytest.raises(InvalidParameterError, match="no polygons"):
        MultiPolygon(())
    with pytest.raises(InvalidParameterError, match="polygon 1: polygon, ring 0 is not closed"):
        MultiPolygon(ONE_OPEN)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"count": 1, "seconds": 1},
        {"count": 0},
        {"count": -1},
        {"count": True},
        {"count": 1.0},
        {"count": 2**63},
        {"seconds": 0},
        {"seconds": -1},
        {"seconds": nan},
        {"seconds": inf},
        {"seconds": "1"},
        {"seconds": True},
    ],
    ids=repr,
)
def test_a_window_is_one_positive_number(options) -> None:
    with pytest.raises(InvalidParameterError, match="window"):
        Window(**options)


def test_a_window_keeps_its_number() -> None:
    assert Window(count=np.int64(5)) == Window(count=5)
    assert type(Window(seconds=5).seconds) is float


VALUES = [
    Bbox(0, 0, 1, 1),
    Circle((0, 0), 5),
    Polygon(RINGS),
    MultiPolygon(PARTS),
    Window(count=5),
    Change(1, "s", "m", "added", "published", 0.5),
    Clause(frozenset("a"), frozenset("b")),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda v: type(v).__name__)
def test_values_cannot_be_changed_and_can_be_hashed_and_pickled(value) -> None:
    name = "positive" if isinstance(value, Clause) else dataclasses.fields(value)[0].name
    with pytest.raises(AttributeError):
        setattr(value, name, 0)
    assert {value, pickle.loads(pickle.dumps(value))} == {value}


@pytest.mark.parametrize("value", VALUES[:4], ids=lambda v: type(v).__name__)
def test_an_area_is_read_as_itself(value) -> None:
    assert area_from(value) is value


class Shape:
    def __repr__(self) -> str:
        return "Shape()"

    __geo_interface__: ClassVar = {"type": "Polygon", "coordinates": (tuple(map(tuple, SQUARE)),)}


@pytest.mark.parametrize(
    ("value", "area"),
    [
        ([0, 0, 1, 1], Bbox(0, 0, 1, 1)),
        ((0, 0, 1, 1), Bbox(0, 0, 1, 1)),
        (np.array([0, 0, 1, 1]), Bbox(0, 0, 1, 1)),
        ({"type": "Circle", "center": [0, 0], "radius_m": 5}, Circle((0, 0), 5)),
        ({"type": "Polygon", "coordinates": [SQUARE]}, Polygon(RINGS)),
        ({"type": "Polygon", "coordinates": np.array([SQUARE])}, Polygon(RINGS)),
        ({"type": "MultiPolygon", "coordinates": [[SQUARE]]}, MultiPolygon(PARTS)),
        (Shape(), Polygon(RINGS)),
    ],
    ids=repr,
)
def test_an_area_is_read_from_lists_mappings_and_geometries(value, area) -> None:
    assert area_from(value) == area


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        "0,0,1,1",
        b"0011",
        [],
        [0, 0, 1],
        [0, 0, 1, 1, 1, 1],
        {0, 1, 2, 3},
        [0, 5, 1, 4],
        [0, 0, 1, nan],
        {},
        {"type": None},
        {"type": []},
        {"type": "Point", "coordinates": [0, 0]},
        {"type": "circle", "center": [0, 0], "radius_m": 5},
        {"type": "Circle", "center": [0, 0]},
        {"type": "Circle", "radius_m": 5},
        {"type": "Circle", "center": None, "radius_m": 5},
        {"type": "Circle", "center": [0, 0], "radius_m": 5, "unit": "km"},
        {"type": "Polygon"},
        {"type": "Polygon", "coordinates": SQUARE},
        {"type": "Polygon", "coordinates": []},
        {"type": "MultiPolygon", "coordinates": []},
        {"type": "MultiPolygon", "coordinates": [SQUARE]},
        np.array(5.0),
    ],
    ids=repr,
)
def test_what_is_not_an_area_is_an_invalid_subscription_that_names_the_field(value) -> None:
    with pytest.raises(InvalidSubscriptionError, match=r"^zone: ") as caught:
        area_from(value, field="zone")
    assert caught.value.field == "zone"


def test_unknown_members_of_an_area_are_named() -> None:
    with pytest.raises(InvalidSubscriptionError, match="unknown members 'crs', 7"):
        area_from({"type": "Polygon", "coordinates": [SQUARE], "crs": 1, 7: 2})


def test_points_and_boxes_are_read_with_the_error_of_the_caller() -> None:
    assert point_from([1, 2]) == (1.0, 2.0)
    assert bbox_from(Bbox(0, 0, 1, 1)) == bbox_from([0, 0, 1, 1])
    with pytest.raises(InvalidMessageError, match=r"^at: longitude"):
        point_from([181, 0], error=InvalidMessageError)
    with pytest.raises(InvalidParameterError, match=r"^space: south"):
        bbox_from([0, 5, 1, 4], field="space")

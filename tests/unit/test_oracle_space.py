"""The oracle, pinned by examples worked out by hand: areas and places (1.2)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import (
    OracleRejects,
    area_touches,
    matches,
)
from oracle.space import Box, distance_m, distance_to_box_m, read_area, read_bbox
from oracle_events import (
    DEGREE_M,
    HOLE,
    SQUARE,
    TRIANGLE,
    circle,
    feature,
    polygon,
    publish,
    rank,
    subscribe,
    top,
)


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
        ([[0, 0, 1, 1], [3, 3, 4, 4]], [3, 4], True),  # a list is a union
        ([[0, 0, 1, 1], [3, 3, 4, 4]], [2, 2], False),
        ([[0, 0, 1, 1], circle(9, 9, 1), polygon(SQUARE)], [4, 4], True),
        ([feature(polygon(SQUARE, HOLE)), [0, 0, 0, 0]], [2, 2], False),
        (feature(polygon(SQUARE)), [4, 2], True),
        (feature({"type": "GeometryCollection", "geometries": [polygon(HOLE)]}), [0, 0], False),
        (
            {
                "type": "FeatureCollection",
                "features": [feature(polygon(SQUARE, HOLE)), feature(polygon(HOLE))],
            },
            [2, 2],
            True,
        ),
        (
            {"type": "GeometryCollection", "geometries": [polygon(TRIANGLE), polygon(HOLE)]},
            [3, 2],
            True,
        ),
        ({**polygon(SQUARE), "bbox": [0, 0, 4, 4]}, [4, 4], True),
        ({**feature(feature(circle(0, 0, 1))), "crs": "x"}, [0, 0], True),  # others are ignored
        ({"type": "GeometryCollection", "geometries": [[0, 0, 1, 1]], "name": 1}, [0, 1], True),
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
        *([], [[]], [[0, 0, 1, 1], 3], [[[0, 0, 1, 1]]], [[0, 0, 1, 1], None], [0, [0, 0, 1, 1]]),
        *(feature(None), {"type": "Feature"}, {**polygon(SQUARE), "crs": "x"}),
        *({"type": "FeatureCollection", "features": []}, {"type": "FeatureCollection"}),
        *({"type": "GeometryCollection", "geometries": []}, {"type": "GeometryCollection"}),
        {"type": "GeometryCollection", "geometries": [{"type": "Point", "coordinates": [0, 0]}]},
        {"type": "GeometryCollection", "geometries": [[[0, 0, 1, 1]]]},
        [[0, 0, 1, 1]] * 1001,
    ],
)
def test_bad_areas_are_an_error(area: object) -> None:
    with pytest.raises(OracleRejects):
        read_area(area)


def test_a_message_that_touches_what_is_excepted_does_not_match() -> None:
    asking = subscribe("s", area=[0, 0, 4, 4], **{"except": [[1, 1, 2, 2], polygon(HOLE)]})
    assert matches(asking, publish("m", at=[0, 0]))
    assert not matches(asking, publish("m", at=[1, 1]))  # borders are closed here too
    assert not matches(asking, publish("m", at=[3, 3]))
    assert not matches(asking, publish("m", bbox=[0, 0, 1, 1]))  # also if it touches the area
    assert not matches(asking, publish("m", at=[5, 5]))
    for event in ({**rank(), "except": [9, 9, 9, 9]}, {**top(), "except": [9, 9, 9, 9]}):
        with pytest.raises(OracleRejects):
            matches(event, publish("m"))


def test_one_area_in_a_list_is_that_area() -> None:
    box = read_area([0, 0, 2, 2])
    assert read_area([[0, 0, 2, 2]]) == box
    assert read_area({"type": "GeometryCollection", "geometries": [[0, 0, 2, 2]]}) == box
    assert matches(rank(area=[[0, 0, 2, 2]]), publish("m"))
    with pytest.raises(OracleRejects):
        matches(rank(area=[[0, 0, 2, 2], [0, 0, 1, 1]]), publish("m"))


def test_a_box_without_size_is_a_point() -> None:
    event = rank(alpha=1, threshold=1)
    assert matches(event, publish("m", bbox=[1, 1, 1, 1]))
    assert not matches(event, publish("m", bbox=[1, 1, 1, 2]))
    whole = {**event, "area": [-180, 1, 180, 1]}
    assert not matches(whole, publish("m", bbox=[180, 1, -180, 1]))  # two points are none

"""Lists and collections of areas, points in other forms, and how large an area may be."""

from __future__ import annotations

from typing import Any

import pytest

from nearcast import (
    Areas,
    Bbox,
    Circle,
    InvalidParameterError,
    InvalidSubscriptionError,
    Matcher,
    MultiPolygon,
    Polygon,
    areas,
)
from nearcast.areas import MAX_CORNERS, MAX_DEPTH, MAX_PARTS, area_from, point_from
from nearcast.columns import area_of_core, core_area

geometry: Any = pytest.importorskip("shapely.geometry")

SQUARE: Any = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]
POLYGON: Any = {"type": "Polygon", "coordinates": [SQUARE]}
BOX: Any = [2, 2, 3, 3]
CIRCLE: Any = {"type": "Circle", "center": [5, 5], "radius_m": 100}


def feature(of: object) -> dict[str, object]:
    return {"type": "Feature", "id": 7, "properties": {"name": "x"}, "geometry": of}


def collection(*of: object) -> dict[str, object]:
    return {"type": "FeatureCollection", "name": "all", "features": [feature(g) for g in of]}


def geometries(*of: object) -> dict[str, object]:
    return {"type": "GeometryCollection", "geometries": list(of)}


class HasInterface:
    def __init__(self, value: object) -> None:
        self.__geo_interface__ = value


SAME_TWO = [
    [POLYGON, BOX],
    (POLYGON, Bbox(2, 2, 3, 3)),
    [feature(POLYGON), BOX],
    [HasInterface(POLYGON), BOX],
    [Areas((POLYGON, BOX))],
    Areas((POLYGON, BOX)),
    [geometry.shape(POLYGON), BOX],
]


@pytest.mark.parametrize("value", SAME_TWO)
def test_forms_of_a_union_mean_the_same(value: object) -> None:
    read = area_from(value)
    assert isinstance(read, Areas)
    assert read == Areas((POLYGON, BOX))


@pytest.mark.parametrize(
    "value",
    [
        collection(POLYGON, POLYGON),
        geometries(POLYGON, POLYGON),
        HasInterface(collection(POLYGON, POLYGON)),
        feature(geometries(POLYGON, POLYGON)),
        [collection(POLYGON), geometries(feature(POLYGON))],
        geometry.GeometryCollection([geometry.shape(POLYGON), geometry.shape(POLYGON)]),
    ],
)
def test_collections_are_taken_apart(value: object) -> None:
    read = area_from(value)
    assert isinstance(read, Areas)
    assert [type(part) for part in read.parts] == [Polygon, Polygon]


@pytest.mark.parametrize("value", [[BOX], (BOX,), [[*map(float, BOX)]], Areas((BOX,))])
def test_a_list_of_one_box_is_a_box(value: object) -> None:
    assert area_from(value) == Bbox(2, 2, 3, 3)


def test_a_list_of_one_box_can_be_ranked() -> None:
    ranker = Matcher(mode="rank")
    ranker.subscribe("s", keywords="flood", area=[BOX], alpha=0.5, threshold=0.5)
    with pytest.raises(InvalidSubscriptionError, match="not a box"):
        ranker.subscribe("t", keywords="flood", area=[BOX, BOX], alpha=0.5, threshold=0.5)


def test_a_feature_is_its_geometry() -> None:
    assert area_from(feature(CIRCLE)) == Circle((5, 5), 100)
    multi = geometry.MultiPolygon([geometry.shape(POLYGON), geometry.box(4, 4, 5, 5)])
    assert isinstance(area_from(feature(multi)), MultiPolygon)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ([], "wrong length"),
        (collection(), "no feature"),
        (geometries(), "no geometry"),
        ({"type": "FeatureCollection"}, "no 'features'"),
        ({"type": "GeometryCollection", "geometries": None}, "no 'geometries'"),
        ({"type": "FeatureCollection", "features": "x"}, "not a list"),
        (feature(None), "no 'geometry'"),
        ([SQUARE], "list is in a list"),
        ([[SQUARE]], "list is in a list"),
        ([BOX, [BOX]], "part 1: list is in a list"),
        ([BOX, 7], "part 1: bbox is not a list"),
        ([BOX, "x"], "part 1: bbox is not a list"),
        ([BOX, [1, 2, 3]], "part 1: bbox has the wrong length"),
        ([BOX, None], "part 1: bbox is not a list"),
        (collection(POLYGON, {"type": "Point", "coordinates": [0, 0]}), "feature 1: type is unkn"),
        (geometries(feature(POLYGON), {"type": "Polygon"}), "geometry 1: Polygon has no 'coord"),
        ([BOX, [0, 91, 1, 92]], "part 1: south is out of range"),
    ],
)
def test_what_is_no_area_is_refused_by_name(value: object, what: str) -> None:
    with pytest.raises(InvalidSubscriptionError) as caught:
        area_from(value, field="except")
    assert what in str(caught.value)
    assert caught.value.field == "except"


def test_coordinates_without_a_type_hint_at_it() -> None:
    with pytest.raises(InvalidSubscriptionError) as caught:
        area_from([SQUARE])
    assert "Polygon" in str(caught.value.hint)


def test_lines_hint_at_circles() -> None:
    with pytest.raises(InvalidSubscriptionError) as caught:
        area_from({"type": "Point", "coordinates": [0, 0]})
    assert "Circle" in str(caught.value.hint)


@pytest.mark.parametrize("count", [MAX_PARTS - 1, MAX_PARTS, MAX_PARTS + 1])
def test_parts_are_counted(count: int) -> None:
    parts = [[i / 100, 0, i / 100 + 0.5, 1] for i in range(count)]
    if count > MAX_PARTS:
        with pytest.raises(InvalidSubscriptionError, match="too many parts"):
            area_from(parts)
        with pytest.raises(InvalidParameterError, match="too many parts"):
            Areas(tuple(parts))  # type: ignore[arg-type]
        return
    matcher = Matcher()
    matcher.subscribe("s", keywords="x", area=parts)
    assert matcher.match("x", at=(parts[-1][2], 1)) == ["s"]
    assert matcher.match("x", at=(parts[-1][2] + 1e-9, 1)) == []


def test_corners_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_CORNERS == 1_000_000
    monkeypatch.setattr(areas, "MAX_CORNERS", 10)
    two_rings = {"type": "Polygon", "coordinates": [SQUARE, SQUARE]}
    area_from(two_rings)
    for wrong in ([two_rings, POLYGON], {**two_rings, "coordinates": [SQUARE] * 3}):
        with pytest.raises(InvalidSubscriptionError, match="too many corners"):
            area_from(wrong)
    with pytest.raises(InvalidSubscriptionError, match="too many corners"):
        area_from({"type": "MultiPolygon", "coordinates": [[SQUARE]] * 3})


@pytest.mark.parametrize("wrap", [geometries, feature])
def test_nesting_is_bounded(wrap: Any) -> None:
    value: object = POLYGON
    for _ in range(MAX_DEPTH - 1):
        value = wrap(value)
    assert isinstance(area_from(value), Polygon)
    for _ in range(5000):
        value = wrap(value)
    with pytest.raises(InvalidSubscriptionError, match="nested too deeply"):
        area_from(value)


def test_a_geometry_may_say_its_bbox() -> None:
    assert area_from({**POLYGON, "bbox": [0, 0, 1, 1]}) == area_from(POLYGON)
    with pytest.raises(InvalidSubscriptionError, match="unknown members 'bbox'"):
        area_from({**CIRCLE, "bbox": [0, 0, 1, 1]})


def test_the_core_gives_back_what_it_got() -> None:
    for value in (BOX, CIRCLE, POLYGON, [POLYGON, BOX, CIRCLE], [BOX, [170, 0, -170, 1]]):
        area = area_from(value)
        assert area_of_core(core_area(area)) == area


@pytest.mark.parametrize(
    "value",
    [
        (13.4, 52.5),
        [13.4, 52.5],
        {"type": "Point", "coordinates": [13.4, 52.5]},
        {"type": "Point", "coordinates": [13.4, 52.5, 34.0]},
        geometry.Point(13.4, 52.5),
        HasInterface({"type": "Point", "coordinates": (13.4, 52.5)}),
        feature({"type": "Point", "coordinates": [13.4, 52.5]}),
    ],
)
def test_points_have_several_forms(value: object) -> None:
    assert point_from(value) == (13.4, 52.5)


@pytest.mark.parametrize("value", [POLYGON, {"type": "Point"}, {}, geometry.Point(), feature(None)])
def test_what_is_no_point_is_refused(value: object) -> None:
    with pytest.raises(InvalidParameterError):
        point_from(value)

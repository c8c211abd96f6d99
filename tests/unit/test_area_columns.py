"""Areas in bulk: circles in columns, geometries as WKB and as GeoArrow has them."""

from __future__ import annotations

import math
import struct
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from nearcast import InvalidSubscriptionError, Matcher
from nearcast.areas import MAX_CORNERS, MAX_PARTS

shapely: Any = pytest.importorskip("shapely")

SQUARE = [[(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0), (0.0, 0.0)]]
HOLED = [*SQUARE, [(1.0, 1.0), (3.0, 1.0), (3.0, 3.0), (1.0, 3.0), (1.0, 1.0)]]
FAR = [[(10.0, 10.0), (12.0, 10.0), (11.0, 12.0), (10.0, 10.0)]]
SHAPES = [
    shapely.Polygon(SQUARE[0]),
    shapely.Polygon(HOLED[0], HOLED[1:]),
    shapely.MultiPolygon([shapely.Polygon(HOLED[0], HOLED[1:]), shapely.Polygon(FAR[0])]),
    shapely.GeometryCollection([shapely.Polygon(SQUARE[0]), shapely.Polygon(FAR[0])]),
]
PLACES = [(2.0, 2.0), (1.0, 2.0), (4.0, 4.0), (4.1, 4.0), (11.0, 11.0), (0.5, 0.5), (11.0, 12.0)]


def table(**columns: Any) -> pa.Table:
    rows = len(next(iter(columns.values())))
    return pa.table({"id": [f"s{i}" for i in range(rows)], "keywords": [["x"]] * rows, **columns})


def answers(matcher: Matcher) -> list[list[str]]:
    return [sorted(map(str, matcher.match("x", at=place))) for place in PLACES]


def expected(areas: list[Any]) -> list[list[str]]:
    matcher = Matcher()
    for i, area in enumerate(areas):
        matcher.subscribe(f"s{i}", keywords="x", area=area)
    return answers(matcher)


def subscribed(**columns: Any) -> Matcher:
    matcher = Matcher()
    matcher.subscribe_table(table(**columns))
    return matcher


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"byte_order": 0},
        {"flavor": "iso", "output_dimension": 3},
        {"flavor": "extended", "output_dimension": 3},
        {"flavor": "extended", "include_srid": True},
    ],
)
def test_wkb_means_what_its_geometries_mean(kind: Any, options: Any) -> None:
    shapes: list[Any] = SHAPES
    if options.get("output_dimension") == 3:
        shapes = [shapely.force_3d(shape, 7.5) for shape in SHAPES]
    if "include_srid" in options:
        shapes = [shapely.set_srid(shape, 4326) for shape in SHAPES]
    geometry = pa.array([shapely.to_wkb(shape, **options) for shape in shapes], kind)
    assert answers(subscribed(geometry=geometry)) == expected(SHAPES)


def test_a_slice_with_nulls_is_read_where_it_lies() -> None:
    geometry = pa.array([None, *(shapely.to_wkb(shape) for shape in SHAPES), None, None])
    matcher = Matcher()
    matcher.subscribe_table(
        table(geometry=geometry)
        .slice(1, 5)
        .drop(["id"])
        .append_column("id", pa.array([f"s{i}" for i in range(5)]))
    )
    assert answers(matcher) == [[*row, "s4"] for row in expected(SHAPES)]


POSITIONS = {
    "interleaved": pa.list_(pa.field("xy", pa.float64()), 2),
    "with heights": pa.list_(pa.field("xyz", pa.float64()), 3),
    "separated": pa.struct({"x": pa.float64(), "y": pa.float64()}),
    "x last": pa.struct({"z": pa.float64(), "y": pa.float64(), "x": pa.float64()}),
}


def position(point: Any, form: str) -> Any:
    x, y = point
    return {
        "interleaved": [x, y],
        "with heights": [x, y, 5.0],
        "separated": {"x": x, "y": y},
        "x last": {"x": x, "y": y, "z": 5.0},
    }[form]


def geoarrow(polygons: Any, form: str, list_of: Any = pa.list_) -> Any:
    rings = list_of(list_of(POSITIONS[form]))
    is_multi = isinstance(polygons[0][0][0], list)

    def read(polygon: Any) -> Any:
        return [[position(p, form) for p in ring] for ring in polygon]

    if is_multi:
        return pa.array([[read(p) for p in row] for row in polygons], list_of(rings))
    return pa.array([None if row is None else read(row) for row in polygons], rings)


@pytest.mark.parametrize("list_of", [pa.list_, pa.large_list])
@pytest.mark.parametrize("form", POSITIONS)
def test_geoarrow_polygons_mean_what_they_say(form: str, list_of: Any) -> None:
    rows = [SQUARE, HOLED, FAR]
    shapes = [shapely.Polygon(row[0], row[1:]) for row in rows]
    assert answers(subscribed(geometry=geoarrow(rows, form, list_of))) == expected(shapes)
    multi = [[HOLED, FAR], [SQUARE]]
    both = [shapely.MultiPolygon([(p[0], p[1:]) for p in row]) for row in multi]
    assert answers(subscribed(geometry=geoarrow(multi, form, list_of))) == expected(both)


@pytest.mark.parametrize("form", POSITIONS)
def test_slices_of_geoarrow_polygons_are_read_where_they_lie(form: str) -> None:
    rows = table(geometry=geoarrow([FAR, SQUARE, None, HOLED, FAR], form)).slice(1, 3)
    matcher = Matcher()
    matcher.subscribe_table(rows)
    found = [[name for name in row if name != "s2"] for row in answers(matcher)]
    shapes = [shapely.Polygon(row[0], row[1:]) for row in (FAR, SQUARE, FAR, HOLED)]
    only = [[name for name in row if name in ("s1", "s3")] for row in expected(shapes)]
    assert found == only
    assert all("s2" in row for row in answers(matcher))


def with_name(array: pa.Array, name: str) -> pa.Table:
    field = pa.field("geometry", array.type, metadata={"ARROW:extension:name": name})
    ids, words = pa.array(["s0"] * len(array)), pa.array([["x"]] * len(array))
    schema = pa.schema([("id", ids.type), ("keywords", words.type), field])
    return pa.table([ids, words, array], schema=schema)


def test_what_a_column_is_said_to_be_must_be_so() -> None:
    wkb, polygon = pa.array([shapely.to_wkb(SHAPES[0])]), geoarrow([SQUARE], "separated")
    for array, name in ((wkb, "geoarrow.wkb"), (wkb, "ogc.wkb"), (polygon, "geoarrow.polygon")):
        Matcher().subscribe_table(with_name(array, name))
    for array, name in (
        (polygon, "geoarrow.wkb"),
        (wkb, "geoarrow.polygon"),
        (polygon, "geoarrow.multipolygon"),
        (polygon, "geoarrow.multilinestring"),
        (pa.array(["POLYGON EMPTY"]), "geoarrow.wkt"),
    ):
        with pytest.raises(InvalidSubscriptionError, match="'geometry' has the wrong type"):
            Matcher().subscribe_table(with_name(array, name))


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["POLYGON ((0 0, 1 0, 1 1, 0 0))"]),
        pa.array([1.0]),
        pa.array([[1.0, 2.0]]),
        pa.array([[[1.0, 2.0]]]),
        pa.array([[[[1.0, 2.0]]]]),
        pa.array([[["x"]]]),
        pa.array([[[{"a": 1.0}]]]),
        pa.array([[[{"x": 1.0}]]]),
        pa.array([[[{"x": "a", "y": "b"}]]]),
        pa.array([[[[1.0, 2.0]]]], pa.list_(pa.list_(pa.list_(pa.float32(), 2)))),
        pa.array([[[[1.0] * 5]]], pa.list_(pa.list_(pa.list_(pa.float64(), 5)))),
        pa.array([[[1.0, 2.0]]], pa.list_(pa.list_(pa.float64(), 2))),
    ],
)
def test_other_columns_are_refused_by_type(column: Any) -> None:
    with pytest.raises(InvalidSubscriptionError, match="column 'geometry' has the wrong type"):
        subscribed(geometry=column)


def wkb(*parts: Any) -> bytes:
    return b"\x01" + b"".join(
        part if isinstance(part, bytes) else struct.pack("<I", part) for part in parts
    )


def doubles(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}d", *numbers)


TRIANGLE = doubles(0, 0, 1, 0, 1, 1, 0, 0)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (b"", "ends too early"),
        (b"\x01", "ends too early"),
        (b"\x02" + bytes(8), "byte order 2"),
        (b"POLYGON ((0 0", "byte order 80"),
        (wkb(3, 1, 4, TRIANGLE) + b"\x00", "1 bytes after its end"),
        (wkb(3, 1, 4, TRIANGLE)[:-1], "4 positions"),
        (wkb(3, 0), "an empty Polygon"),
        (wkb(6, 0), "an empty MultiPolygon"),
        (wkb(7, 0), "an empty GeometryCollection"),
        (wkb(3, 0xFFFFFFFF), "4294967295 rings"),
        (wkb(3, 1, 0xFFFFFFFF), "4294967295 positions"),
        (wkb(6, 0xFFFFFFFF), "4294967295 polygons"),
        (wkb(7, 0xFFFFFFFF), "4294967295 geometries"),
        (wkb(3, 1, 3, doubles(0, 0, 1, 0, 0, 0)), "a ring of 3 positions"),
        (wkb(3, 1, 4, doubles(0, 0, 1, 0, 1, 1, 0, 0.5)), "not closed"),
        (wkb(3, 1, 4, doubles(0, 0, 181, 0, 1, 1, 0, 0)), "longitude 181"),
        (wkb(3, 1, 4, doubles(0, 0, 1, -91, 1, 1, 0, 0)), "latitude -91"),
        (wkb(3, 1, 4, doubles(0, 0, float("nan"), 0, 1, 1, 0, 0)), "longitude"),
        (wkb(3, 1, 4, doubles(0, 0, float("inf"), 0, 1, 1, 0, 0)), "longitude"),
        (wkb(1, doubles(0, 0)), "a Point"),
        (wkb(2, 2, doubles(0, 0, 1, 1)), "a LineString"),
        (wkb(6, 1, wkb(1, doubles(0, 0))), "a Point"),
        (wkb(17, 0), "type 17"),
        (wkb(4003, 0), "type 4003"),
        (wkb(0x20000003, 3857, 1, 4, TRIANGLE), "system 3857"),
        (wkb(7, 1) * 20 + wkb(3, 1, 4, TRIANGLE), "collections in collections"),
        (wkb(7, MAX_PARTS + 1) + wkb(3, 1, 4, TRIANGLE) * (MAX_PARTS + 1), "more parts"),
    ],
)
def test_wrong_wkb_is_refused_by_row_and_changes_nothing(value: bytes, what: str) -> None:
    matcher = Matcher()
    good = shapely.to_wkb(SHAPES[0])
    with pytest.raises(InvalidSubscriptionError) as caught:
        matcher.subscribe_table(table(geometry=pa.array([good, value], pa.binary())))
    assert "row 1: geometry" in str(caught.value)
    assert what in f"{caught.value} {caught.value.got} {caught.value.wanted}"
    assert matcher.stats()["subscriptions"] == 0


def test_the_limits_are_met() -> None:
    most = wkb(7, MAX_PARTS) + wkb(3, 1, 4, TRIANGLE) * MAX_PARTS
    matcher = subscribed(geometry=pa.array([most, most]))
    assert matcher.match("x", at=(0.5, 0.25)) == ["s0", "s1"]
    ring = doubles(*([0.0, 0.0] * 999), 0, 0)
    rings = [1000] + [part for _ in range(1000) for part in (1000, ring)]
    subscribed(geometry=pa.array([wkb(3, *rings)]))
    assert MAX_CORNERS == 1000 * 1000
    rings[0] = 1001
    with pytest.raises(InvalidSubscriptionError, match="more corners"):
        subscribed(geometry=pa.array([wkb(3, *rings, 1000, ring)]))


def test_circles_in_columns() -> None:
    columns = {"lon": [0.0, 11.0, None], "lat": [0.0, 11.0, None], "radius_m": [0.0, 2e5, None]}
    circles: list[Any] = [
        {"type": "Circle", "center": [x, y], "radius_m": r}
        for x, y, r in zip(*(column[:2] for column in columns.values()), strict=True)
    ]
    assert answers(subscribed(**columns)) == [[*row, "s2"] for row in expected(circles)]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"radius_m": [1.0, -1.0]}, "row 1: radius_m"),
        ({"radius_m": [1.0, None]}, "row 1: radius_m"),
        ({"radius_m": [1.0, float("inf")]}, "row 1: radius_m"),
        ({"lon": [181.0, 0.0]}, "row 0: lon"),
        ({"lat": [0.0, float("nan")]}, "row 1: lat"),
        ({"lat": ["a", "b"]}, "column 'lat' has the wrong type"),
    ],
)
def test_wrong_circles_are_refused(changes: Any, what: str) -> None:
    columns = {"lon": [0.0, 1.0], "lat": [0.0, 1.0], "radius_m": [5.0, 6.0], **changes}
    with pytest.raises(InvalidSubscriptionError, match=what):
        subscribed(**columns)


def test_columns_that_do_not_go_together_are_refused_by_name() -> None:
    geometry = pa.array([shapely.to_wkb(SHAPES[0])])
    circle = {"lon": [0.0], "lat": [0.0], "radius_m": [1.0]}
    box = {"west": [0.0], "south": [0.0], "east": [1.0], "north": [1.0]}
    for columns, named in (
        ({**circle, **box}, "west and lon"),
        ({**circle, "geometry": geometry}, "lon and geometry"),
        ({**box, "geometry": geometry}, "west and geometry"),
    ):
        with pytest.raises(InvalidSubscriptionError, match=named):
            subscribed(**columns)
    with pytest.raises(InvalidSubscriptionError, match="'radius_m' is missing"):
        subscribed(lon=[0.0], lat=[0.0])
    with pytest.raises(InvalidSubscriptionError, match="geom"):
        subscribed(geom=geometry)


def test_equal_geometries_are_stored_once() -> None:
    turns = [i * 6.283185307179586 / 500 for i in range(500)]
    ring = [(20 + math.cos(t), math.sin(t)) for t in turns]
    value = shapely.to_wkb(shapely.Polygon(ring))
    one = subscribed(geometry=pa.array([value] * 10)).stats()["store_bytes"]
    many = subscribed(geometry=pa.array([value] * 1000)).stats()["store_bytes"]
    assert many - one < 1000 * 100


@pytest.mark.parametrize("seed", range(20))
def test_mutated_wkb_is_read_or_refused(seed: int) -> None:
    rng = Random(seed)
    for shape in SHAPES:
        for _ in range(50):
            value = bytearray(shapely.to_wkb(shape, byte_order=rng.randrange(2)))
            for _ in range(rng.randint(1, 4)):
                value[rng.randrange(len(value))] = rng.choice(
                    (0, 1, 3, 6, 7, 127, 255, rng.randrange(256))
                )
            if rng.random() < 0.3:
                del value[rng.randrange(len(value)) :]
            matcher = Matcher()
            try:
                matcher.subscribe_table(table(geometry=pa.array([bytes(value)])))
            except InvalidSubscriptionError:
                assert matcher.stats()["subscriptions"] == 0
            else:
                answers(matcher)

"""Geometries of frames, in every form of WKB and as GeoJSON, are the areas that tables have."""

from __future__ import annotations

import json
import struct
from typing import Any

import pyarrow as pa
import pytest

import nearcast as nc
from nearcast.areas import area_from
from nearcast.spark.definitions import subscribe_rows, with_events
from nearcast.spark.geometries import read_geometry

shapely: Any = pytest.importorskip("shapely")

SQUARE = shapely.Polygon(
    [(0, 0), (10, 0), (10, 10), (0, 10)], holes=[[(4, 4), (6, 4), (6, 6), (4, 6)]]
)
FAR = shapely.box(20, 20, 21, 21)
SOLID = shapely.Polygon([(0, 0, 1), (9, 0, 2), (9, 9, 3)])
GEOMETRIES = [
    SQUARE,
    SOLID,
    shapely.MultiPolygon([SQUARE, FAR]),
    shapely.GeometryCollection([SQUARE, shapely.MultiPolygon([FAR])]),
]


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=lambda g: g.geom_type)
def test_every_form_is_the_same_area(geometry) -> None:
    wanted = area_from(read_geometry(shapely.to_wkb(geometry)))
    for order in (0, 1):
        for flavor in ("extended", "iso"):
            wkb = shapely.to_wkb(geometry, byte_order=order, flavor=flavor)
            assert area_from(read_geometry(wkb)) == wanted
    named = shapely.to_wkb(shapely.set_srid(geometry, 4326), include_srid=True)
    assert area_from(read_geometry(named)) == wanted
    if not geometry.has_z:
        assert area_from(read_geometry(shapely.to_geojson(geometry))) == wanted


def test_a_frame_with_geometries_matches_as_a_table_with_them() -> None:
    wkb = [shapely.to_wkb(geometry) for geometry in GEOMETRIES]
    table = pa.table({"id": pa.array(range(len(wkb)), pa.int64()), "geometry": wkb})
    points = [(x / 2, y / 2) for x in range(-2, 44) for y in range(-2, 44)]
    lon, lat = zip(*points, strict=True)
    messages = pa.table(
        {"tokens": pa.array([["a"]] * len(points)), "lon": lon, "lat": lat},
    ).cast(pa.schema([("tokens", pa.list_(pa.string())), ("lon", "float64"), ("lat", "float64")]))
    one, other = nc.Matcher(), nc.Matcher()
    one.subscribe_table(table)
    rows = with_events(table.to_batches()[0], "match")
    subscribe_rows(other, pa.Table.from_batches([rows]))
    found = one.match_table(messages)
    assert found.num_rows
    assert (
        found.sort_by("message").to_pylist()
        == other.match_table(messages).sort_by("message").to_pylist()
    )


@pytest.mark.parametrize(
    "value",
    [
        b"",
        shapely.to_wkb(shapely.Point(1, 2)),
        shapely.to_wkb(SQUARE)[:-1],
        shapely.to_wkb(SQUARE) + b"x",
        shapely.to_wkb(shapely.set_srid(SQUARE, 3857), include_srid=True),
        struct.pack("<BII", 1, 7, 1) * 20,
        struct.pack("<BIII", 1, 3, 1, 2**32 - 1),
        struct.pack("<BI", 1, 9003),
        "no JSON",
        "[]",
    ],
)
def test_what_is_no_area_is_refused(value) -> None:
    with pytest.raises(nc.InvalidSubscriptionError):
        read_geometry(value)


def test_a_row_has_one_area() -> None:
    square = json.loads(shapely.to_geojson(SQUARE))
    row = {"id": 1, "geometry": json.dumps(square), "lon": 1.0, "lat": 1.0, "radius_m": 5.0}
    with pytest.raises(nc.InvalidSubscriptionError, match="one of the two"):
        with_events(pa.RecordBatch.from_pylist([row]), "match")

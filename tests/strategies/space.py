"""Places and areas: few distinct coordinates, so that borders meet.

Circles stay away from distances at which only rounding would decide.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]
Strategy = st.SearchStrategy

_NEAR = (-1, -0.5, 0, 0.1, 0.2, 0.3, 0.5, 1, 2)
longitudes: Strategy[float] = st.one_of(
    st.sampled_from(_NEAR), st.sampled_from((-180, -179.5, -179, 179, 179.5, 180))
)
latitudes: Strategy[float] = st.one_of(st.sampled_from(_NEAR), st.sampled_from((-90, -60, 60, 90)))
coordinates: Strategy[list[float]] = st.tuples(longitudes, latitudes).map(list)
_near_coordinates = st.tuples(st.sampled_from(_NEAR), st.sampled_from(_NEAR)).map(list)


@st.composite
def _bboxes(draw: st.DrawFn) -> list[float]:
    """Draw a box; one in four crosses the antimeridian, equal sides happen by themselves."""
    south, north = sorted((draw(latitudes), draw(latitudes)))
    west, east = sorted((draw(longitudes), draw(longitudes)))
    if draw(st.integers(0, 3)) == 0:
        west, east = east, west
    return [west, south, east, north]


_near_boxes = st.tuples(_near_coordinates, _near_coordinates).map(
    lambda ends: [*map(min, *ends), *map(max, *ends)]
)
bboxes: Strategy[list[float]] = st.one_of(_bboxes(), _near_boxes)

_RADII = (1, 50_000, 60_000, 112_000, 160_000, 1_000_000, 10_100_000, 20_016_000)


@st.composite
def _circles(draw: st.DrawFn) -> Json:
    center = draw(st.one_of(_near_coordinates, coordinates))
    # At a pole all longitudes are one point, but only up to rounding.
    radii = _RADII if abs(center[1]) == 90 else (0, *_RADII)
    return {"type": "Circle", "center": center, "radius_m": draw(st.sampled_from(radii))}


circles: Strategy[Json] = _circles()


def _box_ring(west: float, south: float, east: float, north: float) -> list[list[float]]:
    return [[west, south], [east, south], [east, north], [west, north]]


def _diamond_ring(west: float, south: float, east: float, north: float) -> list[list[float]]:
    lon, lat = (west + east) / 2, (south + north) / 2
    return [[lon, south], [east, lat], [lon, north], [west, lat]]


_rings_in_box = st.sampled_from((_box_ring, _diamond_ring))


@st.composite
def _holed(draw: st.DrawFn) -> list[list[list[float]]]:
    """Draw a box with a hole that lies inside it and may touch its border or fill it."""
    lons = sorted(draw(st.lists(st.sampled_from(_NEAR), min_size=4, max_size=4)))
    lats = sorted(draw(st.lists(st.sampled_from(_NEAR), min_size=4, max_size=4)))
    outer = _box_ring(lons[0], lats[0], lons[3], lats[3])
    return [outer, draw(_rings_in_box)(lons[1], lats[1], lons[2], lats[2])]


@st.composite
def _closed(draw: st.DrawFn, open_rings: list[list[list[float]]]) -> list[list[list[float]]]:
    """Close each ring, turn some around and give some a height."""
    closed = []
    for ring in open_rings:
        turned = ring[::-1] if draw(st.booleans()) else ring
        height: list[float] = [7] if draw(st.integers(0, 7)) == 0 else []
        closed.append([[*at, *height] for at in (*turned, turned[0])])
    return closed


_slanted = st.lists(st.one_of(_near_coordinates, coordinates), min_size=3, max_size=5)
_polygon_rings = st.one_of(
    st.tuples(_rings_in_box, _near_boxes).map(lambda drawn: [drawn[0](*drawn[1])]),
    _slanted.map(lambda ring: [ring]),
    _holed(),
).flatmap(_closed)
polygons: Strategy[Json] = st.one_of(
    _polygon_rings.map(lambda rings: {"type": "Polygon", "coordinates": rings}),
    st.lists(_polygon_rings, min_size=1, max_size=3).map(
        lambda parts: {"type": "MultiPolygon", "coordinates": parts}
    ),
)
simple_areas: Strategy[Any] = st.one_of(bboxes, circles, polygons)


def _feature(geometry: Json) -> Json:
    return {"type": "Feature", "geometry": geometry, "properties": {"name": "x"}}


_collections = st.one_of(
    polygons.map(_feature),
    st.lists(polygons.map(_feature), min_size=1, max_size=2).map(
        lambda features: {"type": "FeatureCollection", "features": features}
    ),
    st.lists(polygons, min_size=1, max_size=3).map(
        lambda parts: {"type": "GeometryCollection", "geometries": parts}
    ),
)
_several = st.one_of(
    st.lists(st.one_of(simple_areas, bboxes), min_size=1, max_size=3),
    st.lists(_near_boxes, min_size=2, max_size=4),
    _collections,
    _collections.map(lambda collection: [collection, [0, 0, 0.5, 0.5]]),
)
areas: Strategy[Any] = st.one_of(simple_areas, simple_areas, _several)
message_places: Strategy[Json] = st.one_of(
    _near_coordinates.map(lambda at: {"at": at}),
    _near_coordinates.map(lambda at: {"at": at}),
    coordinates.map(lambda at: {"at": at}),
    bboxes.map(lambda bbox: {"bbox": bbox}),
)

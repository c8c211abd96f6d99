"""Make the land and borders that the page draws: `python tools/make_outlines.py OUTLINES.geojson`.

The source is a GeoJSON FeatureCollection with two features, `kind` = `land` (MultiPolygon) and
`borders` (MultiLineString), derived from Natural Earth at 1:50 million, which is in the public
domain. What is written are lines as steps in hundredths of a degree, without corners that are no
farther than `TOLERANCE` from the line, and the cities of the demo: a third of the size.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from nearcast.cli.demo_cities import CITIES

OUT = Path(__file__).parents[1] / "src" / "nearcast" / "service" / "page" / "outlines.json"
TOLERANCE = 0.012
"""Degrees; about 1 km."""
LEAST_SPAN = 0.12
"""Islands of less than so many degrees are left out."""

Line = list[list[float]]


def simplified(line: Line) -> Line:
    """Return a line without the corners that nothing is seen of (Douglas and Peucker)."""
    kept = {0, len(line) - 1}
    waiting = [(0, len(line) - 1)]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:
            continue
        places = range(first + 1, last)
        far, place = max((_distance(line[i], line[first], line[last]), i) for i in places)
        if far > TOLERANCE:
            kept.add(place)
            waiting += [(first, place), (place, last)]
    return [line[i] for i in sorted(kept)]


def _distance(point: list[float], a: list[float], b: list[float]) -> float:
    (x, y), (ax, ay), (bx, by) = point, a, b
    length = (bx - ax) ** 2 + (by - ay) ** 2
    share = 0.0 if length == 0 else ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length
    share = min(1.0, max(0.0, share))
    return float(((x - ax - share * (bx - ax)) ** 2 + (y - ay - share * (by - ay)) ** 2) ** 0.5)


def steps(line: Line) -> list[int]:
    """Return a line as whole steps, the first one from (0, 0)."""
    found: list[int] = []
    lon = lat = 0
    for point in line:
        x, y = round(point[0] * 100), round(point[1] * 100)
        found += [x - lon, y - lat]
        lon, lat = x, y
    return found


def _is_seen(ring: Line) -> bool:
    lons, lats = [point[0] for point in ring], [point[1] for point in ring]
    return max(max(lons) - min(lons), max(lats) - min(lats)) >= LEAST_SPAN


def main(source: str) -> None:
    """Write the file."""
    kinds = {
        feature["properties"]["kind"]: feature["geometry"]["coordinates"]
        for feature in json.loads(Path(source).read_text())["features"]
    }
    rings = [ring for polygon in kinds["land"] for ring in polygon if _is_seen(ring)]
    content = {
        "origin": "Natural Earth 1:50m, public domain; made by tools/make_outlines.py",
        "land": [steps(simplified(ring)) for ring in rings],
        "borders": [steps(simplified(line)) for line in kinds["borders"]],
        "cities": CITIES,
    }
    OUT.write_text(json.dumps(content, separators=(",", ":"), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])

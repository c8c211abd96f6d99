"""`Hub`: who would be reached, what was subscribed, and why a message matches."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import numpy as np
import pytest
from hub_events import BOX, EARTH_M, HERE

import nearcast as nc

# ---- questions ------------------------------------------------------------------------------


def test_matching_is_a_dry_run() -> None:
    hub = nc.Hub(window=nc.Window(count=5))
    hub.subscribe("s", keywords="tea", area=BOX)
    before = hub.stats()
    assert hub.match("Tea!", at=HERE) == ["s"]
    assert hub.match(["tea"], bbox=(2, 2, 3, 3)) == ["s"]
    assert hub.match("tea", at=(5, 5)) == []
    assert (hub.stats(), hub.clock) == (before, 0)


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (["x", 1], {"at": HERE}, "neither a text nor tokens"),
        ("x", {}, "no place"),
        ("x", {"at": HERE, "bbox": BOX}, "two places"),
        ("x", {"at": (0, 91)}, "at: latitude of point is out of range"),
    ],
)
def test_a_question_about_a_wrong_message_is_refused(hub, text, place, said) -> None:
    with pytest.raises(nc.InvalidMessageError, match=said):
        hub.match(text, **place)


RING = ((0.0, 0.0), (9.0, 0.0), (9.0, 9.0), (0.0, 0.0))
HOLE = ((5.0, 1.0), (6.0, 1.0), (6.0, 2.0), (5.0, 1.0))
AREAS = [
    None,
    nc.Bbox(0, 0, 2, 2),
    nc.Bbox(170, -10, -170, 10),
    nc.Bbox(-180, -90, 180, 90),
    nc.Bbox(1, 1, 1, 1),
    nc.Circle((-73.98, 40.75), 800),
    nc.Circle((180, 90), 0),
    nc.Polygon((RING,)),
    nc.Polygon((RING, HOLE)),
    nc.MultiPolygon((nc.Polygon((RING, HOLE)), nc.Polygon((HOLE,)))),
]


@pytest.mark.parametrize("area", AREAS, ids=lambda area: type(area).__name__)
def test_a_subscription_comes_back_as_it_was_given(area) -> None:
    hub = nc.Hub()
    hub.subscribe("s", keywords="Tea AND (free OR sale) -decaf OR jazz", area=area)
    found = hub.subscription("s")
    assert (found.id, found.mode, found.area) == ("s", "match", area)
    again = nc.Hub()
    again.subscribe("s", keywords=found.keywords, area=found.area)
    place = (0.0, 0.0) if area is None or isinstance(area, nc.Bbox) else (1.0, 1.0)
    for text in ("tea free", "tea sale", "tea sale decaf", "jazz decaf", "tea", "free"):
        assert hub.match(text, at=place) == again.match(text, at=place)
    hub.subscribe("moved", keywords="x", area=BOX)
    if area is not None:
        hub.move("moved", area=area)
        assert hub.subscription("moved") == nc.Definition("moved", "match", "x", area)


def test_a_subscription_without_keywords_or_that_never_matches_comes_back_as_such(hub) -> None:
    hub.subscribe("place", area=BOX)
    hub.subscribe("never", keywords="a -a")
    assert hub.subscription("place") == nc.Definition("place", "match", area=nc.Bbox(*BOX))
    assert hub.subscription("never").area is None


@pytest.mark.parametrize("id_", ["none", "", 5, None, "\ud800"])
def test_a_subscription_that_is_not_there_is_unknown(hub, id_) -> None:
    with pytest.raises(nc.UnknownIdError, match=re.escape(repr(id_))):
        hub.subscription(id_)
    with pytest.raises(nc.UnknownIdError):
        hub.explain(id_, "x", at=HERE)


# ---- explanations ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "text", "said"),
    [
        ("tea", "Tea!", "match: has tea; inside the area"),
        ("tea free", "free", "no match: lacks tea; inside the area"),
        ("free sale tea", "x", "no match: lacks free, sale, tea; inside the area"),
        ("tea -decaf", "decaf tea", "no match: has the excluded decaf; inside the area"),
        ("tea -decaf", "Decaf", "no match: lacks tea and has the excluded decaf; inside the area"),
        (
            "(tea free) OR (tea sale new)",
            "free",
            "no match: lacks tea (best of 2 alternatives); inside the area",
        ),
        ("tea OR jazz", "jazz", "match: has jazz; inside the area"),
        (None, "x", "match: inside the area"),
    ],
)
def test_an_explanation_says_what_is_missing(keywords, text, said) -> None:
    hub = nc.Hub()
    hub.subscribe("s", keywords=keywords, area=BOX)
    explanation = hub.explain("s", text, at=HERE)
    assert str(explanation) == said
    assert explanation.matches == (hub.match(text, at=HERE) == ["s"])
    assert explanation.outside_m == 0


def test_an_explanation_says_nothing_of_an_area_that_is_not_there() -> None:
    hub = nc.Hub()
    hub.subscribe("s", keywords="tea")
    assert str(hub.explain("s", "tea", at=(180, 90))) == "match: has tea"


def test_an_explanation_of_keywords_and_area_has_both(hub) -> None:
    assert str(hub.explain("s", "tea", at=(2.001, 1))) == (
        "no match: has tea; 111 m outside the area"
    )
    assert str(hub.explain("s", "x", at=(3, 1))) == (
        "no match: lacks tea; 111.2 km outside the area"
    )


@pytest.mark.parametrize("text", [None, 5, b"tea", ["tea"]])
def test_an_explanation_needs_a_text(hub, text) -> None:
    with pytest.raises(nc.InvalidMessageError, match="text is not a string"):
        hub.explain("s", text, at=HERE)


def sphere(points):
    lon, lat = np.radians(np.asarray(points, float)).T
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)


def border(ring, steps=400):
    """Points all along a ring."""
    share = np.linspace(0, 1, steps)[:, None]
    edges = [(np.asarray(a), np.asarray(b)) for a, b in pairwise(ring)]
    return np.concatenate([a * (1 - share) + b * share for a, b in edges])


def box_ring(west, south, east, north):
    if west <= east:
        return border([(west, south), (east, south), (east, north), (west, north), (west, south)])
    halves = [box_ring(west, south, 180, north), box_ring(-180, south, east, north)]
    return np.concatenate(halves)


def true_distance(area, place):
    """The least distance of many points of both borders, by chords."""
    here = sphere([place] if len(place) == 2 else box_ring(*place)[::7])
    if isinstance(area, nc.Circle):
        there, less = sphere([area.center]), area.radius_m
    elif isinstance(area, nc.Bbox):
        there, less = sphere(box_ring(area.west, area.south, area.east, area.north)), 0
    else:
        parts = [area] if isinstance(area, nc.Polygon) else area.polygons
        there = sphere(np.concatenate([border(r) for part in parts for r in part.rings]))
        less = 0
    chord = min(np.linalg.norm(there - point, axis=1).min() for point in here)
    return 2 * EARTH_M * math.asin(chord / 2) - less


BIG_HOLE = ((1.0, 1.0), (8.0, 1.0), (8.0, 8.0), (1.0, 8.0), (1.0, 1.0))
HOLLOW = nc.Polygon((((0, 0), (9, 0), (9, 9), (0, 9), (0, 0)), BIG_HOLE))
FRANCE = nc.Polygon((((-4, 48), (2, 51), (8, 49), (7, 43), (-1, 43), (-4, 48)),))
FIJI = nc.MultiPolygon(
    (
        nc.Polygon((((177, -19), (180, -19), (180, -16), (177, -16), (177, -19)),)),
        nc.Polygon((((-180, -19), (-179, -19), (-179, -16), (-180, -16), (-180, -19)),)),
    )
)
LONDON = nc.Circle((-0.12, 51.5), 20_000)


@pytest.mark.parametrize(
    ("area", "place"),
    [
        (nc.Bbox(0, 0, 2, 2), (3, 1)),
        (nc.Bbox(0, 0, 2, 2), (3, 4)),
        (nc.Bbox(0, 50, 10, 60), (-20, 55)),
        (nc.Bbox(0, 50, 10, 60), (-20, 20, -15, 56)),
        (nc.Bbox(0, 50, 10, 60), (2, 61, 3, 62)),
        (nc.Bbox(0, 50, 10, 60), (-80, 57)),
        (nc.Bbox(0, 50, 10, 60), (-50, 20, 50, 40)),
        (nc.Bbox(-10, -10, 10, 10), (90, 80)),
        (nc.Bbox(170, -10, 175, 10), (-179, 5)),
        (nc.Bbox(-175, -10, -170, 10), (160, 5)),
        (nc.Bbox(170, -10, -170, 10), (165, 0)),
        (nc.Bbox(170, -10, -170, 10), (-160, 30)),
        (nc.Bbox(170, -10, -170, 10), (-165, 0, -160, 5)),
        (nc.Bbox(160, -10, 165, 10), (175, 0, -175, 5)),
        (nc.Bbox(-170, -10, -165, 10), (170, 20, -179, 25)),
        (nc.Bbox(-180, 60, 180, 70), (0, 50)),
        (nc.Bbox(-180, 60, 180, 70), (33, 89.5)),
        (LONDON, (2.35, 48.85)),
        (LONDON, (-0.12, 51.8)),
        (LONDON, (1, 50, 3, 53)),
        (nc.Circle((179.5, 0), 1000), (-179.5, 0)),
        (nc.Circle((179.5, 0), 1000), (-180, -1, -179, 1)),
        (nc.Circle((-179.5, 10), 1000), (170, 0, 178, 20)),
        (nc.Circle((0, 89.9), 1000), (180, 89.9)),
        (FRANCE, (-0.12, 51.5)),
        (FRANCE, (20, 46)),
        (FRANCE, (3, 42.9)),
        (FRANCE, (9, 44, 12, 46)),
        (HOLLOW, (4, 5)),
        (HOLLOW, (1.01, 5)),
        (HOLLOW, (3, 3, 5, 7.5)),
        (HOLLOW, (20, 20)),
        (FIJI, (-178, -17)),
        (FIJI, (175, -17)),
        (FIJI, (-170, -30)),
        (FIJI, (-178, -17, -177, -16)),
    ],
    ids=lambda value: str(value)[:45],
)
def test_how_far_outside_is_right_to_five_per_cent(area, place) -> None:
    hub = nc.Hub()
    hub.subscribe("s", area=area)
    where = {"at": place} if len(place) == 2 else {"bbox": place}
    explanation = hub.explain("s", "x", **where)
    assert not explanation.matches
    assert explanation.outside_m == pytest.approx(true_distance(area, place), rel=0.05)


def test_what_is_outside_is_never_called_inside(hub) -> None:
    """For boxes and polygons -180 and 180 are different numbers, though the same meridian."""
    hub.subscribe("edge", area=[-180, 0, -170, 1])
    explanation = hub.explain("edge", "x", at=(180, 0.5))
    assert not explanation.matches
    assert str(explanation) == "no match: 0 m outside the area"


def test_a_kind_of_top_lists_that_does_not_exist_is_refused() -> None:
    with pytest.raises(nc.InvalidParameterError, match="one of auto"):
        nc.Hub(topk="best")


def test_parameters_of_top_lists_are_checked_and_saved(tmp_path) -> None:
    with pytest.raises(nc.InvalidParameterError, match="most_short"):
        nc.Hub(topk_parameters={"most_short": 0})
    nc.Hub(topk_parameters={"most_short": 3, "kernels": "plain"}).save(tmp_path / "hub")
    assert b"@top.most_short\tn\t3\n" in (tmp_path / "hub").read_bytes()
    assert len(nc.Hub.open(tmp_path / "hub")) == 0


def test_a_list_of_keywords_comes_back_with_what_is_excepted() -> None:
    hub = nc.Hub()
    hub.subscribe("s", keywords=["tea", "green cup"], except_=[0, 0, 1, 1])
    definition = hub.subscription("s")
    assert definition.keywords == ("tea", "green cup")
    assert definition.except_ == nc.Bbox(0, 0, 1, 1)

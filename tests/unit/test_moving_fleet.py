"""Objects stay on roads, keep to their speed and take the shortest way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from roads import distances_to_roads, square, times_from_everywhere

from nearcast.bench.workloads.moving.draws import Draws
from nearcast.bench.workloads.moving.fleet import SPEED_SECONDS, SPEEDS, Fleet
from nearcast.bench.workloads.moving.network import CLASS_SPEED
from nearcast.bench.workloads.moving.routes import NO_ARC, find_routes
from nearcast.bench.workloads.moving.town import make_town
from nearcast.bench.workloads.streams import Stream
from nearcast.errors import InvalidParameterError

EXACT = 1e-9


@pytest.fixture(scope="module")
def town():
    return make_town(5, side=10)


@pytest.fixture(scope="module")
def routes(town):
    return find_routes(town, seed=5, destinations=12)


@pytest.fixture(scope="module")
def times(routes):
    """The least time from every node to every node that is a destination, by another way."""
    network = routes.network
    return {node: times_from_everywhere(network, node) for node in routes.destinations.tolist()}


# ---- routes ---------------------------------------------------------------------------------


def test_destinations_are_distinct_and_belong_to_the_seed(town, routes) -> None:
    chosen = routes.destinations.tolist()
    assert len(set(chosen)) == 12
    assert find_routes(town, 5, 12).destinations.tolist() == chosen
    assert find_routes(town, 6, 12).destinations.tolist() != chosen


@pytest.mark.parametrize(("asked", "found"), [(1, 2), (3, 3), (99, 4)])
def test_there_are_two_destinations_at_least_and_all_nodes_at_most(asked, found) -> None:
    assert len(find_routes(square(), 1, asked).destinations) == found


def test_times_are_those_of_an_independent_search(routes, times) -> None:
    for row, node in enumerate(routes.destinations.tolist()):
        assert routes.times[row] == pytest.approx(times[node], rel=EXACT)


def test_following_the_arcs_takes_the_least_time(routes, times) -> None:
    network = routes.network
    tails, heads = network.arc_tails(), network.arc_heads()
    arc_times = np.repeat(network.lengths / CLASS_SPEED**network.classes, 2)
    for row, destination in enumerate(routes.destinations.tolist()):
        for start in range(len(network.points)):
            node, taken = start, 0.0
            while node != destination:
                arc = routes.next_arcs[row, node]
                assert tails[arc] == node
                node, taken = heads[arc], taken + arc_times[arc]
            assert taken == pytest.approx(times[destination][start], rel=EXACT)
        assert routes.next_arcs[row, destination] == NO_ARC


def test_a_fast_detour_is_shorter_than_a_slow_street() -> None:
    network = square()
    nodes = {tuple(point): node for node, point in enumerate(network.points.tolist())}
    routes = find_routes(network, 1, 4)
    row = routes.destinations.tolist().index(nodes[1.0, 1.0])
    # From the corner below left both ways have two edges; the upper road is the fast one.
    first = network.arc_heads()[routes.next_arcs[row, nodes[0.0, 0.0]]]
    assert first == nodes[0.0, 1.0]


# ---- movement -------------------------------------------------------------------------------


def time_to_go(fleet, network, times):
    """Return how far each object is from its destination, in time on class 0 at speed 1."""
    arc_times = np.repeat(network.lengths / CLASS_SPEED**network.classes, 2)
    ends = network.arc_heads()[fleet.arcs]
    rest = (1 - fleet.fractions()) * arc_times[fleet.arcs]
    ways = [times[d][e] for d, e in zip(fleet.destinations.tolist(), ends.tolist(), strict=True)]
    return rest + np.array(ways)


@pytest.mark.parametrize("speed", [*SPEEDS, "mixed", 0.5])
def test_objects_are_on_roads(town, routes, speed) -> None:
    fleet = Fleet(routes, 200, 1, speed)
    for _ in range(20):
        assert distances_to_roads(town, fleet.points()).max() < EXACT
        assert ((fleet.fractions() >= 0) & (fleet.fractions() <= 1)).all()
        fleet.advance(30)


@pytest.mark.parametrize("speed", [*SPEEDS, "mixed", 0.5])
def test_nobody_comes_further_than_speed_times_time(routes, speed) -> None:
    fleet = Fleet(routes, 500, 1, speed)
    before = fleet.points()
    for seconds in [30.0] * 30 + [0.1, 7.0, 1_000.0]:
        fleet.advance(seconds)
        after = fleet.points()
        moved = np.linalg.norm(after - before, axis=1)
        assert (moved <= fleet.speeds * seconds * (1 + EXACT)).all()
        before = after


def test_speed_on_an_edge_is_that_of_the_object_times_that_of_the_class(town, routes) -> None:
    fleet = Fleet(routes, 2_000, 1, "mixed")
    seen = set()
    for _ in range(20):
        arcs, before = fleet.arcs.copy(), fleet.points()
        fleet.advance(2)
        stayed = fleet.arcs == arcs
        moved = np.linalg.norm(fleet.points() - before, axis=1)[stayed]
        classes = town.classes[arcs[stayed] // 2]
        allowed = fleet.speeds[stayed] * CLASS_SPEED**classes * 2
        assert moved == pytest.approx(allowed, rel=1e-6)
        seen |= set(classes.tolist())
    assert seen == {0, 2, 4}


@pytest.mark.parametrize("speed", [*SPEEDS, "mixed"])
def test_objects_begin_in_the_direction_of_the_shortest_way(town, routes, times, speed) -> None:
    fleet = Fleet(routes, 300, 2, speed)
    edges = fleet.arcs // 2
    arc_times = (town.lengths / CLASS_SPEED**town.classes)[edges]
    done = fleet.fractions() * arc_times
    back_to = town.arc_tails()[fleet.arcs]
    pairs = zip(fleet.destinations.tolist(), back_to.tolist(), strict=True)
    turning = done + np.array([times[d][node] for d, node in pairs])
    assert (time_to_go(fleet, town, times) <= turning + EXACT).all()


@pytest.mark.parametrize("speed", [*SPEEDS, "mixed"])
def test_whoever_has_not_arrived_comes_nearer_by_just_the_time_that_passed(
    town, routes, times, speed
) -> None:
    fleet = Fleet(routes, 300, 3, speed)
    under_way = 0
    for _ in range(30):
        goals, before = fleet.destinations, time_to_go(fleet, town, times)
        fleet.advance(15)
        same = (before > fleet.speeds * 15 + EXACT) & (fleet.destinations == goals)
        after = time_to_go(fleet, town, times)
        assert after[same] == pytest.approx(before[same] - fleet.speeds[same] * 15, abs=EXACT)
        under_way += same.sum()
    assert under_way > 300


def test_whoever_arrives_sets_out_for_somewhere_else(town, routes, times) -> None:
    fleet = Fleet(routes, 300, 4, "fast")
    arrivals = 0
    for _ in range(20):
        goals, before = fleet.destinations, time_to_go(fleet, town, times)
        is_near = (before < fleet.speeds * 4) & (before > EXACT)
        fleet.advance(4)
        assert (fleet.destinations[is_near] != goals[is_near]).all()
        rest = fleet.speeds * 4 - before
        for row in np.flatnonzero(is_near):
            way = times[fleet.destinations[row]][goals[row]]
            expected = way - rest[row]
            assert time_to_go(fleet, town, times)[row] == pytest.approx(expected, abs=1e-8)
        arrivals += is_near.sum()
    assert arrivals > 20


def test_time_may_pass_in_pieces(routes) -> None:
    whole, pieces = Fleet(routes, 300, 1), Fleet(routes, 300, 1)
    for _ in range(20):
        whole.advance(30)
        for seconds in (4, 11, 15):
            pieces.advance(seconds)
        assert pieces.points() == pytest.approx(whole.points(), abs=1e-8)


def test_the_same_seed_moves_alike_however_many_move(routes) -> None:
    few, many, others = Fleet(routes, 50, 9), Fleet(routes, 400, 9), Fleet(routes, 50, 10)
    for _ in range(30):
        assert np.array_equal(few.points(), many.points()[:50])
        assert not np.array_equal(few.points(), others.points())
        for fleet in (few, many, others):
            fleet.advance(30)


def test_classes_are_shares_of_the_extent_in_half_a_minute(town, routes) -> None:
    classes: list[tuple[Any, float]] = list(SPEEDS.items())
    for name, share in classes:
        speeds = Fleet(routes, 3, 1, name).speeds
        assert speeds * SPEED_SECONDS == pytest.approx([share * town.extent] * 3)
    assert Fleet(routes, 2, 1, 3.0).speeds == pytest.approx(3 * Fleet(routes, 2, 1).speeds)
    mixed = Fleet(routes, 3_000, 1, "mixed").speeds
    found, counts = np.unique(mixed, return_counts=True)
    assert found * SPEED_SECONDS == pytest.approx(np.array(list(SPEEDS.values())) * town.extent)
    assert counts == pytest.approx([1_000] * 3, rel=0.1)


@pytest.mark.parametrize("speed", ["quick", 0.0, -1.0, float("nan"), float("inf")])
def test_what_is_no_speed_is_refused(routes, speed) -> None:
    with pytest.raises(
        InvalidParameterError, match=r"speed is not one: got .* wanted slow, medium"
    ):
        Fleet(routes, 1, 1, speed)


def test_an_empty_fleet_moves_too(routes) -> None:
    fleet = Fleet(routes, 0, 1)
    fleet.advance(30)
    assert fleet.points().shape == (0, 2)


# ---- draws ----------------------------------------------------------------------------------


def test_draws_are_even_and_do_not_depend_on_each_other() -> None:
    draws = Draws(1, Stream.OBJECTS)
    rows = np.arange(20_000)
    first, second = draws.unit(rows, 0), draws.unit(rows, 1)
    assert np.array_equal(first[7:9], draws.unit(np.array([7, 8]), 0))
    for drawn in (first, second):
        assert np.bincount((drawn * 10).astype(int), minlength=10) == pytest.approx(2_000, rel=0.1)
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.03
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 0.03
    assert draws.below(3, rows, 5).max() == 2
    numbers = np.where(rows % 2 == 0, 0, 1)
    assert np.array_equal(draws.unit(rows, numbers), np.where(numbers == 0, first, second))

"""A moving workload has the numbers, places and lives that its plan says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from roads import distances_to_roads

from nearcast.bench.workloads.groups import Group
from nearcast.bench.workloads.moving.fleet import Fleet
from nearcast.bench.workloads.moving.network import make_network
from nearcast.bench.workloads.moving.routes import find_routes
from nearcast.bench.workloads.moving.town import make_town
from nearcast.bench.workloads.moving.workload import NEAR, POSITIONS, MovingPlan, MovingWorkload
from nearcast.bench.workloads.presets import WORLD, find_preset
from nearcast.bench.workloads.scenario import PresetSource
from nearcast.bench.workloads.space import shrink
from nearcast.errors import InvalidParameterError

SOURCE = PresetSource(find_preset("places"), 2)
PLAN = MovingPlan(objects=120, messages=37, steps=6, life_steps=4, destinations=8)


@pytest.fixture(scope="module")
def town():
    return make_town(2, side=12)


@pytest.fixture(scope="module")
def workload(town):
    return MovingWorkload(SOURCE, town, PLAN)


def columns(table, *names):
    return np.column_stack([table.column(name).to_numpy() for name in names])


def boxes(table):
    return columns(table, "west", "south", "east", "north")


# ---- objects --------------------------------------------------------------------------------


def test_objects_have_the_keywords_of_the_source(workload) -> None:
    made = SOURCE.subscriptions(120)
    subscriptions = workload.subscriptions()
    assert subscriptions.column_names == made.column_names
    assert subscriptions.column("id").to_pylist() == list(range(120))
    assert subscriptions.column("keywords").to_pylist() == made.column("keywords").to_pylist()


def test_areas_are_the_given_share_of_the_space_around_the_positions(workload) -> None:
    tables = [workload.subscriptions(), *(step.moved for step in workload.steps())]
    for table, batch in zip(tables, workload.positions(), strict=True):
        west, south, east, north = boxes(table).T
        lon, lat = columns(batch, "lon", "lat").T
        assert ((west <= lon) & (lon <= east) & (south <= lat) & (lat <= north)).all()
        shares = (east - west) * (north - south) / (360 * 180)
        inside = (west > -180) & (south > -90) & (east < 180) & (north < 90)
        assert inside.sum() > 80
        assert shares[inside] == pytest.approx(1e-4)
        assert (shares <= 1e-4 * (1 + 1e-9)).all()


def test_positions_are_those_of_a_fleet_stretched_to_the_world(workload, town) -> None:
    fleet = Fleet(find_routes(town, 2, 8), 120, 2)
    batches = list(workload.positions())
    for step, batch in enumerate(batches):
        assert batch.schema == POSITIONS
        assert set(batch.column("step").to_pylist()) == {step}
        assert batch.column("object").to_pylist() == list(range(120))
        unit = shrink(fleet.points(), town.space)
        assert shrink(columns(batch, "lon", "lat"), WORLD) == pytest.approx(unit)
        fleet.advance(30)
    assert len(batches) == 7


def test_objects_move(workload) -> None:
    first, *_, last = workload.steps()
    assert (first.number, first.time, last.number, last.time) == (1, 30.0, 6, 180.0)
    assert (boxes(first.moved) != boxes(last.moved)).any(axis=1).mean() > 0.9


def test_mobility_is_the_share_of_objects_that_report(town) -> None:
    plan = replace(PLAN, objects=2_000, mobility=0.2)
    workload = MovingWorkload(SOURCE, town, plan)
    all_steps = list(MovingWorkload(SOURCE, town, replace(plan, mobility=1.0)).steps())
    reported = []
    for step, whole in zip(workload.steps(), all_steps, strict=True):
        ids = step.moved.column("id").to_numpy()
        assert len(ids) == pytest.approx(400, rel=0.15)
        assert np.array_equal(boxes(step.moved), boxes(whole.moved)[ids])
        reported.append(set(ids.tolist()))
    assert len(reported[0] & reported[1]) == pytest.approx(80, rel=0.4)


def test_a_larger_workload_begins_with_the_smaller_one(town, workload) -> None:
    larger = MovingWorkload(SOURCE, town, replace(PLAN, objects=150))
    for few, many in zip(workload.steps(), larger.steps(), strict=True):
        assert few.moved.equals(many.moved.slice(0, 120))
        assert few.published.equals(many.published)


def test_tables_are_the_same_each_time_and_others_for_another_seed(town, workload) -> None:
    other = MovingWorkload(PresetSource(SOURCE.preset, 3), town, PLAN)
    assert workload.subscriptions().equals(workload.subscriptions())
    assert workload.messages().equals(workload.messages())
    assert not other.subscriptions().equals(workload.subscriptions())
    assert not other.messages().equals(workload.messages())
    for one, again in zip(workload.steps(), workload.steps(), strict=True):
        assert one.moved.equals(again.moved)
        assert one.published.equals(again.published)


# ---- messages -------------------------------------------------------------------------------


@pytest.mark.parametrize(("messages", "life_steps"), [(37, 4), (3, 10), (0, 5), (50, 1), (40, 10)])
def test_as_many_messages_live_after_each_step_as_before_the_first(
    town, messages, life_steps
) -> None:
    plan = replace(PLAN, messages=messages, life_steps=life_steps, steps=25)
    workload = MovingWorkload(SOURCE, town, plan)
    live = workload.messages().column("expires").to_pylist()
    count = messages
    for step in workload.steps():
        assert step.first_message == count
        count += step.published.num_rows
        expires = step.published.column("expires").to_pylist()
        assert set(expires) <= {step.time + life_steps * 30.0}
        live = [time for time in live if time > step.time] + expires
        assert len(live) == messages


def test_messages_are_those_of_the_source_one_after_the_other(workload) -> None:
    rows = pa.concat_tables(
        [
            workload.history(),
            *(
                table.drop_columns("expires")
                for table in (workload.messages(), *(s.published for s in workload.steps()))
            ),
        ]
    )
    made = SOURCE.messages(rows.num_rows, Group())
    assert rows.column("tokens").to_pylist() == made.column("tokens").to_pylist()


def test_messages_are_on_the_roads_or_near_them(workload, town) -> None:
    points = columns(workload.history(), "lon", "lat")
    square = make_network(
        shrink(town.points, town.space), town.tails, town.heads, None, town.classes
    )
    distances = distances_to_roads(square, shrink(points, WORLD))
    assert distances.max() <= NEAR * np.sqrt(2) * (1 + 1e-9)
    assert distances.mean() > NEAR / 10
    west, south, east, north = WORLD
    assert ((points >= [west, south]) & (points <= [east, north])).all()


# ---- space and plan -------------------------------------------------------------------------


def test_a_network_in_degrees_stays_where_it_is_unless_told(town) -> None:
    points = np.array([13.3, 52.4]) + 0.2 * town.points
    city = make_network(points, town.tails, town.heads, is_geographic=True)
    workload = MovingWorkload(SOURCE, city, PLAN)
    first, *_ = workload.positions()
    assert distances_to_roads(city, columns(first, "lon", "lat")).max() < 1e-9
    told = MovingWorkload(SOURCE, city, PLAN, (0.0, 0.0, 1.0, 2.0))
    for batch in told.positions():
        lon, lat = columns(batch, "lon", "lat").T
        assert (lon.min() >= 0, lon.max() <= 1, lat.min() >= 0, lat.max() <= 2) == (True,) * 4


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("objects", -1),
        ("messages", -1),
        ("steps", -1),
        ("step_seconds", 0.0),
        ("step_seconds", float("nan")),
        ("step_seconds", float("inf")),
        ("life_steps", 0),
        ("area_share", 1.5),
        ("area_share", float("nan")),
        ("mobility", -0.1),
        ("destinations", 1),
        ("speed", "quick"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(field, value) -> None:
    with pytest.raises(InvalidParameterError, match=f"{field} is .*: got .*, wanted") as raised:
        replace(PLAN, **{field: value})
    assert raised.value.field == field

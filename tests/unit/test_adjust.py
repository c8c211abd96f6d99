"""Splitting and merging by load: no pair is lost, the busy become less busy, others stay."""

from __future__ import annotations

import numpy as np
import pytest

import nearcast as nc
from nearcast.bench.workloads.generate import messages, subscriptions
from nearcast.bench.workloads.presets import find_preset
from nearcast.partition import ADJUSTABLE, adjust_plan, make_plan, measure_plan, wants_of_table

PRESET = find_preset("tweets")
TABLE = subscriptions(PRESET, 2_000, seed=1)
WANTS = wants_of_table(TABLE)
SAMPLE = messages(PRESET, 1_000, seed=1)
LATER = messages(PRESET, 500, seed=1, first=1_000)
PARTITIONS = 6


def cost(plan):
    report = measure_plan(plan, WANTS, TABLE["id"], SAMPLE)
    return np.array(report.subscriptions) * np.array(report.messages, np.float64)


def lopsided(mechanism):
    """Return a plan for subscriptions and messages of one corner only."""
    lon = SAMPLE["lon"].to_numpy()
    here = SAMPLE.filter(lon < np.quantile(lon, 0.1))
    rare = wants_of_table(TABLE.slice(0, 100))
    return make_plan(mechanism, PARTITIONS, rare if mechanism == "location" else WANTS, here)


@pytest.mark.parametrize("mechanism", ADJUSTABLE)
def test_what_was_busiest_is_split_and_nothing_is_lost(mechanism) -> None:
    plan = lopsided(mechanism)
    before = cost(plan)
    adjusted, steps = adjust_plan(plan, before, WANTS, SAMPLE)
    assert steps
    assert steps[0][0] == before.argmax()
    assert adjusted.partitions == plan.partitions
    assert cost(adjusted).max() < before.max()
    # Each pair of a match meets in a partition.
    placed, routed = adjusted.place(WANTS, TABLE["id"]), adjusted.route(LATER)
    matcher = nc.Matcher()
    matcher.subscribe_table(TABLE)
    rows = {id_: row for row, id_ in enumerate(TABLE["id"].to_pylist())}
    found = matcher.match_table(LATER).to_pylist()
    assert found
    for pair in found:
        assert (placed[rows[pair["subscription"]]] & routed[pair["message"]]).any()


@pytest.mark.parametrize("mechanism", ADJUSTABLE)
def test_partitions_that_are_not_concerned_keep_what_they_have(mechanism) -> None:
    plan = make_plan(mechanism, PARTITIONS, WANTS, SAMPLE)
    loads = [1.0, 1.0, 5.0] + [1.0] * (PARTITIONS - 3)
    adjusted, steps = adjust_plan(plan, loads, WANTS, SAMPLE)
    concerned = {number for step in steps for number in step}
    assert len(steps) >= 1
    before, after = (p.place(WANTS, TABLE["id"]) for p in (plan, adjusted))
    for partition in set(range(PARTITIONS)) - concerned:
        assert (before[:, partition] == after[:, partition]).all()
    assert (before != after).any()


@pytest.mark.parametrize("mechanism", ["keyword", "prefix"])
def test_words_that_came_after_the_plan_are_counted_and_moved(mechanism) -> None:
    early = wants_of_table(TABLE.slice(0, 20))
    plan = make_plan(mechanism, PARTITIONS, early, SAMPLE)
    before = cost(plan)
    loads = [10.0] + [1.0] * (PARTITIONS - 1)
    adjusted, steps = adjust_plan(plan, loads, WANTS, SAMPLE)
    assert steps[0][0] == 0
    assert set(WANTS.words.to_pylist()) <= set(adjusted.words.to_pylist())
    assert cost(adjusted)[0] < 0.6 * before[0]


def test_leaves_still_are_the_world() -> None:
    plan = lopsided("location")
    adjusted, _ = adjust_plan(plan, cost(plan), WANTS, SAMPLE)
    west, south, east, north = adjusted.leaves[0].T
    assert np.isclose(((east - west) * (north - south)).sum(), 360 * 180)


@pytest.mark.parametrize("mechanism", ADJUSTABLE)
def test_even_loads_change_nothing(mechanism) -> None:
    plan = make_plan(mechanism, PARTITIONS, WANTS, SAMPLE)
    assert adjust_plan(plan, [1.0] * PARTITIONS, WANTS, SAMPLE) == (plan, [])


def test_what_cannot_be_adjusted_is_said() -> None:
    with pytest.raises(nc.InvalidParameterError, match="cannot be adjusted"):
        adjust_plan(make_plan("hash", 2, WANTS, SAMPLE), [1, 2], WANTS, SAMPLE)
    with pytest.raises(nc.InvalidParameterError, match="do not fit"):
        adjust_plan(make_plan("prefix", 2, WANTS, SAMPLE), [1], WANTS, SAMPLE)

"""What the verdicts of the papers' experiments say, on numbers made up for it."""

from __future__ import annotations

import pytest

from nearcast.bench.paper.claims import HOLDS, IN_PART, NOT_HERE, judge
from nearcast.bench.paper.experiment import MEASURES
from nearcast.bench.paper.statements import (
    BestAt,
    Between,
    Growth,
    NotHere,
    NotMuchBetter,
    Order,
    PanelRatio,
    PeakInside,
    Ratio,
    Steady,
    Trend,
    Within,
    first,
)
from nearcast.bench.plots import Line, Panel


def panel(title="a: one", measure="match_us", xs=(1.0, 2.0, 4.0), **lines):
    drawn = tuple(
        Line(name, tuple(None if v is None else (v, v * 0.9, v * 1.1) for v in values))
        for name, values in lines.items()
    )
    return Panel(title, "x", MEASURES[measure], xs, drawn)


def word(claims, *panels):
    return judge(claims, panels).word


FAST_FIRST = panel(fast=(1, 2, 3), middle=(2, 3, 4), slow=(5, 6, 7))
ONE_IS_OFF = panel(fast=(1, 2, 9), middle=(2, 3, 4), slow=(5, 6, 7))
TURNED_ROUND = panel(fast=(9, 9, 9), middle=(4, 4, 4), slow=(1, 1, 1))


@pytest.mark.parametrize(
    ("given", "expected"),
    [(FAST_FIRST, HOLDS), (ONE_IS_OFF, IN_PART), (TURNED_ROUND, NOT_HERE)],
    ids=["holds", "in part", "not"],
)
def test_an_order_holds_at_all_points_at_some_or_at_none(given, expected) -> None:
    claims = (Order(("fast", "middle", "slow")),)
    verdict = judge(claims, [given])
    assert verdict.word == expected
    assert bool(verdict.reason) == (expected != HOLDS)


def test_a_reason_has_the_numbers_and_why_if_that_is_known() -> None:
    verdict = judge((Order(("fast", "middle")),), [ONE_IS_OFF], "Because the sky is blue")
    assert verdict.reason == (
        "fast is before middle at 2 of 3 points, not in (a); middle is 1.5× fast. "
        "Because the sky is blue"
    )
    assert judge((Order(("fast", "middle")),), [FAST_FIRST], "unused").reason == ""


def test_a_tie_is_no_order() -> None:
    tied = panel(a=(100, 100), b=(102, 102), xs=(1.0, 2.0))
    assert word(first("a", "b"), tied) == NOT_HERE
    assert word(first("a", "b"), panel(a=(100,), b=(104,), xs=(1.0,))) == HOLDS


def test_where_more_is_better_the_larger_one_is_first() -> None:
    rates = panel(measure="messages_per_s", a=(200, 300), b=(100, 100), xs=(1.0, 2.0))
    assert word(first("a", "b"), rates) == HOLDS
    assert word((Ratio("a", "b", 2),), rates) == HOLDS
    assert word((Ratio("b", "a", 2),), rates) == NOT_HERE


def test_a_statement_is_about_the_panels_it_names() -> None:
    other = panel("b: two", fast=(9, 9, 9), middle=(4, 4, 4), slow=(1, 1, 1))
    assert word((Order(("fast", "slow"), "a"),), FAST_FIRST, other) == HOLDS
    assert word((Order(("fast", "slow"), "b"),), FAST_FIRST, other) == NOT_HERE
    assert word((Order(("fast", "slow")),), FAST_FIRST, other) == IN_PART


@pytest.mark.parametrize(
    ("ratio", "expected"), [(12, HOLDS), (10, HOLDS), (3, IN_PART), (0.5, NOT_HERE)]
)
def test_a_ratio_may_be_reached_or_not_or_the_wrong_way_round(ratio, expected) -> None:
    given = panel(a=(1, 1, 1), b=(ratio, ratio, ratio))
    assert word((Ratio("a", "b", 10),), given) == expected


def test_a_ratio_may_be_about_one_point_only() -> None:
    given = panel(xs=("TWEETS", "GN"), a=(1, 1), b=(1, 30))
    assert word((Ratio("a", "b", 30, at="GN"),), given) == HOLDS
    assert word((Ratio("a", "b", 30, at="TWEETS"),), given) == NOT_HERE


@pytest.mark.parametrize(
    ("values", "expected"), [((1, 2, 4), HOLDS), ((1, 1, 1), NOT_HERE), ((1, 4, 16), NOT_HERE)]
)
def test_growth_is_the_power_between_the_ends(values, expected) -> None:
    assert word((Growth("a", 0.9, 1.1),), panel(a=values)) == expected


def test_trends_steadiness_peaks_and_limits() -> None:
    rising, falling = panel(a=(1, 3, 2)), panel(a=(3, 9, 1))
    assert word((Trend("a", rises=True),), rising) == HOLDS
    assert word((Trend("a", rises=True),), falling) == NOT_HERE
    assert word((Trend("a", rises=False),), falling) == HOLDS
    assert word((Steady("a", 3),), rising) == HOLDS
    assert word((Steady("a", 2.9),), rising) == NOT_HERE
    assert word((PeakInside("a"),), rising) == HOLDS
    assert word((PeakInside("a"),), panel(a=(1, 2, 3))) == NOT_HERE
    assert word((Within("a", 1, 3),), rising) == HOLDS
    assert word((Within("a", 2, 3),), rising) == IN_PART


def test_the_best_point_may_be_off_by_a_tenth() -> None:
    given = panel(xs=(50.0, 200.0, 800.0), a=(10, 10.9, 20))
    assert word((BestAt("a", 200),), given) == HOLDS
    assert word((BestAt("a", 800),), given) == NOT_HERE


def test_a_value_between_two_others() -> None:
    given = panel(low=(1, 1, 1), a=(1, 2, 4), high=(3, 3, 3))
    assert word((Between("low", "a", "high"),), given) == IN_PART
    assert word((Between("low", "high", "a"),), given) == IN_PART
    assert word((Between("low", "low", "high"),), given) == HOLDS


def test_not_much_better_than_the_best_of_others() -> None:
    rates = panel(measure="messages_per_s", a=(110, 300, 90), b=(100, 90, 80), c=(50, 100, 100))
    assert word((NotMuchBetter("a", ("b", "c"), 1.2),), rates) == IN_PART
    assert word((NotMuchBetter("a", ("b", "c"), 3),), rates) == HOLDS
    times = panel(a=(9, 9, 9), b=(10, 10, 10), c=(90, 90, 90))
    assert word((NotMuchBetter("a", ("b", "c"), 1.2),), times) == HOLDS


def test_panels_compared_with_each_other() -> None:
    panels = (panel("a: x", a=(100, 100, 100)), panel("d: y", a=(10, 20, 30)))
    assert word((PanelRatio("a", "a", "d", 5),), *panels) == HOLDS
    assert word((PanelRatio("a", "a", "d", 6),), *panels) == IN_PART
    assert word((PanelRatio("a", "d", "a", 2),), *panels) == NOT_HERE


def test_what_cannot_be_shown_here_never_holds_and_says_so() -> None:
    claims = (NotHere("Elaps is not here"), Order(("fast", "slow")), Order(("middle", "slow")))
    verdict = judge(claims, [FAST_FIRST])
    assert (verdict.word, verdict.reason) == (IN_PART, "Elaps is not here")


def test_points_that_were_not_measured_do_not_count() -> None:
    given = panel(a=(1, None, 3), b=(2, 3, 4))
    assert word((Order(("a", "b")),), given) == HOLDS
    assert word((Growth("a", 0.5, 1),), given) == HOLDS

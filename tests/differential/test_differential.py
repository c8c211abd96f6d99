"""Cases shaped to cross the core's thresholds give the answers of the reference, in every kind.

The seeds are fixed; `make fuzz` draws others, in processes that may die of them.
"""

from __future__ import annotations

from typing import Any

import pytest
from differential.cases import Difference, written
from differential.drivers import DRIVERS, schedule
from differential.shrinking import shrink

# Logs are drawn with and without a window, which a hub without one warns of.
pytestmark = pytest.mark.filterwarnings("ignore::nearcast.KeepsNothingWarning")

SEEDS = range(2)
KINDS = {
    "match": 6,
    "rank": 4,
    "hub": 8,
    "silence": 5,
    "top stream": 8,
}  # besides our own, per case: each kind meets some
SHRINKING_SECONDS = 20.0
TAKEN = {driver: schedule(driver, SEEDS, KINDS[driver]) for driver in DRIVERS}


@pytest.mark.parametrize(
    ("driver", "profile", "seed"),
    [(driver, profile, seed) for driver, taken in TAKEN.items() for profile, seed in taken],
)
def test_all_kinds_answer_like_the_reference(driver: str, profile: str, seed: int) -> None:
    use = DRIVERS[driver]
    case = use.make(profile, seed)
    expected = use.expect(case)
    assert use.size(expected) > 0
    for variant in TAKEN[driver][profile, seed]:

        def fails(smaller: dict[str, Any], variant: object = variant) -> bool:
            try:
                use.run(smaller, use.expect(smaller), variant)
            except Difference:
                return True
            return False

        try:
            use.run(case, expected, variant)
        except Difference as wrong:
            least = shrink(case, fails, SHRINKING_SECONDS)
            pytest.fail(f"{driver} {profile!r} {seed} {variant}: {wrong}\n{written(least)}")


@pytest.mark.parametrize("driver", DRIVERS)
def test_each_kind_meets_a_case(driver: str) -> None:
    use = DRIVERS[driver]
    known = {repr(v) for profile in use.profiles for v in use.variants(profile)}
    assert {repr(v) for variants in TAKEN[driver].values() for v in variants} == known

"""Logs through the command line give the changes of the oracle; long runs: `differential.logs`."""

from __future__ import annotations

import pytest
from differential.logs import compare


@pytest.mark.parametrize("seed", range(6))
def test_a_replayed_log_gives_the_changes_of_the_oracle(seed: int) -> None:
    problem, counted = compare(seed)
    assert problem is None
    assert counted["events"] > 0

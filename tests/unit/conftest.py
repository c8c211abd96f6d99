"""A hub and a matcher with a little in them."""

from __future__ import annotations

import pytest
from match_tables import BOX, table

import nearcast as nc


@pytest.fixture
def three():
    matcher = nc.Matcher()
    matcher.subscribe_table(
        table(["tea", "free tea", "box"], [["tea"], ["free", "tea"], None], [None, BOX, BOX])
    )
    return matcher


@pytest.fixture
def hub():
    hub = nc.Hub()
    hub.subscribe("s", keywords="tea", area=BOX)
    return hub

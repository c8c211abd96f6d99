"""The cases of the short run meet each threshold of docs/thresholds.md below, at and above.

A new row of that page fails here until a case has such sizes, or a reason stands below.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from differential.drivers import DRIVERS
from differential.sizes_met import Sizes
from differential.test_differential import SEEDS

pytestmark = pytest.mark.xdist_group("thresholds")  # the sizes are collected once

PAGE = (Path(__file__).parents[2] / "docs" / "thresholds.md").read_text(encoding="utf-8")
SECTIONS = ("## Groups and portions", "## Nodes, blocks")
_ROW = re.compile(r"^\| (\S+\.(?:h|cpp)) \| `(.+?)` \| ([^|]+) \| [^|]* \|$", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w<(])(\d[\d']*)(?![\w'])(?! *<<)")

# Sizes under which the cases know what the page calls otherwise.
SAME_AS = {"children": "subscriptions"}
# Sizes that a case of this length cannot have, or that are no numbers of things.
BEYOND = {
    "bytes": "sizes of memory: tests/unit/test_snapshot.py",
    "vocabulary": "tens of thousands of words: too long for a short run",
    "terms": "65,535 pairs of alpha and threshold: too long for a short run",
}
NOT_A_COUNT = {
    "kAhead": "a distance of prefetching, which changes no way; met by all lists",
    "kBits": "bits of a filter, which more tokens fill",
    "kFinest": "a number of levels",
    "kSplitBits": "bits of a coordinate",
    "kFinerFrom": "corners of one polygon: cpp/tests/unit/polygons.cpp",
    "kMaxDepth": "a depth, met with equal boxes and small nodes",
    "kMaxDepthOfFew": "a depth, met with equal boxes and small nodes",
    "kDeepestLevel": "a depth, met with equal boxes and small nodes",
    "kLookAhead": "a depth, met with equal boxes and small nodes",
    "kMaxCells": "cells of a sample of messages",
    "kSegments": "stretches of an axis",
    "kTicks": "ends of ranges: cpp/tests/unit/ranges.cpp",
    "kMarks": "marks of keywords: cpp/tests/unit/ranges.cpp",
    "kManyLists": "lists that share a mark: cpp/tests/unit/ranges.cpp",
    "filed ==": "ranges of one attribute: cpp/tests/unit/ranges.cpp",
    "kGrown": "a multiple of k",
    "kMost": "a multiple of k",
    "kMaxLooks": "boxes of one node, or cells of one search: too many for a short run",
    "kMaxRounds": "messages per round of moves",
    "max_depth": "a depth, met with equal boxes and small nodes",
    '"cells"': "cells of a grid",
}
MOST = 8192  # what a short run can have of anything


def thresholds() -> list[tuple[str, str, str, int]]:
    """Return (file, code, size, value) of each row that a case can meet."""
    found = []
    for part in PAGE.split("\n## ")[1:]:
        if not any(f"## {part}".startswith(section) for section in SECTIONS):
            continue
        for file, code, size in _ROW.findall(part):
            name = SAME_AS.get(size.strip(), size.strip())
            if name in BEYOND or any(word in code for word in NOT_A_COUNT):
                continue
            values = {int(number.replace("'", "")) for number in _NUMBER.findall(code)}
            found += [(file, code, name, v) for v in sorted(values) if 1 < v <= MOST]
    return found


@pytest.fixture(scope="module")
def sizes() -> Sizes:
    met = Sizes()
    for use in DRIVERS.values():
        for seed in SEEDS:
            for profile in use.profiles:
                met.take(use.make(profile, seed))
    return met


def test_each_threshold_is_met_below_at_and_above(sizes: Sizes) -> None:
    rows = thresholds()
    assert len(rows) > 40
    missed = []
    for file, code, size, value in rows:
        met = sizes.met[size]
        around = (any(s < value for s in met), value in met, any(s > value for s in met))
        if not all(around):
            missed.append((file, code, size, value, around))
    assert not missed, "\n".join(map(str, missed))


@pytest.mark.parametrize("size", ["words", "batch", "corners", "clauses", "tokens"])
def test_sizes_that_users_choose_are_large_too(sizes: Sizes, size: str) -> None:
    least = {"words": 1999, "batch": 60, "corners": 399, "clauses": 64, "tokens": 8191}
    assert max(sizes.met[size]) >= least[size]

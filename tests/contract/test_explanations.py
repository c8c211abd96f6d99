"""What `Hub.explain` says agrees with what `Hub.match` answers, part by part."""

from __future__ import annotations

import random
from typing import Any

import pytest

import nearcast as nc

WORDS = ("a", "b", "ab", "abc", "c")
KEYWORDS = (
    "a",
    "a b",
    "a OR b",
    "-a",
    "a -b",
    '"a b"',
    '-"a b" c',
    "ab*",
    "c -ab*",
    '(a OR "b c") -(ab* c)',
    "a -a",
    "NOT (a OR b)",
)
WHERES = (
    "x = 1",
    "x != 1",
    "x < 2",
    "NOT x <= 1",
    "x EXISTS",
    "t = 'u'",
    "t != 'u'",
    "t IN ('u', 'v') OR x > 1",
    "NOT (x = 1 AND t = 'u')",
    "f = TRUE",
)
AREAS = ([0, 0, 2, 2], nc.Circle((1, 1), 200_000))
ATTRIBUTES: tuple[dict[str, Any], ...] = (
    {},
    {"x": 1},
    {"x": 2, "t": "u"},
    {"x": 1, "t": ["u", "w"], "f": True},
    {"t": "v", "f": False},
)


@pytest.mark.parametrize("stop_words", [(), ("b",)], ids=["all", "stopped"])
def test_all_parts_hold_if_and_only_if_the_message_matches(stop_words: tuple[str, ...]) -> None:
    rng = random.Random(14)
    hub = nc.Hub(analyzer=nc.Analyzer(stop_words=stop_words))
    drawn = 0
    while drawn < 60:
        fields: dict[str, Any] = {
            "keywords": rng.choice((None, *KEYWORDS)),
            "where": rng.choice((None, *WHERES)),
            "area": rng.choice((None, *AREAS)),
            "except_": rng.choice((None, None, [1, 1, 3, 3])),
        }
        if fields["area"] is None and fields["where"] is None:
            continue
        drawn += 1
        hub.subscribe(f"s{drawn}", **fields)
    for _ in range(40):
        text = " ".join(rng.choices(WORDS, k=rng.randrange(5)))
        message: dict[str, Any] = {
            "at": (rng.choice((0.5, 1, 2, 5)), 1),
            "attributes": rng.choice(ATTRIBUTES),
        }
        matched = set(hub.match(text, **message))
        for number in range(1, drawn + 1):
            told = hub.explain(f"s{number}", text, **message)
            assert told.matches == (f"s{number}" in matched)
            assert told.matches == all(reason.holds for reason in told.reasons), (text, str(told))
            assert all(reason.text for reason in told.reasons)

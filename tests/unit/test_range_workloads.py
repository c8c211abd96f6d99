"""Workloads of messages with numbers and subscriptions with ranges."""

from __future__ import annotations

import re

import pytest

from nearcast import Matcher
from nearcast.bench.workloads.groups import find_group
from nearcast.bench.workloads.presets import find_preset
from nearcast.bench.workloads.ranges import (
    HIGHEST,
    NAMES,
    NARROW,
    WIDE,
    WORDS,
    FrequentRangeSource,
    NumberedSource,
    RangeSource,
)
from nearcast.bench.workloads.scenario import PresetSource

PLAIN = PresetSource(find_preset("tweets"), 3)
GROUP = find_group("short-point")


def _bounds(where: str) -> tuple[str, float, float]:
    low, high = 0.0, HIGHEST
    found = re.findall(r"(\w+) ([<>]=) ([\d.]+)", where)
    for _, order, number in found:
        low, high = (float(number), high) if order == ">=" else (low, float(number))
    return found[0][0], low, high


@pytest.mark.parametrize(("source", "widest"), [(RangeSource, WIDE), (FrequentRangeSource, NARROW)])
def test_each_subscription_has_one_range_that_is_as_narrow_as_said(
    source: type[RangeSource], widest: float
) -> None:
    found = [_bounds(text) for text in source(PLAIN).subscriptions(900)["where"].to_pylist()]
    assert {name for name, _, _ in found} == set(NAMES)
    assert all(0 <= high - low <= widest * HIGHEST + 0.01 for _, low, high in found)
    one_sided = [low == 0 or high == HIGHEST for _, low, high in found]
    assert 0.4 < sum(one_sided) / len(found) < 0.6


def test_all_messages_have_all_numbers() -> None:
    rows = NumberedSource(PLAIN).messages(50, GROUP)["attributes"].to_pylist()
    assert all(set(row) == set(NAMES) for row in rows)
    assert all(0 <= number <= HIGHEST for row in rows for number in row.values())


def test_frequent_words_are_in_messages_and_subscriptions_alike() -> None:
    source = FrequentRangeSource(PLAIN)
    said = [
        set(tokens) & set(WORDS) for tokens in source.messages(400, GROUP)["tokens"].to_pylist()
    ]
    assert min(map(len, said)) >= 1
    wanted = source.subscriptions(400)
    assert {tuple(words) for words in wanted["keywords"].to_pylist()} == {(word,) for word in WORDS}
    assert "west" not in wanted.schema.names


@pytest.mark.parametrize("source", [NumberedSource, RangeSource, FrequentRangeSource])
def test_rows_do_not_depend_on_how_many_there_are(source: type[NumberedSource]) -> None:
    made = source(PLAIN)
    assert made.subscriptions(30).to_pylist()[20:] == made.subscriptions(10, first=20).to_pylist()
    messages = made.messages(30, GROUP).to_pylist()
    assert messages[20:] == made.messages(10, GROUP, first=20).to_pylist()


@pytest.mark.parametrize("source", [RangeSource, FrequentRangeSource])
def test_auto_and_brute_force_answer_alike(source: type[NumberedSource]) -> None:
    made = source(PLAIN)
    answers = []
    for kind in ("auto", "brute-force"):
        matcher = Matcher(kind)
        matcher.subscribe_table(made.subscriptions(3000))
        found = matcher.match_table(made.messages(300, GROUP)).to_pydict()
        answers.append(sorted(zip(found["message"], found["subscription"], strict=True)))
    assert answers[0] == answers[1]
    assert answers[0]

"""`nearcast generate --alerts`: everything that alerts may say, the same for the same seed."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from bench_calls import call

from nearcast.cli import generate
from nearcast.events import Advance, Publish, Subscribe, Unsubscribe, read_event
from nearcast.expressions import Phrase, Prefix, leaves
from nearcast.hub import Hub


def made(capsys, what, *options):
    assert call(generate, "generate", what, "--alerts", *options) == 0
    return capsys.readouterr().out.splitlines()


def test_subscriptions_say_all_that_one_may_say(capsys) -> None:
    lines = made(capsys, "subscriptions", "--count", 400)
    events = [event for event in map(read_event, lines) if isinstance(event, Subscribe)]
    assert [event.id for event in events] == [f"s{i}" for i in range(400)]
    said = Counter[str]()
    for event in events:
        kinds = {type(leaf) for leaf in leaves(event.keywords)} if event.keywords else set()
        said["phrase"] += Phrase in kinds
        said["prefix"] += Prefix in kinds
        said["expression"] += isinstance(event.said_keywords, str)
        said["where"] += event.where is not None
        said["where alone"] += event.keywords is None and event.area is None
        said["except"] += event.except_ is not None
        said[type(event.area).__name__] += 1
    least = {"phrase", "prefix", "expression", "where", "except", "Bbox", "Circle", "NoneType"}
    assert all(said[name] > 10 for name in least), said
    assert len(said.keys() - least) >= 2  # several areas, and where alone


def test_messages_have_attributes_of_every_type(capsys) -> None:
    lines = made(capsys, "messages", "--count", 100)
    events = [event for event in map(read_event, lines) if isinstance(event, Publish)]
    types = {(name, type(v)) for event in events for name, v in (event.attributes or {}).items()}
    assert types == {
        *(("price", float), ("rooms", float), ("type", str), ("pets", bool), ("features", tuple)),
    }


@pytest.mark.parametrize("what", ["messages", "subscriptions"])
def test_a_row_depends_on_its_place_and_the_seed_only(what, capsys) -> None:
    whole = made(capsys, what, "--count", 1_100, "--seed", 3)
    assert made(capsys, what, "--count", 60, "--first", 1_000, "--seed", 3) == whole[1_000:1_060]
    assert made(capsys, what, "--count", 5, "--seed", 4) != whole[:5]


def test_a_log_replays_without_errors(capsys) -> None:
    options = ["--count", 1_500, "--subscriptions", 300, "--preset", "zipf"]
    lines = made(capsys, "events", *options)
    assert lines == made(capsys, "events", *options)
    events = [read_event(line) for line in lines]
    kinds = Counter(type(event) for event in events)
    assert kinds.keys() == {Subscribe, Publish, Unsubscribe, Advance}
    assert kinds[Publish] == pytest.approx(1_200, rel=0.1)
    replaced = Counter(type(event) for event in events if getattr(event, "replace", False))
    assert replaced[Subscribe] > 40
    assert replaced[Publish] > 100
    reasons = set(Hub().apply(lines).column("reason").to_pylist())
    assert "published" in reasons


def test_without_the_option_nothing_is_different(capsys) -> None:
    assert call(generate, "generate", "events", "--count", 50) == 0
    fields = [set(json.loads(line)) for line in capsys.readouterr().out.splitlines()]
    assert set().union(*fields) == {"op", "id", "keywords", "area", "text", "at", "time"}


@pytest.mark.parametrize("more", [["--expressions"], ["--format", "parquet", "--out", "x"]])
def test_what_alerts_are_not_is_wrong_usage(more, capsys) -> None:
    assert call(generate, "generate", "subscriptions", "--alerts", *more) == 2
    assert "--alerts are events of their own" in capsys.readouterr().err

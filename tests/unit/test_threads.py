"""Threads ask while others change: every answer is that of some moment, and all get their turn.

Progress is counted in steps, never in seconds: see `crew`.
"""

from __future__ import annotations

import sys
import threading
import time
from itertools import count, cycle
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pytest
from crew import HastySwitching, StuckError, together

import nearcast as nc

KINDS = [kind.name for kind in nc.indexes() if not kind.stands_for]
WORDS = [f"w{i}" for i in range(12)]
WEST, EAST = (-5.0, 0.0), (5.0, 0.0)


@pytest.fixture(autouse=True)
def hasty_switching():
    with HastySwitching():
        yield


def subscriptions(prefix, count_, seed):
    dice = np.random.default_rng(seed)
    words = [[str(w) for w in dice.choice(WORDS, dice.integers(1, 3))] for _ in range(count_)]
    west, south = dice.uniform(-10, 5, (2, count_))
    return pa.table(
        {
            "id": [f"{prefix}{i}" for i in range(count_)],
            "keywords": words,
            "west": west,
            "south": south,
            "east": west + 5,
            "north": south + 5,
        }
    )


def messages(count_, seed, *, coded=False):
    dice = np.random.default_rng(seed)
    words = [[str(w) for w in dice.permutation(WORDS)[:5]] for _ in range(count_)]
    lon, lat = dice.uniform(-10, 10, (2, count_))
    if not coded:
        return pa.table({"text": [" ".join(row) for row in words], "lon": lon, "lat": lat})
    lists = pa.array(words)
    tokens = pa.ListArray.from_arrays(lists.offsets, lists.values.dictionary_encode())
    return pa.table({"tokens": tokens, "lon": lon, "lat": lat})


def pairs(found):
    return sorted(zip(*(column.to_pylist() for column in found.columns), strict=True))


def publications(first, count_):
    """Return events whose times are their numbers."""
    return [
        {"op": "publish", "id": f"m{i}", "text": "x", "at": [0, 0], "time": i}
        for i in range(first, first + count_)
    ]


# ---- what a crew is worth -------------------------------------------------------------------


def test_the_error_of_one_thread_ends_all_and_is_raised() -> None:
    def fail() -> NoReturn:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        together((lambda: None, 10**9), (fail, 1))


def test_a_thread_that_hangs_is_named_and_not_waited_for() -> None:
    forever = threading.Event()
    with pytest.raises(StuckError, match="stuck"):
        together((forever.wait, 1), guard_s=0.2)
    forever.set()


# ---- answers --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_threads_that_only_match_get_the_answer_of_one(kind) -> None:
    matcher = nc.Matcher(kind)
    matcher.subscribe_table(subscriptions("s", 400, 1))
    batches = [messages(60, seed, coded=seed % 2 == 0) for seed in range(4)]
    expected = [pairs(matcher.match_table(batch)) for batch in batches]
    assert all(expected)

    def match_all() -> None:
        assert [pairs(matcher.match_table(batch)) for batch in batches] == expected

    together(*[(match_all, 5)] * 4)


@pytest.mark.parametrize("kind", KINDS)
def test_what_does_not_change_is_always_found_and_what_is_found_matches(kind) -> None:
    matcher = nc.Matcher(kind)
    stable, passing = subscriptions("s", 300, 1), subscriptions("t", 200, 2)
    matcher.subscribe_table(stable)
    batch = messages(40, 3)
    always = set(pairs(matcher.match_table(batch)))
    matcher.subscribe_table(passing)
    possible = set(pairs(matcher.match_table(batch)))
    matcher.unsubscribe_table(passing["id"])
    assert always < possible
    half, rows = passing.slice(0, 100), cycle(passing.slice(100).to_pylist())

    def write_tables() -> None:
        matcher.subscribe_table(half)
        matcher.unsubscribe_table(half["id"])

    def write_singly() -> None:
        row = next(rows)
        area = [row[side] for side in ("west", "south", "east", "north")]
        matcher.subscribe(row["id"], keywords=row["keywords"], area=area)
        matcher.subscribe(f"{row['id']} new word", keywords=[row["id"]], area=area)
        matcher.unsubscribe(row["id"])
        matcher.unsubscribe(f"{row['id']} new word")

    def read():
        found = pairs(matcher.match_table(batch))
        assert len(set(found)) == len(found)
        assert always <= set(found) <= possible
        return len(found)

    def has_seen_change(answers):
        return len(answers) >= 10 and max(answers) > len(always)

    together((write_tables, 20), (write_singly, 100), (read, has_seen_change), (read, 10))
    assert set(pairs(matcher.match_table(batch))) == always
    assert len(matcher) == 300
    matcher.check_invariants()


def test_a_batch_sees_one_state() -> None:
    matcher = nc.Matcher()
    both = pa.table({"id": ["t1", "t2"], "keywords": [["x"], ["x", "y"]]})
    batch = pa.table({"text": ["y x"] * 300, "lon": [0.0] * 300, "lat": [0.0] * 300})
    states = {(), tuple((row, id_) for row in range(300) for id_ in ("t1", "t2"))}

    def write() -> None:
        matcher.subscribe_table(both)
        matcher.unsubscribe_table(["t1", "t2"])

    def read():
        found = tuple(pairs(matcher.match_table(batch)))
        assert found in states
        return len(found)

    together((write, 200), *[(read, lambda seen: set(seen) == {0, 600})] * 2)


def test_threads_with_different_dictionaries_do_not_mix_them_up() -> None:
    matcher = nc.Matcher()
    matcher.subscribe_table(pa.table({"id": WORDS, "keywords": [[word] for word in WORDS]}))

    def match(words):
        plain = pa.array([[word] for word in words])
        tokens = pa.ListArray.from_arrays(plain.offsets, plain.values.dictionary_encode())
        messages = pa.table(
            {"tokens": tokens, "lon": [0.0] * len(words), "lat": [0.0] * len(words)}
        )
        expected = [{"message": row, "subscription": word} for row, word in enumerate(words)]

        def step() -> None:
            assert matcher.match_table(messages).to_pylist() == expected

        return step

    together((match(WORDS), 1000), (match(WORDS[::-1]), 1000))


def test_words_that_become_known_are_found_from_then_on() -> None:
    matcher = nc.Matcher()
    words = [f"new{i}" for i in range(300)]
    lists = pa.array([[word] for word in words])
    tokens = pa.ListArray.from_arrays(lists.offsets, lists.values.dictionary_encode())
    batch = pa.table({"tokens": tokens, "lon": [0.0] * 300, "lat": [0.0] * 300})
    fresh = iter(words)
    subscribed = []

    def write() -> None:
        if word := next(fresh, None):
            matcher.subscribe(word, keywords=[word])
            subscribed.append(word)

    def read():
        before = len(subscribed)
        found = matcher.match_table(batch)["message"].to_pylist()
        assert len(found) >= before
        return len(found)

    together((write, 300), *[(read, lambda seen: bool(seen) and seen[-1] == 300)] * 2)


# ---- hubs: one state per question -----------------------------------------------------------


def test_an_explanation_is_of_one_moment() -> None:
    hub = nc.Hub()
    hub.subscribe("s", keywords="x", area=[-9, -9, -1, 9])
    sides = cycle([[1, -9, 9, 9], [-9, -9, -1, 9]])

    def write() -> None:
        hub.move("s", area=next(sides))

    def read():
        told = hub.explain("s", "x", at=WEST)
        text = str(told)
        assert told.matches == ("outside" not in text), text
        return told.matches

    together((write, 500), *[(read, lambda seen: {True, False} <= set(seen))] * 3)


def test_ids_of_all_modes_are_those_of_subscribers_while_others_come_and_go() -> None:
    hub = nc.Hub()
    long = "one whose id is too long to be stored in place, of number "
    numbers = count()

    def write() -> None:
        number = next(numbers)
        ids = [f"{long}{number}", f"{long}{number} that ranks"]
        hub.subscribe(ids[0], keywords="x", area=[-9, -9, 9, 9])
        hub.subscribe(
            ids[1], mode="rank", keywords="x", area=[-9, -9, 9, 9], alpha=0.5, threshold=0.1
        )
        for id_ in ids:
            hub.unsubscribe(id_)

    def read():
        found = hub.match("x", at=EAST)
        assert all(id_.startswith(long) for id_ in found)
        assert len(found) <= 2
        return len(found)

    together((write, 300), *[(read, lambda seen: len(seen) > 100 and max(seen) == 2)] * 2)


def test_what_a_subscription_is_and_holds_is_whole_or_unknown() -> None:
    hub = nc.Hub(window=nc.Window(count=50))
    hub.apply(publications(0, 50))
    words = [f"alongwordthatisnotstoredinplace{i}" for i in range(40)]
    turns = count()

    def write() -> None:
        number = next(turns)
        keywords = f"x OR {words[number % 40]}"
        hub.subscribe("s", keywords=keywords, live=number % 2 == 0)
        hub.unsubscribe("s")

    def read() -> str:
        try:
            said = hub.subscription("s").keywords
            assert isinstance(said, str)
            assert len(said.split(" OR ")) == 2
            assert set(said.split(" OR ")) <= {"x", *words}
            assert len(hub.results("s")) == 50
        except nc.UnknownIdError:
            return "unknown"
        except nc.UnsupportedError:
            return "holds nothing"
        return "whole"

    def has_seen_all(seen):
        return {"unknown", "holds nothing", "whole"} <= set(seen)

    together((write, 200), (read, has_seen_all), (read, has_seen_all))


def test_sizes_are_of_one_moment() -> None:
    hub = nc.Hub(window=nc.Window(count=10_000))

    def write() -> None:
        hub.apply(publications(len(marks), 50))
        marks.extend([None] * 50)

    marks: list[None] = []

    def read():
        now = hub.stats()
        assert now["live_messages"] <= 10_000
        assert len(hub) == 0
        assert ("s" in hub) is False
        return now["live_messages"]

    _, seen = together((write, 20), (read, lambda seen: len(set(seen)) > 2))
    assert seen == sorted(seen)


def test_events_of_several_threads_are_applied_once_each_and_batches_stay_together() -> None:
    hub = nc.Hub(window=nc.Window(count=10_000))
    hub.subscribe("all", keywords="x")
    numbers = count()

    def publish():
        number = next(numbers)
        changes = hub.apply(
            [
                {"op": "publish", "id": "the only one", "text": "x", "at": [0, 0]},
                {"op": "publish", "id": f"m{number}", "text": "x", "at": [0, 0]},
                {"op": "retract", "id": "the only one"},
            ]
        )
        return changes.num_rows

    def churn() -> None:
        number = next(numbers)
        hub.subscribe(f"s{number}", keywords="y")
        hub.move(f"s{number}", area=[0, 0, 1, 1])
        assert "all" in hub.match("x", at=(0, 0))
        hub.unsubscribe(f"s{number}")

    first, second, _ = together((publish, 100), (publish, 100), (churn, 100))
    assert set(first) == set(second) == {2}
    assert hub.stats()["live_messages"] == len(first) + len(second)
    assert len(hub) == 1


def test_promises_of_several_threads_are_all_taken() -> None:
    hub = nc.Hub(window=nc.Window(count=10), safe_region=True)
    numbers = count()
    made: list[str] = []
    taken: list[str] = []

    def subscribe() -> None:
        id_ = f"s{next(numbers)}"
        hub.subscribe(id_, keywords="x", area=[0, 0, 1, 1], live=True)
        made.append(id_)

    def take() -> None:
        taken.extend(promise.subscription for promise in hub.take_promises())

    together((subscribe, 100), (subscribe, 100), (take, 100))
    take()
    assert sorted(taken) == sorted(made)


# ---- snapshots ------------------------------------------------------------------------------


def test_a_snapshot_taken_while_others_write_is_one_state(tmp_path) -> None:
    matcher = nc.Matcher()
    matcher.subscribe_table(subscriptions("s", 300, 1))
    both = pa.table({"id": ["t1", "t2"], "keywords": [["x"], ["x"]]})
    numbers = count()

    def write() -> None:
        matcher.subscribe_table(both)
        matcher.unsubscribe_table(["t1", "t2"])

    def save() -> None:
        path = tmp_path / str(next(numbers))
        matcher.save(path)
        opened = nc.Matcher.open(path)
        opened.check_invariants()
        assert len(opened) in (300, 302)
        assert len(opened.match("x", at=(0, 0))) == len(opened) - 300

    together((write, 50), (save, 20))


def test_a_hub_is_saved_between_batches_while_others_ask(tmp_path) -> None:
    hub = nc.Hub(window=nc.Window(count=100_000))
    hub.subscribe("s", keywords="x", live=True)
    numbers = count()

    def write() -> None:
        hub.apply(publications(20 * next(numbers) + 1, 20))

    def save() -> None:
        path = tmp_path / "hub"
        hub.save(path)
        opened = nc.Hub.open(path)
        assert opened.stats()["live_messages"] == opened.clock
        assert opened.clock % 20 == 0
        assert len(opened.results("s")) == opened.clock

    together((write, 50), (save, 10), (lambda: hub.match("x", at=EAST), 50))


def test_threads_that_save_to_one_path_leave_a_whole_snapshot(tmp_path) -> None:
    small, large = nc.Matcher(), nc.Matcher()
    small.subscribe("s", keywords="x")
    large.subscribe_table(subscriptions("s", 5000, 1))
    path = tmp_path / "snapshot"

    def save(matcher):
        def step() -> None:
            matcher.save(path)
            assert len(nc.Matcher.open(path)) in (1, 5000)

        return step

    together((save(small), 10), (save(large), 10))
    assert list(tmp_path.iterdir()) == [path]


# ---- turns ----------------------------------------------------------------------------------


def test_readers_that_never_pause_do_not_starve_a_writer_of_a_matcher_nor_it_them() -> None:
    matcher = nc.Matcher("brute-force")  # so that nearly all of the time is under the lock
    matcher.subscribe_table(subscriptions("s", 3000, 1))
    batch = messages(200, 3)

    def write() -> None:
        matcher.subscribe("t", keywords="w1")
        matcher.unsubscribe("t")

    together((write, 20), *[(lambda: matcher.match_table(batch), 5)] * 4)


def test_questions_that_never_pause_do_not_starve_a_writer_of_a_hub_nor_it_them() -> None:
    hub = nc.Hub()
    hub.apply([{"op": "subscribe", "id": f"s{i}", "keywords": "x"} for i in range(300)])

    def write() -> None:
        hub.subscribe("t", keywords="y")
        hub.unsubscribe("t")

    together((write, 200), *[(lambda: hub.match("x", at=EAST), 200)] * 4)


def test_a_long_batch_lets_questions_through_at_the_border_of_events() -> None:
    hub = nc.Hub(window=nc.Window(count=1_000_000))
    hub.apply([{"op": "subscribe", "id": f"s{i}", "keywords": "x"} for i in range(200)])
    size, numbers, seen = 2000, count(), []

    def write() -> None:
        number = next(numbers)
        assert number < 200, "no question was answered within any batch"
        hub.apply(publications(number * size + 1, size))

    def read():
        clock, live = hub.clock, hub.stats()["live_messages"]
        assert clock <= live  # one message a second, and the questions came in this order
        seen.append(clock % size)
        return clock % size

    together((write, 1), (read, lambda _: sum(map(bool, seen)) >= 3))


def test_waiting_for_a_change_does_not_stop_threads_that_need_nothing_of_it() -> None:
    matcher = nc.Matcher()
    table = subscriptions("s", 5000, 1)
    ticks, is_changing = [0], threading.Event()

    def write() -> None:
        is_changing.set()
        matcher.subscribe_table(table)
        is_changing.clear()
        matcher.unsubscribe_table(table["id"])

    def tick() -> None:
        ticks[0] += 1
        time.sleep(0)  # lets go of the GIL

    def ask():
        time.sleep(0)
        if not is_changing.is_set():
            return 0
        before = ticks[0]
        size = len(matcher)
        assert size in (0, 5000)
        return ticks[0] - before

    sys.setswitchinterval(1000)  # no thread loses the GIL unless it lets go of it
    together((write, 3), (tick, 1000), (ask, lambda ran: bool(ran) and max(ran) > 10))

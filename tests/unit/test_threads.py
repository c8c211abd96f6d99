"""Threads match while others subscribe: every answer is that of some moment."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

import nearcast as nc
from nearcast import columns

KINDS = [kind.name for kind in nc.indexes()]
WORDS = [f"w{i}" for i in range(12)]


@pytest.fixture(autouse=True)
def hasty_switching():
    """Let Python change threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def subscriptions(prefix, count, seed):
    dice = np.random.default_rng(seed)
    words = [[str(w) for w in dice.choice(WORDS, dice.integers(1, 3))] for _ in range(count)]
    west, south = dice.uniform(-10, 5, (2, count))
    return pa.table(
        {
            "id": [f"{prefix}{i}" for i in range(count)],
            "keywords": words,
            "west": west,
            "south": south,
            "east": west + 5,
            "north": south + 5,
        }
    )


def messages(count, seed, *, coded=False):
    dice = np.random.default_rng(seed)
    words = [[str(w) for w in dice.permutation(WORDS)[:5]] for _ in range(count)]
    lon, lat = dice.uniform(-10, 10, (2, count))
    if not coded:
        return pa.table({"text": [" ".join(row) for row in words], "lon": lon, "lat": lat})
    lists = pa.array(words)
    tokens = pa.ListArray.from_arrays(lists.offsets, lists.values.dictionary_encode())
    return pa.table({"tokens": tokens, "lon": lon, "lat": lat})


def pairs(found):
    return sorted(zip(*(column.to_pylist() for column in found.columns), strict=True))


def run(*tasks):
    """Run all at once; the first error of any is raised."""
    start = threading.Barrier(len(tasks))

    def begin(task):
        start.wait()
        return task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        return [future.result() for future in [pool.submit(begin, task) for task in tasks]]


@pytest.mark.parametrize("kind", KINDS)
def test_threads_that_only_match_get_the_answer_of_one(kind):
    matcher = nc.Matcher(kind)
    matcher.subscribe_table(subscriptions("s", 400, 1))
    batches = [messages(60, seed, coded=seed % 2 == 0) for seed in range(4)]
    expected = [pairs(matcher.match_table(batch)) for batch in batches]
    assert all(expected)

    def match_all():
        return [[pairs(matcher.match_table(batch)) for batch in batches] for _ in range(10)]

    for answers in run(*[match_all] * 4):
        assert answers == [expected] * 10


@pytest.mark.parametrize("kind", KINDS)
def test_what_does_not_change_is_always_found_and_what_is_found_matches(kind):
    matcher = nc.Matcher(kind)
    stable, passing = subscriptions("s", 300, 1), subscriptions("t", 200, 2)
    matcher.subscribe_table(stable)
    batch = messages(40, 3)
    always = set(pairs(matcher.match_table(batch)))
    matcher.subscribe_table(passing)
    possible = set(pairs(matcher.match_table(batch)))
    matcher.unsubscribe_table(passing["id"])
    assert always < possible
    done = threading.Event()

    def write_tables():
        half = passing.slice(0, 100)
        for _ in range(30):
            matcher.subscribe_table(half)
            matcher.unsubscribe_table(half["id"])

    def write_singly():
        for row in passing.slice(100).to_pylist():
            area = [row[side] for side in ("west", "south", "east", "north")]
            matcher.subscribe(row["id"], keywords=row["keywords"], area=area)
            matcher.subscribe(f"{row['id']} new word", keywords=[row["id"]], area=area)
        for row in passing.slice(100).to_pylist():
            matcher.unsubscribe(row["id"])
            matcher.unsubscribe(f"{row['id']} new word")

    def write():
        try:
            run(write_tables, write_singly)
        finally:
            done.set()

    def read():
        rounds = 0
        while not done.is_set() or rounds < 5:
            found = pairs(matcher.match_table(batch))
            assert len(set(found)) == len(found)
            assert always <= set(found) <= possible
            rounds += 1
        return rounds

    run(write, read, read)
    assert set(pairs(matcher.match_table(batch))) == always
    assert len(matcher) == 300
    matcher.check_invariants()


def test_a_batch_sees_one_state():
    matcher = nc.Matcher()
    both = pa.table({"id": ["t1", "t2"], "keywords": [["x"], ["x", "y"]]})
    batch = pa.table({"text": ["y x"] * 300, "lon": [0.0] * 300, "lat": [0.0] * 300})
    done = threading.Event()

    def write():
        for _ in range(200):
            matcher.subscribe_table(both)
            matcher.unsubscribe_table(["t1", "t2"])
        done.set()

    def read():
        seen = set()
        while not done.is_set():
            seen.add(tuple(pairs(matcher.match_table(batch))))
        return seen

    all_or_none = {(), tuple((row, id_) for row in range(300) for id_ in ("t1", "t2"))}
    _, *seen = run(write, read, read)
    assert seen[0] | seen[1] <= all_or_none


def test_threads_with_different_dictionaries_do_not_mix_them_up():
    matcher = nc.Matcher()
    matcher.subscribe_table(pa.table({"id": WORDS, "keywords": [[word] for word in WORDS]}))
    cache = columns.TokenCache(matcher._engine)

    def look_up(words):
        dictionary = pa.array(words)
        expected = cache.tokens(dictionary, nc.InvalidMessageError, is_growing=False).tolist()

        def task():
            for _ in range(20_000):
                found = cache.tokens(dictionary, nc.InvalidMessageError, is_growing=False)
                assert found.tolist() == expected

        return task

    run(look_up(WORDS), look_up(WORDS[::-1]))


def test_words_that_become_known_are_found_from_then_on():
    matcher = nc.Matcher()
    words = [f"new{i}" for i in range(300)]
    lists = pa.array([[word] for word in words])
    tokens = pa.ListArray.from_arrays(lists.offsets, lists.values.dictionary_encode())
    batch = pa.table({"tokens": tokens, "lon": [0.0] * 300, "lat": [0.0] * 300})
    subscribed = []

    def write():
        for word in words:
            matcher.subscribe(word, keywords=[word])
            subscribed.append(word)

    def read():
        while len(subscribed) < len(words):
            before = len(subscribed)
            found = matcher.match_table(batch)["message"].to_pylist()
            assert len(found) >= before

    run(write, read, read)
    assert matcher.match_table(batch)["message"].to_pylist() == list(range(300))


def test_a_snapshot_taken_while_others_write_is_one_state(tmp_path):
    matcher = nc.Matcher()
    matcher.subscribe_table(subscriptions("s", 300, 1))
    both = pa.table({"id": ["t1", "t2"], "keywords": [["x"], ["x"]]})
    done = threading.Event()

    def write():
        while not done.is_set():
            matcher.subscribe_table(both)
            matcher.unsubscribe_table(["t1", "t2"])

    def save():
        try:
            for number in range(20):
                path = tmp_path / str(number)
                matcher.save(path)
                opened = nc.Matcher.open(path)
                opened.check_invariants()
                assert len(opened) in (300, 302)
                assert len(opened.match("x", at=(0, 0))) == len(opened) - 300
        finally:
            done.set()

    run(write, save)


def test_threads_that_save_to_one_path_leave_a_whole_snapshot(tmp_path):
    small, large = nc.Matcher(), nc.Matcher()
    small.subscribe("s", keywords="x")
    large.subscribe_table(subscriptions("s", 5000, 1))
    path = tmp_path / "snapshot"

    def save(matcher):
        def task():
            for _ in range(10):
                matcher.save(path)
                assert len(nc.Matcher.open(path)) in (1, 5000)

        return task

    run(save(small), save(large))
    assert list(tmp_path.iterdir()) == [path]


def test_events_of_several_threads_are_applied_once_each():
    hub = nc.Hub(window=nc.Window(count=10_000))
    hub.subscribe("all", keywords="x")

    def publish(name):
        def task():
            lines = [
                {"op": "publish", "id": f"{name}{i}", "text": "x", "at": [0, 0]} for i in range(200)
            ]
            changes = 0
            for start in range(0, 200, 20):
                changes += hub.apply(lines[start : start + 20]).num_rows
                changes += len(hub.publish(f"{name} {start}", "x", at=(0, 0)))
            return changes

        return task

    def churn():
        for i in range(200):
            hub.subscribe(f"s{i}", keywords="y")
            hub.move(f"s{i}", area=[0, 0, 1, 1])
            assert "all" in hub.match("x", at=(0, 0))
            hub.unsubscribe(f"s{i}")
        return 0

    counts = run(publish("a"), publish("b"), churn)
    assert counts == [210, 210, 0]
    assert hub.stats()["live_messages"] == 420
    assert len(hub) == 1

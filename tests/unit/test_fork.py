"""A forked child can use the hubs and matchers of its parent; other processes open a file."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from crew import together
from forked import answer, answer_from_file, ended, in_child, use_hub, use_matcher

import nearcast as nc
from nearcast.bench.top_stream import TopStream

if TYPE_CHECKING:
    from collections.abc import Callable

# Python 3.12 warns of every fork in a process with threads, which is what is tried here.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def publications(first, size):
    return [
        {"op": "publish", "id": f"m{i}", "text": "x", "at": [0, 0], "time": i}
        for i in range(first, first + size)
    ]


def hub_with_one():
    hub = nc.Hub(window=nc.Window(count=1_000_000))
    hub.subscribe("s", keywords="x", live=True)
    return hub


def matcher_with_one():
    matcher = nc.Matcher()
    matcher.subscribe("s", keywords="x")
    return matcher


def test_a_child_forked_while_others_apply_ask_and_save_can_use_the_hub(tmp_path) -> None:
    hub, numbers = hub_with_one(), count()

    def apply() -> None:
        hub.apply(publications(1000 * next(numbers) + 1, 1000))

    def ask():
        return hub.match("x", at=(0, 0))

    def save() -> None:
        hub.save(tmp_path / "parent")

    def fork():
        return ended(in_child(lambda: use_hub(hub, tmp_path / "child")))

    *_, forked = together((apply, 3), (ask, 10), (save, 1), (fork, 14))
    assert set(forked) == {0}
    hub.check_invariants()


@pytest.mark.parametrize("mode", ["match", "rank"])
def test_a_child_forked_while_others_change_and_match_can_use_the_matcher(tmp_path, mode) -> None:
    if mode == "match":
        matcher, rows = matcher_with_one(), 2000
        table = pa.table({"id": [f"t{i}" for i in range(rows)], "keywords": [["x"]] * rows})
        batch = pa.table({"text": ["x"] * 300, "lon": [0.0] * 300, "lat": [0.0] * 300})

        def ask():
            return matcher.match_table(batch)  # large enough for memory that threads share

        def fork():
            return ended(in_child(lambda: use_matcher(matcher, tmp_path / "child")))

    else:
        matcher, rows = nc.Matcher(mode="rank"), 500
        terms = {"alpha": [0.5] * rows, "threshold": [0.2] * rows}
        box = {side: [9.0 * sign] * rows for side, sign in BOX_SIGNS.items()}
        ids = [f"t{i}" for i in range(rows)]
        table = pa.table({"id": ids, "keywords": [["x"]] * rows, **box, **terms})

        def ask():
            return matcher.rank("x", at=(0, 0))

        def fork():
            return ended(in_child(matcher.check_invariants))

    def change() -> None:
        matcher.subscribe_table(table)
        matcher.unsubscribe_table(table["id"])

    *_, forked = together((change, 5), (ask, 5), (fork, 12))
    assert set(forked) == {0}


BOX_SIGNS = {"west": -1, "south": -1, "east": 1, "north": 1}


def test_workers_forked_from_a_server_answer_and_differ_from_then_on(tmp_path) -> None:
    hub = hub_with_one()
    hub.apply(publications(1, 500))
    children = [in_child(partial(use_hub, hub, tmp_path / f"{n}")) for n in range(4)]
    hub.subscribe("only in the parent", keywords="x")
    assert [ended(child) for child in children] == [0] * 4
    assert hub.clock == 500
    assert sorted(hub.match("x", at=(0, 0))) == ["only in the parent", "s"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_every_start_method_open_what_was_saved(tmp_path, method) -> None:
    hub_with_one().save(tmp_path / "hub")
    context = multiprocessing.get_context(method)
    answers = context.SimpleQueue()
    process = context.Process(target=answer_from_file, args=(str(tmp_path / "hub"), answers))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    assert answers.get() == ["s", "t"]


def test_a_forked_process_takes_a_hub_as_an_argument() -> None:
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    process = context.Process(target=answer, args=(hub_with_one(), answers))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    assert answers.get() == ["s"]


def test_a_spawned_process_is_refused_a_hub_with_a_hint() -> None:
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=answer, args=(hub_with_one(), None))
    with pytest.raises(nc.NotCopyableError, match="a Hub cannot be copied or pickled"):
        process.start()


RESIDENTS: dict[str, Callable[[], object]] = {
    "Hub": nc.Hub,
    "Matcher": nc.Matcher,
    "TopStream": lambda: TopStream(window=10, space=(0.0, 0.0, 1.0, 1.0)),
}


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("name", RESIDENTS)
def test_what_lives_in_its_process_is_not_copied_and_says_what_to_do(name, duplicate) -> None:
    with pytest.raises(nc.NotCopyableError, match=f"a {name} cannot be copied") as refused:
        duplicate(RESIDENTS[name]())
    assert isinstance(refused.value, TypeError)
    assert "other process" in str(refused.value.hint)

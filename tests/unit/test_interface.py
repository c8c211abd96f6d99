"""What an editor, a type checker and a notebook see of the interface."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from typing import Any

import pytest
from hub_events import BOX, HERE

import nearcast as nc

PROGRAMS = Path(__file__).parent.parent / "typed"


# ---- types and documentation ----------------------------------------------------------------


def mypy(name: str, cache: Path) -> list[str]:
    """Return the complaints of `mypy --strict`, each a line."""
    api = pytest.importorskip("mypy.api")
    file = cache / "program.py"
    file.write_text((PROGRAMS / name).read_text())
    options = ["--strict", "--no-error-summary", "--cache-dir", str(cache / "cache")]
    said: str = api.run([*options, str(file)])[0]
    return said.splitlines()


@pytest.mark.slow
def test_a_program_of_a_user_is_typed(tmp_path) -> None:
    assert mypy("user_program.py", tmp_path) == []


@pytest.mark.slow
def test_a_wrong_call_is_found_before_it_runs(tmp_path) -> None:
    source = (PROGRAMS / "wrong_program.txt").read_text().splitlines()
    wrong = [number for number, line in enumerate(source, 1) if line.endswith("# wrong")]
    errors = [line for line in mypy("wrong_program.txt", tmp_path) if ": error: " in line]
    assert sorted({int(line.split(":")[1]) for line in errors}) == wrong


@pytest.mark.parametrize("cls", [nc.Hub, nc.Matcher, nc.Definition, nc.Change])
def test_every_method_is_documented_and_names_its_parameters(cls) -> None:
    for name, member in inspect.getmembers(cls, callable):
        if name.startswith("_") or not inspect.isroutine(member):
            continue
        assert member.__doc__, name
        parameters = inspect.signature(member).parameters.values()
        assert not [p for p in parameters if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL)], name


def test_methods_have_the_parameters_of_the_design() -> None:
    def names(method: Any) -> list[str]:
        return list(inspect.signature(method).parameters)[1:]

    assert names(nc.Hub.subscribe) == [
        "id",
        "keywords",
        "area",
        "except_",
        "where",
        "mode",
        "live",
        "at",
        "k",
        "alpha",
        "threshold",
        "expires",
        "time",
        "replace",
    ]
    assert names(nc.Hub.publish) == [
        "id",
        "text",
        "at",
        "bbox",
        "attributes",
        "time",
        "expires",
        "replace",
    ]
    assert names(nc.Hub.move) == ["id", "area", "at", "time"]
    assert names(nc.Hub.retract) == names(nc.Hub.unsubscribe) == ["id", "time"]
    assert names(nc.Hub.advance) == ["time"]


# ---- what was subscribed --------------------------------------------------------------------

RANK: dict[str, Any] = {"mode": "rank", "area": BOX, "alpha": 0.25, "threshold": 0.5}


def filled() -> nc.Hub:
    hub = nc.Hub(window=nc.Window(count=9))
    hub.subscribe("m", keywords=["tea"], area=BOX, live=True, expires=60)
    hub.subscribe("r", keywords=["tea"], **RANK)
    hub.subscribe("t", mode="top", keywords=["tea"], at=HERE, k=3, alpha=0.5)
    return hub


def test_a_definition_has_what_its_mode_has() -> None:
    hub = filled()
    box = nc.Bbox(*BOX)
    assert {each.id: each for each in hub.subscriptions()} == {
        "m": nc.Definition("m", "match", ("tea",), box, live=True, expires=60.0),
        "r": nc.Definition("r", "rank", ("tea",), box, alpha=0.25, threshold=0.5),
        "t": nc.Definition("t", "top", ("tea",), at=(1.0, 1.0), k=3, alpha=0.5),
    }
    hub.move("t", at=(0, 0))
    assert hub.subscription("t").at == (0.0, 0.0)


def test_all_subscriptions_come_once_however_many_and_wherever_they_are(tmp_path) -> None:
    hub = nc.Hub()
    for i in range(3_000):
        hub.subscribe(f"s{i}", keywords=[f"w{i}"])
    for i in range(0, 2_600, 2):
        hub.unsubscribe(f"s{i}")
    for i in range(5):
        hub.subscribe(f"r{i}", keywords=["x"], **RANK)
    ids = [each.id for each in hub.subscriptions()]
    assert len(ids) == len(hub)
    assert all(id_ in hub for id_ in set(ids))
    hub.save(tmp_path / "hub")
    assert list(nc.Hub.open(tmp_path / "hub").subscriptions()) == list(hub.subscriptions())
    assert list(nc.Hub().subscriptions()) == []


def test_the_hub_may_change_while_its_subscriptions_are_looked_at() -> None:
    hub = nc.Hub()
    for i in range(2_500):
        hub.subscribe(f"s{i}", keywords=["x"])
    seen = []
    for number, each in enumerate(hub.subscriptions()):
        seen.append(each.id)
        if number == 0:
            for i in range(2_000):
                hub.unsubscribe(f"s{i}")
    assert len(seen) == len(set(seen))
    assert set(seen) >= {f"s{i}" for i in range(2_000, 2_500)}


# ---- questions in every mode ----------------------------------------------------------------


def test_every_mode_says_why() -> None:
    hub = filled()
    assert sorted(hub.match("tea", at=HERE)) == ["m", "r", "t"]
    assert str(hub.explain("m", "tea", at=HERE)) == "match: has tea; inside the area"
    said = "match: score 1 (place 1, text 1, alpha 0.25), wanted at least 0.5"
    assert str(hub.explain("r", "tea", at=HERE)) == said
    said = "match: score 1 (place 1, text 1, alpha 0.5), the list has room"
    assert str(hub.explain("t", "tea", at=HERE)) == said
    for i in range(3):
        hub.publish(f"m{i}", "tea", at=HERE)
    worse = hub.explain("t", "tea and milk", at=HERE)
    said = "no match: score 0.788675 (place 1, text 0.57735, alpha 0.5), wanted at least 1"
    assert (str(worse), worse.matches) == (said, False)
    assert hub.match("tea and milk", at=HERE) == ["m", "r"]
    assert "t" in hub.match("tea", at=HERE)  # of equals the newer one
    assert hub.match("milk", at=HERE) == []
    assert worse.score
    assert worse.score.needed == 1.0


def test_a_list_with_room_takes_no_message_without_its_keywords() -> None:
    hub = nc.Hub(window=nc.Window(count=9))
    hub.subscribe("t", mode="top", keywords=["tea"], at=HERE, k=3, alpha=1)
    assert str(hub.explain("t", "milk", at=HERE)).endswith("no keyword is shared")
    assert hub.match("milk", at=HERE) == []


# ---- warnings -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "definition",
    [
        {"keywords": "x", "live": True},
        {"mode": "top", "keywords": ["x"], "at": HERE, "k": 1, "alpha": 0},
    ],
)
def test_a_hub_without_a_window_warns_once_that_it_keeps_little(definition) -> None:
    hub = nc.Hub()
    hub.subscribe("plain", keywords="x")
    with pytest.warns(nc.KeepsNothingWarning, match="'s'.*has no window.*expires") as caught:
        hub.subscribe("s", **definition)
    assert caught[0].filename == __file__
    assert len(hub) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hub.subscribe("again", **definition)
        nc.Hub(window=nc.Window(seconds=5)).subscribe("s", **definition)


def test_a_batch_warns_too(tmp_path) -> None:
    hub = nc.Hub()
    hub.save(tmp_path / "hub")
    opened = nc.Hub.open(tmp_path / "hub")
    with pytest.warns(nc.KeepsNothingWarning) as caught:
        opened.apply([{"op": "subscribe", "id": "s", "keywords": "x", "live": True}])
    assert (len(caught), caught[0].filename) == (1, __file__)


# ---- what a notebook shows ------------------------------------------------------------------


def test_everything_shows_what_it_is() -> None:
    hub = filled()
    (change, *_) = hub.publish("m1", "tea", at=HERE, time=5)
    shown = {
        repr(hub): "<Hub: 3 subscriptions, 1 live messages, clock 5, window count=9, "
        "index sized-lists>",
        repr(nc.Hub()): "<Hub: 0 subscriptions, 0 live messages, clock 0, window none, "
        "index sized-lists>",
        repr(nc.Matcher(mode="rank")): "<Matcher: 0 subscriptions, mode rank, index sized-lists>",
        repr(change): "Change(event=1, subscription='m', message='m1', change='added', "
        "reason='published')",
        repr(hub.subscription("t")): "Definition(id='t', mode='top', keywords=('tea',), "
        "at=(1.0, 1.0), k=3, alpha=0.5)",
        repr(hub.explain("m", "tea", at=HERE)): "<match: has tea; inside the area>",
        repr(nc.Window(seconds=5)): "Window(seconds=5.0)",
        repr(nc.Weights(5, {"a": 1})): "Weights(documents=5, df={'a': 1})",
    }
    assert list(shown) == list(shown.values())
    many = nc.Weights(9, dict.fromkeys(map(str, range(10**5)), 1))
    assert len(repr(many)) < 120
    lines = repr(hub.stats()).splitlines()
    assert lines[0].split() == ["subscriptions", "3"]
    assert len({len(line) for line in lines}) == 1

"""Any value in any argument of the public interface: it works, or it is an error of this package.

Functions, classes and methods are found by `inspect`, so that a new one is covered unasked.
"""

from __future__ import annotations

import inspect
from decimal import Decimal
from math import inf, nan
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import nearcast as nc

HOSTILE = [
    None,
    True,
    0,
    -1,
    2**63,
    2**64,
    10**5000,
    0.5,
    nan,
    inf,
    -inf,
    Decimal("NaN"),
    "",
    "x",
    "a\0b",
    "\ud800",
    "x" * 100_000,
    "(" * 50_000,
    b"x",
    b"\xff\xfe",
    b'{"op": "publish", "id": "\xff"}',
    b"[" * 100_000,
    b'{"op": "retract", "id": "m", "time": 1e400}',
    b'{"op": "retract", "id": "m", "time": ' + b"9" * 6000 + b"}",
    bytearray(b"{}"),
    (),
    (nan, 0.0),
    (0.0, 1e300),
    ("0", "0"),
    (0.0, 0.0, 0.0, nan),
    [],
    [None],
    [[]],
    [10**5000],
    ["\ud800"],
    {},
    {"a": -1},
    {"a": 2**64},
    {"a": 0.5},
    {5: 1},
    {"type": "Polygon", "coordinates": [[[0, 0]]]},
    {"type": "Polygon", "coordinates": 10**5000},
    object(),
    object,
    lambda: None,
    np.zeros(3),
    np.array(["a"]),
    np.float64("nan"),
    np.int64(-1),
    pa.table({"x": [1]}),
    pa.table({"id": [1], "keywords": [b"x"], "text": [b"\xff"], "lon": ["x"], "lat": [0]}),
    pa.array([b"\xff"]),
    pa.array([None]),
    pa.chunked_array([], pa.string()),
    nc.Window(count=1),
    nc.Weights(2, {"a": 1}),
]
GOOD = {
    "id": "s",
    "text": "jazz",
    "message": "jazz",
    "at": (0.5, 0.5),
    "area": [0, 0, 1, 1],
    "batch": [],
    "records": [],
    "weights": None,
    "path": "/nowhere/at/all",
    "keywords": "jazz",
    "ids": ["s"],
    "table": pa.table({"id": ["a"], "keywords": [["jazz"]]}),
    "messages": pa.table({"text": ["jazz"], "lon": [0.5], "lat": [0.5]}),
    "answer": pa.table({"message": [0], "subscription": [1]}),
    "distance": 1.0,
    "token": "jazz",
    "error": nc.NearcastError("x"),
    "where": "x",
    "what": "x",
    "field": "x",
    "position": 1,
    "cls": nc.NearcastError,
    "west": 0.0,
    "south": 0.0,
    "east": 1.0,
    "north": 1.0,
    "center": (0.0, 0.0),
    "radius_m": 5.0,
    "positive": ["jazz"],
    "documents": 9,
}
# What comes out of the package holds what it is given.
RESULTS = (
    nc.Change,
    nc.Definition,
    nc.Explanation,
    nc.Promise,
    nc.Reason,
    nc.ScoreExplanation,
)


def hub():
    made = nc.Hub(window=nc.Window(count=9), safe_region=True)
    made.subscribe("s", keywords="jazz", area=[0, 0, 1, 1], live=True)
    made.publish("m", "jazz", at=(0.5, 0.5), time=5)
    return made


def matcher():
    made = nc.Matcher()
    made.subscribe("s", keywords="jazz", area=[0, 0, 1, 1])
    return made


def ranker():
    made = nc.Matcher(mode="rank")
    made.subscribe("s", keywords="jazz", area=[0, 0, 1, 1], alpha=0.5, threshold=0.5)
    return made


MAKERS = {
    "Hub": hub,
    "Matcher": matcher,
    "Ranker": ranker,
    "SafeRegion": lambda: nc.SafeRegion([0, 0, 1, 1], 1.0),
    "Weights": lambda: nc.Weights(9, {"jazz": 1}),
    "Analyzer": nc.Analyzer,
}


def calls():
    """Yield (name, where it comes from, the function) of everything that takes an argument."""
    for name in sorted(set(nc.__all__) - {"__version__"}):
        thing = getattr(nc, name)
        is_error = inspect.isclass(thing) and issubclass(thing, BaseException)
        if not is_error and thing not in RESULTS and inspect.signature(thing).parameters:
            yield name, None, name
    for name, make in MAKERS.items():
        for method, function in inspect.getmembers(type(make())):
            is_public = not method.startswith("_") or method == "__contains__"
            if is_public and inspect.isroutine(function) and len(parameters(function)):
                yield f"{name}.{method}", name, method


def parameters(function):
    found = inspect.signature(function).parameters.values()
    return [p for p in found if p.name != "self"]


def fingerprint(target):
    """What a refused call must leave as it was."""
    if isinstance(target, nc.Hub):
        # Words that were read may stay known.
        sizes = target.stats()
        return (
            len(target),
            target.clock,
            sizes["live_messages"],
            target.match("jazz", at=(0.5, 0.5)),
        )
    if isinstance(target, nc.Matcher):
        return len(target), target.mode
    if isinstance(target, nc.SafeRegion):
        return target.area, target.reports, target.steps
    return target


CALLS = list(calls())


def test_the_walk_meets_what_there_is() -> None:
    names = {name for name, _, _ in CALLS}
    assert {"Hub.apply", "Hub.publish", "Matcher.match_table", "Ranker.rank", "Window"} <= names
    assert {"read_weights", "Circle", "Clause", "Analyzer.analyze", "Weights.idf"} <= names


@pytest.mark.parametrize(("name", "maker", "attribute"), CALLS, ids=[name for name, _, _ in CALLS])
def test_a_hostile_value_is_refused_by_an_error_of_ours_or_works(
    name, maker, attribute, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some values are names of files
    target = MAKERS[maker]() if maker else nc
    function = getattr(target, attribute)
    known = {
        p.name: GOOD[p.name]
        for p in parameters(function)
        if p.name in GOOD and p.kind is not p.VAR_KEYWORD
    }
    for parameter in parameters(function):
        for value in HOSTILE:
            before = fingerprint(target)
            arguments = {**known, parameter.name: value}
            if parameter.kind is parameter.VAR_KEYWORD:
                arguments = {**known, "time": value}
            positional = [
                arguments.pop(p.name)
                for p in parameters(function)
                if p.kind is p.POSITIONAL_ONLY and p.name in arguments
            ]
            try:
                function(*positional, **arguments)
            except nc.InternalError:
                pytest.fail(f"{name}({parameter.name}={value!r:.60})")
            except nc.NearcastError as error:
                assert fingerprint(target) == before, (name, parameter.name)
                assert str(error)  # noqa: PT017 — it can be shown
            except OSError:
                assert "path" in arguments
            else:
                if maker:
                    target = MAKERS[maker]()
                    function = getattr(target, attribute)


@pytest.mark.parametrize("documents", [-1, 2**63, 2**64, 0.5, "9", None, True])
def test_documents_are_a_count(documents) -> None:
    with pytest.raises(nc.InvalidParameterError, match="documents is not a count"):
        nc.Weights(documents, {})


@pytest.mark.parametrize("count", [-1, 10, 2**64, 0.5, None, True])
def test_df_is_a_count_of_these_documents(count) -> None:
    with pytest.raises(nc.InvalidParameterError, match="df of 'jazz' is not a count"):
        nc.Weights(9, {"jazz": count})


def test_weights_that_are_changed_behind_their_back_are_refused() -> None:
    weights = nc.Weights(9, {"jazz": 1})
    given: Any = weights.df
    for count, claim in (
        (2**70, "count of df"),
        (-1, "count of df"),
        (99, "a number from 0"),
    ):
        given["jazz"] = count
        for target in (nc.Hub(), nc.Matcher(mode="rank")):
            with pytest.raises(nc.InvalidParameterError, match=claim):
                target.set_weights(weights)


@pytest.mark.parametrize("result", [5, b"x", "\ud800", ["x"]])
def test_a_stemmer_must_return_tokens(result) -> None:
    analyzer = nc.Analyzer(stem=lambda _: result)
    with pytest.raises(nc.InvalidParameterError, match="stem returns"):
        nc.Hub(analyzer=analyzer).publish("m", "jazz", at=(0, 0))
    assert nc.Analyzer(stem=lambda _: "").analyze("jazz") == []

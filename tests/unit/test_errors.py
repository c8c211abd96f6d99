"""Errors are made of parts, travel between processes and are what Python programmers catch."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from nearcast import errors
from nearcast.errors import ExpressionError, InvalidEventError, NearcastError, Verbatim, shown

TREE = {
    "InvalidSubscriptionError": ValueError,
    "ExpressionError": errors.InvalidSubscriptionError,
    "InvalidMessageError": ValueError,
    "InvalidEventError": ValueError,
    "InvalidParameterError": ValueError,
    "DuplicateIdError": ValueError,
    "UnknownIdError": KeyError,
    "SnapshotError": OSError,
    "CapacityError": OverflowError,
    "UnsupportedError": NotImplementedError,
    "NotCopyableError": TypeError,
    "InternalError": NearcastError,
}


def make(name: str) -> NearcastError:
    cls = getattr(errors, name)
    parts = {"got": "g", "wanted": "w", "hint": "h", "field": "f"}
    made = cls("what", **parts, **({"position": 3} if name == "ExpressionError" else {}))
    assert isinstance(made, NearcastError)
    return made


@pytest.mark.parametrize(("name", "base"), TREE.items())
def test_every_error_is_in_the_tree_and_is_what_python_programmers_catch(name, base) -> None:
    cls = getattr(errors, name)
    assert issubclass(cls, NearcastError)
    assert issubclass(cls, base)


def test_the_tree_has_no_other_class() -> None:
    found = {n for n, v in vars(errors).items() if isinstance(v, type) and issubclass(v, Exception)}
    assert found == {"NearcastError", "KeepsNothingWarning", *TREE}


def test_codes_are_distinct_and_snake_case() -> None:
    codes = [getattr(errors, name).code for name in TREE]
    assert len(set(codes)) == len(codes)
    assert all(code.replace("_", "").isalpha() and code.islower() for code in codes)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ({}, "w"),
        ({"got": 0}, "w: got 0"),
        ({"wanted": "more"}, "w: wanted more"),
        (
            {"got": "x", "wanted": "more", "hint": "h", "field": "f"},
            "w: got 'x', wanted more; hint: h",
        ),
        ({"got": Verbatim("null")}, "w: got null"),
    ],
)
def test_the_message_leaves_out_the_parts_that_are_none(parts, text) -> None:
    assert str(NearcastError("w", **parts)) == text


@pytest.mark.parametrize("name", TREE)
def test_the_message_is_the_same_in_every_class_without_extra_quotes(name) -> None:
    place = " at position 3" if name == "ExpressionError" else ""
    assert str(make(name)) == f"what{place}: got 'g', wanted w; hint: h"
    assert make(name).summary == f"what{place}: got 'g', wanted w"


@pytest.mark.parametrize("duplicate", [copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
@pytest.mark.parametrize("name", TREE)
def test_an_error_survives_pickling_and_copying_with_all_its_parts(name, duplicate) -> None:
    error = make(name)
    other = duplicate(error)
    assert type(other) is type(error)
    assert vars(other) == vars(error)
    assert str(other) == str(error)


def test_an_error_about_something_unpicklable_is_still_picklable() -> None:
    error = InvalidEventError("w", got=lambda: None)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_locate_says_in_front_whom_the_message_is_about() -> None:
    error = ExpressionError("bad", position=4)
    error.locate("subscription 's1'")
    assert str(error) == "subscription 's1': bad at position 4"
    assert error.args == ("subscription 's1': bad",)


def test_of_changes_the_class_and_names_the_field() -> None:
    error = InvalidEventError.of(NearcastError("w", got=1, wanted="x", hint="h"), field="area")
    assert (type(error), error.field, error.hint) == (InvalidEventError, "area", "h")
    assert str(error) == "area: w: got 1, wanted x; hint: h"


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError


def deep_list(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10**6,
        b"x" * 10**6,
        10**5000,
        -(10**5000),
        list(range(10**5)),
        dict.fromkeys(range(1000), "y" * 100),
        deep_list(10**5),
        Unspeakable(),
        "\ud800",
    ],
    ids=lambda v: type(v).__name__,
)
def test_whatever_was_got_is_shown_in_80_characters_that_can_be_printed(value) -> None:
    text = shown(value)
    assert len(text) <= 80
    assert text.encode()


def test_verbatim_text_is_shortened_too() -> None:
    assert len(shown(Verbatim("x" * 1000))) == 80

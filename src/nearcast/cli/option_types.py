"""What numbers an option takes: a wrong one is wrong usage, which argparse reports."""

from __future__ import annotations

from argparse import ArgumentTypeError
from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def at_least_one(text: str) -> int:
    """Read a whole number of at least 1."""
    return _whole(text, 1)


def at_least_zero(text: str) -> int:
    """Read a whole number of at least 0."""
    return _whole(text, 0)


def above_zero(text: str) -> float:
    """Read a time that takes some time."""
    return _number(text, lambda value: value > 0, "a number above 0")


def not_below_zero(text: str) -> float:
    """Read a number of at least 0."""
    return _number(text, lambda value: value >= 0, "a number, 0 or more")


def zero_to_one(text: str) -> float:
    """Read a number from 0 to 1."""
    return _number(text, lambda value: 0 <= value <= 1, "a number from 0 to 1")


def part_of_one(text: str) -> float:
    """Read a number above 0, at most 1."""
    return _number(text, lambda value: 0 < value <= 1, "a number above 0, at most 1")


def _whole(text: str, least: int) -> int:
    wanted = f"a whole number, {least} or more"
    try:
        value = int(text)
    except ValueError:
        raise _refused(text, wanted) from None
    if value < least:
        raise _refused(text, wanted)
    return value


def _number(text: str, is_right: Callable[[float], bool], wanted: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise _refused(text, wanted) from None
    if not isfinite(value) or not is_right(value):
        raise _refused(text, wanted)
    return value


def _refused(text: str, wanted: str) -> ArgumentTypeError:
    return ArgumentTypeError(f"got {text!r}, wanted {wanted}")

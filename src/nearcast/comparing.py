"""Does a comparison hold for a message's attributes? For people who ask why; the core decides."""

from __future__ import annotations

from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Any

from nearcast.expressions import Compare, Exists

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nearcast.attributes import AttributeValue
    from nearcast.expressions import Comparison, Value

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": eq,
    "!=": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}


def compares(leaf: Comparison, attributes: Mapping[str, AttributeValue]) -> bool:
    """Return whether a comparison holds.

    Examples
    --------
    >>> compares(Compare("price", "<=", 1200.0), {"price": 1150.0})
    True
    >>> compares(Compare("price", "!=", 1200.0), {})
    False
    """
    if leaf.name not in attributes:
        return False
    given = attributes[leaf.name]
    if isinstance(leaf, Exists):
        return True
    if isinstance(leaf, Compare):
        return _holds(given, leaf.op, leaf.value)
    return any(_holds(given, "=", value) for value in leaf.values)


def _holds(given: AttributeValue, op: str, value: Value) -> bool:
    if isinstance(given, tuple):
        return isinstance(value, str) and (value in given) == (op == "=")
    return type(given) is type(value) and _OPERATORS[op](given, value)

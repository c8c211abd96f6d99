"""Attributes and conditions on them: few names and values, of equal and of clashing types."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

Strategy = st.SearchStrategy

_NUMBERS = (0, 1, 2, 1, 2, 2.5, -0.0, -1, 1200, 1e300, -1e300, 5e-324, 2**53 + 1, 0.1)
_STRINGS = ("flat", "house", "flat", "", "it's", 'say "hi"', "5", "é", "e\u0301", "TRUE", "a b")
_NAMES = ("price", "price", "rooms", "type", "tags", "pets", "a.b_2", "Price")

numbers: Strategy[float] = st.sampled_from(_NUMBERS)
strings: Strategy[str] = st.sampled_from(_STRINGS)
_truths = st.booleans()
_lists = st.lists(strings, max_size=3)
_usual = {
    "price": numbers,
    "rooms": numbers,
    "type": strings,
    "tags": _lists,
    "pets": _truths,
    "a.b_2": st.one_of(numbers, strings),
    "Price": numbers,
}
_values = st.one_of(numbers, strings, _truths, _lists)


@st.composite
def attributes(draw: st.DrawFn) -> dict[str, Any]:
    """Draw attributes; most have the type that their name suggests."""
    names = draw(st.lists(st.sampled_from(_NAMES), unique=True, max_size=5))
    return {name: draw(st.one_of(_usual[name], _usual[name], _values)) for name in names}


def _written(value: float | str | bool, mark: str) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "False"
    if isinstance(value, str):
        return mark + value.replace(mark, mark * 2) + mark
    return json.dumps(value)


@st.composite
def _written_values(draw: st.DrawFn, name: str) -> str:
    usual = {"type": strings, "tags": strings, "pets": _truths}.get(name, numbers)
    value = draw(st.one_of(usual, usual, usual, numbers, strings, _truths))
    return _written(value, draw(st.sampled_from(("'", '"'))))


@st.composite
def _comparisons(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(_NAMES))
    kind = draw(st.sampled_from(("order", "order", "order", "equal", "equal", "in", "exists")))
    gap = draw(st.sampled_from((" ", "")))
    if kind == "exists":
        return f"{name} {draw(st.sampled_from(('EXISTS', 'exists')))}"
    if kind == "in":
        values = draw(st.lists(_written_values(name), min_size=1, max_size=4))
        return f"{name} {draw(st.sampled_from(('IN', 'in')))}{gap}({f',{gap}'.join(values)})"
    if kind == "order":
        operator = draw(st.sampled_from(("<", "<=", ">", ">=")))
        return f"{name}{gap}{operator}{gap}{_written(draw(numbers), '')}"
    return f"{name}{gap}{draw(st.sampled_from(('=', '!=')))}{gap}{draw(_written_values(name))}"


@st.composite
def _combined(draw: st.DrawFn, inner: Strategy[str]) -> str:
    choice = draw(st.integers(0, 4))
    if choice == 0:
        return f"{draw(st.sampled_from(('NOT ', 'not ', 'NOT NOT ')))}({draw(inner)})"
    if choice == 1:
        return f"not {draw(_comparisons())}"
    parts = [draw(st.one_of(inner, inner.map("({})".format))) for _ in range(2)]
    ways = (" OR ", " or ") if choice == 2 else (" AND ", " and ", "\nAnd\t")
    return draw(st.sampled_from(ways)).join(parts)


wheres: Strategy[str] = st.one_of(
    _comparisons(), _comparisons(), st.recursive(_comparisons(), _combined, max_leaves=6)
)

_LEXEMES = (
    *("price", "type", "<", "<=", "=", "!=", "==", "5", "-5", "1e3", "'flat'", '"', "'", "(", ")"),
    *("AND", "or", "NOT", "IN", "in (1)", "EXISTS", "TRUE", ",", "price < 5", "tags = 'a'", "."),
)
wild_wheres: Strategy[str] = st.lists(st.sampled_from(_LEXEMES), max_size=9).flatmap(
    lambda lexemes: st.sampled_from(("", " ", " ")).map(lambda glue: glue.join(lexemes))
)

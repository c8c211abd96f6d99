"""Attributes of messages, and the conditions on them (DESIGN 1.2.1)."""

from __future__ import annotations

import re
from typing import Any

from oracle.fields import OracleRejects, number, require

# ("compare", name, op, value) | ("in", name, values) | ("exists", name)
# | ("not", tree) | ("and" | "or", trees)
Tree = tuple[Any, ...]
Value = float | str | bool | tuple[str, ...]
Attributes = dict[str, Value]

MOST_NAMES = 64
MOST_COMPARISONS = 1024
DEEPEST = 100

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_STRING = re.compile(r"'(?:[^']|'')*'|" r'"(?:[^"]|"")*"')
_SYMBOL = re.compile(r"<=|>=|!=|=|<|>|\(|\)|,")
_RESERVED = ("and", "or", "not", "in", "exists", "true", "false")
_ORDERS = ("<", "<=", ">", ">=")


def read_attributes(value: object) -> Attributes:
    """Read the attributes of a message."""
    if not isinstance(value, dict):
        raise OracleRejects(f"attributes are not an object: {value!r}")
    require(len(value) <= MOST_NAMES, "too many attributes")
    for name in value:
        is_name = isinstance(name, str) and _NAME.fullmatch(name) is not None
        require(is_name, f"not a name: {name!r}")
    return {name: _read_value(given) for name, given in value.items()}


def _read_value(given: object) -> Value:
    if isinstance(given, bool):
        return given
    if isinstance(given, str):
        return _text(given)
    if isinstance(given, (list, tuple)):
        require(all(isinstance(entry, str) for entry in given), f"not strings: {given!r}")
        return tuple(_text(entry) for entry in given)
    return number(given)


def _text(given: str) -> str:
    require(not any("\ud800" <= character <= "\udfff" for character in given), "lone surrogate")
    return given


def holds(tree: Tree, attributes: Attributes) -> bool:
    """Decide whether a `where` holds for a message with these attributes."""
    kind = tree[0]
    if kind == "not":
        return not holds(tree[1], attributes)
    if kind == "and":
        return all(holds(part, attributes) for part in tree[1])
    if kind == "or":
        return any(holds(part, attributes) for part in tree[1])
    if tree[1] not in attributes:
        return False
    found = attributes[tree[1]]
    if kind == "exists":
        return True
    if kind == "in":
        return any(_compares(found, "=", value) for value in tree[2])
    return _compares(found, tree[2], tree[3])


def _compares(found: Value, operator: str, value: Value) -> bool:
    """Compare values of one type; of different types nothing holds."""
    if isinstance(found, tuple):
        if not isinstance(value, str):
            return False
        return value in found if operator == "=" else value not in found
    if type(found) is not type(value):
        return False
    if operator == "=":
        return found == value
    if operator == "!=":
        return found != value
    if not isinstance(found, float) or not isinstance(value, float):
        raise TypeError(value)
    in_order = {"<": found < value, "<=": found <= value, ">": found > value, ">=": found >= value}
    return in_order[operator]


def read_where(text: object) -> Tree:
    """Read a `where`."""
    if not isinstance(text, str):
        raise OracleRejects(f"where is not a string: {text!r}")
    return _Parser(_lexemes(text)).parse()


Lexeme = tuple[str, Any]  # ("name" | "value" | an operator or word in lower case, what it says)


def _lexemes(text: str) -> list[Lexeme]:
    found: list[Lexeme] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        lexeme, at = _lexeme(text, at)
        found.append(lexeme)
    return found


def _lexeme(text: str, at: int) -> tuple[Lexeme, int]:
    if name := _NAME.match(text, at):
        word = name[0].lower()
        if word in ("true", "false"):
            return ("value", word == "true"), name.end()
        return (word if word in _RESERVED else "name", name[0]), name.end()
    if numeral := _NUMBER.match(text, at):
        after = text[numeral.end() : numeral.end() + 1]
        require(not (after.isalnum() or after in ("_", ".")) or after == "", "not a number")
        return ("value", number(float(numeral[0]))), numeral.end()
    if quoted := _STRING.match(text, at):
        mark = quoted[0][0]
        return ("value", _text(quoted[0][1:-1]).replace(mark * 2, mark)), quoted.end()
    if symbol := _SYMBOL.match(text, at):
        return (symbol[0], symbol[0]), symbol.end()
    raise OracleRejects(f"where: not understood: {text[at:]!r}")


class _Parser:
    """Recursive descent: OR binds least, then AND, then NOT."""

    def __init__(self, lexemes: list[Lexeme]) -> None:
        self.lexemes = lexemes
        self.at = 0
        self.depth = 0
        self.comparisons = 0

    def parse(self) -> Tree:
        tree = self._joined("or")
        require(self._next() == "end", f"where: nothing expected after {self.at} parts")
        require(self.comparisons <= MOST_COMPARISONS, "where: too many comparisons")
        return tree

    def _next(self) -> str:
        return str(self.lexemes[self.at][0]) if self.at < len(self.lexemes) else "end"

    def _take(self, *kinds: str) -> Lexeme:
        require(self._next() in kinds, f"where: got {self._next()}, wanted one of {kinds}")
        self.at += 1
        return self.lexemes[self.at - 1]

    def _joined(self, kind: str) -> Tree:
        parts = [self._operand(kind)]
        while self._next() == kind:
            self._take(kind)
            parts.append(self._operand(kind))
        return parts[0] if len(parts) == 1 else (kind, tuple(parts))

    def _operand(self, kind: str) -> Tree:
        return self._joined("and") if kind == "or" else self._not()

    def _not(self) -> Tree:
        kind, name = self._take("not", "(", "name")
        if kind == "name":
            return self._comparison(name)
        self.depth += 1
        require(self.depth <= DEEPEST, "where: nested too deep")
        if kind == "not":
            tree: Tree = ("not", self._not())
        else:
            tree = self._joined("or")
            self._take(")")
        self.depth -= 1
        return tree

    def _comparison(self, name: str) -> Tree:
        operator, _ = self._take("exists", "in", "=", "!=", *_ORDERS)
        self.comparisons += 1
        if operator == "exists":
            return ("exists", name)
        if operator == "in":
            return ("in", name, self._values())
        _, value = self._take("value")
        has_order = isinstance(value, float)
        require(has_order or operator not in _ORDERS, f"where: {value!r} has no order")
        return ("compare", name, operator, value)

    def _values(self) -> tuple[Value, ...]:
        self._take("(")
        values = [self._take("value")[1]]
        while self._take(",", ")")[0] == ",":
            values.append(self._take("value")[1])
        self.comparisons += len(values) - 1
        return tuple(values)

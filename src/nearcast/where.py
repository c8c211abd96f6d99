"""What must be true of a message's attributes? Text becomes a tree of comparisons.

``price <= 1200 AND rooms >= 2 AND type IN ('flat', 'house')``: comparisons ``name op value`` with
``= != < <= > >=``, ``name IN (value, …)`` and ``name EXISTS``, joined by ``AND``, ``OR``, ``NOT``
and parentheses. Values are numbers, strings in single or double quotes (a quote inside is doubled),
``TRUE`` and ``FALSE``. These words may be in any letter case; names are as they are.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn, TypeAlias, cast

from nearcast.attributes import NAME
from nearcast.errors import InvalidSubscriptionError, Verbatim
from nearcast.expressions import MAX_KEYWORDS, Compare, Exists, In, Operator, Value, Where
from nearcast.grammar import (
    CLOSE,
    LEAF,
    OPEN,
    OPERATORS,
    Language,
    Lexeme,
    error_at,
    read_tree,
)
from nearcast.model import is_encodable

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIELD = "where"
_LANGUAGE = Language(
    field=_FIELD,
    leaf="a comparison",
    leaves="comparisons",
    joins_neighbours=False,
    empty_hint="leave where out if attributes do not matter",
    operator_hint="",
)

_PIECE = re.compile(
    rf"""(?P<space>\s+)
      | (?P<name>{NAME})
      | (?P<op><=|>=|!=|=(?!=)|<(?!>)|>)
      | (?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)(?![A-Za-z0-9_.])
      | (?P<string>'[^']*(?:''[^']*)*'|"[^"]*(?:""[^"]*)*")
      | (?P<sign>[(),])""",
    re.VERBOSE,
)
_LOOK_ALIKES = {
    "==": "write = for equality",
    "<>": "write != for inequality",
    "≠": "write != for inequality",
    "≤": "write <=",
    "≥": "write >=",
    "&&": "write AND",
    "||": "write OR",
    "!": "write NOT",
}
_FOREIGN = {
    "between": "write name >= 1 AND name <= 2",
    "like": "only whole strings are compared: = or IN",
    "is": "write name EXISTS, or NOT name EXISTS",
    "not": "NOT comes before the comparison, as in NOT type IN ('flat')",
    "exists": "the name comes first, as in price EXISTS",
    "contains": "= holds for a list if one of its strings is equal",
}
_ORDERED = ("<", "<=", ">", ">=")
_RESERVED = ("in", "exists", "true", "false")

_PieceKind: TypeAlias = Literal["name", "op", "number", "string", "sign", "end"]


class _Piece(NamedTuple):
    kind: _PieceKind
    text: str
    position: int


def parse(text: str) -> Where:
    """Return the tree of a `where`.

    Raises
    ------
    ExpressionError
        If it cannot be read; it says where.
    InvalidSubscriptionError
        If it is not a string.

    Examples
    --------
    >>> parse("price <= 1200 AND NOT sold EXISTS")
    And(parts=(Compare(name='price', op='<=', value=1200.0), Not(part=Exists(name='sold'))))
    >>> parse("type IN ('flat', 'house')")
    In(name='type', values=('flat', 'house'))
    """
    if not isinstance(text, str):
        what = "where is not a string"
        wanted = "comparisons, as in price <= 1200"
        raise InvalidSubscriptionError(what, got=text, wanted=wanted, field=_FIELD)
    return cast("Where", read_tree(text, _Reader(text).lexemes(), _LANGUAGE))


class _Reader:
    """Pieces of text to comparisons; looks one piece ahead."""

    def __init__(self, text: str) -> None:
        self._pieces = _pieces(text)
        self._next = next(self._pieces)
        self._compared = 0  # comparisons, and further values of IN

    def _take(self) -> _Piece:
        taken = self._next
        if taken.kind != "end":
            self._next = next(self._pieces)
        return taken

    def lexemes(self) -> Iterator[Lexeme]:
        while self._next.kind != "end":
            piece = self._take()
            if piece.kind == "name" and piece.text.lower() in OPERATORS:
                yield Lexeme(OPERATORS[piece.text.lower()], piece.position)
            elif piece.kind == "name":
                self._count(piece)
                yield Lexeme(LEAF, piece.position, self._comparison(piece))
            elif piece.text == "(":
                yield Lexeme(OPEN, piece.position)
            elif piece.text == ")":
                yield Lexeme(CLOSE, piece.position)
            else:
                _refuse_start(piece)

    def _count(self, piece: _Piece) -> None:
        self._compared += 1
        if self._compared > MAX_KEYWORDS:
            what = "there are too many comparisons and values of IN"
            wanted = f"at most {MAX_KEYWORDS:,}"
            hint = "split it into several subscriptions"
            raise error_at(_FIELD, what, piece.position, wanted, hint)

    def _comparison(self, name: _Piece) -> Compare | In | Exists:
        if name.text.lower() in _RESERVED:
            what = f"{name.text} is not a name"
            hint = _FOREIGN.get(name.text.lower())
            raise error_at(_FIELD, what, name.position, "a name", hint)
        piece = self._take()
        word = piece.text.lower() if piece.kind == "name" else None
        if word == "exists":
            return Exists(name.text)
        if word == "in":
            return In(name.text, self._listed())
        if piece.kind != "op":
            _refuse_operator(name, piece)
        position = self._next.position
        value = self._value()
        if piece.text in _ORDERED and not isinstance(value, float):
            what = f"{piece.text} compares numbers only"
            hint = "strings and truth values are compared with = and !="
            raise error_at(_FIELD, what, position, "a number after it", hint, got=value)
        return Compare(name.text, cast("Operator", piece.text), value)

    def _listed(self) -> tuple[Value, ...]:
        opening = self._take()
        if opening.text != "(" or opening.kind != "sign":
            hint = "as in type IN ('flat', 'house')"
            raise error_at(_FIELD, "IN has no list", opening.position, "a '(' after it", hint)
        values = [self._value()]
        while True:
            piece = self._take()
            if piece.kind == "sign" and piece.text == ")":
                return tuple(values)
            if piece.kind != "sign" or piece.text != ",":
                what = "the list of IN is not closed"
                raise error_at(_FIELD, what, piece.position, "a ',' or a ')'")
            self._count(piece)
            values.append(self._value())

    def _value(self) -> Value:
        piece = self._take()
        if piece.kind == "number":
            value = float(piece.text)
            if not isfinite(value):
                got, wanted = Verbatim(piece.text), "a finite number"
                raise error_at(_FIELD, "a number is too large", piece.position, wanted, got=got)
            return value
        if piece.kind == "string":
            quote = piece.text[0]
            return piece.text[1:-1].replace(quote * 2, quote)
        if piece.kind == "name" and piece.text.lower() in ("true", "false"):
            return piece.text.lower() == "true"
        hint = f"write '{piece.text}' in quotes" if piece.kind == "name" else None
        wanted = "a number, a string in quotes, TRUE or FALSE"
        raise error_at(_FIELD, "a value is missing", piece.position, wanted, hint)


def _pieces(text: str) -> Iterator[_Piece]:
    position = 0
    while position < len(text):
        found = _PIECE.match(text, position)
        if found is None:
            _refuse_piece(text, position)
        if found.lastgroup != "space":
            yield _Piece(cast("_PieceKind", found.lastgroup), found[0], position)
        if found.lastgroup == "string" and not is_encodable(found[0]):
            what = "a string has a lone surrogate"
            raise error_at(_FIELD, what, position, "Unicode text")
        position = found.end()
    yield _Piece("end", "", len(text))


def _refuse_piece(text: str, position: int) -> NoReturn:
    character, pair = text[position], text[position : position + 2]
    if character in "'\"":
        what, wanted = "a string is not closed", f"a second {character}"
        raise error_at(_FIELD, what, position, wanted, f"a {character} inside is written twice")
    if character in "0123456789+.-":
        what, wanted = "a number cannot be read", "digits, such as 1200, -3 or 0.5"
        raise error_at(_FIELD, what, position, wanted, got=text[position : position + 20])
    hint = _LOOK_ALIKES.get(pair) or _LOOK_ALIKES.get(character)
    wanted = "names, values, = != < <= > >=, IN, EXISTS, AND, OR, NOT and parentheses"
    raise error_at(_FIELD, f"{character!r} has no meaning here", position, wanted, hint)


def _refuse_start(piece: _Piece) -> NoReturn:
    hint = None
    if piece.kind in ("number", "string"):
        what, hint = "a value stands where a name should", "the name comes first: price <= 1200"
    else:
        what = f"{piece.text!r} follows no name"
        hint = "a number goes without separators: 1200" if piece.text == "," else None
    raise error_at(_FIELD, what, piece.position, "a name", hint)


def _refuse_operator(name: _Piece, piece: _Piece) -> NoReturn:
    what = f"nothing compares {name.text}"
    wanted = "= != < <= > >=, IN or EXISTS after the name"
    word = piece.text.lower()
    hint = _FOREIGN.get(word) or _FOREIGN.get(name.text.lower())
    if hint is None and (piece.kind == "end" or piece.text == ")" or word in OPERATORS):
        hint = f"write {name.text} = TRUE, or {name.text} EXISTS"
    raise error_at(_FIELD, what, piece.position, wanted, hint)

"""How was a subscription said? Keywords and `where` as text, so that definitions can be given back.

What was read from text is kept word for word. Trees that were made by hand are written in the
language that `nearcast.keywords` and `nearcast.where` read; the place of a stop word in a phrase
has no word there and is written as one dot.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from msgspec import DecodeError
from msgspec.json import Decoder

from nearcast.errors import SnapshotError, Verbatim
from nearcast.expressions import And, Compare, Exists, Not, Or, Phrase, Prefix

if TYPE_CHECKING:
    from collections.abc import Callable

    from nearcast.event_values import Subscribe
    from nearcast.expressions import Comparison, Keyword, Keywords, Tree, Value, Where

_SAID = Decoder(tuple[str | list[str] | None, str | None])
_is_bare = re.compile(r"(?!(?:and|or|not)$)[^\W_]+", re.IGNORECASE).fullmatch


def said_of(event: Subscribe, keywords: object) -> str | None:
    """Return what was said as JSON, [keywords, where]; None: `keywords`, a list of words, tell it.

    `keywords` are those of the event as the core reads them. It gives words back only where they
    are all that there is besides an area.
    """
    said = event.said_keywords
    is_plain = event.where is None and event.except_ is None
    if is_plain and not isinstance(said, str) and not isinstance(keywords, tuple):
        words = keywords if isinstance(keywords, list) else []
        if said is None or sorted(said) == sorted(words):
            return None
    where = event.said_where
    return json.dumps(
        [
            write_keywords(event.keywords) if said is None and event.keywords is not None else said,
            write_where(event.where) if where is None and event.where is not None else where,
        ],
        ensure_ascii=False,
    )


def read_said(id: str, said: str) -> tuple[str | list[str] | None, str | None]:
    """Return keywords and `where` as `said_of` wrote them; a damaged snapshot may have others."""
    try:
        return _SAID.decode(said)
    except DecodeError as error:
        what = f"subscription {id!r}: what it says cannot be read"
        raise SnapshotError(what, got=Verbatim(str(error)), wanted="what was saved") from error


def write_keywords(tree: Keywords) -> str:
    """Return an expression that is read as this tree.

    Examples
    --------
    >>> from nearcast.expressions import Prefix, Word
    >>> write_keywords(And((Word(("flat",)), Or((Prefix("bal"), Phrase(("new", "york")))))))
    'flat AND (bal* OR "new york")'
    """
    return _write(tree, _keyword)


def write_where(tree: Where) -> str:
    """Return text that is read as this tree.

    Examples
    --------
    >>> from nearcast.expressions import In
    >>> write_where(And((Compare("price", "<=", 1200.0), Not(In("type", ("flat", "it's"))))))
    "price <= 1200 AND NOT type IN ('flat', 'it''s')"
    """
    return _write(tree, _comparison)


def _write(tree: Tree[Any], leaf: Callable[[Any], str]) -> str:
    if isinstance(tree, Not):
        return f"NOT {_inner(tree.part, leaf)}"
    if isinstance(tree, (And, Or)):
        operator = " OR " if isinstance(tree, Or) else " AND "
        return operator.join(_inner(part, leaf) for part in tree.parts)
    return leaf(tree)


def _inner(tree: Tree[Any], leaf: Callable[[Any], str]) -> str:
    text = _write(tree, leaf)
    return f"({text})" if isinstance(tree, (And, Or)) else text


def _keyword(leaf: Keyword) -> str:
    if isinstance(leaf, Prefix):
        return f"{leaf.start}*"
    if isinstance(leaf, Phrase):
        return '"' + " ".join("." if token is None else token for token in leaf.tokens) + '"'
    words = [token if _is_bare(token) else f'"{token}"' for token in leaf.tokens]
    return words[0] if len(words) == 1 else "(" + " ".join(words) + ")"


def _comparison(leaf: Comparison) -> str:
    if isinstance(leaf, Exists):
        return f"{leaf.name} EXISTS"
    if isinstance(leaf, Compare):
        return f"{leaf.name} {leaf.op} {_value(leaf.value)}"
    return f"{leaf.name} IN ({', '.join(map(_value, leaf.values))})"


def _value(value: Value) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    whole = value.is_integer() and abs(value) < 2**53
    return str(int(value)) if whole else repr(value)

"""Is a tree that was made by hand one that a parser could have made? If not, an error says so.

Parsers make only right trees, but `nearcast.event_values.Subscribe` takes any, and what it takes
goes to the core.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, NoReturn, get_args

from nearcast.attributes import NAME_WANTED, is_attribute_name
from nearcast.errors import InvalidSubscriptionError, Verbatim
from nearcast.expressions import (
    MAX_DEPTH,
    MAX_KEYWORDS,
    MAX_TOKENS,
    And,
    Compare,
    Exists,
    In,
    Not,
    Operator,
    Or,
    Phrase,
    Prefix,
    Word,
)
from nearcast.model import is_encodable

if TYPE_CHECKING:
    from collections.abc import Iterator

OPERATORS = frozenset(get_args(Operator))
_ORDERED = frozenset({"<", "<=", ">", ">="})


def check_keywords(tree: object) -> None:
    """Refuse what are no keywords."""
    if _is_plain(tree):
        return
    tokens = count = 0
    for leaf in _checked_leaves(tree, "keywords"):
        count += 1
        if type(leaf) is Word or type(leaf) is Phrase:
            _check_tokens(leaf)
            tokens += len(leaf.tokens)
        elif type(leaf) is Prefix:
            if not _is_token(leaf.start) or len(leaf.start) < 2:
                _refuse("keywords", "a prefix is too short", leaf, "two characters or more")
        else:
            _refuse("keywords", "not a tree of keywords", leaf, "Word, Phrase, Prefix")
    # A list may have more keywords than an expression, so only what is nested counts them.
    is_list = type(tree) is And and all(type(part) is Word for part in tree.parts)
    if count > MAX_KEYWORDS and not is_list:
        _refuse_size("keywords", f"{count:,} keywords", f"at most {MAX_KEYWORDS:,}")
    if tokens > MAX_TOKENS:
        _refuse_size("keywords", f"{tokens:,} words", f"at most {MAX_TOKENS:,}")


def _is_plain(tree: object) -> bool:
    """Whether they are single ASCII words, as nearly all are: a stream pays for each call."""
    if type(tree) is Word:
        words: tuple[object, ...] = (tree,)
    elif type(tree) is And and type(tree.parts) is tuple and 1 < len(tree.parts) <= MAX_KEYWORDS:
        words = tree.parts
    else:
        return False
    for word in words:
        if type(word) is not Word or type(word.tokens) is not tuple or len(word.tokens) != 1:
            return False
        token = word.tokens[0]
        if type(token) is not str or not token or not token.isascii():
            return False
    return True


def check_where(tree: object) -> None:
    """Refuse what is no `where`."""
    count = 0
    for leaf in _checked_leaves(tree, "where"):
        count += 1
        if type(leaf) is Compare:
            _check_comparison(leaf)
        elif type(leaf) is In:
            if type(leaf.values) is not tuple or not leaf.values:
                _refuse("where", "IN has no values", leaf, "a tuple of values")
            for value in leaf.values:
                _check_value(value)
            count += len(leaf.values) - 1
        elif type(leaf) is not Exists:
            _refuse("where", "not a tree of comparisons", leaf, "Compare, In, Exists")
        if not is_attribute_name(leaf.name):
            _refuse("where", "a name is not a name", leaf.name, NAME_WANTED)
    if count > MAX_KEYWORDS:
        _refuse_size("where", f"{count:,} comparisons", f"at most {MAX_KEYWORDS:,}")


def _checked_leaves(tree: object, field: str) -> Iterator[object]:
    """Yield what is not NOT, AND or OR; does not recurse, so that depth can be refused."""
    level: list[object] = [tree]
    for _ in range(MAX_DEPTH):
        below: list[object] = []
        for node in level:
            if type(node) is And or type(node) is Or:
                if type(node.parts) is not tuple or len(node.parts) < 2:
                    _refuse(field, "parts are too few", node, "a tuple of two or more")
                below += node.parts
            elif type(node) is Not:
                below.append(node.part)
            else:
                yield node
        # A part may be there many times: a small tree can stand for an endless one.
        if len(below) > 2 * MAX_TOKENS:
            _refuse_size(field, f"{len(below):,} parts", f"at most {2 * MAX_TOKENS:,}")
        if not below:
            return
        level = below
    _refuse_size(field, f"more than {MAX_DEPTH} levels", f"at most {MAX_DEPTH}")


def _check_tokens(leaf: Word | Phrase) -> None:
    tokens = leaf.tokens
    if type(tokens) is tuple and tokens:
        words = [token for token in tokens if token is not None]
        is_complete = len(words) == len(tokens) or (type(leaf) is Phrase and words)
        if is_complete and all(_is_token(word) for word in words):
            return
    _refuse("keywords", "tokens are not tokens", leaf, "a tuple of words")


def _is_token(word: object) -> bool:
    return type(word) is str and word != "" and is_encodable(word)


def _check_comparison(leaf: Compare) -> None:
    if not isinstance(leaf.op, str) or leaf.op not in OPERATORS:
        _refuse("where", "an operator is unknown", leaf.op, "one of = != < <= > >=")
    _check_value(leaf.value)
    if leaf.op in _ORDERED and type(leaf.value) is not float:
        _refuse("where", "only numbers have an order", leaf, "a float")


def _check_value(value: object) -> None:
    is_value = (
        (type(value) is float and isfinite(value))
        or type(value) is bool
        or (type(value) is str and is_encodable(value))
    )
    if not is_value:
        _refuse("where", "a value is no value", value, "a finite float, a string or a bool")


def _refuse(field: str, what: str, got: object, wanted: str) -> NoReturn:
    what = f"{field}: {what}"
    raise InvalidSubscriptionError(what, got=got, wanted=wanted, field=field)


def _refuse_size(field: str, got: str, wanted: str) -> NoReturn:
    what = f"{field}: the expression is too large"
    raise InvalidSubscriptionError(what, got=Verbatim(got), wanted=wanted, field=field)

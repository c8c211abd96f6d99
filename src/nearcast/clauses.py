"""Which clauses, any one of which suffices, say the same as keywords? What the core reads today.

Multiplying out can explode, so it is bounded. A clause that contradicts itself is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from nearcast.errors import InvalidSubscriptionError, UnsupportedError, Verbatim
from nearcast.expressions import And, Not, Or, Phrase, Word, plain_tokens
from nearcast.model import Clause

if TYPE_CHECKING:
    from nearcast.expressions import Keywords

MAX_CLAUSES = 64
_MAX_INTERMEDIATE = 4096  # contradictions may shrink a product on the way
_NONE: frozenset[str] = frozenset()

_Clauses: TypeAlias = dict[Clause, None]  # a set that keeps the order of text


def clauses_of(tree: Keywords | None) -> tuple[Clause, ...]:
    """Return the distinct clauses of keywords; none if they can never hold.

    No keywords are one clause that always holds.

    Raises
    ------
    InvalidSubscriptionError
        If there are more than 64 of them.
    UnsupportedError
        If there are prefixes, of which the core knows nothing yet; of a phrase it takes the words.
    """
    if tree is None:
        return (Clause._make((_NONE, _NONE)),)
    tokens = plain_tokens(tree)
    if tokens is not None:
        return (Clause._make((tokens, _NONE)),)
    found = _clauses(tree, is_negated=False)
    _check_size(found, MAX_CLAUSES)
    return tuple(found)


def tree_of(clauses: tuple[Clause, ...] | None) -> Keywords | None:
    """Return keywords that have these clauses; None if there are none to have."""
    alternatives: list[Keywords] = []
    for clause in clauses or ():
        parts: list[Keywords] = [Word((word,)) for word in sorted(clause.positive)]
        parts += [Not(Word((word,))) for word in sorted(clause.negative)]
        if parts:
            alternatives.append(parts[0] if len(parts) == 1 else And(tuple(parts)))
    if len(alternatives) > 1:
        return Or(tuple(alternatives))
    return alternatives[0] if alternatives else None


def _clauses(tree: Keywords, *, is_negated: bool) -> _Clauses:
    if isinstance(tree, Not):
        return _clauses(tree.part, is_negated=not is_negated)
    if isinstance(tree, (Word, Phrase)):
        tokens = [token for token in tree.tokens if token is not None]
        if is_negated:
            return {Clause._make((_NONE, frozenset((token,)))): None for token in tokens}
        return {Clause._make((frozenset(tokens), _NONE)): None}
    if not isinstance(tree, (And, Or)):
        what = "keywords: prefixes are not matched yet"
        raise UnsupportedError(what, got=tree, wanted="words, AND, OR, NOT", field="keywords")
    parts = [_clauses(part, is_negated=is_negated) for part in tree.parts]
    if isinstance(tree, Or) != is_negated:
        joined = {clause: None for part in parts for clause in part}
        _check_size(joined, _MAX_INTERMEDIATE)
        return joined
    result: _Clauses = {Clause._make((_NONE, _NONE)): None}
    for part in sorted(parts, key=len):
        result = _product(result, part)
    return result


def _product(left: _Clauses, right: _Clauses) -> _Clauses:
    result: _Clauses = {}
    for a in left:
        for b in right:
            positive, negative = a.positive | b.positive, a.negative | b.negative
            if positive.isdisjoint(negative):
                result[Clause._make((positive, negative))] = None
        _check_size(result, _MAX_INTERMEDIATE)
    return result


def _check_size(clauses: _Clauses, most: int) -> None:
    if len(clauses) > most:
        what = "keywords: the expression has too many clauses"
        raise InvalidSubscriptionError(
            what,
            got=Verbatim(f"{len(clauses)} or more"),
            wanted=f"at most {most} after multiplying out",
            hint="split it into several subscriptions",
            field="keywords",
        )

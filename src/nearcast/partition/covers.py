"""Which words must a message have to satisfy keywords? Groups: it needs the whole of one of them.

A cover is all that routing needs: a message that satisfies the keywords has every word of one of
the groups, so it is enough to meet one word of each. It says less than the keywords do, on purpose:
nothing is multiplied out. Of an AND its plain words and phrases make one group; without any, the
part with the fewest groups stands for the whole. An OR needs the groups of all its parts.

What can be satisfied without any certain word (NOT, a prefix) has no cover, and the subscription is
open: every part of the words must know it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from nearcast.expressions import And, Not, Or, Phrase, Word

if TYPE_CHECKING:
    from nearcast.expressions import Keywords

Groups: TypeAlias = tuple[frozenset[str], ...]


def word_groups(keywords: Keywords | None) -> Groups | None:
    """Return groups of words, one of which a message must have whole; None: no word is needed.

    Examples
    --------
    >>> from nearcast.keywords import parse
    >>> [sorted(group) for group in word_groups(parse('flat balcony -sold'))]
    [['balcony', 'flat']]
    >>> [sorted(group) for group in word_groups(parse('(flat OR "town house") -sold'))]
    [['flat'], ['house', 'town']]
    >>> word_groups(parse("balc*")) is None
    True
    """
    return None if keywords is None else _groups(keywords, is_negated=False)


def _groups(tree: Keywords, *, is_negated: bool) -> Groups | None:
    if isinstance(tree, Not):
        return _groups(tree.part, is_negated=not is_negated)
    if isinstance(tree, (And, Or)):
        parts = [_groups(part, is_negated=is_negated) for part in tree.parts]
        # NOT turns an OR of parts into an AND of their negations, and the other way round.
        return _any_of(parts) if isinstance(tree, Or) != is_negated else _all_of(parts)
    if is_negated or not isinstance(tree, (Word, Phrase)):
        return None
    return (frozenset(token for token in tree.tokens if token is not None),)


def _any_of(parts: list[Groups | None]) -> Groups | None:
    found: dict[frozenset[str], None] = {}
    for part in parts:
        if part is None:
            return None
        found.update(dict.fromkeys(part))
    return tuple(found)


def _all_of(parts: list[Groups | None]) -> Groups | None:
    covers = [part for part in parts if part is not None]
    certain = [part[0] for part in covers if len(part) == 1]
    if certain:
        return (frozenset().union(*certain),)
    return min(covers, key=len) if covers else None

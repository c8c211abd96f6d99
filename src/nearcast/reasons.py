"""Why does an expression hold for a message, or why not? In words, for people; the core decides.

A reason names the words or comparisons that matter: of an AND all that is missing, of an OR the
alternative that lacks least, of a NOT what should not be there.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from nearcast.comparing import compares
from nearcast.expressions import And, Compare, Exists, Not, Or, Phrase, Prefix, Word, holds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nearcast.attributes import AttributeValue
    from nearcast.expressions import Comparison, Keyword, Keywords, Value, Where

_MAX_NAMED = 10  # words or comparisons in one sentence


# ---- keywords -------------------------------------------------------------------------------


def explain_keywords(tree: Keywords, places: Sequence[str | None]) -> tuple[bool, str]:
    """Return whether keywords hold for a text, and a piece of a sentence that says why.

    `places` are the tokens in order; None is the place of a stop word.

    Examples
    --------
    >>> from nearcast.keywords import parse
    >>> explain_keywords(parse('"new york" -sold'), ["york", "new", "sold"])
    (False, 'lacks "new york" (its words are not next to each other) and has the excluded sold')
    """
    decide = partial(_keyword_holds, places=places, tokens=frozenset(places))
    is_so = holds(tree, decide)
    reason = _reason(tree, decide)
    if is_so:
        there = [_named(leaf) for leaf, is_negated in reason.leaves if not is_negated]
        return True, f"has {_listed(there)}" if there else "has nothing that is excluded"
    lacking = [_lacking(leaf, places) for leaf, is_negated in reason.leaves if not is_negated]
    excluded = [_named(leaf) for leaf, is_negated in reason.leaves if is_negated]
    parts = [f"lacks {_listed(lacking)}"] if lacking else []
    parts += [f"has the excluded {_listed(excluded)}"] if excluded else []
    others = f" (best of {reason.alternatives} alternatives)" if reason.alternatives > 1 else ""
    return False, " and ".join(parts) + others


def _keyword_holds(
    leaf: Keyword, *, places: Sequence[str | None], tokens: frozenset[str | None]
) -> bool:
    if isinstance(leaf, Word):
        return tokens.issuperset(leaf.tokens)
    if isinstance(leaf, Prefix):
        return any(token is not None and token.startswith(leaf.start) for token in tokens)
    length = len(leaf.tokens)
    return any(
        all(w is None or w == places[at + i] for i, w in enumerate(leaf.tokens))
        for at in range(len(places) - length + 1)
    )


def _named(leaf: Keyword) -> str:
    if isinstance(leaf, Word):
        return ", ".join(leaf.tokens)
    if isinstance(leaf, Prefix):
        return f"{leaf.start}*"
    return '"' + " ".join("…" if token is None else token for token in leaf.tokens) + '"'


def _lacking(leaf: Keyword, places: Sequence[str | None]) -> str:
    if isinstance(leaf, Word):
        return ", ".join([token for token in leaf.tokens if token not in places])
    if isinstance(leaf, Phrase) and all(t is None or t in places for t in leaf.tokens):
        return f"{_named(leaf)} (its words are not next to each other)"
    return _named(leaf)


# ---- where ----------------------------------------------------------------------------------


def explain_where(tree: Where, attributes: Mapping[str, AttributeValue]) -> tuple[bool, str]:
    """Return whether a `where` holds for attributes, and a piece of a sentence that says why.

    Examples
    --------
    >>> from nearcast.where import parse
    >>> explain_where(parse("price <= 1200 AND rooms >= 2"), {"price": 1350.0, "rooms": 3.0})
    (False, 'price is 1,350, wanted <= 1,200')
    """
    decide = partial(compares, attributes=attributes)
    is_so = holds(tree, decide)
    reason = _reason(tree, decide)
    if is_so:
        found = [_found(leaf.name, attributes) for leaf, _ in reason.leaves]
        return True, _listed(found)
    wrong = [
        f"{_found(leaf.name, attributes)}, wanted {'NOT ' * is_negated}{_wanted(leaf)}"
        for leaf, is_negated in reason.leaves
    ]
    others = f" (best of {reason.alternatives} alternatives)" if reason.alternatives > 1 else ""
    return False, _listed(wrong, "; ") + others


def _found(name: str, attributes: Mapping[str, AttributeValue]) -> str:
    if name not in attributes:
        return f"{name} is not there"
    value = attributes[name]
    if isinstance(value, tuple):
        return f"{name} is [{_listed(list(map(_written, value)))}]"
    return f"{name} is {_written(value)}"


def _wanted(leaf: Comparison) -> str:
    if isinstance(leaf, Exists):
        return "EXISTS"
    if isinstance(leaf, Compare):
        return f"{leaf.op} {_written(leaf.value)}"
    return f"IN ({_listed(list(map(_written, leaf.values)))})"


def _written(value: Value) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"{int(value):,}" if value.is_integer() and abs(value) < 1e15 else repr(value)


# ---- both -----------------------------------------------------------------------------------


class _Reason(NamedTuple):
    """The leaves that matter, each with whether it is negated; and of how many alternatives."""

    leaves: list[tuple[Any, bool]]
    alternatives: int = 1


def _reason(tree: Any, decide: Callable[[Any], bool], *, is_negated: bool = False) -> _Reason:  # noqa: ANN401
    """Return what makes a tree hold, or not hold."""
    if isinstance(tree, Not):
        return _reason(tree.part, decide, is_negated=not is_negated)
    if not isinstance(tree, (And, Or)):
        return _Reason([(tree, is_negated)])
    is_so = holds(tree, decide)
    reasons = [
        _reason(part, decide, is_negated=is_negated)
        for part in tree.parts
        if holds(part, decide) == is_so
    ]
    if isinstance(tree, And) != is_negated:
        leaves = [leaf for reason in reasons for leaf in reason.leaves]
        return _Reason(leaves, max(reason.alternatives for reason in reasons))
    best = min(reasons, key=lambda reason: len(reason.leaves))
    return _Reason(best.leaves, max(len(tree.parts), best.alternatives))


def _listed(pieces: list[str], between: str = ", ") -> str:
    """Join what is distinct; of many only the first."""
    distinct = list(dict.fromkeys(pieces))
    more = len(distinct) - _MAX_NAMED
    named = between.join(distinct[:_MAX_NAMED])
    return f"{named} and {more} more" if more > 0 else named

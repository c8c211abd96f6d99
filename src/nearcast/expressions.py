"""What do keywords and `where` say? Trees of words, comparisons, NOT, AND and OR; values only.

`nearcast.keywords` and `nearcast.where` read text into these trees, the core decides by them. The
lowest layer: nothing here knows analyzers, messages or errors.

Trees are as they were written, except that AND in AND and OR in OR are one, and NOT of NOT is
nothing. They are at most `MAX_DEPTH` deep, so that walking them may recurse.

Examples
--------
>>> tree = And((Word(("flat",)), Not(Word(("sold",)))))
>>> holds(tree, lambda leaf: leaf == Word(("flat",)))
True
>>> [leaf.tokens for leaf in leaves(tree)]
[('flat',), ('sold',)]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_KEYWORDS = 1024
"""Words, phrases and prefixes of an expression; comparisons of a `where`, with each value of IN."""
MAX_NESTING = 100
"""Parentheses and NOTs that are open at one place."""
MAX_DEPTH = 2 * MAX_NESTING + 3
"""Levels of a tree: in each pair of parentheses there may be an OR of ANDs, and then a leaf."""
MAX_TOKENS = 8191
"""Tokens of all words and phrases together."""

Operator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">="]
Value: TypeAlias = float | str | bool

Leaf_co = TypeVar("Leaf_co", covariant=True)


# ---- keywords -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Word:
    """A bare keyword: all its tokens are required, in any order."""

    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Tokens next to each other, in this order; None stands for any one token."""

    tokens: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Prefix:
    """Some token starts with it."""

    start: str


# ---- where ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Compare:
    """An attribute compares so with a value of its own type."""

    name: str
    op: Operator
    value: Value


@dataclass(frozen=True, slots=True)
class In:
    """An attribute equals one of the values."""

    name: str
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    """There is such an attribute."""

    name: str


# ---- both -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Not(Generic[Leaf_co]):
    """Holds where its part does not."""

    part: Tree[Leaf_co]


@dataclass(frozen=True, slots=True)
class And(Generic[Leaf_co]):
    """Holds where all parts hold; there are at least two."""

    parts: tuple[Tree[Leaf_co], ...]


@dataclass(frozen=True, slots=True)
class Or(Generic[Leaf_co]):
    """Holds where a part holds; there are at least two."""

    parts: tuple[Tree[Leaf_co], ...]


Tree: TypeAlias = Leaf_co | Not[Leaf_co] | And[Leaf_co] | Or[Leaf_co]
Keyword: TypeAlias = Word | Phrase | Prefix
Comparison: TypeAlias = Compare | In | Exists
Keywords: TypeAlias = Keyword | Not[Keyword] | And[Keyword] | Or[Keyword]
Where: TypeAlias = Comparison | Not[Comparison] | And[Comparison] | Or[Comparison]


def holds(tree: Tree[Any], decide: Callable[[Any], bool]) -> bool:
    """Return whether a tree holds if its leaves do as `decide` says."""
    if isinstance(tree, Not):
        return not holds(tree.part, decide)
    if isinstance(tree, And):
        return all(holds(part, decide) for part in tree.parts)
    if isinstance(tree, Or):
        return any(holds(part, decide) for part in tree.parts)
    return decide(tree)


def leaves(tree: Tree[Any]) -> Iterator[Any]:
    """Yield words, phrases, prefixes and comparisons, in the order of the text."""
    if isinstance(tree, Not):
        yield from leaves(tree.part)
    elif isinstance(tree, (And, Or)):
        for part in tree.parts:
            yield from leaves(part)
    else:
        yield tree


def holds_without_words(tree: Keywords) -> bool:
    """Return whether a message that has none of the keywords satisfies them, as of ``-sold``."""
    return holds(tree, lambda _: False)


def plain_tokens(tree: Keywords) -> frozenset[str] | None:
    """Return the tokens of bare keywords that are all required; None if there is more to it."""
    if type(tree) is Word:
        return frozenset(tree.tokens)
    if type(tree) is not And:
        return None
    tokens: set[str] = set()
    for part in tree.parts:
        if type(part) is not Word:
            return None
        tokens.update(part.tokens)
    return frozenset(tokens)

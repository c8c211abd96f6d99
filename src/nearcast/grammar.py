"""How do AND, OR, NOT and parentheses make a tree? The grammar that keywords and `where` share.

NOT binds most, then AND, then OR. Each lexeme is looked at once and nothing recurses, so reading
takes time in proportion to the text, and stops at the first lexeme that is one too many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from nearcast.errors import ExpressionError, Verbatim
from nearcast.expressions import MAX_KEYWORDS, MAX_NESTING, And, Not, Or

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind: TypeAlias = Literal["a leaf", "NOT", "AND", "OR", "(", ")"]
LEAF: Final = "a leaf"
NOT: Final = "NOT"
AND: Final = "AND"
OR: Final = "OR"
OPEN: Final = "("
CLOSE: Final = ")"
OPERATORS: dict[str, Kind] = {"and": AND, "or": OR, "not": NOT}

_Tree: TypeAlias = Any  # of leaves that this room does not know; None: nothing is left of it


class Lexeme(NamedTuple):
    """What a piece of text is, where it begins, and the leaf if it is one (None: dropped)."""

    kind: Kind
    position: int
    leaf: object = None


class Language(NamedTuple):
    """What is read, in words for its errors."""

    field: str
    leaf: str
    """What an operator stands between, with its article."""
    leaves: str
    joins_neighbours: bool
    """Whether leaves that stand next to each other are joined by AND."""
    empty_hint: str
    operator_hint: str
    """How to say that an operator is meant as a word; {} is the operator."""


class _Level:
    """What stands in one pair of parentheses."""

    __slots__ = ("alternatives", "factors", "nots", "position")

    def __init__(self, position: int) -> None:
        self.position = position
        self.alternatives: list[_Tree] = []
        self.factors: list[_Tree] = []
        self.nots = 0  # that wait for their operand

    def add(self, tree: _Tree) -> None:
        if tree is not None:
            if self.nots % 2:
                tree = tree.part if type(tree) is Not else Not(tree)
            if type(tree) is And:
                self.factors += tree.parts
            else:
                self.factors.append(tree)
        self.nots = 0

    def end_alternative(self) -> None:
        if self.factors:
            factors = self.factors
            tree = factors[0] if len(factors) == 1 else And(tuple(factors))
            if type(tree) is Or:
                self.alternatives += tree.parts
            else:
                self.alternatives.append(tree)
            self.factors = []

    def close(self) -> _Tree:
        self.end_alternative()
        found = self.alternatives
        return Or(tuple(found)) if len(found) > 1 else found[0] if found else None


def read_tree(text: str, lexemes: Iterable[Lexeme], language: Language) -> _Tree:
    """Return the tree of all lexemes; None if every leaf of it was dropped.

    Raises
    ------
    ExpressionError
        With the position of what does not fit.
    """
    level = _Level(0)
    outer: list[_Level] = []
    previous: Lexeme | None = None
    depth = count = 0
    for lexeme in lexemes:
        kind = lexeme.kind
        _check_order(previous, lexeme, language)
        if kind is LEAF:
            count += 1
            if count > MAX_KEYWORDS:
                raise _too_many(lexeme, language)
            depth -= level.nots
            level.add(lexeme.leaf)
        elif kind is NOT:
            level.nots += 1
            depth += 1
        elif kind is OPEN:
            outer.append(level)
            level = _Level(lexeme.position)
            depth += 1
        elif kind is CLOSE:
            if not outer:
                what = "')' closes nothing"
                raise error_at(language.field, what, lexeme.position, "a '(' before it")
            tree, level = level.close(), outer.pop()
            depth -= 1 + level.nots
            level.add(tree)
        elif kind is OR:
            level.end_alternative()
        if depth > MAX_NESTING:
            raise _too_deep(lexeme, language)
        previous = lexeme
    if previous is None or previous.kind not in (LEAF, CLOSE):
        raise _ends_early(text, previous, language)
    if outer:
        what = "'(' is not closed"
        raise error_at(language.field, what, level.position, "a ')' after it")
    return level.close()


def error_at(
    field: str,
    what: str,
    position: int,
    wanted: str,
    hint: str | None = None,
    got: object = None,
) -> ExpressionError:
    """Return an error about a place in the text of `field`."""
    what = f"{field}: {what}"
    return ExpressionError(what, position=position, got=got, wanted=wanted, hint=hint, field=field)


# ---- what does not fit ----------------------------------------------------------------------


def _check_order(previous: Lexeme | None, lexeme: Lexeme, language: Language) -> None:
    if previous is not None and previous.kind in (LEAF, CLOSE):
        if not language.joins_neighbours and lexeme.kind in (LEAF, NOT, OPEN):
            what = f"{language.leaf} is followed by something else without AND or OR"
            raise error_at(language.field, what, lexeme.position, "AND or OR before it")
    elif lexeme.kind in (AND, OR, CLOSE):
        raise _missing_operand(previous, lexeme, language)


def _missing_operand(
    previous: Lexeme | None, lexeme: Lexeme, language: Language
) -> ExpressionError:
    field, hint = language.field, language.operator_hint.format(lexeme.kind) or None
    if lexeme.kind == CLOSE:
        if previous is None:
            return error_at(field, "')' closes nothing", lexeme.position, "a '(' before it")
        if previous.kind == OPEN:
            wanted = f"{language.leaf} in them"
            return error_at(field, "parentheses are empty", previous.position, wanted)
        what, hint = "')' comes too early", None
    elif previous is None or previous.kind == OPEN:
        what = f"{lexeme.kind} has nothing before it"
    else:
        what = f"{lexeme.kind} follows {previous.kind}"
    return error_at(field, what, lexeme.position, f"{language.leaf} before it", hint)


def _ends_early(text: str, previous: Lexeme | None, language: Language) -> ExpressionError:
    field = language.field
    if previous is None:
        wanted = f"at least {language.leaf.replace('a ', 'one ', 1)}"
        return error_at(field, "the expression is empty", 0, wanted, language.empty_hint)
    if previous.kind == OPEN:
        wanted = f"{language.leaf} and a ')' after it"
        return error_at(field, "'(' is not closed", previous.position, wanted)
    what = f"nothing follows {previous.kind}"
    return error_at(field, what, len(text), f"{language.leaf} at the end")


def _too_many(lexeme: Lexeme, language: Language) -> ExpressionError:
    what = f"the expression has too many {language.leaves}"
    wanted = f"at most {MAX_KEYWORDS:,}"
    got = Verbatim(f"more than {MAX_KEYWORDS:,}")
    hint = "split it into several subscriptions"
    return error_at(language.field, what, lexeme.position, wanted, hint, got)


def _too_deep(lexeme: Lexeme, language: Language) -> ExpressionError:
    what = "parentheses and NOTs are nested too deeply"
    wanted = f"at most {MAX_NESTING} open at one place"
    return error_at(language.field, what, lexeme.position, wanted)

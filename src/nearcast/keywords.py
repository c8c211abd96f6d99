"""What do keywords require? A list or an expression becomes clauses, any one of which suffices.

An expression has words, quoted words, ``AND`` (also by adjacency), ``OR``, ``NOT`` or a leading
``-``, and parentheses; NOT binds most, then AND, then OR. It becomes disjunctive normal form in
four steps, none of which recurses, so that no nesting is too deep:

1. `_lex`: characters to lexemes. White space separates; parentheses and quotes delimit
   everywhere. ``AND``, ``OR`` and ``NOT`` are operators only as whole words without quotes, so
   ``"AND"`` means the word.
2. `_postfix`: operator precedence to postfix order.
3. `_push_down`: from the root to the words, each NOT moves to the words (De Morgan) and nested
   ANDs and ORs of the same kind become one group.
4. `_clauses_of`: from the words to the root, each group becomes its clauses.

A clause that contradicts itself is dropped as soon as it appears. The last step can explode, so
its size and its work are bounded; an expression that would exceed them has too many clauses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from nearcast.errors import ExpressionError, InvalidSubscriptionError, Verbatim
from nearcast.model import Clause
from nearcast.text import DEFAULT_ANALYZER, Analyzer

MAX_CLAUSES = 64
# Contradictions may shrink a product, so the way to 64 clauses may lead over more of them.
_MAX_INTERMEDIATE = 20_000
_MAX_WORK = 2_000_000

_FIELD = "keywords"
_NO_TOKEN = "keywords: a keyword has no letter or digit"
# Only white space matches none of these. A hyphen negates at the start of a word that goes on;
# in the middle of a word it is part of the last alternative.
_LEXEME = re.compile(
    r"""(?P<parenthesis>[()])
      | "(?P<quoted>[^"]*)"
      | (?P<unclosed>")
      | (?P<hyphen>-)(?=[^\s)])
      | (?P<word>[^\s()"]+)""",
    re.VERBOSE,
)
_NOT_JUST_WORDS = re.compile(r'[()"-]|AND|OR|NOT')


_Kind: TypeAlias = Literal["a word", "NOT", "AND", "OR", "(", ")"]
WORD: Final = "a word"
NOT: Final = "NOT"
AND: Final = "AND"
OR: Final = "OR"
OPEN: Final = "("
CLOSE: Final = ")"

_PRECEDENCE: dict[_Kind, int] = {OPEN: 0, OR: 1, AND: 2, NOT: 3}
_OPERATORS: dict[str, _Kind] = {"AND": AND, "OR": OR, "NOT": NOT}


class _Lexeme(NamedTuple):
    kind: _Kind
    position: int
    tokens: tuple[str, ...] = ()


def parse(
    keywords: str | Sequence[str], analyzer: Analyzer = DEFAULT_ANALYZER
) -> tuple[Clause, ...]:
    """Return the distinct clauses of a list or an expression; none if it can never be true.

    Raises
    ------
    ExpressionError
        If an expression cannot be read, has an alternative without a positive keyword, or more
        than 64 clauses.
    InvalidSubscriptionError
        If it is neither an expression nor a list of strings that each have a token.

    Examples
    --------
    >>> for clause in parse("coffee (free OR sale) -decaf"):
    ...     print(sorted(clause.positive), sorted(clause.negative))
    ['coffee', 'free'] ['decaf']
    ['coffee', 'sale'] ['decaf']
    """
    if isinstance(keywords, str):
        return _parse_words(keywords, analyzer) or _parse_expression(keywords, analyzer)
    return (_clause_of_list(keywords, analyzer),)


def plain(keywords: str | Sequence[str], analyzer: Analyzer = DEFAULT_ANALYZER) -> frozenset[str]:
    """Return the tokens of keywords that are only words, all of them wanted.

    Raises
    ------
    InvalidSubscriptionError
        If they use OR or NOT, and whatever `parse` raises.

    Examples
    --------
    >>> sorted(plain("jazz concert"))
    ['concert', 'jazz']
    """
    clauses = parse(keywords, analyzer)
    if len(clauses) == 1 and not clauses[0].negative:
        return clauses[0].positive
    what = "keywords: scores need plain words"
    raise InvalidSubscriptionError(
        what,
        got=keywords,
        wanted="words without OR and NOT",
        field=_FIELD,
    )


def _clause_of_list(entries: Sequence[str], analyzer: Analyzer) -> Clause:
    if isinstance(entries, (bytes, bytearray)) or not isinstance(entries, Sequence):
        what = "keywords are neither an expression nor a list"
        raise InvalidSubscriptionError(
            what,
            got=entries,
            wanted="a string or a list of strings",
            field=_FIELD,
        )
    tokens: set[str] = set()
    for number, entry in enumerate(entries):
        if not isinstance(entry, str):
            what = f"keywords: entry {number} is not a string"
            raise InvalidSubscriptionError(what, got=entry, wanted="a string", field=_FIELD)
        found = analyzer.analyze(entry)
        if not found:
            what = f"keywords: entry {number} has no letter or digit"
            raise InvalidSubscriptionError(what, got=entry, wanted="a word", field=_FIELD)
        tokens.update(found)
    if not tokens:
        what = "keywords are empty"
        raise InvalidSubscriptionError(
            what,
            got=entries,
            wanted="at least one keyword",
            hint="leave keywords out to match any text",
            field=_FIELD,
        )
    return Clause._make((frozenset(tokens), frozenset()))


def _parse_words(text: str, analyzer: Analyzer) -> tuple[Clause, ...]:
    """Do what `_parse_expression` does for most expressions, but faster; () for the others."""
    if _NOT_JUST_WORDS.search(text):
        return ()
    tokens: set[str] = set()
    for word in text.split():
        found = analyzer.analyze(word)
        if not found:
            return ()
        tokens.update(found)
    return (Clause._make((frozenset(tokens), frozenset())),) if tokens else ()


def _parse_expression(text: str, analyzer: Analyzer) -> tuple[Clause, ...]:
    root, groups, negated = _push_down(_postfix(text, _lex(text, analyzer)))
    clauses = _clauses_of(groups)
    if len(clauses) > MAX_CLAUSES:
        raise _too_many(len(clauses), root.position)
    for clause in clauses:
        if not clause.positive:
            position = next(p for p, tokens in negated if not clause.negative.isdisjoint(tokens))
            what = "keywords: every alternative needs a positive keyword, one has none"
            raise ExpressionError(
                what,
                position=position,
                got=text,
                wanted="a keyword without NOT in every alternative",
                hint="add a word that must be there, as in 'coffee -decaf'",
                field=_FIELD,
            )
    return tuple(clauses)


def _error(what: str, position: int, wanted: str, hint: str | None = None) -> ExpressionError:
    what = f"keywords: {what}"
    return ExpressionError(what, position=position, wanted=wanted, hint=hint, field=_FIELD)


def _too_many(count: object, position: int) -> ExpressionError:
    return ExpressionError(
        "keywords: the expression has too many clauses",
        position=position,
        got=count,
        wanted=f"at most {MAX_CLAUSES} after multiplying out",
        hint="split it into several subscriptions",
        field=_FIELD,
    )


# ---- 1: characters to lexemes ---------------------------------------------------------------


def _lex(text: str, analyzer: Analyzer) -> Iterator[_Lexeme]:
    for found in _LEXEME.finditer(text):
        part = found.lastgroup
        start, word = found.start(), found[0]
        if part == "parenthesis":
            yield _Lexeme(OPEN if word == "(" else CLOSE, start)
        elif part == "hyphen":
            yield _Lexeme(NOT, start)
        elif part == "word" and word in _OPERATORS:
            yield _Lexeme(_OPERATORS[word], start)
        elif part == "unclosed":
            what = "a quote is not closed"
            raise _error(what, start, "a second quotation mark")
        else:
            yield _word(found[part or 0], start, analyzer)


def _word(text: str, position: int, analyzer: Analyzer) -> _Lexeme:
    # Distinct and in order of appearance, so that the order of clauses is the same in each run.
    tokens = tuple(dict.fromkeys(analyzer.analyze(text)))
    if not tokens:
        raise ExpressionError(_NO_TOKEN, position=position, got=text, wanted="a word", field=_FIELD)
    return _Lexeme(WORD, position, tokens)


# ---- 2: lexemes to postfix ------------------------------------------------------------------


def _postfix(text: str, lexemes: Iterable[_Lexeme]) -> list[_Lexeme]:
    """Order by precedence (shunting-yard); adjacency becomes AND."""
    output: list[_Lexeme] = []
    operators: list[_Lexeme] = []
    previous: _Lexeme | None = None
    for lexeme in lexemes:
        if _ends_operand(previous):
            if lexeme.kind in (WORD, NOT, OPEN):
                _push_binary(_Lexeme(AND, lexeme.position), operators, output)
        elif lexeme.kind in (AND, OR, CLOSE):
            raise _missing_operand(previous, lexeme)
        if lexeme.kind == WORD:
            output.append(lexeme)
        elif lexeme.kind in (NOT, OPEN):
            operators.append(lexeme)
        elif lexeme.kind == CLOSE:
            _close(lexeme, operators, output)
        else:
            _push_binary(lexeme, operators, output)
        previous = lexeme
    if not _ends_operand(previous):
        raise _ends_early(text, previous)
    return _flush(operators, output)


def _ends_operand(lexeme: _Lexeme | None) -> bool:
    return lexeme is not None and lexeme.kind in (WORD, CLOSE)


def _push_binary(lexeme: _Lexeme, operators: list[_Lexeme], output: list[_Lexeme]) -> None:
    while operators and _PRECEDENCE[operators[-1].kind] >= _PRECEDENCE[lexeme.kind]:
        output.append(operators.pop())
    operators.append(lexeme)


def _close(lexeme: _Lexeme, operators: list[_Lexeme], output: list[_Lexeme]) -> None:
    while operators:
        operator = operators.pop()
        if operator.kind == OPEN:
            return
        output.append(operator)
    what = "')' closes nothing"
    raise _error(what, lexeme.position, "a '(' before it")


def _flush(operators: list[_Lexeme], output: list[_Lexeme]) -> list[_Lexeme]:
    for operator in reversed(operators):
        if operator.kind == OPEN:
            what = "'(' is not closed"
            raise _error(what, operator.position, "a ')' after it")
        output.append(operator)
    return output


def _missing_operand(previous: _Lexeme | None, lexeme: _Lexeme) -> ExpressionError:
    hint = f'write "{lexeme.kind}" in quotes to search for the word'
    if lexeme.kind == CLOSE:
        if previous is not None and previous.kind == OPEN:
            return _error("parentheses are empty", previous.position, "a keyword in them")
        what, hint = "')' comes too early", ""
    elif previous is None or previous.kind == OPEN:
        what = f"{lexeme.kind} has nothing before it"
    else:
        what = f"{lexeme.kind} follows {previous.kind}"
    return _error(what, lexeme.position, "a keyword before it", hint or None)


def _ends_early(text: str, previous: _Lexeme | None) -> ExpressionError:
    if previous is None:
        return _error(
            "the expression is empty",
            0,
            "at least one keyword",
            "leave keywords out to match any text",
        )
    if previous.kind == OPEN:
        return _error("'(' is not closed", previous.position, "a keyword and a ')' after it")
    return _error(f"nothing follows {previous.kind}", len(text), "a keyword at the end")


# ---- 3: postfix to groups -------------------------------------------------------------------


@dataclass(slots=True)
class _Group:
    """An AND or an OR of literals and of groups of the other kind, in reverse order of text."""

    kind: _Kind
    position: int
    parts: list[_Group | Clause] = field(default_factory=list)


_Negated: TypeAlias = list[tuple[int, tuple[str, ...]]]


def _push_down(postfix: list[_Lexeme]) -> tuple[_Group, list[_Group], _Negated]:
    """Move NOT to the words. Returns the root, all groups from it downwards, negated words.

    Postfix read backwards meets each operator before its operands. `slots` holds what the
    operands still to come belong to: their group, and whether they are negated.
    """
    root = _Group(AND, postfix[-1].position)
    groups, negated = [root], []
    slots = [(root, False)]
    for lexeme in reversed(postfix):
        group, is_negated = slots.pop()
        if lexeme.kind == NOT:
            slots.append((group, not is_negated))
            continue
        if lexeme.kind == WORD and is_negated:
            negated.append((lexeme.position, lexeme.tokens))
        kind: _Kind = OR if (lexeme.kind == OR) != is_negated else AND
        if kind != group.kind and len(lexeme.tokens) != 1:
            inner = _Group(kind, lexeme.position)
            group.parts.append(inner)
            groups.append(inner)
            group = inner
        if lexeme.kind == WORD:
            group.parts.extend(_literal(t, is_negated=is_negated) for t in lexeme.tokens[::-1])
        else:
            slots += ((group, is_negated), (group, is_negated))
    negated.reverse()
    return root, groups, negated


def _literal(token: str, *, is_negated: bool) -> Clause:
    one, none = frozenset((token,)), frozenset[str]()
    return Clause._make((none, one) if is_negated else (one, none))


# ---- 4: groups to clauses -------------------------------------------------------------------


_Clauses: TypeAlias = dict[Clause, None]  # a set that keeps the order of text


class _Budget:
    """Work that is left. Grows with the expression: reading a long one is not exploding."""

    def __init__(self, groups: list[_Group]) -> None:
        self.left = _MAX_WORK + 8 * sum(len(group.parts) for group in groups)

    def spend(self, work: int, position: int) -> None:
        self.left -= work
        if self.left < 0:
            raise _too_many(Verbatim("more than can be multiplied out"), position)


def _clauses_of(groups: list[_Group]) -> _Clauses:
    budget = _Budget(groups)
    done: dict[int, _Clauses] = {}
    for group in reversed(groups):
        parts = [
            {part: None} if isinstance(part, Clause) else done.pop(id(part))
            for part in reversed(group.parts)
        ]
        combine = _any_of if group.kind == OR else _all_of
        done[id(group)] = combine(parts, group.position, budget)
    return done.pop(id(groups[0]))


def _any_of(parts: list[_Clauses], position: int, budget: _Budget) -> _Clauses:
    result: _Clauses = {}
    for part in parts:
        budget.spend(len(part), position)
        result.update(part)
        _check_size(result, position)
    return result


def _all_of(parts: list[_Clauses], position: int, budget: _Budget) -> _Clauses:
    """Multiply out: first what has one clause, then the smaller before the larger.

    What must hold in any case thus removes the alternatives it contradicts before these are
    multiplied with each other.
    """
    if len(parts) == 1:
        return parts[0]
    if not all(parts):
        return {}
    fixed = _merge_all([next(iter(part)) for part in parts if len(part) == 1])
    if fixed is None:
        return {}
    factors = [_compatible(part, fixed, position, budget) for part in parts if len(part) > 1]
    result: _Clauses = {fixed: None}
    for factor in sorted(factors, key=len):
        result = _product(result, factor, position, budget)
    return result


def _merge_all(clauses: list[Clause]) -> Clause | None:
    """Return the clause that requires all of them, or None if it contradicts itself."""
    positive = frozenset[str]().union(*(clause.positive for clause in clauses))
    negative = frozenset[str]().union(*(clause.negative for clause in clauses))
    return Clause._make((positive, negative)) if positive.isdisjoint(negative) else None


def _compatible(part: _Clauses, fixed: Clause, position: int, budget: _Budget) -> _Clauses:
    budget.spend(sum(_size(clause) for clause in part), position)
    return {clause: None for clause in part if not _contradict(clause, fixed)}


def _product(left: _Clauses, right: _Clauses, position: int, budget: _Budget) -> _Clauses:
    result: _Clauses = {}
    size_of_right = sum(_size(b) for b in right)
    for a in left:
        budget.spend(size_of_right + len(right) * _size(a), position)
        for b in right:
            if not _contradict(a, b):
                both = (a.positive | b.positive, a.negative | b.negative)
                result[Clause._make(both)] = None
        _check_size(result, position)
    return result


def _contradict(a: Clause, b: Clause) -> bool:
    return not (a.positive.isdisjoint(b.negative) and a.negative.isdisjoint(b.positive))


def _size(clause: Clause) -> int:
    return 1 + len(clause.positive) + len(clause.negative)


def _check_size(clauses: _Clauses, position: int) -> None:
    if len(clauses) > _MAX_INTERMEDIATE:
        raise _too_many(Verbatim(f"more than {_MAX_INTERMEDIATE}"), position)

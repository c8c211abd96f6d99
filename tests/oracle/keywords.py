"""Keyword expressions and lists to disjunctive normal form (DESIGN 1.1)."""

from __future__ import annotations

from typing import Any

from oracle.fields import OracleRejects, require
from oracle.text import analyze

Clause = tuple[frozenset[str], frozenset[str]]  # positive tokens, negative tokens
Lexeme = tuple[str, str]  # kind, text
Tree = tuple[Any, ...]  # ("all", tokens) | ("not", tree) | ("and" | "or", tree, tree)

CLAUSE_LIMIT = 64


def dnf(keywords: object) -> set[Clause]:
    """Return the clauses that do not contradict themselves, possibly none."""
    if isinstance(keywords, str):
        found = _clauses(_Parser(_lexemes(keywords)).parse(), negated=False)
    elif isinstance(keywords, (list, tuple)):
        require(len(keywords) > 0, "keywords: empty list")
        found = {(frozenset(t for entry in keywords for t in _tokens(entry)), frozenset())}
    else:
        raise OracleRejects("keywords: neither a string nor a list")
    require(all(positive for positive, _ in found), "a clause needs a positive keyword")
    require(len(found) <= CLAUSE_LIMIT, f"more than {CLAUSE_LIMIT} clauses")
    return found


def plain_tokens(keywords: object) -> frozenset[str]:
    """Return the tokens of keywords that are one clause without negatives."""
    clauses = dnf(keywords)
    require(len(clauses) == 1, "rank and top need plain keywords")
    [(positive, negative)] = clauses
    require(not negative, "rank and top need plain keywords")
    return positive


def _tokens(keyword: object) -> frozenset[str]:
    require(isinstance(keyword, str), f"keyword is not a string: {keyword!r}")
    tokens = frozenset(analyze(str(keyword)))
    require(len(tokens) > 0, f"keyword without a token: {keyword!r}")
    return tokens


def _lexemes(expression: str) -> list[Lexeme]:
    """Cut an expression into ("(", ")", "AND", "OR", "NOT", "word") with their texts."""
    found: list[Lexeme] = []
    start = 0
    while start < len(expression):
        first, following = expression[start], expression[start + 1 : start + 2]
        end = start + 1
        if first in "()":
            found.append((first, first))
        elif first == '"':
            closing = expression.find('"', start + 1)
            require(closing >= 0, "unclosed quote")
            found.append(("word", expression[start + 1 : closing]))
            end = closing + 1
        elif first == "-" and following not in ("", ")") and not following.isspace():
            found.append(("NOT", "-"))
        elif not first.isspace():
            while end < len(expression) and not _ends_word(expression[end]):
                end += 1
            word = expression[start:end]
            found.append((word if word in ("AND", "OR", "NOT") else "word", word))
        start = end
    return found


def _ends_word(character: str) -> bool:
    return character.isspace() or character in '()"'


class _Parser:
    """Recursive descent: OR binds least, then AND or adjacency, then NOT."""

    def __init__(self, lexemes: list[Lexeme]) -> None:
        self.rest = lexemes

    def parse(self) -> Tree:
        tree = self._or()
        require(not self.rest, "unexpected closing parenthesis")
        return tree

    def _next(self) -> str:
        return self.rest[0][0] if self.rest else "end"

    def _take(self) -> Lexeme:
        return self.rest.pop(0)

    def _or(self) -> Tree:
        tree = self._and()
        while self._next() == "OR":
            self._take()
            tree = ("or", tree, self._and())
        return tree

    def _and(self) -> Tree:
        tree = self._not()
        while self._next() in ("AND", "NOT", "(", "word"):
            if self._next() == "AND":
                self._take()
            tree = ("and", tree, self._not())
        return tree

    def _not(self) -> Tree:
        require(self._next() in ("NOT", "(", "word"), f"operand missing before {self._next()}")
        kind, text = self._take()
        if kind == "NOT":
            return ("not", self._not())
        if kind == "word":
            return ("all", _tokens(text))
        tree = self._or()
        require(self._next() == ")", "unclosed parenthesis")
        self._take()
        return tree


def _clauses(tree: Tree, *, negated: bool) -> set[Clause]:
    """Distribute AND over OR, with NOT pushed down to single tokens by De Morgan."""
    kind = tree[0]
    if kind == "not":
        return _clauses(tree[1], negated=not negated)
    if kind == "all" and negated:
        return {(frozenset(), frozenset({token})) for token in tree[1]}
    if kind == "all":
        return {(tree[1], frozenset())}
    left, right = _clauses(tree[1], negated=negated), _clauses(tree[2], negated=negated)
    if (kind == "or") != negated:
        return left | right
    both = {(p1 | p2, n1 | n2) for p1, n1 in left for p2, n2 in right}
    return {(positive, negative) for positive, negative in both if not positive & negative}

"""Keyword expressions and lists: reading them, and deciding them for one text (DESIGN 1.1)."""

from __future__ import annotations

from typing import Any

from oracle.fields import OracleRejects, require
from oracle.text import Places, analyze, places

# ("words", tokens) | ("phrase", places) | ("prefix", start) | ("not", tree) | ("and" | "or", trees)
Tree = tuple[Any, ...]
Lexeme = tuple[str, str]  # kind, text

MOST_KEYWORDS = 1024
DEEPEST = 100
_SIGNS = ("-", "!", "\N{EN DASH}", "\N{MINUS SIGN}")
_OPERATORS = ("and", "or", "not")
_LOOKS_LIKE_A_QUERY = "*?~^:<>="


def read_keywords(keywords: object, stop_words: frozenset[str] = frozenset()) -> Tree:
    """Read an expression or a list."""
    if isinstance(keywords, str):
        tree = _Parser(_lexemes(keywords), stop_words).parse()
    elif isinstance(keywords, (list, tuple)):
        require(len(keywords) > 0, "keywords: empty list")
        tree = _joined("and", [_words(entry, stop_words) for entry in keywords])
    else:
        raise OracleRejects("keywords: neither a string nor a list")
    if tree is None:
        raise OracleRejects("keywords: only stop words")
    return tree


def holds(tree: Tree, text: Places) -> bool:
    """Decide whether a text satisfies the keywords."""
    kind, part = tree
    if kind == "words":
        return all(token in text for token in part)
    if kind == "prefix":
        return any(token is not None and token.startswith(part) for token in text)
    if kind == "phrase":
        return any(_stands_at(part, text, start) for start in range(len(text)))
    if kind == "not":
        return not holds(part, text)
    if kind == "and":
        return all(holds(one, text) for one in part)
    return any(holds(one, text) for one in part)


def _stands_at(phrase: Places, text: Places, start: int) -> bool:
    """Compare place by place; a place that a stop word left in the phrase takes anything."""
    if start + len(phrase) > len(text):
        return False
    return all(want is None or text[start + i] == want for i, want in enumerate(phrase))


def holds_without_words(tree: Tree) -> bool:
    """Decide whether the keywords are satisfied by a text without any word."""
    return holds(tree, ())


def plain_tokens(tree: Tree) -> frozenset[str]:
    """Return the tokens of words that are joined by AND only; rank and top take nothing else."""
    kind, part = tree
    if kind == "words":
        return frozenset(part)
    require(kind == "and", "rank and top need plain keywords")
    return frozenset(token for one in part for token in plain_tokens(one))


def _words(keyword: object, stop_words: frozenset[str]) -> Tree | None:
    """Read a bare keyword; None if it has nothing but stop words."""
    require(isinstance(keyword, str), f"keyword is not a string: {keyword!r}")
    tokens = frozenset(analyze(str(keyword)))
    require(len(tokens) > 0, f"keyword without a token: {keyword!r}")
    left = tokens - stop_words
    return ("words", left) if left else None


def _phrase(quoted: str, stop_words: frozenset[str]) -> Tree | None:
    stands = places(quoted, stop_words)
    require(len(stands) > 0, f"phrase without a token: {quoted!r}")
    if len(stands) == 1:
        return _words(quoted, stop_words)
    return ("phrase", stands) if any(token is not None for token in stands) else None


def _prefix(start: str) -> Tree:
    tokens = analyze(start)
    require(len(tokens) == 1, f"a prefix has one token: {start!r}")
    require(len(tokens[0]) >= 2, f"a prefix has two characters or more: {start!r}")
    return ("prefix", tokens[0])


def _bare(word: str, stop_words: frozenset[str]) -> Tree | None:
    """Read an unquoted word that is no operator."""
    is_prefix = word.endswith("*")
    rest = word[:-1] if is_prefix else word
    odd = [character for character in rest if character in _LOOKS_LIKE_A_QUERY]
    require(not odd, f"not part of a word: {odd}")
    return _prefix(rest) if is_prefix else _words(word, stop_words)


def _joined(kind: str, parts: list[Tree | None]) -> Tree | None:
    """Join what is left when keywords of stop words are dropped."""
    left = [part for part in parts if part is not None]
    if len(left) < 2:
        return left[0] if left else None
    return (kind, tuple(left))


def _lexemes(expression: str) -> list[Lexeme]:
    """Cut an expression into ("(", ")", "and", "or", "not", "word", "quoted") with their texts."""
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
            found.append(("quoted", expression[start + 1 : closing]))
            end = closing + 1
        elif first in _SIGNS and following not in ("", ")") and not following.isspace():
            found.append(("not", first))
        elif not first.isspace():
            while end < len(expression) and not _ends_word(expression[end]):
                end += 1
            word = expression[start:end]
            found.append((word.lower() if word.lower() in _OPERATORS else "word", word))
        start = end
    return found


def _ends_word(character: str) -> bool:
    return character.isspace() or character in '()"'


class _Parser:
    """Recursive descent: OR binds least, then AND or adjacency, then NOT."""

    def __init__(self, lexemes: list[Lexeme], stop_words: frozenset[str]) -> None:
        keywords = sum(kind in ("word", "quoted") for kind, _ in lexemes)
        require(keywords <= MOST_KEYWORDS, f"more than {MOST_KEYWORDS} keywords")
        self.lexemes = lexemes
        self.at = 0
        self.depth = 0  # parentheses and NOTs that are open
        self.stop_words = stop_words

    def parse(self) -> Tree | None:
        tree = self._or()
        require(self._next() == "end", "unexpected closing parenthesis")
        return tree

    def _next(self) -> str:
        return self.lexemes[self.at][0] if self.at < len(self.lexemes) else "end"

    def _take(self) -> Lexeme:
        self.at += 1
        return self.lexemes[self.at - 1]

    def _or(self) -> Tree | None:
        parts = [self._and()]
        while self._next() == "or":
            self._take()
            parts.append(self._and())
        return _joined("or", parts)

    def _and(self) -> Tree | None:
        parts = [self._not()]
        while self._next() in ("and", "not", "(", "word", "quoted"):
            if self._next() == "and":
                self._take()
            parts.append(self._not())
        return _joined("and", parts)

    def _not(self) -> Tree | None:
        kind = self._next()
        require(kind in ("not", "(", "word", "quoted"), f"operand missing before {kind}")
        kind, text = self._take()
        if kind == "word":
            return _bare(text, self.stop_words)
        if kind == "quoted":
            return _phrase(text, self.stop_words)
        self.depth += 1
        require(self.depth <= DEEPEST, "nested too deep")
        tree = self._negated() if kind == "not" else self._grouped()
        self.depth -= 1
        return tree

    def _negated(self) -> Tree | None:
        tree = self._not()
        if tree is None:
            return None
        return tree[1] if tree[0] == "not" else ("not", tree)

    def _grouped(self) -> Tree | None:
        tree = self._or()
        require(self._next() == ")", "unclosed parenthesis")
        self._take()
        return tree

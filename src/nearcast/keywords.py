"""What do keywords require? A list or an expression becomes a tree of words, phrases and prefixes.

An expression has words, phrases in quotes, prefixes such as ``balc*``, ``AND`` (also by
adjacency), ``OR``, ``NOT`` or a leading ``-``, and parentheses. Operators are whole words without
quotes, in any letter case. White space separates; parentheses and quotes delimit everywhere.

What looks like the language of another search engine and is none of this is an error that says
what to write instead: nothing of the kind is silently read as words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from nearcast.errors import InvalidSubscriptionError, Verbatim
from nearcast.expressions import (
    MAX_KEYWORDS,
    MAX_TOKENS,
    And,
    Keyword,
    Keywords,
    Phrase,
    Prefix,
    Word,
    plain_tokens,
)
from nearcast.grammar import (
    CLOSE,
    LEAF,
    NOT,
    OPEN,
    OPERATORS,
    Language,
    Lexeme,
    error_at,
    read_tree,
)
from nearcast.text import DEFAULT_ANALYZER

if TYPE_CHECKING:
    from nearcast.text import Analyzer

_FIELD = "keywords"
_LANGUAGE = Language(
    field=_FIELD,
    leaf="a keyword",
    leaves="keywords",
    joins_neighbours=True,
    empty_hint="leave keywords out to match any text",
    operator_hint='write "{}" in quotes to search for the word',
)

# Only white space matches none of these. A sign negates at the start of a word that goes on; in
# the middle of a word it is part of the last alternative.
_SIGNS = "-!\N{EN DASH}\N{MINUS SIGN}"
_LEXEME = re.compile(
    rf"""(?P<parenthesis>[()])
      | "(?P<quoted>[^"]*)"
      | (?P<unclosed>")
      | (?P<sign>[{_SIGNS}])(?=[^\s)])
      | (?P<word>[^\s()"]+)""",
    re.VERBOSE,
)
_SPECIAL = re.compile(r"[*?~^:<>=]")
_IN_QUOTES = "put the word in quotes to search for it as it is"
_HINTS = {
    "*": f"a star ends a prefix of two characters or more, as in balc*; {_IN_QUOTES}",
    "?": _IN_QUOTES,
    "~": f"words that are merely alike are not found: join them by OR; {_IN_QUOTES}",
    "^": f"a word cannot count more than others; {_IN_QUOTES}",
    ":": f"values of attributes go to where, as in type = 'flat'; {_IN_QUOTES}",
}
_COMPARISON_HINT = f"comparisons go to where, as in price <= 1200; {_IN_QUOTES}"
_SYMBOL_HINTS = {
    "|": "write OR between alternatives",
    "&": "write AND, or nothing: neighbours are all required",
    "+": "write AND, or nothing: neighbours are all required",
}

# Most expressions: words of ASCII letters and digits with single spaces between them.
_PLAIN_WORDS = re.compile(r"[A-Za-z0-9]+(?: [A-Za-z0-9]+)*").fullmatch


def parse(keywords: str | Sequence[str], analyzer: Analyzer = DEFAULT_ANALYZER) -> Keywords:
    """Return the tree of a list or an expression.

    Raises
    ------
    ExpressionError
        If an expression cannot be read; it says where.
    InvalidSubscriptionError
        If it is neither an expression nor a list of strings that each have a token, or if only
        stop words are left.

    Examples
    --------
    >>> parse("balcony -sold")
    And(parts=(Word(tokens=('balcony',)), Not(part=Word(tokens=('sold',)))))
    >>> parse('"new york" OR manh*')
    Or(parts=(Phrase(tokens=('new', 'york')), Prefix(start='manh')))
    >>> parse(["AT&T"])
    Word(tokens=('at', 't'))
    """
    if isinstance(keywords, str):
        found = _parse_plain(keywords) if analyzer.is_plain else None
        if found is None:
            found = read_tree(keywords, _lex(keywords, analyzer), _LANGUAGE)
    else:
        found = _parse_list(keywords, analyzer)
    if found is None:
        _refuse_stop_words(keywords)
    return found


def plain(keywords: str | Sequence[str], analyzer: Analyzer = DEFAULT_ANALYZER) -> frozenset[str]:
    """Return the tokens of keywords that are only words, all of them wanted.

    Raises
    ------
    InvalidSubscriptionError
        If there is more to them, and whatever `parse` raises.

    Examples
    --------
    >>> sorted(plain("jazz concert"))
    ['concert', 'jazz']
    """
    tokens = plain_tokens(parse(keywords, analyzer))
    if tokens is None:
        what = "keywords: scores need plain words"
        wanted = "words without OR, NOT, phrases and prefixes"
        raise InvalidSubscriptionError(what, got=keywords, wanted=wanted, field=_FIELD)
    return tokens


def needs_a_place(keywords: object) -> InvalidSubscriptionError:
    """Return the error about keywords alone that nearly every message satisfies."""
    what = "keywords: a message without any of the keywords satisfies them"
    wanted = "a keyword without NOT in each alternative, an area or a where"
    hint = "add a word that must be there, as in 'coffee -decaf', or an area"
    return InvalidSubscriptionError(what, got=keywords, wanted=wanted, hint=hint, field=_FIELD)


def _parse_plain(text: str) -> Keywords | None:
    """Do what `read_tree` does for most expressions, but faster; None for the others."""
    if _PLAIN_WORDS(text) is None:
        return None
    words = text.lower().split(" ")
    if len(words) == 1:
        return None if words[0] in OPERATORS else Word((words[0],))
    if len(words) > MAX_KEYWORDS or not OPERATORS.keys().isdisjoint(words):
        return None
    return And(tuple([Word((word,)) for word in words]))


def as_list(keywords: Any) -> Any:  # noqa: ANN401 — checked by its readers
    """Return an array of numpy or pandas as a list; anything else as it is."""
    if isinstance(keywords, (str, list, tuple)) or not hasattr(keywords, "tolist"):
        return keywords
    return keywords.tolist()


# ---- lists ----------------------------------------------------------------------------------


def _parse_list(entries: Sequence[str], analyzer: Analyzer) -> Keywords | None:
    entries = as_list(entries)
    if isinstance(entries, (bytes, bytearray)) or not isinstance(entries, Sequence):
        what = "keywords are neither an expression nor a list"
        wanted = "a string or a list of strings"
        raise InvalidSubscriptionError(what, got=entries, wanted=wanted, field=_FIELD)
    if not entries:
        what, wanted = "keywords are empty", "at least one keyword"
        hint = _LANGUAGE.empty_hint
        raise InvalidSubscriptionError(what, got=entries, wanted=wanted, hint=hint, field=_FIELD)
    words: list[Word] = []
    count = 0
    for number, entry in enumerate(entries):
        if not isinstance(entry, str):
            what = f"keywords: entry {number} is not a string"
            raise InvalidSubscriptionError(what, got=entry, wanted="a string", field=_FIELD)
        places = analyzer.places(entry)
        if not places:
            what = f"keywords: entry {number} {_no_token(analyzer)}"
            raise InvalidSubscriptionError(
                what, got=entry, wanted="a word", hint=_symbol_hint(entry), field=_FIELD
            )
        tokens = _distinct(places)
        count += len(tokens)
        if tokens:
            words.append(Word(tokens))
    if count > MAX_TOKENS:
        what, got = "keywords are too many", Verbatim(f"{count:,} words")
        wanted = f"at most {MAX_TOKENS:,} words"
        raise InvalidSubscriptionError(what, got=got, wanted=wanted, field=_FIELD)
    return And(tuple(words)) if len(words) > 1 else words[0] if words else None


# ---- expressions ----------------------------------------------------------------------------


def _lex(text: str, analyzer: Analyzer) -> Iterator[Lexeme]:
    tokens = 0
    for found in _LEXEME.finditer(text):
        part = found.lastgroup
        start, word = found.start(), found[0]
        if part == "parenthesis":
            yield Lexeme(OPEN if word == "(" else CLOSE, start)
        elif part == "sign":
            yield Lexeme(NOT, start)
        elif part == "unclosed":
            raise error_at(_FIELD, "a quote is not closed", start, "a second quotation mark")
        elif part == "word" and word.lower() in OPERATORS:
            yield Lexeme(OPERATORS[word.lower()], start)
        else:
            is_quoted = part == "quoted"
            keyword = _phrase if is_quoted else _bare
            leaf = keyword(found["quoted"] if is_quoted else word, start, analyzer)
            tokens += 0 if leaf is None or isinstance(leaf, Prefix) else len(leaf.tokens)
            if tokens > MAX_TOKENS:
                what, wanted = "the keywords have too many words", f"at most {MAX_TOKENS:,}"
                raise error_at(_FIELD, what, start, wanted, "split it into several subscriptions")
            yield Lexeme(LEAF, start, leaf)


def _phrase(text: str, position: int, analyzer: Analyzer) -> Keyword | None:
    places = _places(text, position, analyzer)
    if len(places) == 1:
        return None if places[0] is None else Word((places[0],))
    return Phrase(tuple(places)) if any(place is not None for place in places) else None


def _bare(text: str, position: int, analyzer: Analyzer) -> Keyword | None:
    special = _SPECIAL.search(text)
    if special is not None:
        if special.start() < len(text) - 1 or special[0] != "*":
            _refuse_special(special[0], position + special.start(), text)
        return _prefix(text, position, analyzer)
    if text in _SIGNS:
        what = f"{text!r} stands alone"
        hint = "it means NOT directly before a word, quote or parenthesis; leave it out otherwise"
        raise error_at(_FIELD, what, position, "a keyword directly after it", hint)
    if not text.strip("&|+"):
        what = f"{text!r} is no operator"
        raise error_at(_FIELD, what, position, "AND, OR or NOT", _SYMBOL_HINTS[text[0]])
    tokens = _distinct(_places(text, position, analyzer))
    return Word(tokens) if tokens else None


def _prefix(text: str, position: int, analyzer: Analyzer) -> Prefix:
    starts = analyzer.starts(text[:-1])
    if len(starts) != 1 or len(starts[0]) < 2:
        what = "a prefix is not the beginning of one word"
        wanted = "two letters or digits or more before the star, as in balc*"
        raise error_at(_FIELD, what, position, wanted, got=text)
    return Prefix(starts[0])


def _refuse_special(character: str, position: int, word: str) -> NoReturn:
    what = f"{character!r} has no meaning here"
    hint = _HINTS.get(character, _COMPARISON_HINT)
    wanted = "words, quotes, AND, OR, NOT and parentheses"
    raise error_at(_FIELD, what, position, wanted, hint, got=word)


def _places(text: str, position: int, analyzer: Analyzer) -> list[str | None]:
    places = analyzer.places(text)
    if not places:
        what = f"a keyword {_no_token(analyzer)}"
        raise error_at(_FIELD, what, position, "a word", _symbol_hint(text), got=text)
    return places


def _distinct(places: list[str | None]) -> tuple[str, ...]:
    """Return what was not dropped, in order of appearance."""
    return tuple(dict.fromkeys([place for place in places if place is not None]))


def _no_token(analyzer: Analyzer) -> str:
    return "has no token" if analyzer.has_own_tokenizer else "has no letter or digit"


def _symbol_hint(text: str) -> str | None:
    """Say what makes a symbol a word; white space and ordinary signs are not meant as one."""
    if text.isascii():
        return None
    return f"an analyzer with keep={{{text!r}}} makes it a word"


def _refuse_stop_words(keywords: object) -> NoReturn:
    what = "keywords: only stop words are left, which are not looked at"
    wanted = "a keyword that is not a stop word"
    raise InvalidSubscriptionError(what, got=keywords, wanted=wanted, field=_FIELD)

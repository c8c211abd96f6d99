"""The tokens of a text.

Unicode NFKC, then casefold, then the maximal runs of letters, marks and digits (categories L, M
and N). Messages and keywords are read by the same analyzer, or they would not meet.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from nearcast.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ascii_tokens: Callable[[str], list[str]] = re.compile(r"[a-z0-9]+").findall

_BASIC_PLANE = (range(0x10000),)
# The other planes hold no letter, mark or digit in any version of Unicode: most are unassigned,
# two are private. Leaving them out makes the first non-ASCII text wait 30 ms instead of 150.
_OTHER_PLANES = (range(0x10000, 0x40000), range(0xE0000, 0xE1000))


def _is_token_category(category: str) -> bool:
    return category[0] in "LMN"


def _token_ranges(span: range) -> Iterator[str]:
    categories = map(unicodedata.category, map(chr, span))
    start = span.start
    for is_token, run in groupby(categories, key=_is_token_category):
        end = start + sum(1 for _ in run)
        if is_token:
            yield f"{chr(start)}-{chr(end - 1)}"
        start = end


@cache
def _unicode_tokens() -> Callable[[str], list[str]]:
    r"""Return a finder of tokens; `\w` will not do, it has the underscore and lacks the marks.

    `re` looks up the basic plane in a table but tries the ranges of other planes one by one, so
    these are behind a look-ahead that ends the attempt for nearly every separator.
    """
    basic = "".join(r for span in _BASIC_PLANE for r in _token_ranges(span))
    other = "".join(r for span in _OTHER_PLANES for r in _token_ranges(span))
    return re.compile(rf"(?:[{basic}]+|(?![\0-\uffff])[{other}]+)+").findall


@dataclass(frozen=True, slots=True)
class Analyzer:
    """Text to tokens.

    Parameters
    ----------
    stop_words
        Tokens that do not count, as they are after casefold.
    stem
        What to replace each token by that is left; an empty result drops the token. Give a
        function of a module, not a lambda, where the analyzer must be pickled.

    Examples
    --------
    >>> Analyzer().analyze("Free coffee at Bryant Park: FREE!")
    ['free', 'coffee', 'at', 'bryant', 'park', 'free']
    >>> Analyzer(stop_words=frozenset({"at"})).analyze("AT&T")
    ['t']
    """

    stop_words: frozenset[str] = frozenset()
    stem: Callable[[str], str] | None = None

    def __post_init__(self) -> None:
        """Refuse one string where a set of words is meant; take any other collection."""
        given: object = self.stop_words
        try:
            words = None if isinstance(given, (str, bytes)) else frozenset(given)  # type: ignore[call-overload]
        except TypeError:  # it cannot be iterated, or has something without a hash
            words = None
        if words is None or not all(isinstance(word, str) for word in words):
            what = "stop_words is not a set"
            raise InvalidParameterError(what, got=given, wanted="a set of words")
        object.__setattr__(self, "stop_words", words)
        if self.stem is not None and not callable(self.stem):
            what = "stem cannot be called"
            raise InvalidParameterError(what, got=self.stem, wanted="a function of a token")

    @property
    def is_plain(self) -> bool:
        """Whether all options are off."""
        return not self.stop_words and self.stem is None

    @property
    def has_own_tokenizer(self) -> bool:
        """Whether something else than letters and digits makes a token."""
        return False

    def analyze(self, text: str) -> list[str]:
        """Return the tokens of `text` in order, with repeats."""
        tokens = _tokens(text)
        if self.is_plain:
            return tokens
        return [token for token in self._kept(tokens) if token is not None]

    def places(self, text: str) -> list[str | None]:
        """Return the tokens of `text` in order; None where a stop word was dropped."""
        tokens = _tokens(text)
        return list(tokens) if self.is_plain else self._kept(tokens)

    def starts(self, text: str) -> list[str]:
        """Return the tokens of `text` as beginnings of words: not stemmed, none dropped."""
        return _tokens(text)

    def _kept(self, tokens: list[str]) -> list[str | None]:
        stopped, stem = self.stop_words, self.stem
        if stem is None:
            return [None if token in stopped else token for token in tokens]
        return [None if token in stopped else _checked(stem(token)) for token in tokens]


def _tokens(text: str) -> list[str]:
    if not isinstance(text, str):
        what = "text is not a string"
        raise InvalidParameterError(what, got=text, wanted="a string")
    if text.isascii():
        return _ascii_tokens(text.lower())
    return _unicode_tokens()(unicodedata.normalize("NFKC", text).casefold())


def _checked(stem: object) -> str | None:
    """Refuse what a stemmer of the user's should not have returned."""
    if not stem and (stem is None or isinstance(stem, str)):
        return None
    if isinstance(stem, str):
        try:
            stem.encode()
        except UnicodeEncodeError:
            pass
        else:
            return stem
    what = "stem returns what is not a token"
    raise InvalidParameterError(what, got=stem, wanted="a string without lone surrogates")


DEFAULT_ANALYZER = Analyzer()

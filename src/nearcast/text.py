"""How is text read? An analyzer turns it into tokens, alike for messages and keywords.

By default: Unicode NFKC, then casefold, then the maximal runs of letters, marks and digits
(categories L, M and N). Everything else is an option, in this order: folding of accents, words kept
whole or a tokenizer of the user's own, bigrams, stop words, stemming.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import KW_ONLY, dataclass, field
from functools import cache, partial
from typing import Any, NoReturn, cast

from nearcast.errors import InvalidParameterError
from nearcast.stop_words import STOP_WORDS
from nearcast.tokens import (
    normalized,
    split,
    split_keeping,
    with_bigrams,
    without_accents,
    without_variations,
)

_set = object.__setattr__


@dataclass(frozen=True, slots=True)
class Analyzer:
    """Text to tokens.

    Parameters
    ----------
    language
        Replace each token by its stem in this language, by Snowball: `languages` lists them. Needs
        the package PyStemmer, which ``pip install 'nearcast[languages]'`` brings.
    stop_words
        Words that do not count: a collection, in any letter case, or the name of a language. In a
        phrase they keep their place.
    fold_accents
        Whether accents do not count, so that ``munchen`` finds ``München``.
    bigrams
        Whether Han, Kana, Hangul and Thai, which have no spaces between words, are read as
        overlapping pairs of characters.
    keep
        Words that count as they are, such as ``c++``, ``.net`` or an emoji.
    stem
        A stemmer of one's own: what to replace each token by; None or "" drops it, as a stop word.
    tokenizer
        A tokenizer of one's own: gets a text, after NFKC, casefold and folding, and returns its
        tokens in order.
    name
        What to call functions of one's own in a snapshot, instead of by their own names: give
        another name to functions that answer otherwise. A function of a module, unlike a lambda,
        can be pickled.

    Examples
    --------
    >>> Analyzer().analyze("Free coffee at Bryant Park: FREE!")
    ['free', 'coffee', 'at', 'bryant', 'park', 'free']
    >>> Analyzer(stop_words={"At"}).analyze("AT&T")
    ['t']
    >>> Analyzer(fold_accents=True, keep={"c++"}).analyze("C++ in München")
    ['c++', 'in', 'munchen']
    """

    language: str | None = None
    _: KW_ONLY
    stop_words: Collection[str] | str = frozenset()
    fold_accents: bool = False
    bigrams: bool = False
    keep: Collection[str] = frozenset()
    stem: Callable[[str], str | None] | None = None
    tokenizer: Callable[[str], Iterable[str]] | None = None
    name: str | None = None
    is_plain: bool = field(init=False, repr=False, compare=False)
    """Whether all options are off, so that the core may split ASCII text itself."""
    _stopped: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be; read stop words and kept words as texts are read."""
        for option in ("fold_accents", "bigrams"):
            if not isinstance(getattr(self, option), bool):
                _refuse(option, "is not a truth value", getattr(self, option), "True or False")
        for hook in ("stem", "tokenizer"):
            if getattr(self, hook) is not None and not callable(getattr(self, hook)):
                _refuse(hook, "cannot be called", getattr(self, hook), "a function")
        if self.name is not None and not isinstance(self.name, str):
            _refuse("name", "is not a name", self.name, "a string")
        if self.language is not None:
            _check_language(self.language, self.stem)
        words = [without_variations(self._prepared(word)) for word in _words(self.keep, "keep")]
        if not all(words) or any(word.isspace() for word in words):
            _refuse("keep", "has an empty word", self.keep, "words to keep whole")
        _set(self, "keep", frozenset(words))
        _set(self, "stop_words", _stop_words(self.stop_words))
        stopped = (token for word in self.stop_words for token in self._split(word))
        _set(self, "_stopped", frozenset(stopped))
        _set(self, "is_plain", type(self) is Analyzer and self == _default_of(Analyzer))

    # ---- text to tokens ---------------------------------------------------------------------

    def analyze(self, text: str) -> list[str]:
        """Return the tokens of `text` in order, with repeats.

        A subclass may have one of its own; it then decides alone.
        """
        if self.is_plain:
            return split(normalized(_checked_text(text)))
        return [token for token in self._places(text) if token is not None]

    def places(self, text: str) -> list[str | None]:
        """Return the tokens of `text` in order; None where a stop word was dropped.

        Phrases count places: a stop word that was dropped keeps its own.

        Examples
        --------
        >>> Analyzer(stop_words="english").places("state of the art")
        ['state', None, None, 'art']
        """
        if self.is_plain:
            return cast("list[str | None]", split(normalized(_checked_text(text))))
        return list(self.analyze(text)) if self._is_overridden else self._places(text)

    def starts(self, text: str) -> list[str]:
        """Return the tokens of `text` as beginnings of words: not stemmed, none dropped."""
        return self.analyze(text) if self._is_overridden else self._split(text)

    def _places(self, text: str) -> list[str | None]:
        stopped = self._stopped
        places: list[str | None] = [None if t in stopped else t for t in self._split(text)]
        if self.language is not None:
            stem = _stemmer(self.language)
            return [None if place is None else stem(place) or None for place in places]
        if self.stem is not None:
            own = self.stem
            return [None if t is None else _checked(own(t), "stem") for t in places]
        return places

    def _split(self, text: str) -> list[str]:
        prepared = self._prepared(text)
        if self.tokenizer is not None:
            found = [_checked(token, "tokenizer") for token in _listed(self.tokenizer(prepared))]
            tokens = [token for token in found if token is not None]
        elif self.keep:
            tokens = split_keeping(prepared, self.keep)  # type: ignore[arg-type]
        else:
            tokens = split(prepared)
        return with_bigrams(tokens) if self.bigrams else tokens

    def _prepared(self, text: str) -> str:
        prepared = normalized(_checked_text(text))
        return without_accents(prepared) if self.fold_accents else prepared

    @property
    def _is_overridden(self) -> bool:
        return type(self).analyze is not Analyzer.analyze

    # ---- what it is -------------------------------------------------------------------------

    @property
    def has_own_tokenizer(self) -> bool:
        """Whether something else than letters and digits makes a token."""
        return self.tokenizer is not None or self._is_overridden

    @property
    def parameters(self) -> dict[str, Any]:
        """What is saved with a snapshot: the name, and the options that are on.

        Examples
        --------
        >>> Analyzer(fold_accents=True, keep={"C++"}).parameters
        {'name': 'standard', 'fold_accents': True, 'keep': ['c++']}
        """
        kind = type(self)
        own = "standard" if kind is Analyzer else f"{kind.__module__}.{kind.__qualname__}"
        found: dict[str, Any] = {"name": own if self.name is None else self.name}
        for option in ("language", "fold_accents", "bigrams"):
            if getattr(self, option):
                found[option] = getattr(self, option)
        if self.keep:
            found["keep"] = sorted(self.keep)
        if self._stopped:
            found["stop_words"] = sorted(self._stopped)
        for hook in ("stem", "tokenizer"):
            function = getattr(self, hook)
            if function is not None:
                found[hook] = _name_of(function) if self.name is None else True
        return found

    def saved(self) -> str:
        """Return `parameters` as a line of ASCII."""
        return json.dumps(self.parameters, sort_keys=True)


@cache
def _default_of(kind: type[Analyzer]) -> Analyzer:
    """Return the analyzer without options; made without its checks, which compare with it."""
    default = object.__new__(kind)
    for name, value in _DEFAULTS.items():
        _set(default, name, value)
    return default


_DEFAULTS: dict[str, object] = {
    "language": None,
    "stop_words": frozenset(),
    "fold_accents": False,
    "bigrams": False,
    "keep": frozenset(),
    "stem": None,
    "tokenizer": None,
    "name": None,
}


# ---- languages ------------------------------------------------------------------------------


def languages() -> list[str]:
    """Return the languages that there are stemmers for; none without the package PyStemmer."""
    try:
        import Stemmer
    except ImportError:
        return []
    return sorted(set(Stemmer.algorithms()) - {"porter", "lovins"})


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    """Return the stemmer of a language: one for each process, since it cannot be pickled."""
    import Stemmer

    stem: Callable[[str], str] = Stemmer.Stemmer(language).stemWord
    return stem


def _check_language(language: object, stem: object) -> None:
    if stem is not None:
        _refuse("stem", "and language are both there", stem, "one of them")
    known = languages()
    if not known:
        what = "language needs the package PyStemmer"
        hint = "pip install 'nearcast[languages]'"
        raise InvalidParameterError(
            what, got=language, wanted="it installed", hint=hint, field="language"
        )
    if not isinstance(language, str) or language not in known:
        _refuse("language", "is unknown", language, "one of " + ", ".join(known))


# ---- options --------------------------------------------------------------------------------


def _words(given: object, name: str) -> frozenset[str]:
    """Refuse one string where a set of words is meant; take any other collection."""
    words: frozenset[str] | None
    try:
        words = None if isinstance(given, (str, bytes)) else frozenset(given)  # type: ignore[call-overload]
    except TypeError:  # it cannot be iterated, or has something without a hash
        words = None
    if words is None or not all(isinstance(word, str) for word in words):
        _refuse(name, "is not a set", given, "a set of words")
    return frozenset(words)


def _stop_words(given: object) -> frozenset[str]:
    if not isinstance(given, str):
        return _words(given, "stop_words")
    if given not in STOP_WORDS:
        wanted = "a set of words, or one of " + ", ".join(STOP_WORDS)
        _refuse("stop_words", "is neither a set of words nor a language", given, wanted)
    return frozenset(STOP_WORDS[given].split())


def _refuse(name: str, what: str, got: object, wanted: str) -> NoReturn:
    what = f"{name} {what}"
    raise InvalidParameterError(what, got=got, wanted=wanted, field=name)


def _checked_text(text: object) -> str:
    if not isinstance(text, str):
        what = "text is not a string"
        raise InvalidParameterError(what, got=text, wanted="a string")
    return text


def _listed(tokens: object) -> Iterable[object]:
    if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
        what = "tokenizer returns what are not tokens"
        raise InvalidParameterError(what, got=tokens, wanted="a list of strings")
    return tokens


def _checked(token: object, name: str) -> str | None:
    """Refuse what a function of the user's should not have returned; None if it is nothing."""
    if token is None or (isinstance(token, str) and not token):
        return None
    if isinstance(token, str):
        try:
            token.encode()
        except UnicodeEncodeError:
            pass
        else:
            return token
    what = f"{name} returns what is not a token"
    raise InvalidParameterError(what, got=token, wanted="a string without lone surrogates")


def _name_of(function: object) -> str:
    while isinstance(function, partial):
        function = function.func
    kind = function if hasattr(function, "__qualname__") else type(function)
    return f"{getattr(kind, '__module__', '')}.{getattr(kind, '__qualname__', '')}"


DEFAULT_ANALYZER = Analyzer()

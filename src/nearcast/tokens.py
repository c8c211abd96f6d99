"""Where do the tokens of a text begin and end? Splitting alone, without options of its own choice.

Text is brought to one form first (NFKC, casefold). A token is a maximal run of letters, marks and
digits (Unicode categories L, M and N) with at least one letter or digit: marks alone, such as what
turns a sign into an emoji, are no word.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ascii_tokens: Callable[[str], list[str]] = re.compile(r"[a-z0-9]+").findall

_BASIC_PLANE = (range(0x10000),)
# The other planes hold no letter, mark or digit in any version of Unicode: most are unassigned,
# two are private. Leaving them out makes the first non-ASCII text wait 30 ms instead of 150.
_OTHER_PLANES = (range(0x10000, 0x40000), range(0xE0000, 0xE1000))


def normalized(text: str) -> str:
    """Return the form in which texts are compared."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).casefold()


def split(text: str) -> list[str]:
    """Return the tokens of a normalized text, in order and with repeats.

    Examples
    --------
    >>> split(normalized("Crème brûlée, 3×"))
    ['crème', 'brûlée', '3']
    """
    if text.isascii():
        return _ascii_tokens(text)
    return _worded(_unicode_tokens()(text))


def _worded(runs: list[str]) -> list[str]:
    """Leave out runs of marks alone; nearly every run begins with a letter or digit."""
    return [run for run in runs if run[0].isalnum() or any(map(_is_letter_or_digit, run))]


def _is_letter_or_digit(character: str) -> bool:
    return unicodedata.category(character)[0] in "LN"


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
def _ranges() -> tuple[str, str]:
    basic = "".join(r for span in _BASIC_PLANE for r in _token_ranges(span))
    other = "".join(r for span in _OTHER_PLANES for r in _token_ranges(span))
    return basic, other


def _run() -> str:
    r"""Return a pattern of runs; `\w` will not do, it has the underscore and lacks the marks.

    `re` looks up the basic plane in a table but tries the ranges of other planes one by one, so
    these are behind a look-ahead that ends the attempt for nearly every separator.
    """
    basic, other = _ranges()
    return rf"(?:[{basic}]+|(?![\0-\uffff])[{other}]+)+"


@cache
def _unicode_tokens() -> Callable[[str], list[str]]:
    return re.compile(_run()).findall


# ---- words kept whole -----------------------------------------------------------------------

_VARIATIONS = re.compile("[\N{VARIATION SELECTOR-15}\N{VARIATION SELECTOR-16}]")


def without_variations(text: str) -> str:
    """Return a text without what asks for an emoji in colour or in black: it is one sign."""
    return text if text.isascii() else _VARIATIONS.sub("", text)


def split_keeping(text: str, kept: frozenset[str]) -> list[str]:
    """Return the tokens of a normalized text, some words of which count as they are.

    A kept word with a letter or digit in it does not begin in the middle of a run, so that
    ``.net`` is not found in ``example.net``; one that ends with a letter or digit does not end
    there. Of several that fit at one place the longest counts.

    Examples
    --------
    >>> split_keeping("c++, not c+ or example.net", frozenset({"c++", ".net"}))
    ['c++', 'not', 'c', 'or', 'example', 'net']
    """
    return _worded_or_kept(_keeping_tokens(kept)(without_variations(text)), kept)


def _worded_or_kept(runs: list[str], kept: frozenset[str]) -> list[str]:
    return [
        run for run in runs if run[0].isalnum() or run in kept or any(map(_is_letter_or_digit, run))
    ]


@lru_cache(maxsize=64)
def _keeping_tokens(kept: frozenset[str]) -> Callable[[str], list[str]]:
    basic, other = _ranges()
    inside = f"[{basic}{other}]"
    alternatives = []
    for word in sorted(kept, key=lambda word: (-len(word), word)):
        pattern = re.escape(word)
        if any(map(_is_letter_or_digit, word)):
            pattern = f"(?<!{inside}){pattern}"
        if _is_token_category(unicodedata.category(word[-1])):
            pattern = f"{pattern}(?!{inside})"
        alternatives.append(pattern)
    return re.compile("|".join([*alternatives, _run()])).findall


# ---- accents --------------------------------------------------------------------------------

_ACCENTS = re.compile("[\u0300-\u036f]+")
_STROKES = str.maketrans(
    {
        "ø": "o",
        "đ": "d",
        "ð": "d",
        "ħ": "h",
        "ı": "i",
        "ł": "l",
        "ŧ": "t",
        "þ": "th",
        "æ": "ae",
        "œ": "oe",
    }
)


def without_accents(text: str) -> str:
    """Return a normalized text without the accents of Latin, Greek and Cyrillic letters.

    Marks of other scripts stay: there they are vowels.

    Examples
    --------
    >>> without_accents("münchen, smørrebrød, łódź")
    'munchen, smorrebrod, lodz'
    """
    if text.isascii():
        return text
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).translate(_STROKES)


# ---- scripts without spaces -----------------------------------------------------------------

_UNSPACED = (
    "\u0e00-\u0e7f"  # Thai
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7fb"  # Hangul
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30ff\u31f0-\u31ff"  # Kana, and signs used like Han
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_has_unspaced = re.compile(f"[{_UNSPACED}]").search
_script_runs: Callable[[str], list[str]] = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+").findall


def with_bigrams(tokens: list[str]) -> list[str]:
    """Return tokens with runs of Han, Kana, Hangul and Thai as overlapping pairs of characters.

    Examples
    --------
    >>> with_bigrams(["東京都で2dk", "flat"])
    ['東京', '京都', '都で', '2dk', 'flat']
    """
    pairs: list[str] = []
    for token in tokens:
        if token.isascii() or not _has_unspaced(token):
            pairs.append(token)
            continue
        for run in _script_runs(token):
            if len(run) < 2 or not _has_unspaced(run):
                pairs.append(run)
            else:
                pairs += [a + b for a, b in pairwise(run)]
    return pairs

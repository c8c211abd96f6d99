"""The default analyzer, and stop words (DESIGN 1.1)."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Places = tuple[str | None, ...]  # the token at each position; None: a stop word stood there


def analyze(text: str) -> list[str]:
    """Split into tokens, repeats kept, in the order of the text."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    spaced = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in folded)
    return [run for run in spaced.split(" ") if any(_is_letter_or_digit(c) for c in run)]


def _is_letter_or_digit(character: str) -> bool:
    return unicodedata.category(character)[0] in "LN"


def read_stop_words(words: Iterable[str]) -> frozenset[str]:
    """Return the tokens of all stop words."""
    return frozenset(token for word in words for token in analyze(word))


def places(text: str, stop_words: frozenset[str]) -> Places:
    """Return the token at each position of the text; stop words leave their places empty."""
    return tuple(None if token in stop_words else token for token in analyze(text))

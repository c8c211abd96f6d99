"""The default analyzer (DESIGN 1.1)."""

from __future__ import annotations

import unicodedata


def analyze(text: str) -> list[str]:
    """Split into tokens, repeats kept, in the order of the text."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    spaced = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in folded)
    return [token for token in spaced.split(" ") if token]

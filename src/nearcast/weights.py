"""How much does a word count? A weights epoch: numbers of documents, fixed while it is in force.

idf(t) = ln((1 + N) / (1 + df(t))) + 1, where N is the number of documents and df(t) of those with
t; a word that is not listed has df 0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from math import log
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING

from nearcast.errors import InvalidParameterError, shown

if TYPE_CHECKING:
    from os import PathLike

MAX_DOCUMENTS = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Weights:
    """A weights epoch.

    Examples
    --------
    >>> Weights(9, {"coffee": 4}).idf("coffee")
    1.6931471805599454
    """

    documents: int
    df: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return how many words have counts, and the first of them."""
        return f"Weights(documents={self.documents}, df={shown(dict(islice(self.df.items(), 7)))})"

    def __post_init__(self) -> None:
        """Refuse counts that cannot be."""
        documents = _count("documents", self.documents, MAX_DOCUMENTS)
        if not isinstance(self.df, Mapping):
            what = "weights: df is not a mapping"
            raise InvalidParameterError(what, got=self.df, wanted="words and numbers of documents")
        df: dict[str, int] = {}
        for token, count in self.df.items():
            if not isinstance(token, str):
                what = "weights: df has a key that is not a word"
                raise InvalidParameterError(what, got=token, wanted="a word")
            df[token] = _count(f"df of {shown(token)}", count, documents)
        object.__setattr__(self, "documents", documents)
        object.__setattr__(self, "df", df)  # a copy: what was checked stays as it was

    def idf(self, token: str) -> float:
        """Return the weight of a word."""
        if not isinstance(token, str):
            what = "token is not a word"
            raise InvalidParameterError(what, got=token, wanted="a string")
        return log((1 + self.documents) / (1 + self.df.get(token, 0))) + 1


def _count(name: str, value: object, most: int) -> int:
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if is_whole and 0 <= int(value) <= most:  # type: ignore[call-overload]
        return int(value)  # type: ignore[call-overload, no-any-return]
    wanted = f"a whole number from 0 to {most}" + ("" if name == "documents" else ", the documents")
    what = f"weights: {name} is not a count"
    raise InvalidParameterError(what, got=value, wanted=wanted)


def read_weights(path: str | PathLike[str]) -> Weights:
    """Read a file ``{"documents": N, "df": {token: count}}``."""
    what = f"weights file {shown(path)} cannot be read"
    wanted = '{"documents": N, "df": {token: count}}'
    try:
        content = json.loads(Path(path).read_bytes())
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidParameterError(what, got=str(error), wanted=wanted) from None
    if not isinstance(content, dict) or set(content) != {"documents", "df"}:
        raise InvalidParameterError(what, got=content, wanted=wanted)
    if not isinstance(content["df"], dict):
        raise InvalidParameterError(what, got=content["df"], wanted=wanted)
    return Weights(content["documents"], content["df"])

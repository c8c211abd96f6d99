"""How much does a word count? A weights epoch: numbers of documents, fixed while it is in force.

idf(t) = ln((1 + N) / (1 + df(t))) + 1, where N is the number of documents and df(t) of those with
t; a word that is not listed has df 0.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import TYPE_CHECKING

from nearcast.errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike


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

    def __post_init__(self) -> None:
        """Refuse counts that cannot be."""
        _check_count("documents", self.documents, None)
        for token, count in self.df.items():
            if not isinstance(token, str):
                what = "weights: df has a key that is not a word"
                raise InvalidParameterError(what, got=token, wanted="a word")
            _check_count(f"df of {token!r}", count, self.documents)

    def idf(self, token: str) -> float:
        """Return the weight of a word."""
        return log((1 + self.documents) / (1 + self.df.get(token, 0))) + 1


def _check_count(name: str, value: object, most: int | None) -> None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if not is_count or (most is not None and isinstance(value, int) and value > most):
        wanted = "a whole number from 0" + ("" if most is None else f" to {most}, the documents")
        what = f"weights: {name} is not a count"
        raise InvalidParameterError(what, got=value, wanted=wanted)


def read_weights(path: str | PathLike[str]) -> Weights:
    """Read a file ``{"documents": N, "df": {token: count}}``."""
    what = f"weights file {str(path)!r} cannot be read"
    wanted = '{"documents": N, "df": {token: count}}'
    try:
        content = json.loads(Path(path).read_bytes())
    except (ValueError, RecursionError) as error:
        raise InvalidParameterError(what, got=str(error), wanted=wanted) from None
    if not isinstance(content, dict) or set(content) != {"documents", "df"}:
        raise InvalidParameterError(what, got=content, wanted=wanted)
    if not isinstance(content["df"], dict):
        raise InvalidParameterError(what, got=content["df"], wanted=wanted)
    return Weights(content["documents"], content["df"])

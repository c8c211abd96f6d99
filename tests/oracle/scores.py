"""Weights and scores (DESIGN 1.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from oracle.space import Boxes, Place, touches

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Mapping

    from oracle.fields import Position

Space = tuple[float, float, float, float]


@dataclass(frozen=True)
class Weights:
    """An epoch: how many documents, and how many of them hold each token."""

    documents: int
    df: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse counts that cannot come from documents."""
        if self.documents < 0 or not all(0 <= n <= self.documents for n in self.df.values()):
            msg = f"a df is outside [0, {self.documents}]"
            raise ValueError(msg)


def weight(token: str, weights: Weights | None) -> float:
    """Return the idf of the token; 1 with no epoch."""
    if weights is None:
        return 1.0
    return math.log((1 + weights.documents) / (1 + weights.df.get(token, 0))) + 1


def units(score: float) -> int:
    """Return the score in units of 1e-9; all comparisons use this."""
    return round(score * 1e9)


def rank_score(
    tokens: frozenset[str],
    area: Boxes,
    alpha: float,
    message_tokens: Counter[str],
    place: Place,
    weights: Weights | None = None,
) -> float:
    """Return alpha * spatial + (1 - alpha) * textual similarity of a rank subscription."""
    common = math.fsum(weight(token, weights) for token in tokens & message_tokens.keys())
    textual = common / math.fsum(weight(token, weights) for token in tokens)
    return alpha * _overlap(area, place) + (1 - alpha) * textual


def _overlap(area: Boxes, place: Place) -> float:
    if place.is_point:
        return float(touches(area, place.boxes))
    size = area.size()
    if size == 0:
        covered = all(any(box.covers(part) for box in place.boxes.parts) for part in area.parts)
        return float(covered)
    common = (one.shared(other) for one in area.parts for other in place.boxes.parts)
    return float(sum((box.size() for box in common if box is not None), Fraction(0)) / size)


def top_score(
    tokens: frozenset[str],
    at: Position,
    alpha: float,
    message_tokens: Counter[str],
    place: Place,
    space: Space = (-180, -90, 180, 90),
    weights: Weights | None = None,
) -> float:
    """Return alpha * nearness + (1 - alpha) * cosine of a top subscription."""
    west, south, east, north = space
    distance = math.hypot(at[0] - place.center[0], at[1] - place.center[1])
    nearness = 1 - distance / math.hypot(east - west, north - south)
    return alpha * nearness + (1 - alpha) * _cosine(tokens, message_tokens, weights)


def _cosine(tokens: frozenset[str], message: Counter[str], weights: Weights | None) -> float:
    product = math.fsum(message[t] * weight(t, weights) ** 2 for t in tokens & message.keys())
    if product == 0:
        return 0.0
    lengths = _length(weight(token, weights) for token in tokens) * _length(
        count * weight(token, weights) for token, count in message.items()
    )
    return product / lengths


def _length(vector: Iterable[float]) -> float:
    return math.sqrt(math.fsum(x * x for x in vector))

"""Which score does a message have for a subscription, and which one does it need? For people."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScoreExplanation:
    """What a score of the modes rank and top is made of.

    Examples
    --------
    >>> from nearcast import Hub
    >>> hub = Hub()
    >>> terms = {"alpha": 0.4, "threshold": 0.8}
    >>> hub.subscribe("s1", mode="rank", keywords="flood river", area=[0, 0, 1, 1], **terms)
    []
    >>> hub.explain("s1", "The river rises", at=(0.5, 0.5))
    <no match: score 0.7 (place 1, text 0.5, alpha 0.4), wanted at least 0.8>
    """

    spatial: float
    """Its part of place, before `alpha` weighs it."""
    textual: float
    """Its part of text; 0: no keyword is shared."""
    score: float
    """Both together."""
    needed: float | None
    """The threshold, or the score of the last in a full list; None: the list has room."""
    alpha: float

    def __str__(self) -> str:
        """Return what it is, and what it should be."""
        parts = f"place {self.spatial:.6g}, text {self.textual:.6g}, alpha {self.alpha:.6g}"
        return f"score {self.score:.6g} ({parts}), {self._need()}"

    def _need(self) -> str:
        if self.needed is None:
            return "the list has room" if self.textual > 0 else "no keyword is shared"
        return f"wanted at least {self.needed:.6g}"

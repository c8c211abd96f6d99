"""Does a paper's claim hold in the numbers measured here?

A claim is taken apart into statements about panels (`statements`). Each says for which share of the
points it is true, and its numbers. All true: the claim *holds*. At least a third: it *holds in
part*. Less: it *does not hold here*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nearcast.bench.plots import Panel

HOLDS, IN_PART, NOT_HERE = "holds", "holds in part", "does not hold here"
IN_PART_FROM = 1 / 3


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement, and for which share of the points it is true."""

    share: float
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a claim."""

    word: str
    reason: str
    """Which statements are not true, with their numbers; empty if all are."""


class Claim(Protocol):
    """A statement about panels."""

    def check(self, panels: Sequence[Panel]) -> Finding:
        """Look at the numbers."""


def judge(claims: Sequence[Claim], panels: Sequence[Panel], because: str = "") -> Verdict:
    """Return the verdict over all statements of a claim."""
    findings = [claim.check(panels) for claim in claims]
    share = sum(finding.share for finding in findings) / max(len(findings), 1)
    failed = [finding.text for finding in findings if finding.share < 1]
    if not failed:
        return Verdict(HOLDS, "")
    word = IN_PART if share >= IN_PART_FROM else NOT_HERE
    return Verdict(word, ". ".join([*failed, because] if because else failed))

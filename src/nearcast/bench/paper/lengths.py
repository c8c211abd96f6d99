"""The four message groups of [LFilter §6] and [Rt §7] as panels: short or long, point or range."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nearcast.bench.paper.experiment import M, Matching, Plot, Study

if TYPE_CHECKING:
    from nearcast.bench.paper.experiment import Extent

SHORT, LONG = (6, 12, 20), (100, 400, 1_000)
MIDDLE_SHORT, MIDDLE_LONG = 12, 600
_GROUPS: tuple[tuple[str, tuple[int, ...], int, Extent], ...] = (
    ("a: short point messages", SHORT, MIDDLE_SHORT, "point"),
    ("b: long point messages", LONG, MIDDLE_LONG, "point"),
    ("c: short range messages", SHORT, MIDDLE_SHORT, "range"),
    ("d: long range messages", LONG, MIDDLE_LONG, "range"),
)


def by_words(*contenders: str, data: str = "TWEETS") -> tuple[Plot, ...]:
    """Return a panel for each group, the number of words along its axis."""
    return tuple(
        Plot(title, "match_us", Study(Matching(data, extent=extent), "words", words, contenders))
        for title, words, _, extent in _GROUPS
    )


def by_group(
    base: Matching,
    axis: str,
    values: tuple[float, ...] | tuple[int, ...],
    *contenders: str,
    measure: str = "match_us",
) -> tuple[Plot, ...]:
    """Return a panel for each group with messages of one length, something else along the axis."""
    return tuple(
        Plot(
            title,
            measure,
            Study(replace(base, words=words, extent=extent), axis, values, contenders),
        )
        for title, _, words, extent in _GROUPS
    )


SIZES = (2 * M, 4 * M, 6 * M, 8 * M, 10 * M)
"""Subscriptions in the papers' figures of scalability."""

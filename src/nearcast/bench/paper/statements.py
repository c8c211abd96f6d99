"""Statements about panels: orders, ratios, growth, trends, peaks.

Panels are named by the letter before the colon of their title; a statement without letters is about
all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING

from nearcast.bench.paper.claims import Finding
from nearcast.bench.paper.experiment import BIGGER_IS_BETTER, MEASURES
from nearcast.bench.plots import Line, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nearcast.bench.plots import Panel

TIE = 0.03
"""Medians that differ by less are no order."""
_BIGGER = {MEASURES[name] for name in BIGGER_IS_BETTER}


@dataclass(frozen=True, slots=True)
class Order:
    """The first contender is best, the next second, and so on; medians decide."""

    names: tuple[str, ...]
    on: str = ""

    def check(self, panels: Sequence[Panel]) -> Finding:
        """Look at each pair of neighbours at each point."""
        true, all_points, shown = 0, 0, []
        for name, other in pairwise(self.names):
            before, ratios, failed = [], [], ""
            for panel in _chosen(panels, self.on):
                a, b = _line(panel, name), _line(panel, other)
                here = [_is_better(x, y, panel) for x, y in _pairs(a, b)]
                before += here
                ratios.append(_middle_ratio(a, b))
                failed += "" if all(here) else _letter(panel)
            true += sum(before)
            all_points += len(before)
            if not all(before):
                where = f", not in {failed.strip()}" if failed else ""
                shown.append(
                    f"{name} is before {other} at {sum(before)} of {len(before)} points{where}; "
                    f"{other} is {_span(ratios)} {name}"
                )
        return Finding(true / max(all_points, 1), "; ".join(shown))


def first(name: str, *others: str, on: str = "") -> tuple[Order, ...]:
    """Return the statements that one contender is better than each of the others."""
    return tuple(Order((name, other), on) for other in others)


@dataclass(frozen=True, slots=True)
class Ratio:
    """One contender is at least so many times better than another, by the median over points."""

    name: str
    other: str
    least: float
    on: str = ""
    at: str | None = None
    """Only at this point of the axis."""

    def check(self, panels: Sequence[Panel]) -> Finding:
        """Compare, panel by panel; better but not by so much counts half."""
        shares, shown = [], []
        for panel in _chosen(panels, self.on):
            lines = [_line(panel, name) for name in (self.name, self.other)]
            if self.at is not None:
                place = [str(x) for x in panel.xs].index(self.at)
                lines = [Line(line.name, (line.values[place],)) for line in lines]
            found = _middle_ratio(*lines)
            found = 1 / found if panel.y_title in _BIGGER and found else found
            shares.append(1.0 if found >= self.least else 0.5 if found > 1 + TIE else 0.0)
            if shares[-1] < 1:
                shown.append(f"{_letter(panel)}{found:.2g}×")
        text = f"{self.name} against {self.other}: {', '.join(shown)}, claimed {self.least:g}×"
        return Finding(sum(shares) / max(len(shares), 1), text if shown else "")


@dataclass(frozen=True, slots=True)
class Growth:
    """From the first to the last point, a value grows like x to a power between two limits."""

    name: str
    least: float
    most: float
    on: str = ""

    def check(self, panels: Sequence[Panel]) -> Finding:
        """Take the exponent between the ends of the axis."""
        true, shown, chosen = 0, [], [*_chosen(panels, self.on)]
        for panel in chosen:
            (x0, y0), (x1, y1) = _ends(panel, self.name)
            power = log(y1 / y0) / log(x1 / x0) if x0 != x1 and y0 > 0 and y1 > 0 else 0.0
            if self.least <= power <= self.most:
                true += 1
            else:
                shown.append(f"{_letter(panel)}{power:.2f}")
        span = f"{self.least:g} to {self.most:g}"
        text = f"{self.name} grows with power {', '.join(shown)}, claimed {span}"
        return Finding(true / max(len(chosen), 1), text if shown else "")


@dataclass(frozen=True, slots=True)
class Trend:
    """A value rises or falls from the first point to the last, by at least some share."""

    name: str
    rises: bool
    on: str = ""
    by: float = 0.05

    def check(self, panels: Sequence[Panel]) -> Finding:
        """Compare the ends of the axis."""
        true, shown, chosen = 0, [], [*_chosen(panels, self.on)]
        for panel in chosen:
            (_, y0), (_, y1) = _ends(panel, self.name)
            low, high = (y0, y1) if self.rises else (y1, y0)
            if high > low * (1 + self.by):
                true += 1
            else:
                shown.append(f"{_letter(panel)}{short(y0)} to {short(y1)}")
        text = f"{self.name} does not {'rise' if self.rises else 'fall'}: {', '.join(shown)}"
        return Finding(true / max(len(chosen), 1), text if shown else "")


@dataclass(frozen=True, slots=True)
class Steady:
    """A value changes by at most a factor along the axis."""

    name: str
    factor: float
    on: str = ""

    def check(self, panels: Sequence[Panel]) -> Finding:
        """Compare the largest with the smallest."""
        true, shown, chosen = 0, [], [*_chosen(panels, self.on)]
        for panel in chosen:
            known = _known(_line(panel, self.name))
            found = max(known) / min(known) if known and min(known) > 0 else 1.0
            if found <= self.factor:
                true += 1
            else:
                shown.append(f"{_letter(panel)}{found:.2g}×")
        text = f"{self.name} varies by {', '.join(shown)}, claimed at most {self.factor:g}×"
        return Finding(true / max(len(chosen), 1), text if shown else "")


@dataclass(frozen=True, slots=True)
class BestAt:
    """At one point of the axis a value is the best, or within a tenth of it."""

    name: str
    x: float
    on: str = ""

    def check(self, panels: Sequence[Panel]) -> Finding:
        """Compare with the best of all points."""
        true, shown, chosen = 0, [], [*_chosen(panels, self.on)]
        for panel in chosen:
            known = [
                (value[0], float(x))
                for x, value in zip(panel.xs, _line(panel, self.name).values, strict=True)
                if value is not None
            ]
            best, where = max(known) if panel.y_title in _BIGGER else min(known)
            here = next(value for value, x in known if x == self.x)
            if max(here / best, best / here) <= 1.1:
                true += 1
            else:
                shown.append(f"{_letter(panel)}{short(here)} against {short(best)} at {where:g}")
        text = f"{self.name} at {self.x:g}: {', '.join(shown)}"
        return Finding(true / max(len(chosen), 1), text if shown else "")


@dataclass(frozen=True, slots=True)
class PeakInside:
    """A value is worst somewhere between the ends of the axis, not at an end."""

    name: str
    on: str = ""

    def check(self, panels: Sequence[Panel]) -> Finding:
        """Look for the peak of each panel."""
        true, shown, chosen = 0, [], [*_chosen(panels, self.on)]
        for panel in chosen:
            known = _known(_line(panel, self.name))
            if max(known) > max(known[0], known[-1]):
                true += 1
            else:
                shown.append(f"{_letter(panel)}{' '.join(short(value) for value in known)}")
        text = f"{self.name} has no peak between the ends: {', '.join(shown)}"
        return Finding(true / max(len(chosen), 1), text if shown else "")


@dataclass(frozen=True, slots=True)
class PanelRatio:
    """A value of one panel is at least so many times that of another, by medians over points."""

    name: str
    panel: str
    other: str
    least: float

    def check(self, panels: Sequence[Panel]) -> Finding:
        """Compare two panels; larger but not by so much counts half."""
        one, other = (
            sorted(_known(_line(next(_chosen(panels, letter)), self.name)))
            for letter in (self.panel, self.other)
        )
        found = one[len(one) // 2] / other[len(other) // 2]
        share = 1.0 if found >= self.least else 0.5 if found > 1 + TIE else 0.0
        text = f"({self.panel}) is {found:.2g}× ({self.other}), claimed {self.least:g}×"
        return Finding(share, "" if share == 1 else text)


@dataclass(frozen=True, slots=True)
class Within:
    """A value lies between two limits at all points."""

    name: str
    least: float
    most: float
    on: str = ""

    def check(self, panels: Sequence[Panel]) -> Finding:
        """Count the points inside."""
        known = [v for panel in _chosen(panels, self.on) for v in _known(_line(panel, self.name))]
        inside = [self.least <= value <= self.most for value in known]
        span = f"{self.least:g} to {self.most:g}"
        found = f"{short(min(known))} to {short(max(known))}" if known else "nothing"
        text = f"{self.name} is {found}, claimed {span}"
        return Finding(sum(inside) / max(len(inside), 1), "" if inside and all(inside) else text)


@dataclass(frozen=True, slots=True)
class Between:
    """A value lies between those of two others at each point, or equals one of them."""

    low: str
    name: str
    high: str
    on: str = ""

    def check(self, panels: Sequence[Panel]) -> Finding:
        """Count the points between."""
        inside = []
        for panel in _chosen(panels, self.on):
            lines = [_line(panel, name).values for name in (self.low, self.name, self.high)]
            for low, value, high in zip(*lines, strict=True):
                if low is not None and value is not None and high is not None:
                    inside.append(low[0] * (1 - TIE) <= value[0] <= high[0] * (1 + TIE))
        text = (
            f"{self.name} is between {self.low} and {self.high} at {sum(inside)} of "
            f"{len(inside)} points"
        )
        return Finding(sum(inside) / max(len(inside), 1), "" if all(inside) else text)


@dataclass(frozen=True, slots=True)
class NotMuchBetter:
    """At no point is a contender better than the best of others by more than a factor."""

    name: str
    others: tuple[str, ...]
    factor: float
    on: str = ""

    def check(self, panels: Sequence[Panel]) -> Finding:
        """Compare with the best of the others at each point."""
        true, count, most = 0, 0, 0.0
        for panel in _chosen(panels, self.on):
            own = _line(panel, self.name)
            against = [_pairs(own, _line(panel, other)) for other in self.others]
            for at_point in zip(*([y / x for x, y in pairs] for pairs in against), strict=True):
                gain = 1 / max(at_point) if panel.y_title in _BIGGER else min(at_point)
                true, count, most = true + (gain <= self.factor), count + 1, max(most, gain)
        text = f"{self.name} is {most:.2g}× better, claimed at most {self.factor:g}×"
        return Finding(true / max(count, 1), "" if true == count else text)


@dataclass(frozen=True, slots=True)
class NotHere:
    """A part of a claim that nothing here can show."""

    text: str

    def check(self, panels: Sequence[Panel]) -> Finding:
        """Say so."""
        return Finding(0.0, self.text)


# ---- numbers ----------------------------------------------------------------------------------


def _chosen(panels: Sequence[Panel], letters: str) -> Iterator[Panel]:
    return (panel for panel in panels if not letters or panel.title.partition(":")[0] in letters)


def _letter(panel: Panel) -> str:
    letter, colon, _ = panel.title.partition(":")
    return f"({letter}) " if colon else ""


def _line(panel: Panel, name: str) -> Line:
    return next(line for line in panel.lines if line.name == name)


def _known(line: Line) -> list[float]:
    return [value[0] for value in line.values if value is not None]


def _pairs(a: Line, b: Line) -> list[tuple[float, float]]:
    both = zip(a.values, b.values, strict=True)
    return [(x[0], y[0]) for x, y in both if x is not None and y is not None]


def _is_better(value: float, other: float, panel: Panel) -> bool:
    if panel.y_title in _BIGGER:
        value, other = other, value
    return value < other * (1 - TIE)


def _middle_ratio(a: Line, b: Line) -> float:
    """Return how many times the second is of the first, the median over the points."""
    ratios = sorted(y / x for x, y in _pairs(a, b) if x > 0)
    return ratios[len(ratios) // 2] if ratios else 1.0


def _span(ratios: Sequence[float]) -> str:
    """Return the smallest and the largest of ratios."""
    low, high = f"{min(ratios):.2g}", f"{max(ratios):.2g}"
    return f"{low}×" if low == high else f"{low} to {high}×"


def _ends(panel: Panel, name: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return x and y of the first and the last point; names count from 1."""
    known = [
        (float(x) if not isinstance(x, str) else place + 1.0, value[0])
        for place, (x, value) in enumerate(zip(panel.xs, _line(panel, name).values, strict=True))
        if value is not None
    ]
    return known[0], known[-1]

"""What a run of an experiment found: numbers by panel, as a line of JSON.

A value is [median, lowest, highest] of the repetitions, with four digits; None was not measured.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from nearcast.bench.plots import Line, Panel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """All numbers of one experiment."""

    name: str
    scale: str
    identity: str
    """Of the settings; a run with others does not go on from here."""
    seconds: float
    facts: Mapping[str, Any]
    """Sizes, data and checks, by study."""
    provenance: Mapping[str, Any]
    panels: tuple[Panel, ...]
    format: int = field(default=FORMAT)

    def to_line(self) -> str:
        """Return one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_line(cls, line: str) -> Outcome:
        """Read what `to_line` wrote.

        Raises
        ------
        ValueError
            If the line is of another format.
        """
        read = json.loads(line)
        if read.get("format") != FORMAT:
            msg = f"result has another format: got {read.get('format')}, wanted {FORMAT}"
            raise ValueError(msg)
        panels = tuple(_panel(panel) for panel in read.pop("panels"))
        return cls(**read, panels=panels)

    def panel(self, title: str) -> Panel:
        """Return the panel with a title."""
        return next(panel for panel in self.panels if panel.title == title)


def _panel(read: dict[str, Any]) -> Panel:
    lines = tuple(
        Line(line["name"], tuple(None if v is None else tuple(v) for v in line["values"]))
        for line in read.pop("lines")
    )
    return Panel(**{**read, "xs": tuple(read["xs"])}, lines=lines)


def values_of(values: Sequence[float]) -> tuple[float, float, float]:
    """Return median, lowest and highest of repetitions, rounded."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    return round4(median), round4(ordered[0]), round4(ordered[-1])


def round4(value: float) -> float:
    """Return a number with four digits.

    Examples
    --------
    >>> round4(123456.7), round4(0.0123456)
    (123500.0, 0.01235)
    """
    return float(f"{value:.4g}")

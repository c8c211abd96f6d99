"""What all kinds of experiments share: where they measure, points of an axis, what they return."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from nearcast.bench.paper.experiment import PARAMETER, Matching, Moving, Parted, Spread
from nearcast.bench.paper.scales import SIZES, most_in_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from nearcast.bench.paper.experiment import Setup, Study
    from nearcast.bench.paper.scales import Scale
    from nearcast.bench.paper.sources import Shelf
    from nearcast.bench.plots import Value

Numbers: TypeAlias = "Mapping[str, Value]"
"""Values by measure."""
Facts: TypeAlias = "Mapping[str, Any]"
S = TypeVar("S", bound="Setup")
Measure: TypeAlias = "Callable[[S, Sequence[str], Steps], tuple[Mapping[str, Numbers], Facts]]"


@dataclass(frozen=True, slots=True)
class Lab:
    """Where to measure: how large, with which data, and what is told of each step."""

    scale: Scale
    shelf: Shelf
    step: Callable[[str], None]
    largest: int | None = None
    """No size exceeds it, whatever the scale says."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a study found: for each x the numbers of each contender."""

    xs: tuple[float | str, ...]
    points: tuple[Mapping[str, Numbers], ...]
    facts: Facts


class Steps:
    """Passes the steps of a benchmark on."""

    def __init__(self, lab: Lab, where: str) -> None:
        self._lab, self._where = lab, where

    def step(self, description: str) -> None:
        """One more step begins."""
        self._lab.step(f"{self._where}: {description}" if self._where else description)


def along(study: Study, lab: Lab, kind: type[S], measure: Measure[S]) -> Found:
    """Measure all points of an axis; the values of a parameter on one workload, in turns.

    Parameters
    ----------
    study, lab
        What, and where.
    kind
        Of the study's setup.
    measure
        Returns the numbers of contenders by name, and facts for the result.
    """
    xs, points, facts = [], [], []
    if study.axis == PARAMETER:
        setup = _of_kind(fitting(study.setup, lab, len(study.contenders)), kind)
        rows = [*with_parameter(study)]
        found, told = measure(setup, [*dict.fromkeys(name for *_, name in rows)], Steps(lab, ""))
        for x in dict.fromkeys(x for x, _, _ in rows):
            xs.append(x)
            points.append({line: found[name] for at, line, name in rows if at == x})
        return Found(tuple(xs), tuple(points), {"runs": [told]})
    for x, setup_at in points_of(study, lab):
        steps = Steps(lab, f"{study.axis} {x}")
        found, told = measure(_of_kind(setup_at, kind), study.contenders, steps)
        xs.append(x)
        points.append({label(name): found[name] for name in study.contenders})
        facts.append(told)
    return Found(tuple(xs), tuple(points), {"runs": facts})


def _of_kind(setup: Setup, kind: type[S]) -> S:
    if not isinstance(setup, kind):
        msg = f"setup is of another kind: got {setup!r}, wanted {kind.__name__}"
        raise TypeError(msg)
    return setup


def points_of(study: Study, lab: Lab) -> Iterator[tuple[float | str, Setup]]:
    """Yield each x as it is measured, with its setup; sizes are those of the scale.

    Sizes that memory or the scale cut to the same are measured once.
    """
    seen: set[float | str] = set()
    for value in study.values:
        setup = _with(study.setup, {study.axis: _pair(study.axis, value)})
        if isinstance(setup, Moving) and study.axis == "objects":
            setup = replace(setup, messages=setup.objects)  # both grow, as in [AP §5.2.3]
        setup = fitting(setup, lab, len(study.contenders))
        x = value
        if study.axis in (*SIZES[type(setup)], "words", "partitions", "first_level"):
            x = getattr(setup, study.axis)
        if x not in seen:
            seen.add(x)
            yield x, setup


def _pair(axis: str, value: object) -> object:
    """Return a number of keywords as the least and the most."""
    return (value, value) if axis == "keywords" and isinstance(value, int) else value


def fitting(setup: Setup, lab: Lab, contenders: int) -> Setup:
    """Return a setup with the sizes of a scale, as far as memory allows."""
    most = most_in_memory(setup, contenders)
    most = most if lab.largest is None else min(most, lab.largest)
    sizes = {}
    for field in SIZES[type(setup)]:
        count = getattr(setup, field)
        sizes[field] = min(lab.scale.size(setup, field, count), most)
    if isinstance(setup, Matching) and setup.words is not None:
        sizes["words"] = min(setup.words, lab.scale.most_words)
    if isinstance(setup, Parted | Spread):
        sizes["partitions"] = min(setup.partitions, lab.scale.most_partitions)
        if isinstance(setup, Parted) and setup.first_level is not None:
            sizes["first_level"] = min(setup.first_level, sizes["partitions"])
    return _with(setup, sizes)


def _with(setup: Setup, fields: Mapping[str, Any]) -> Setup:
    changed: Setup = replace(setup, **fields)
    return changed


def with_parameter(study: Study) -> Iterator[tuple[float | str, str, str]]:
    """Yield x, the line that it belongs to, and the contender with x as its parameter."""
    for value in study.values:
        for template in study.contenders:
            yield value, label(template), template.format(x=value)


def label(template: str) -> str:
    """Return what a contender is called without the parameter that varies.

    Examples
    --------
    >>> label("ap-tree:max_children={x}"), label("rt+-tree:representative=idf")
    ('ap-tree', 'rt+-tree:representative=idf')
    """
    return ":".join(part for part in template.split(":") if "{x}" not in part)


def single(value: float) -> Value:
    """Return a value that was measured once."""
    rounded = float(f"{value:.4g}")
    return (rounded, rounded, rounded)
